//! Tests of failures around a server: it is killed while it writes, the disk is full, the home is read-only, or many
//! servers start at the same time. No stored data may be lost, and errors must describe the cause.
//!
//! Some tests run in a separate process: this program runs again, with [`ROLE`] and [`HOME`] in its environment.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Barrier,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc,
    },
};

use crate::support::{PATIENCE, skip, until};
use serde_json::{Value, json};
use unterm_control::{
    Approval, Headless, LoginLimits, Server, ServerOptions,
    client::{self, Client},
};
use unterm_mux::{Mux, MuxOptions};

/// The environment variable that contains the role of a child process.
pub(super) const ROLE: &str = "UNTERM_TEST_ROLE";
/// The environment variable that contains the directory of a child process.
pub(super) const HOME: &str = "UNTERM_TEST_HOME";

pub(super) fn start(home: &Path) -> Result<(Arc<Mux>, Server), String> {
    let mux = Mux::new(MuxOptions::default());
    let options = ServerOptions {
        mux: mux.clone(),
        host: Arc::new(Headless),
        home: home.to_owned(),
        approval: Approval::Allow,
        login: LoginLimits::default(),
    };
    Ok((mux, Server::start(options).map_err(|error| error.to_string())?))
}

/// The arguments with which this program runs only one test of a module.
fn arguments(module: &str, name: &str) -> [String; 4] {
    let (_program, module) = module.split_once("::").unwrap();
    let name = format!("{module}::{name}");
    ["--exact".to_owned(), name, "--nocapture".to_owned(), "--test-threads=1".to_owned()]
}

fn own_test(name: &str) -> Command {
    own_test_of(module_path!(), name)
}

/// This program, to run one test of a module.
pub(super) fn own_test_of(module: &str, name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments(module, name));
    command
}

/// The home directory, if this process has the role. `None` otherwise.
pub(super) fn part(role: &str) -> Option<PathBuf> {
    let is_it = std::env::var(ROLE).is_ok_and(|own| own == role);
    is_it.then(|| PathBuf::from(std::env::var_os(HOME).unwrap()))
}

/// A child process, which is killed when this is dropped, also if the test fails.
pub(super) struct Ended(pub(super) Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn json_of(path: &Path) -> Option<Value> {
    // A reader always sees a complete file.
    let text = fs::read(path).ok()?;
    Some(
        serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display())),
    )
}

/// Saves and records until the process is killed.
#[test]
fn part_saves_until_it_is_killed() {
    let Some(home) = part("save") else { return };
    let (_mux, _server) = start(&home).unwrap();
    let client = Client::connect(&home).unwrap();
    let flood =
        json!({"program": "sh", "args": ["-c", "while :; do echo it goes on; done"], "cwd": home});
    let id = client.call_by_name("session.create", flood).unwrap()["id"].clone();
    client.call_by_name("session.recording_start", json!({"id": id})).unwrap();
    for n in 0u64.. {
        let nodes: Vec<Value> = (0..n % 50)
            .map(|k| json!({"name": format!("n{k}"), "url": "http://127.0.0.1:9"}))
            .collect();
        let proxy = json!({"enabled": false, "no_proxy": n.to_string(), "nodes": nodes});
        client.call_by_name("proxy.configure", proxy).unwrap();
        client.call_by_name("workspace.save", json!({"name": "mine"})).unwrap();
    }
}

