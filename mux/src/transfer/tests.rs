//! Tests of file transfers, based on the protocol's specification.

use std::{fs, os::unix::fs::symlink, path::Path, sync::Mutex};

use tempfile::TempDir;
use unterm_term::{Event, Options, Parser, Size, Term, TransferCommand};

use super::*;

/// The sessions of a pane, with the folder that a user allows.
struct Fixture {
    folder: TempDir,
    sessions: Transfers,
    files: Option<Arriving>,
    term: Term,
    parser: Parser,
    /// The request that waits for an answer.
    asked: Option<TransferRequest>,
}

fn encode(text: impl AsRef<[u8]>) -> String {
    base64::Engine::encode(&base64::prelude::BASE64_STANDARD, text)
}

/// A reply in words: its keys and values, with decoded texts.
fn words(reply: &str) -> String {
    let inner = reply.strip_prefix("\x1b]5113;").and_then(|rest| rest.strip_suffix("\x1b\\"));
    let pairs = inner.expect(reply).split(';').map(|pair| {
        let (key, value) = pair.split_once('=').expect(reply);
        match key {
            "st" | "n" | "d" => {
                let bytes = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, value);
                format!("{key}={}", String::from_utf8_lossy(&bytes.expect("base64")))
            }
            _ => pair.to_owned(),
        }
    });
    pairs.collect::<Vec<_>>().join(" ")
}

impl Fixture {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
            sessions: Transfers::default(),
            files: None,
            term: Term::new(Size::cells(10, 4), Options::default()),
            parser: Parser::new(),
            asked: None,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&mut self, text: &str) -> TransferCommand {
        self.parser.advance(&mut self.term, format!("\x1b]5113;{text}\x1b\\").as_bytes());
        match self.term.take_events().pop() {
            Some(Event::Transfer(command)) => *command,
            event => panic!("{text}: {event:?}"),
        }
    }

    /// Handles a command as a pane does. Returns the reply in words.
    fn send(&mut self, text: &str) -> String {
        let command = self.command(text);
        let reply = match self.sessions.handle(&command, true) {
            Step::Nothing => None,
            Step::Reply(reply) => reply,
            Step::Drop(reply) => {
                self.files = None;
                reply
            }
            Step::Ask(request) => {
                self.asked = Some(request);
                None
            }
            Step::Arrive(to, folder) => {
                let files = self.files.take();
                let mut files = files.unwrap_or_else(|| Arriving::new(&folder).expect("a folder"));
                match command.action {
                    unterm_term::TransferAction::Finish => files.finish(&to),
                    _ => {
                        let reply = files.handle(&to, &command);
                        self.files = Some(files);
                        reply
                    }
                }
            }
        };
        reply.map_or_else(String::new, |reply| words(&reply))
    }

    fn answer(&mut self, is_allowed: bool) -> Option<Answered> {
        let request = self.asked.take().expect("a question");
        let folder = is_allowed.then(|| self.path().to_owned());
        self.sessions.answer(request.handle, folder)
    }

    /// Begins a session that puts files here, which the user allows.
    fn begin(&mut self, keys: &str) {
        assert_eq!(self.send(&format!("ac=send;id=s{keys}")), "");
        assert!(matches!(self.answer(true), Some(Answered::Reply(_))));
    }

    fn file(&mut self, id: &str, path: &str, keys: &str) -> String {
        self.send(&format!("ac=file;id=s;fid={id};n={}{keys}", encode(path)))
    }

    fn data(&mut self, action: &str, id: &str, data: impl AsRef<[u8]>) -> String {
        self.send(&format!("ac={action};id=s;fid={id};d={}", encode(data)))
    }
}

fn reply_of(answered: Option<Answered>) -> String {
    match answered {
        Some(Answered::Reply(reply)) => reply.map_or_else(String::new, |reply| words(&reply)),
        answered => panic!("{answered:?}"),
    }
}

