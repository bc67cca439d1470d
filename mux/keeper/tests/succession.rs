//! Programs that take the place of instances whose processes end.
//!
//! Each instance is a process of its own, because the keeper watches processes.

use std::{
    fs,
    io::{BufRead as _, BufReader, Lines, Write as _},
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::{FdFlags, fcntl_setfd},
    process::Signal,
};
use unterm_keeper::{Client, Error, Exit, Held, Identity, MAX_INPUT, Program, Successor};

use crate::common::{Home, descriptors, kill, raw, runs, sh, status_line, wait, wait_end, write};

/// The socket of the keeper, for an instance.
const SOCKET: &str = "UNTERM_TEST_SOCKET";
/// The name of an instance.
const NAME: &str = "UNTERM_TEST_NAME";

/// Not a test: an instance that carries out the commands from its standard input, one a line. After each, it writes a
/// line. Other tests start it, and the keeper starts it as a successor.
#[test]
fn instance() {
    let Some(socket) = std::env::var_os(SOCKET).map(PathBuf::from) else { return };
    let name = std::env::var(NAME).unwrap();
    let mut client = Client::connect(&socket, &name).unwrap();
    let (mut held, mut streams) = (Vec::new(), Vec::new());
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (command, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match command {
            "open" => held.push(client.start(sh("read line")).unwrap()),
            "leave" => drop(held.remove(rest.parse().unwrap())),
            "take" => {
                held.extend(client.panes().unwrap().into_iter().flat_map(|it| client.take(it)));
            }
            "succeed" => client.set_successor(Some(writes(&socket, rest))).unwrap(),
            "succeed-taking" => {
                let takes = client.panes().unwrap();
                client.set_successor(Some(Successor { takes, ..writes(&socket, rest) })).unwrap();
            }
            "succeed-by" => client.set_successor(Some(continues(&socket, &name, rest))).unwrap(),
            "succeed-in" => {
                let mut successor = writes(&socket, "in");
                successor.program.cwd = rest.into();
                client.set_successor(Some(successor)).unwrap();
            }
            "succeed-missing" => {
                let mut successor = writes(&socket, "");
                successor.program.file = "/nowhere/unterm".into();
                client.set_successor(Some(successor)).unwrap();
            }
            "succeed-raw" => streams.push(succeed_raw(&socket, &socket.with_file_name(rest))),
            "greet" => streams.push(raw::greeted(&socket)),
            // Ends after a message without a reply. The message is longer than the keeper's reads.
            "withdraw-late" => {
                let long = raw::frame(raw::DESCRIBE, &raw::field(999, &[0; 100_000]));
                let requests = [long, raw::frame(raw::SUCCEED, b"")];
                streams[0].write_all(&requests.concat()).unwrap();
            }
            // Ends without a change.
            "withhold" => {}
            "withdraw" => client.set_successor(None).unwrap(),
            "reconnect" => client = Client::connect(&socket, rest).unwrap(),
            "copy" => copy(&held[0], Path::new(rest)),
            "mark" => {
                // The process id is in the file at once or not at all.
                let new = Path::new(rest).with_extension("new");
                fs::write(&new, std::process::id().to_string()).unwrap();
                fs::rename(new, rest).unwrap();
            }
            "end" => held.drain(..).for_each(|held| {
                write(&held, "\r");
                wait_end(&held);
            }),
            // Waits until the keeper ends.
            "wait" => {
                while held[0].exit.read() == Exit::Running {
                    let _ = poll(&mut [PollFd::new(&held[0].exit, PollFlags::IN)], None);
                }
            }
            _ => panic!("{line}"),
        }
        let mut output = std::io::stdout();
        writeln!(output, "\ndone {line}").unwrap();
        output.flush().unwrap();
    }
}

/// Starts a process that has a copy of a pane's exit pipe until the file is removed, like a copy of this process that
/// has not started its program yet.
fn copy(held: &Held, file: &Path) {
    fs::write(file, "").unwrap();
    fcntl_setfd(&held.exit, FdFlags::empty()).unwrap();
    let script = "while test -e \"$0\"; do sleep 0.01; done &";
    let mut copy = Command::new("sh");
    copy.args(["-c", script]).arg(file).stdin(Stdio::null()).stdout(Stdio::null());
    assert!(copy.status().unwrap().success());
    fcntl_setfd(&held.exit, FdFlags::CLOEXEC).unwrap();
}