#[test]
fn a_process_that_is_killed_while_it_writes_leaves_whole_files() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    let mut has_output = false;
    for round in 0u64..5 {
        let mut command = own_test("part_saves_until_it_is_killed");
        command.env(ROLE, "save").env(HOME, &home).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = Ended(command.spawn().unwrap());
        let proxy = home.join("proxy.json");
        let seen = |proxy: &Path| json_of(proxy).map(|proxy| proxy["no_proxy"].clone());
        let before = seen(&proxy);
        // The process writes in a loop. Each round kills it at a slightly later point.
        for _ in 0..=round * 3 {
            let last = seen(&proxy);
            until("another proxy.json", || (seen(&proxy) != last).then_some(()));
        }
        until("a file of its own", || (seen(&proxy) != before).then_some(()));
        until("a saved workspace", || json_of(&home.join("workspaces/mine.json")));
        child.0.kill().unwrap();
        child.0.wait().unwrap();

        let written = json_of(&proxy).expect("proxy.json is there");
        let count: usize = written["no_proxy"].as_str().unwrap().parse().unwrap();
        assert_eq!(written["nodes"].as_array().unwrap().len(), count % 50);
        let saved = json_of(&home.join("workspaces/mine.json")).unwrap();
        assert_eq!(saved["sessions"].as_array().unwrap().len(), 1);

        // The next start closes the recordings of the killed process.
        let (_mux, _server) = start(&home).unwrap();
        let client = Client::connect(&home).unwrap();
        let all = usize::try_from(round + 1).unwrap();
        let rows = until("the recording is closed", || {
            let rows = client.call_by_name("session.recording_list", json!({})).unwrap();
            (rows.as_array().unwrap().len() >= all).then_some(rows)
        });
        for row in rows.as_array().unwrap() {
            let id = row["unterm_session_id"].clone();
            let page =
                client.call_by_name("session.recording_read", json!({"session_id": id})).unwrap();
            let page = page["markdown"].as_str().unwrap().to_owned();
            assert!(
                page.contains("exit_reason: \"crashed\"")
                    || page.contains("exit_reason: \"rotated\""),
                "{}",
                &page[..400.min(page.len())]
            );
            // The recording of a process that was killed directly after its start is empty.
            let is_new = row["bytes_raw"].as_u64().unwrap() < 100;
            assert!(is_new || page.contains("it goes on"), "{row}");
            has_output |= !is_new;
        }
        let names = client.call_by_name("workspace.list", json!({})).unwrap();
        assert_eq!(names, json!({"workspaces": [{"name": "mine"}]}));
    }
    assert!(has_output, "nothing was recorded at all");
}