#[test]
fn files_arrive_after_the_user_agrees() {
    let mut fixture = Fixture::new();
    assert_eq!(fixture.send("ac=send;id=s"), "");
    let asked = fixture.asked.clone().expect("a question");
    assert_eq!((asked.direction, asked.paths.len()), (TransferDirection::ToHere, 0));
    let answer = fixture.answer(true);
    assert_eq!(reply_of(answer), "ac=status id=s st=OK");
    let (folder, path) = (fixture.path().to_owned(), fixture.path().display().to_string());
    let started = fixture.file("f1", "~/a/b.txt", ";prm=416;mod=1500000000000000000");
    assert_eq!(started, format!("ac=status id=s fid=f1 st=STARTED n={path}/a/b.txt"));
    assert_eq!(
        fixture.file("f2", "/c", ";ft=directory;mod=2500000000"),
        format!("ac=status id=s fid=f2 st=OK n={path}/c")
    );
    assert_eq!(fixture.data("data", "f1", "one "), "ac=status id=s fid=f1 st=PROGRESS sz=4");
    let done = fixture.data("end_data", "f1", "two");
    assert_eq!(done, format!("ac=status id=s fid=f1 st=OK n={path}/a/b.txt sz=7"));
    assert_eq!(fixture.send("ac=finish;id=s"), "");
    assert_eq!(fs::read_to_string(folder.join("a/b.txt")).expect("a file"), "one two");
    let look = fs::metadata(folder.join("a/b.txt")).expect("it");
    assert_eq!(std::os::unix::fs::MetadataExt::mtime(&look), 1_500_000_000);
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&look) & 0o7777, 0o640);
    let look = fs::metadata(folder.join("c")).expect("it");
    assert_eq!(std::os::unix::fs::MetadataExt::mtime(&look), 2);
    assert_eq!(fixture.send("ac=data;id=s;fid=f1"), "", "the session is over");
}

#[test]
fn without_an_answer_nothing_is_done() {
    let mut fixture = Fixture::new();
    fixture.send("ac=send;id=s");
    let denied = fixture.answer(false);
    assert_eq!(reply_of(denied), "ac=status id=s st=EPERM:User refused the transfer");
    assert_eq!(fixture.file("f", "a", ""), "");
    // A command before the answer ends the session, and the answer comes too late.
    fixture.send("ac=send;id=s");
    assert!(fixture.file("f", "a", "").contains("EINVAL"));
    assert!(fixture.answer(true).is_none());
    assert_eq!(fixture.file("f", "a", ""), "");
    // Without a window, no user can be asked.
    let command = fixture.command("ac=send;id=s");
    match fixture.sessions.handle(&command, false) {
        Step::Reply(Some(reply)) => assert!(words(&reply).contains("st=EPERM:"), "{reply}"),
        step => panic!("{step:?}"),
    }
    assert_eq!(fs::read_dir(fixture.path()).expect("it").count(), 0);
}

#[test]
fn cancelled_and_failed_files_are_removed() {
    let mut fixture = Fixture::new();
    fixture.begin("");
    fixture.file("f1", "kept", "");
    fixture.data("end_data", "f1", "x");
    fixture.file("f2", "incomplete", "");
    fixture.data("data", "f2", "x");
    fixture.file("f3", "large", ";sz=3");
    assert!(fixture.data("data", "f3", "four").starts_with("ac=status id=s fid=f3 st=EIO:"));
    assert_eq!(fixture.data("data", "f3", "x"), "", "later data is ignored");
    fixture.file("f4", "broken", "");
    assert!(fixture.send("ac=data;id=s;fid=f4;d=%").contains("fid=f4 st=EINVAL:"));
    assert_eq!(fixture.send("ac=cancel;id=s"), "ac=status id=s st=CANCELED");
    let names = fs::read_dir(fixture.path()).expect("it");
    let names: Vec<_> = names.map(|entry| entry.expect("it").file_name()).collect();
    assert_eq!(names, ["kept"]);
}

#[test]
fn no_path_leaves_the_folder_and_no_file_is_replaced() {
    let mut fixture = Fixture::new();
    let outside = tempfile::tempdir().expect("a folder");
    fs::write(outside.path().join("secret"), "s").expect("a file");
    fs::write(fixture.path().join("old"), "old").expect("a file");
    symlink(outside.path(), fixture.path().join("out")).expect("a link");
    symlink(outside.path().join("new"), fixture.path().join("dangling")).expect("a link");
    fixture.begin("");
    let mut number = 0;
    let mut fails = |path: &str, keys: &str| {
        number += 1;
        let reply = fixture.file(&format!("f{number}"), path, keys);
        assert!(!reply.contains("STARTED") && !reply.contains("st=OK"), "{path}: {reply}");
        assert!(reply.contains("st=E"), "{path}: {reply}");
    };
    for path in
        ["../x", "a/../../x", "~/../x", "out/x", "out/secret", "dangling", "old", "", "/", "~/"]
    {
        fails(path, "");
    }
    fails("out/x", ";ft=directory");
    fails("link", ";ft=symlink");
    fails("link", ";ft=link");
    let escaped = format!("{}/x", outside.path().display());
    // A path elsewhere is interpreted relative to the folder.
    assert!(fixture.file("g", &escaped, "").contains("STARTED"));
    fixture.send("ac=finish;id=s");
    assert_eq!(fs::read_dir(outside.path()).expect("it").count(), 1);
    assert_eq!(fs::read_to_string(fixture.path().join("old")).expect("it"), "old");
}