/// Writes its process id to the file `$0`, and waits until the socket `$1` is gone.
const WRITES: &str =
    "echo $$ > \"$0.new\"; mv \"$0.new\" \"$0\"; while test -e \"$1\"; do sleep 0.01; done";

/// Sets a successor like [`writes`], as bytes.
fn succeed_raw(socket: &Path, file: &Path) -> UnixStream {
    let bytes = |path: &Path| path.as_os_str().as_encoded_bytes().to_vec();
    let body = [
        raw::field(1, b"/bin/sh"),
        raw::field(2, b"sh"),
        raw::field(3, b"-c"),
        raw::field(3, WRITES.as_bytes()),
        raw::field(3, &bytes(file)),
        raw::field(3, &bytes(socket)),
        raw::field(4, b"PATH=/usr/bin:/bin"),
        raw::field(6, b"/"),
        raw::field(12, b"input"),
        raw::number(13, 1), // Of an older client.
        raw::field(999, b"of a newer client"),
    ];
    let mut stream = raw::greeted(socket);
    stream.write_all(&raw::frame(raw::SUCCEED, &body.concat())).unwrap();
    assert_eq!(raw::read(&mut stream), (raw::REPLY_DONE, Vec::new()));
    stream
}

/// A successor that writes its process id to a file beside the socket, with this name, and waits for the keeper's end.
fn writes(socket: &Path, name: &str) -> Successor {
    let file = socket.with_file_name(name);
    let program = Program {
        args: vec!["-c".into(), WRITES.into(), file.into(), socket.into()],
        ..sh("").program
    };
    Successor { program, ..Successor::default() }
}

/// A successor that is an instance. It carries out commands, which are separated by commas.
fn continues(socket: &Path, name: &str, commands: &str) -> Successor {
    let file = std::env::current_exe().unwrap();
    let program = Program {
        arg0: file.clone().into(),
        file,
        args: ["--exact", "succession::instance", "--nocapture"].map(Into::into).to_vec(),
        env: [(SOCKET.into(), socket.into()), (NAME.into(), name.into())]
            .into_iter()
            .chain(sh("").program.env)
            .collect(),
        cwd: "/".into(),
        ..Program::default()
    };
    let input = commands.split(',').map(|command| format!("{command}\n")).collect();
    Successor { program, input, takes: Vec::new() }
}