/// The option of `unshare` that gives a process separate mounts: as root, or as root of a new user namespace. Skips the
/// test if neither works.
fn unshare() -> Option<&'static str> {
    let folder = tempfile::tempdir().unwrap();
    let can = |how: &&str| {
        let tried = Command::new("unshare")
            .args([how, "mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        tried.is_ok_and(|status| status.success())
    };
    let how = ["-m", "-rm"].into_iter().find(can);
    if how.is_none() {
        skip("nothing can be mounted here: a full and a read-only disk are not tested");
    }
    how
}

/// Runs a role of this program with its own small disk.
fn on_a_disk(size: &str, name: &str, role: &str) {
    let Some(how) = unshare() else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = format!("mount -t tmpfs -o size={size} tmpfs \"${HOME}\" && exec \"$0\" \"$@\"");
    let output = Command::new("unshare")
        .args([how, "sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .args(arguments(module_path!(), name))
        .env(ROLE, role)
        .env(HOME, folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
}

/// Starts another server, which must not take long. Returns the server and the reason that it is not registered.
fn starts(home: &Path) -> ((Arc<Mux>, Server), String) {
    let (started, start_ends) = mpsc::channel();
    let home = home.to_owned();
    std::thread::spawn(move || {
        let _ = started.send(start(&home));
    });
    let (mux, server) = start_ends.recv_timeout(PATIENCE).expect("the start ends").unwrap();
    let fault = server.registry_fault().expect("it is not registered").to_string();
    ((mux, server), fault)
}

#[test]
fn part_fills_the_disk() {
    let Some(disk) = part("full") else { return };
    let home = disk.join("home");
    let (_mux, _server) = start(&home).unwrap();
    let client = Client::connect(&home).unwrap();
    let shell = json!({"program": "cat", "cwd": disk});
    let id = client.call_by_name("session.create", shell).unwrap()["id"].clone();
    client.call_by_name("workspace.save", json!({"name": "mine"})).unwrap();
    client.call_by_name("proxy.configure", json!({"http_proxy": "http://127.0.0.1:9"})).unwrap();
    client.call_by_name("session.recording_start", json!({"id": id})).unwrap();
    let token = client.call_by_name("token.create", json!({"name": "first"})).unwrap();
    let audit = home.join("audit.jsonl");
    let is_audited = |text: &str| fs::read_to_string(&audit).is_ok_and(|log| log.contains(text));
    until("the log of calls", || is_audited("token.create").then_some(()));
    let second = json!({"program": "cat", "cwd": disk});
    let second = client.call_by_name("session.create", second).unwrap()["id"].clone();
    client.call_by_name("session.recording_start", json!({"id": second})).unwrap();

    let filler = disk.join("filler");
    let mut file = fs::File::create(&filler).unwrap();
    while file.write_all(&[0; 512]).is_ok() {}
    for (method, params) in [
        ("workspace.save", json!({"name": "mine"})),
        ("workspace.save", json!({"name": "another"})),
        ("proxy.configure", json!({"http_proxy": "http://127.0.0.1:10"})),
        ("session.export_markdown", json!({"id": id, "path": disk.join("page.md")})),
        ("token.create", json!({"name": "second"})),
        ("token.revoke", json!({"number": token["number"]})),
    ] {
        let error = client.call_by_name(method, params).unwrap_err().to_string();
        assert!(error.contains("No space left on device"), "{method}: {error}");
    }
    // The entries do not fit into the last block of the audit log.
    for n in 0..30 {
        let title = format!("{n} {}", "a title ".repeat(30));
        client.call_by_name("session.rename", json!({"id": id, "title": title})).unwrap();
    }
    // Another instance starts and ends without an entry.
    let (other, fault) = starts(&home);
    assert!(fault.contains("not in the registry") && fault.contains("No space left"), "{fault}");
    drop(other);
    let list = client.call_by_name("instance.list", json!({})).unwrap();
    assert_eq!(list["instances"].as_array().unwrap().len(), 1);
    // Stored data is neither lost nor damaged.
    let saved = client.call_by_name("workspace.restore", json!({"name": "mine"})).unwrap();
    assert_eq!(saved["workspace"]["sessions"][0]["id"], id);
    let names = client.call_by_name("workspace.list", json!({})).unwrap();
    assert_eq!(names, json!({"workspaces": [{"name": "mine"}]}));
    let proxy = client.call_by_name("proxy.nodes", json!({})).unwrap();
    assert_eq!(proxy["nodes"], json!([]));
    let env = client.call_by_name("proxy.env", json!({})).unwrap();
    assert_eq!(env["env"]["HTTP_PROXY"], "http://127.0.0.1:9");
    assert!(!disk.join("page.md").exists());
    // The session continues even if its recording can't continue.
    client.call_by_name("session.input", json!({"id": id, "input": "still here\r"})).unwrap();
    let there = json!({"id": id, "any": [{"text": "still here"}]});
    assert_eq!(client.call_by_name("session.wait", there).unwrap()["matched"], true);
    // Lost bytes are counted and reported.
    let status = until("the recording to be full", || {
        let line = "x".repeat(2000) + "\r";
        client.call_by_name("session.input", json!({"id": id, "input": line})).unwrap();
        let status = client.call_by_name("session.recording_status", json!({"id": id})).unwrap();
        status["bytes_lost"].is_u64().then_some(status)
    });
    assert_eq!(status["recording"], true);
    assert!(status["error"].as_str().unwrap().contains("No space left on device"), "{status}");
    // If the page can't be written, the recording still exists.
    let error = client
        .call_by_name("session.recording_stop", json!({"id": second}))
        .unwrap_err()
        .to_string();
    assert!(error.contains("No space left on device") && error.contains(".log"), "{error}");
    let rows = client.call_by_name("session.recording_list", json!({})).unwrap();
    assert_eq!(rows.as_array().unwrap().len(), 1);
    assert_eq!(rows[0]["tab_id"], second);
    assert!(rows[0]["error"].as_str().unwrap().contains("not written yet"), "{rows}");

    drop(file);
    fs::remove_file(&filler).unwrap();
    client.call_by_name("workspace.save", json!({"name": "another"})).unwrap();
    let tokens = client.call_by_name("token.list", json!({})).unwrap();
    assert_eq!(tokens["tokens"][0]["name"], "first");
    assert_eq!(tokens["tokens"].as_array().unwrap().len(), 1);
    // No entry of the log is incomplete, and missing entries are counted.
    until("the log goes on", || is_audited("another").then_some(()));
    let log = fs::read_to_string(&audit).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let lost: u64 = lines.iter().filter_map(|line| line["lost"].as_u64()).sum();
    assert!(lost > 0, "{log}");
    client.call_by_name("session.recording_stop", json!({"id": id})).unwrap();
    let rows = client.call_by_name("session.recording_list", json!({})).unwrap();
    let row = rows.as_array().unwrap().iter().find(|row| row["tab_id"] == id).unwrap();
    let page = client
        .call_by_name("session.recording_read", json!({"session_id": row["unterm_session_id"]}))
        .unwrap();
    let lost = format!("> {} bytes were not recorded: No space left on device", row["bytes_lost"]);
    assert!(page["markdown"].as_str().unwrap().contains(&lost), "{lost}: {page}");
}

#[test]
fn a_full_disk_loses_nothing_and_says_so() {
    on_a_disk("512k", "part_fills_the_disk", "full");
}

fn make_read_only(disk: &Path) {
    let status = Command::new("mount").args(["-o", "remount,ro"]).arg(disk).status().unwrap();
    assert!(status.success());
}

#[test]
fn part_can_not_write_its_home() {
    let Some(disk) = part("read-only") else { return };
    let home = disk.join("home");
    {
        let (_mux, _server) = start(&home).unwrap();
        let client = Client::connect(&home).unwrap();
        let id =
            client.call_by_name("session.create", json!({"program": "cat"})).unwrap()["id"].clone();
        client.call_by_name("workspace.save", json!({"name": "mine"})).unwrap();
        make_read_only(&disk);
        for (method, params) in [
            ("workspace.save", json!({"name": "another"})),
            ("proxy.disable", json!({})),
            ("instance.set_title", json!({"title": "x"})),
            ("session.export_markdown", json!({"id": id, "path": disk.join("page.md")})),
        ] {
            let error = client.call_by_name(method, params).unwrap_err().to_string();
            assert!(error.contains("Read-only file system"), "{method}: {error}");
        }
        // Everything that needs no file works.
        client.call_by_name("session.input", json!({"id": id, "input": "here\r"})).unwrap();
        let there = json!({"id": id, "any": [{"text": "here"}]});
        assert_eq!(client.call_by_name("session.wait", there).unwrap()["matched"], true);
        assert_eq!(
            client.call_by_name("workspace.restore", json!({"name": "mine"})).unwrap()["restored"],
            true
        );
    }
    let (_, fault) = starts(&home);
    assert!(fault.contains("not in the registry") && fault.contains("Read-only file"), "{fault}");
}

#[test]
fn a_read_only_home_is_reported() {
    on_a_disk("1m", "part_can_not_write_its_home", "read-only");
}

/// The number of idle connections.
const IDLE: usize = 1000;

/// The number of open file descriptors of this process.
fn descriptors() -> usize {
    fs::read_dir("/dev/fd").unwrap().count()
}

/// Ends the loop of calls when it is dropped, also if the test fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// This process holds both ends of every connection, so the server must raise the limit of open files. Runs in a
/// separate process.
#[test]
fn part_serves_beside_idle_connections() {
    let Some(folder) = part("idle") else { return };
    let home = folder.join("home");
    let (_mux, server) = start(&home).unwrap();
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    if limit.is_some_and(|limit| limit < 3 * IDLE as u64) {
        let _ = writeln!(std::io::stderr(), "SKIPPED: {limit:?} open files are too few here");
        return;
    }
    let client = Client::connect(&home).unwrap();
    let cat = json!({"program": "cat", "cwd": folder});
    let id = client.call_by_name("session.create", cat).unwrap()["id"].clone();
    let before = descriptors();
    let (calls, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let over = Over(&is_over);
        // Calls continue meanwhile.
        let calling = scope.spawn(|| {
            let client = Client::connect(&home).unwrap();
            while !is_over.load(Ordering::Acquire) {
                client.call_by_name("screen.text", json!({"id": id})).unwrap();
                calls.fetch_add(1, Ordering::Release);
            }
        });
        let mut idle: Vec<_> =
            (0..IDLE).map(|_| TcpStream::connect(server.address()).unwrap()).collect();
        let so_far = calls.load(Ordering::Acquire);
        until("another call", || (calls.load(Ordering::Acquire) > so_far).then_some(()));
        client.call_by_name("session.input", json!({"id": id, "input": "still here\r"})).unwrap();
        let there = json!({"id": id, "any": [{"text": "still here"}]});
        assert_eq!(client.call_by_name("session.wait", there).unwrap()["matched"], true);
        // The server still serves every idle connection.
        for stream in &mut idle {
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            stream.write_all(b"{\"id\":1,\"method\":\"server.info\"}\n").unwrap();
        }
        for stream in idle {
            let mut line = String::new();
            BufReader::new(stream).read_line(&mut line).unwrap();
            assert!(line.contains("-32002"), "{line:?}");
        }
        drop(over);
        calling.join().unwrap();
    });
    until("their descriptors are given back", || (descriptors() <= before).then_some(()));
    client.call_by_name("session.destroy", json!({"id": id})).unwrap();
}

#[test]
fn a_thousand_idle_connections_hold_up_no_call() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = own_test("part_serves_beside_idle_connections");
    let output = command.env(ROLE, "idle").env(HOME, folder.path()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// Starts a server with few file descriptors, and serves until its stdin is closed.
#[test]
fn part_serves_with_few_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let Some(folder) = part("few") else { return };
    let (_mux, _server) = start(&folder.join("home")).unwrap();
    let few = descriptors() as u64 + 20;
    let maximum = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: Some(few), maximum }).unwrap();
    fs::write(folder.join("ready"), "").unwrap();
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
}

#[test]
fn one_connection_too_many_is_refused_and_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = own_test("part_serves_with_few_descriptors");
    command.env(ROLE, "few").env(HOME, folder.path());
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = Ended(command.spawn().unwrap());
    until("it is ready", || folder.path().join("ready").exists().then_some(()));
    let home = folder.path().join("home");
    let client = Client::connect(&home).unwrap();
    let info = client.call_by_name("instance.info", json!({})).unwrap();
    let [port, page] =
        ["mcp_port", "http_port"].map(|key| u16::try_from(info[key].as_u64().unwrap()).unwrap());

    let mut all: Vec<_> =
        (0..50).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    let first_line = |stream: TcpStream| {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line).map(|_| line)
    };
    let line = first_line(all.pop().unwrap()).unwrap();
    assert!(line.contains("-32603") && line.contains("too many files and connections"), "{line:?}");
    // Refusing a connection frees its descriptor. The next client of the page may get that descriptor and keep it, in
    // which case the client after it is refused.
    until("the page's refusal", || {
        let mut stream = TcpStream::connect(("127.0.0.1", page)).unwrap();
        all.push(stream.try_clone().unwrap());
        let asked = stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        let line = asked.and_then(|()| first_line(stream));
        line.is_ok_and(|line| line == "HTTP/1.1 503 Service Unavailable\r\n").then_some(())
    });
    client.call_by_name("server.info", json!({})).unwrap();
    drop(all);
    until("there is room again", || Client::connect(&home).ok());
    drop(child.0.stdin.take());
    assert!(child.0.wait().unwrap().success());
}