#[test]
fn folders_that_exist_keep_their_permissions_and_time() {
    use std::os::unix::fs::PermissionsExt;
    let mut fixture = Fixture::new();
    let old = fixture.path().join("old");
    fs::create_dir(&old).expect("a folder");
    let mode = |path: &Path| fs::metadata(path).expect("it").permissions().mode() & 0o777;
    let changed = fs::metadata(&old).expect("it").modified().expect("a time");
    let (root_mode, old_mode) = (mode(fixture.path()), mode(&old));
    fixture.begin("");
    for (id, path) in [("f1", "/"), ("f2", "~/"), ("f3", "")] {
        let reply = fixture.file(id, path, ";ft=directory;prm=511");
        assert!(reply.contains("st=EISDIR:"), "{path}: {reply}");
    }
    assert!(fixture.file("f4", "old", ";ft=directory;prm=511;mod=1").contains("st=OK"));
    assert!(fixture.file("f5", "new", ";ft=directory;prm=511").contains("st=OK"));
    fixture.file("f6", "file", ";prm=511");
    fixture.data("end_data", "f6", "x");
    assert_eq!(fixture.send("ac=finish;id=s"), "");
    assert_eq!((mode(fixture.path()), mode(&old)), (root_mode, old_mode));
    assert_eq!(fs::metadata(&old).expect("it").modified().expect("a time"), changed);
    // The group and others can't write to the received files.
    assert_eq!(mode(&fixture.path().join("new")), 0o755);
    assert_eq!(mode(&fixture.path().join("file")), 0o755);
}

#[test]
fn a_file_is_created_when_its_data_arrives() {
    let mut fixture = Fixture::new();
    fixture.begin("");
    for file in 0..20 {
        let started = fixture.file(&format!("f{file}"), &format!("d/{file}"), "");
        assert!(started.contains("STARTED"), "{started}");
    }
    assert_eq!(fs::read_dir(fixture.path()).expect("it").count(), 0);
    for file in 0..16 {
        assert!(fixture.data("data", &format!("f{file}"), "x").contains("PROGRESS"));
    }
    assert!(fixture.data("data", "f16", "x").contains("fid=f16 st=EBUSY:"));
    assert!(fixture.data("end_data", "f0", "").contains("st=OK"));
    // A file without data.
    assert!(fixture.data("end_data", "f17", "").contains("st=OK"));
    assert_eq!(fs::read(fixture.path().join("d/17")).expect("a file"), b"");
    // A file that was created meanwhile is neither replaced nor removed.
    fs::write(fixture.path().join("d/18"), "theirs").expect("a file");
    assert!(fixture.data("data", "f18", "x").contains("fid=f18 st=EEXIST:"));
    assert_eq!(fixture.send("ac=cancel;id=s"), "ac=status id=s st=CANCELED");
    assert_eq!(fs::read_to_string(fixture.path().join("d/18")).expect("it"), "theirs");
    let names = fs::read_dir(fixture.path().join("d")).expect("it");
    let mut names: Vec<_> = names.map(|entry| entry.expect("it").file_name()).collect();
    names.sort();
    assert_eq!(names, ["0", "17", "18"]);
}

#[test]
fn incomplete_files_count_into_the_bytes_of_a_session() {
    let mut fixture = Fixture::new();
    fixture.begin("");
    fixture.file("f1", "a", "");
    fixture.file("f2", "b", "");
    fixture.files.as_mut().expect("files").limit(10);
    assert!(fixture.data("data", "f1", "123456").contains("PROGRESS"));
    assert!(fixture.data("data", "f2", "12345").contains("fid=f2 st=EIO:"));
    assert!(fixture.data("end_data", "f1", "7890").ends_with("sz=10"));
    fixture.file("f3", "c", "");
    assert!(fixture.data("data", "f3", "1").contains("fid=f3 st=EIO:"));
}