/// A process with an instance.
/// Dropping it kills the process.
struct Instance {
    process: Child,
    commands: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl Instance {
    fn new(home: &Home, name: &str) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "succession::instance", "--nocapture"])
            .env(SOCKET, home.socket())
            .env(NAME, name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = process.stdin.take();
        let output = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, commands, output }
    }

    /// Carries out commands, which are separated by semicolons.
    fn run(&mut self, commands: &str) -> &mut Self {
        for command in commands.split(';') {
            writeln!(self.commands.as_ref().unwrap(), "{command}").unwrap();
            let done = format!("done {command}");
            assert!(self.output.any(|line| line.unwrap() == done), "{command} fails");
        }
        self
    }

    fn pid(&self) -> i32 {
        self.process.id() as i32
    }

    /// Ends the process without a chance to do anything.
    fn crash(self) {
        drop(self);
    }

    /// Lets the process end by itself.
    fn end(mut self) {
        drop(self.commands.take());
        assert!(self.output.all(|line| line.is_ok()));
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The process id that a successor has written.
fn successor(home: &Home, name: &str) -> i32 {
    let file = home.path().join(name);
    wait(name, || file.exists());
    fs::read_to_string(file).unwrap().trim().parse().unwrap()
}

fn identities(client: &mut Client) -> Vec<Identity> {
    let panes = client.panes().unwrap();
    panes.into_iter().map(|pane| client.identify(pane).unwrap()).collect()
}

/// Waits until the keeper has handled everything that has happened before.
fn settle(client: &mut Client) {
    // The keeper notices the ends of processes at the latest when it handles the first request.
    for _ in 0..2 {
        client.panes().unwrap();
    }
}

#[test]
fn a_crash_starts_the_successor_that_was_set_last() {
    let home = Home::new();
    let mut client = home.connect();
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run("open;succeed first;succeed second");
    let pid = alpha.pid();
    alpha.crash();
    let started = successor(&home, "second");
    home.wait_log(&format!("process {started} is the successor of \"alpha\""));
    assert!(!home.path().join("first").exists());
    let [pane] = &identities(&mut client)[..] else { panic!("no pane") };
    assert_eq!((pane.owner.as_deref(), pane.last_owner.as_str()), (None, "alpha"));
    assert_eq!(pane.last_owner_pid, Some(pid));
}

#[test]
fn a_process_that_leaves_nothing_has_no_successor() {
    let home = Home::new();
    let mut client = home.connect();
    let mut other = Instance::new(&home, "other");
    other.run("open;leave 0");
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run("succeed started");
    alpha.crash();
    settle(&mut client);
    assert!(!home.log().contains("successor"), "{}", home.log());
    other.crash();
    settle(&mut client);
    assert!(!home.log().contains("successor"), "{}", home.log());
}

#[test]
fn a_withdrawn_successor_does_not_start() {
    let home = Home::new();
    let mut client = home.connect();
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run("open;succeed started;withdraw");
    alpha.crash();
    settle(&mut client);
    assert!(!home.log().contains("successor"), "{}", home.log());
    assert_eq!(identities(&mut client)[0].successor_pid, None);
}

#[test]
fn requests_of_a_process_are_handled_before_its_end() {
    let home = Home::new();
    let mut client = home.connect();
    let keeper = client.keeper().pid;
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run("open;succeed started;greet");
    // The keeper notices the requests and the end of the process in one turn of its loop.
    kill(keeper, Signal::STOP);
    alpha.run("withdraw-late");
    alpha.crash();
    kill(keeper, Signal::CONT);
    settle(&mut client);
    // The next turn reads the rest of the requests.
    settle(&mut client);
    home.wait_log("left pane");
    assert!(!home.log().contains("successor"), "{}", home.log());
}

#[test]
fn the_end_of_a_connection_starts_nothing() {
    let home = Home::new();
    let mut client = home.connect();
    let mut alpha = Instance::new(&home, "alpha");
    // The instance leaves a program, and its connection ends, but its process runs.
    alpha.run("open;open;succeed started;leave 0;reconnect beta");
    settle(&mut client);
    assert!(!home.log().contains("successor"), "{}", home.log());
    // Both connections belong to one process, so its end counts for the programs of both.
    alpha.run("open");
    alpha.crash();
    let started = successor(&home, "started");
    wait("the successor of all programs", || {
        let mut client = home.connect();
        identities(&mut client).iter().all(|pane| pane.successor_pid == Some(started))
    });
    assert_eq!(client.panes().unwrap().len(), 3);
}

#[test]
fn a_name_that_was_used_before_inherits_nothing() {
    let home = Home::new();
    let mut client = home.connect();
    let mut first = Instance::new(&home, "alpha");
    first.run("open;leave 0");
    first.end();
    let mut second = Instance::new(&home, "alpha");
    second.run("open;succeed started");
    let pids = [first_pid(&mut client), second.pid()];
    second.crash();
    let started = successor(&home, "started");
    wait("the successor", || {
        identities(&mut home.connect()).iter().any(|pane| pane.successor_pid.is_some())
    });
    let panes = identities(&mut client);
    let is_for = |pane: &Identity| (pane.last_owner_pid.unwrap(), pane.successor_pid);
    let expected = [(pids[0], None), (pids[1], Some(started))];
    assert_eq!(panes.iter().map(is_for).collect::<Vec<_>>(), expected);
    // A third process with that name leaves nothing, so its successor does not start.
    let mut third = Instance::new(&home, "alpha");
    third.run("succeed third");
    third.crash();
    settle(&mut client);
    assert!(!home.path().join("third").exists());
    assert_eq!(home.log().matches("is the successor").count(), 1);
}

fn first_pid(client: &mut Client) -> i32 {
    identities(client)[0].last_owner_pid.unwrap()
}

#[test]
fn two_instances_with_one_name_have_a_successor_each() {
    let home = Home::new();
    let mut client = home.connect();
    let (mut one, mut two) = (Instance::new(&home, "alpha"), Instance::new(&home, "alpha"));
    one.run("open;succeed one");
    two.run("open;succeed two");
    two.crash();
    successor(&home, "two");
    settle(&mut client);
    assert!(!home.path().join("one").exists());
    one.crash();
    successor(&home, "one");
}

#[test]
fn a_process_that_ends_by_itself_has_a_successor() {
    let home = Home::new();
    let mut client = home.connect();
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run("open;succeed started;leave 0");
    settle(&mut client);
    assert!(!home.log().contains("successor"), "the process runs");
    alpha.end();
    successor(&home, "started");
}

#[test]
fn a_successor_that_takes_the_programs_has_its_own_successor() {
    let home = Home::new();
    let mut client = home.connect();
    let mut alpha = Instance::new(&home, "alpha");
    let mark = home.path().join("mark");
    alpha.run(&format!("open;open;succeed-by take,succeed last,mark {},wait", mark.display()));
    alpha.crash();
    let second = successor(&home, "mark");
    let owned = identities(&mut client);
    assert!(owned.iter().all(|pane| pane.owner.as_deref() == Some("alpha")), "{owned:?}");
    assert!(owned.iter().all(|pane| pane.successor_pid.is_none()), "{owned:?}");
    kill(second as u32, Signal::KILL);
    let last = successor(&home, "last");
    settle(&mut client);
    let left = identities(&mut client);
    let is_left = |pane: &Identity| (pane.last_owner_pid, pane.successor_pid);
    assert_eq!(left.iter().map(is_left).collect::<Vec<_>>(), [(Some(second), Some(last)); 2]);
}

#[test]
fn a_process_that_takes_a_place_has_a_successor_at_once() {
    let home = Home::new();
    let mut client = home.connect();
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run("open;open;succeed first;withdraw;leave 0;leave 0");
    alpha.end();
    // It ends before it takes a pane.
    let mut window = Instance::new(&home, "alpha");
    window.run("succeed-taking window");
    let pid = window.pid();
    let taken = identities(&mut client);
    assert!(taken.iter().all(|pane| pane.successor_pid == Some(pid)), "{taken:?}");
    // A second window does not take what the first one is about to take.
    let mut second = Instance::new(&home, "alpha");
    second.run("succeed-taking second");
    second.crash();
    settle(&mut client);
    assert!(!home.log().contains("successor"), "{}", home.log());
    window.crash();
    let started = successor(&home, "window");
    let left = identities(&mut client);
    assert!(left.iter().all(|pane| pane.successor_pid == Some(started)), "{left:?}");
    assert!(!home.path().join("second").exists());
}

#[test]
fn a_process_does_not_inherit_panes_that_have_an_owner() {
    let home = Home::new();
    let mut client = home.connect();
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run("open");
    let mut window = Instance::new(&home, "alpha");
    window.run("succeed-taking window");
    window.crash();
    settle(&mut client);
    let [pane] = &identities(&mut client)[..] else { panic!("no pane") };
    assert_eq!((pane.owner.as_deref(), pane.successor_pid), (Some("alpha"), None));
    assert!(!home.path().join("window").exists());
}

#[test]
fn a_process_that_takes_a_place_can_withdraw() {
    let home = Home::new();
    let mut client = home.connect();
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run("open;leave 0");
    alpha.end();
    let mut window = Instance::new(&home, "alpha");
    window.run("succeed-taking window;withdraw");
    window.crash();
    settle(&mut client);
    let [pane] = &identities(&mut client)[..] else { panic!("no pane") };
    assert_eq!((pane.successor_pid, home.path().join("window").exists()), (None, false));
}

#[test]
fn a_successor_that_is_killed_at_once_is_started_again() {
    let home = Home::new();
    let mut client = home.connect();
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run("open;succeed started");
    alpha.crash();
    let file = home.path().join("started");
    let first = successor(&home, "started");
    fs::remove_file(&file).unwrap();
    // The successor has not reached the keeper yet.
    kill(first as u32, Signal::KILL);
    let second = successor(&home, "started");
    assert_ne!(first, second);
    settle(&mut client);
    assert_eq!(identities(&mut client)[0].successor_pid, Some(second));
}

#[test]
fn successors_that_end_at_once_are_not_started_forever() {
    let home = Home::new();
    let mut client = home.connect();
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run("open;succeed-by withhold");
    alpha.crash();
    home.wait_log("successors of \"alpha\" end too often, so its programs wait");
    assert_eq!(home.log().matches("is the successor of").count(), 3);
    settle(&mut client);
    let [pane] = &identities(&mut client)[..] else { panic!("no pane") };
    assert_eq!((pane.successor_pid, pane.owner.as_deref()), (None, None));
    // A window that takes the program is not a successor, so it has a successor of its own, although it has the same
    // name.
    let mut window = Instance::new(&home, "alpha");
    window.run("take;succeed started");
    window.crash();
    successor(&home, "started");
}

#[test]
fn a_successor_that_withdraws_is_not_started_again() {
    let home = Home::new();
    let mut client = home.connect();
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run("open;succeed-by withdraw");
    alpha.crash();
    home.wait_log("is the successor of \"alpha\"");
    settle(&mut client);
    let log = home.log();
    let pid = log.split_once("process ").unwrap().1.split_once(' ').unwrap().0.parse().unwrap();
    wait("its end", || !runs(pid));
    settle(&mut client);
    assert_eq!(home.log().matches("is the successor of").count(), 1);
    assert_eq!(identities(&mut client)[0].successor_pid, None);
}

#[test]
fn a_successor_does_not_end_with_the_next_owner_of_the_programs() {
    let home = Home::new();
    let mut client = home.connect();
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run("open;succeed first");
    alpha.crash();
    let first = successor(&home, "first");
    let mut window = Instance::new(&home, "alpha");
    window.run("take;succeed second");
    // The successor has nothing left to take, so nothing takes its place.
    kill(first as u32, Signal::KILL);
    wait("its end", || !runs(first));
    settle(&mut client);
    assert_eq!(home.log().matches("is the successor of").count(), 1);
    window.crash();
    successor(&home, "second");
}

#[test]
fn a_successor_starts_after_the_last_copy_of_its_process() {
    let home = Home::new();
    let mut client = home.connect();
    let mut alpha = Instance::new(&home, "alpha");
    let file = home.path().join("copy");
    alpha.run(&format!("open;open;succeed started;copy {}", file.display()));
    alpha.crash();
    settle(&mut client);
    assert!(!home.log().contains("successor"), "{}", home.log());
    fs::remove_file(file).unwrap();
    let started = successor(&home, "started");
    settle(&mut client);
    let panes = identities(&mut client);
    assert!(panes.iter().all(|pane| pane.successor_pid == Some(started)), "{panes:?}");
}

#[test]
fn a_successor_gets_a_clean_process_and_its_own_environment() {
    let home = Home::new();
    let client = home.connect();
    let keeper = client.keeper().pid;
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run("open;open;leave 1;succeed started");
    alpha.crash();
    let started = successor(&home, "started") as u32;
    let mut streams = descriptors(started);
    let input = streams.remove(0);
    assert!(input.to_str().unwrap().starts_with("socket:"), "{input:?}");
    assert_eq!(streams, ["/dev/null", "/dev/null"].map(PathBuf::from));
    let [parent, session, terminal] = relations(started);
    assert_eq!(parent, relations(keeper)[0], "a child of the keeper's parent");
    assert!(![relations(keeper)[1].clone(), started.to_string()].contains(&session), "{session}");
    assert_eq!(terminal, "0");
    assert_eq!(fs::read_link(format!("/proc/{started}/cwd")).unwrap(), Path::new("/"));
    let environment = fs::read(format!("/proc/{started}/environ")).unwrap();
    let mut expected = b"PATH=".to_vec();
    expected.extend_from_slice(std::env::var("PATH").unwrap().as_bytes());
    expected.extend_from_slice(b"\0TERM=inherited\0");
    let sorted = |environment: &[u8]| {
        let mut variables: Vec<_> =
            environment.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
        variables.sort_unstable();
        variables
    };
    assert_eq!(sorted(&environment), sorted(&expected));
    assert_eq!(status_line(started, "Umask"), "0022");
    let ignored = u64::from_str_radix(&status_line(started, "SigIgn"), 16).unwrap();
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGPIPE, libc::SIGCHLD] {
        assert_eq!(ignored >> (signal - 1) & 1, 0, "{signal}");
    }
    // While the shell starts a program, it blocks signals itself.
    wait("no blocked signal", || status_line(started, "SigBlk") == "0000000000000000");
}