/// Reports that it is ready, starts on request, and ends when its stdin is closed.
#[test]
fn a_part_starts_on_request() {
    let Some(folder) = part("start") else { return };
    fs::write(folder.join(format!("ready-{}", std::process::id())), "").unwrap();
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let (_mux, _server) = start(&folder.join("home")).unwrap();
    line.clear();
    std::io::stdin().read_line(&mut line).unwrap();
}

/// The entries of a home's instances.
fn entries(home: &Path) -> Vec<Value> {
    let Ok(files) = fs::read_dir(home.join("instances")) else { return Vec::new() };
    let paths = files.map(|file| file.unwrap().path());
    let is_entry = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "json");
    paths
        .filter(is_entry)
        // A server first creates an empty file to reserve a name, and then writes the entry.
        .filter_map(|path| serde_json::from_slice(&fs::read(path).ok()?).ok())
        .collect()
}

#[test]
fn four_simultaneous_processes_have_distinct_names_and_ports() {
    const COUNT: usize = 4;
    for _ in 0..5 {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let start_one = |_| {
            let mut command = own_test("a_part_starts_on_request");
            command.env(ROLE, "start").env(HOME, folder.path());
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            Ended(command.spawn().unwrap())
        };
        let mut all: Vec<Ended> = (0..COUNT).map(start_one).collect();
        until("all of them are ready", || {
            let names = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name());
            let ready = names.filter(|name| name.to_string_lossy().starts_with("ready-"));
            (ready.count() == COUNT).then_some(())
        });
        for one in &mut all {
            one.0.stdin.as_mut().unwrap().write_all(b"start\n").unwrap();
        }
        let entries = until("all of them are entered", || {
            let entries = entries(&home);
            (entries.len() == COUNT).then_some(entries)
        });
        let all_of = |key: &str| -> BTreeSet<String> {
            entries.iter().map(|entry| entry[key].to_string()).collect()
        };
        let ids = ["alpha", "bravo", "charlie", "delta"].map(|id| Value::from(id).to_string());
        assert_eq!(all_of("id"), BTreeSet::from(ids));
        let ports = &all_of("mcp_port") | &all_of("http_port");
        assert_eq!((ports.len(), ports.contains("0")), (2 * COUNT, false), "{entries:?}");
        assert_eq!((all_of("pid").len(), all_of("auth_token").len()), (COUNT, COUNT));
        // Each instance reports its own name.
        for entry in &entries {
            let port = u16::try_from(entry["mcp_port"].as_u64().unwrap()).unwrap();
            let token = entry["auth_token"].as_str().unwrap().to_owned();
            let client = until("it answers", || {
                let endpoint = client::Endpoint { port, token: token.clone(), socket: None };
                Client::connect_to(&endpoint).ok()
            });
            assert_eq!(client.call_by_name("instance.info", json!({})).unwrap()["id"], entry["id"]);
            let list = client.call_by_name("instance.list", json!({})).unwrap();
            assert_eq!(list["instances"].as_array().unwrap().len(), COUNT);
        }
        for one in &mut all {
            drop(one.0.stdin.take());
        }
        for one in &mut all {
            assert!(one.0.wait().unwrap().success());
        }
        assert!(self::entries(&home).is_empty());
    }
}