#[test]
fn a_path_has_at_most_32_parts() {
    let mut fixture = Fixture::new();
    fixture.begin("");
    let path = |parts: usize| vec!["d"; parts].join("/");
    assert!(fixture.file("f1", &path(32), "").contains("STARTED"));
    assert!(fixture.file("f2", &path(33), "").contains("fid=f2 st=EINVAL:"));
    assert!(fixture.file("f3", &path(33), ";ft=directory").contains("fid=f3 st=EINVAL:"));
}

#[test]
fn a_request_says_which_paths_can_be_read() {
    let request = |paths: &[&str]| TransferRequest {
        handle: 1,
        direction: TransferDirection::FromHere,
        paths: strings(paths),
    };
    let folder = Path::new("/data/files");
    let whole = request(&["", "/", "~", "~/", "./.", "/data/files", "/data/files/"]);
    assert!(whole.paths_in(folder).iter().all(String::is_empty));
    let paths = request(&["~/a", "../x", "/data/files/b/./c/", "/etc/passwd", "b/../../x"]);
    assert_eq!(paths.paths_in(folder), ["a", "b/c", "etc/passwd"]);
}

#[test]
fn compressed_data_is_expanded_up_to_its_size() {
    let compress = |bytes: &[u8]| {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Default::default());
        std::io::Write::write_all(&mut encoder, bytes).expect("memory");
        encoder.finish().expect("memory")
    };
    let mut fixture = Fixture::new();
    fixture.begin("");
    fixture.file("f1", "a", ";zip=zlib");
    let data = compress(&b"text ".repeat(10_000));
    for chunk in data.chunks(50) {
        assert!(fixture.data("data", "f1", chunk).contains("PROGRESS"));
    }
    assert!(fixture.data("end_data", "f1", "").ends_with("sz=50000"));
    fixture.file("f2", "bomb", ";zip=zlib;sz=1000");
    let bomb = compress(&vec![0; 1 << 20]);
    let replies: Vec<_> =
        bomb.chunks(4096).map(|chunk| fixture.data("data", "f2", chunk)).collect();
    assert!(replies.iter().any(|reply| reply.contains("st=EIO:")), "{replies:?}");
    fixture.send("ac=finish;id=s");
    assert!(!fixture.path().join("bomb").exists());
}

#[test]
fn quiet_programs_get_fewer_replies() {
    for (quiet, errors) in [(1, true), (2, false)] {
        let mut fixture = Fixture::new();
        fixture.send(&format!("ac=send;id=s;q={quiet}"));
        let answer = fixture.answer(true);
        assert_eq!(reply_of(answer), "");
        assert_eq!(fixture.file("f", "a", ""), "");
        assert_eq!(fixture.data("end_data", "f", "x"), "");
        assert_eq!(!fixture.file("g", "../b", "").is_empty(), errors);
        assert_eq!(fixture.send("ac=cancel;id=s"), "");
    }
}

#[test]
fn sessions_and_paths_are_limited() {
    let mut fixture = Fixture::new();
    for session in 0..4 {
        assert_eq!(fixture.send(&format!("ac=send;id={session}")), "");
    }
    assert!(fixture.send("ac=send;id=4").contains("st=EBUSY:"));
    assert!(fixture.send("ac=send;id=3").contains("st=EINVAL:"));
    for count in ["0", "7", "99999999999999999999"] {
        assert!(
            fixture.send(&format!("ac=receive;id=r;sz={count}")).contains("st=EINVAL:"),
            "{count}"
        );
    }
}

/// Begins a session that reads these paths, which the user allows, and fetches files. Returns all that is sent.
fn served(fixture: &mut Fixture, paths: &[&str], fetches: &[&str]) -> Vec<String> {
    assert_eq!(fixture.send(&format!("ac=receive;id=s;sz={}", paths.len())), "");
    for (i, path) in paths.iter().enumerate() {
        assert_eq!(fixture.file(&format!("w{i}"), path, ""), "");
    }
    let asked = fixture.asked.as_ref().expect("a question");
    assert_eq!(
        (asked.direction, &asked.paths[..]),
        (TransferDirection::FromHere, &strings(paths)[..])
    );
    let folder = fixture.path().to_owned();
    let Some(Answered::Serve(to, wanted)) = fixture.answer(true) else { panic!("not served") };
    let (serving, received, _) = Serving::new();
    fixture.sessions.begin_serving(&to, serving);
    for (i, keys) in fetches.iter().enumerate() {
        let reply = fixture.send(&format!("ac=file;id=s;fid=d{i};{keys}"));
        assert_eq!(reply, "", "{keys}");
    }
    // The end of the session ends the thread after its remaining work.
    assert_eq!(fixture.send("ac=finish;id=s"), "");
    let sent = Mutex::new(Vec::new());
    serve(&to, &folder, &wanted, &received, |reply| {
        sent.lock().expect("it").push(words(reply));
        true
    });
    sent.into_inner().expect("it")
}