/// The parent, the session and the terminal of a process, as proc_pid_stat(5) describes them.
fn relations(pid: u32) -> [String; 3] {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    [fields[1], fields[3], fields[4]].map(str::to_owned)
}

#[test]
fn a_successor_whose_folder_is_gone_starts_in_the_root() {
    let home = Home::new();
    let _client = home.connect();
    let gone = home.path().join("gone");
    fs::create_dir(&gone).unwrap();
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run(&format!("open;succeed-in {}", gone.display()));
    fs::remove_dir(&gone).unwrap();
    alpha.crash();
    let started = successor(&home, "in");
    assert_eq!(fs::read_link(format!("/proc/{started}/cwd")).unwrap(), Path::new("/"));
}

#[test]
fn a_missing_successor_is_logged_and_the_programs_wait() {
    let home = Home::new();
    let mut client = home.connect();
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run("open;succeed-missing");
    alpha.crash();
    home.wait_log("cannot start /nowhere/unterm: No such file or directory");
    settle(&mut client);
    let [pane] = &identities(&mut client)[..] else { panic!("no pane") };
    assert_eq!((pane.successor_pid, pane.owner.as_deref()), (None, None));
    assert_eq!(home.log().matches("cannot start").count(), 1);
    drop(client.take(pane.number).unwrap());
}