#[test]
fn two_starts_at_once_a_hundred_times_are_two_hundred_instances() {
    let folder = tempfile::tempdir().unwrap();
    let mut servers: Vec<(Arc<Mux>, Server)> = Vec::new();
    for _ in 0..100 {
        let barrier = Barrier::new(2);
        let two: Vec<_> = std::thread::scope(|scope| {
            let one = || {
                scope.spawn(|| {
                    barrier.wait();
                    start(folder.path()).unwrap()
                })
            };
            [one(), one()].map(|thread| thread.join().unwrap()).into_iter().collect()
        });
        servers.extend(two);
    }
    let ids: BTreeSet<_> = servers.iter().map(|(_, server)| server.instance_id()).collect();
    let ports: BTreeSet<_> = servers.iter().map(|(_, server)| server.address().port()).collect();
    assert_eq!((ids.len(), ports.len()), (200, 200));
    let list =
        Client::connect(folder.path()).unwrap().call_by_name("instance.list", json!({})).unwrap();
    let listed: BTreeSet<_> = list["instances"]
        .as_array()
        .unwrap()
        .iter()
        .map(|instance| instance["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(listed, ids);
    // Each server needs some time to end.
    std::thread::scope(|scope| {
        while !servers.is_empty() {
            let some = servers.split_off(servers.len().saturating_sub(25));
            scope.spawn(move || drop(some));
        }
    });
    let left = fs::read_dir(folder.path().join("instances")).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().ends_with(".json")), "{left:?}");
}