fn strings(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

#[test]
fn listed_files_are_sent_in_chunks() {
    let mut fixture = Fixture::new();
    let path = fixture.path().display().to_string();
    fs::create_dir(fixture.path().join("d")).expect("a folder");
    fs::write(fixture.path().join("d/a"), vec![b'a'; 5000]).expect("a file");
    fs::write(fixture.path().join("d/empty"), "").expect("a file");
    symlink("../elsewhere", fixture.path().join("d/link")).expect("a link");
    let name = |file: &str| format!("n={}", encode(format!("{path}/{file}")));
    let fetches = [
        name("d/a"),
        name("d/empty"),
        name("d/link"),
        name("other"),
        format!("{};zip=zlib", name("d/a")),
    ];
    let fetches: Vec<&str> = fetches.iter().map(String::as_str).collect();
    let sent = served(&mut fixture, &["~/d", "missing", "../x"], &fetches);
    let without_times = |reply: &String| {
        let words =
            reply.split(' ').filter(|word| !word.starts_with("mod=") && !word.starts_with("prm="));
        words.collect::<Vec<_>>().join(" ")
    };
    let list: Vec<_> = sent.iter().map(without_times).collect();
    let size = fs::metadata(fixture.path().join("d")).expect("it").len();
    assert_eq!(list[0], "ac=status id=s st=OK");
    assert_eq!(list[1], format!("ac=file id=s fid=w0 st=1 n={path}/d sz={size} ft=directory"));
    assert_eq!(list[2], format!("ac=file id=s fid=w0 st=2 n={path}/d/a sz=5000 pr=1"));
    assert_eq!(list[3], format!("ac=file id=s fid=w0 st=3 n={path}/d/empty sz=0 pr=1"));
    assert_eq!(list[4], format!("ac=file id=s fid=w0 st=4 n={path}/d/link sz=12 pr=1 ft=symlink"));
    assert!(list[5].starts_with("ac=status id=s fid=w1 st=ENOENT:"), "{}", list[5]);
    assert!(list[6].starts_with("ac=status id=s fid=w2 st=EPERM:"), "{}", list[6]);
    assert!(list[7].starts_with("ac=status id=s st=OK n=/"), "{}", list[7]);
    assert_eq!(list[8], format!("ac=data id=s fid=d0 d={}", "a".repeat(4096)));
    assert_eq!(list[9], format!("ac=end_data id=s fid=d0 d={}", "a".repeat(904)));
    assert_eq!(list[10], "ac=end_data id=s fid=d1");
    assert_eq!(list[11], "ac=end_data id=s fid=d2 d=../elsewhere");
    assert_eq!(list[12], "ac=status id=s fid=d3 st=EPERM:The path was not listed");
    assert!(list[13].starts_with("ac=end_data id=s fid=d4 d=x"), "{}", list[13]);
    assert_eq!(list.len(), 14);
}

#[test]
fn a_program_that_is_gone_ends_serving() {
    let mut fixture = Fixture::new();
    fs::write(fixture.path().join("a"), "a").expect("a file");
    fixture.send("ac=receive;id=s;sz=1");
    fixture.file("w", "a", "");
    let folder = fixture.path().to_owned();
    let Some(Answered::Serve(to, wanted)) = fixture.answer(true) else { panic!("not served") };
    // The handle still exists, but no data is accepted any more.
    let (serving, received, _) = Serving::new();
    serve(&to, &folder, &wanted, &received, |_| false);
    fixture.sessions.begin_serving(&to, serving);
    let delta = fixture.send(&format!("ac=file;id=s;fid=d;n={};tt=rsync", encode("a")));
    assert!(delta.contains("fid=d st=EINVAL:"), "{delta}");
}