#[test]
fn the_keeper_keeps_no_descriptor_of_ended_processes() {
    let home = Home::new();
    let client = home.connect();
    let keeper = client.keeper().pid;
    let before = descriptors(keeper).len();
    for _ in 0..3 {
        let mut alpha = Instance::new(&home, "alpha");
        alpha.run("open;open;leave 0;succeed other;withdraw;succeed started");
        alpha.crash();
        successor(&home, "started");
        fs::remove_file(home.path().join("started")).unwrap();
        Instance::new(&home, "next").run("take;end");
    }
    let log = home.log();
    let started = log.lines().filter_map(|line| line.split_once("process ")?.1.split_once(' '));
    for (pid, _) in started {
        kill(pid.parse().unwrap(), Signal::KILL);
    }
    wait("the last descriptor", || descriptors(keeper).len() <= before);
}

#[test]
fn bytes_of_a_successor_are_those_of_the_protocol() {
    let home = Home::new();
    let mut client = home.connect();
    let mut alpha = Instance::new(&home, "alpha");
    alpha.run("open;succeed-raw started");
    let pid = alpha.pid();
    alpha.crash();
    let started = successor(&home, "started");
    settle(&mut client);
    let mut stream = raw::greeted(home.socket());
    let number = client.panes().unwrap()[0];
    stream.write_all(&raw::frame(raw::IDENTIFY, &raw::number(1, number))).unwrap();
    let (kind, body) = raw::read(&mut stream);
    assert_eq!(kind, raw::REPLY_IDENTITY);
    for field in [raw::number(13, pid as u64), raw::number(14, started as u64)] {
        assert!(body.windows(field.len()).any(|part| part == field), "{field:?} in {body:?}");
    }
    stream.write_all(&raw::frame(raw::SUCCEED, b"")).unwrap();
    assert_eq!(raw::read(&mut stream), (raw::REPLY_DONE, Vec::new()));
}

#[test]
fn successors_that_are_not_valid_are_refused() {
    let home = Home::new();
    let _client = home.connect();
    let file = || raw::field(1, b"/bin/sh");
    let cwd = || raw::field(6, b"/");
    let long = "x".repeat(MAX_INPUT + 1);
    let variable = format!("A={}", "x".repeat(128 << 10));
    let cases = [
        (vec![raw::field(1, b"sh"), cwd()], "the file \"sh\" is no absolute path"),
        (vec![file(), raw::field(6, b"tmp")], "the directory \"tmp\" is no absolute path"),
        (vec![file()], "the directory \"\" is no absolute path"),
        (vec![cwd()], "the file \"\" is no absolute path"),
        (
            vec![file(), cwd(), raw::field(12, long.as_bytes())],
            "field 12 has 16385 bytes, more than 16384",
        ),
        (vec![file(), cwd(), raw::field(12, b"\xff")], "field 12 is not UTF-8"),
        (
            vec![
                file(),
                cwd(),
                raw::field(4, variable.as_bytes()),
                raw::field(4, variable.as_bytes()),
            ],
            "a successor has 262180 bytes, more than 262144",
        ),
    ];
    for (fields, expected) in cases {
        let mut stream = raw::greeted(home.socket());
        stream.write_all(&raw::frame(raw::SUCCEED, &fields.concat())).unwrap();
        assert_eq!(raw::read_refusal(&mut stream), expected);
        raw::wait_closed(&mut stream);
    }
}

#[test]
fn a_client_sends_no_successor_that_is_too_long() {
    let home = Home::new();
    let mut client = home.connect();
    let mut successor = writes(home.socket(), "started");
    successor.input = "x".repeat(MAX_INPUT + 1);
    let error = client.set_successor(Some(successor.clone())).unwrap_err().to_string();
    assert!(error.ends_with("what a successor reads has 16385 bytes, more than 16384"), "{error}");
    successor.input.pop();
    client.set_successor(Some(successor.clone())).unwrap();
    successor.program.args.push("x".repeat(256 << 10).into());
    assert!(matches!(client.set_successor(Some(successor)), Err(Error::Broken(_))));
    assert!(client.is_usable());
    client.set_successor(None).unwrap();
}
