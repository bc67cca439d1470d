//! Tests in which the test acts as the terminal, on a real pty.

use std::{
    fs,
    io::{Read, Write},
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    thread::{self, JoinHandle},
};

use unterm_term::{
    Event, Options, Parser, Size, Term, TransferAction, TransferCommand, TransferKind,
    TransferReply,
};

use super::{put::WINDOW, *};

/// A terminal whose answers a test determines.
struct Fake {
    master: fs::File,
    term: Term,
    parser: Parser,
    commands: std::collections::VecDeque<TransferCommand>,
    id: String,
}

type Running = JoinHandle<Result<Transferred, TransferError>>;

impl Fake {
    /// Starts a program at the other end of the pty.
    fn start(
        program: impl FnOnce(&mut Channel) -> Result<Transferred, TransferError> + Send + 'static,
    ) -> (Self, Running) {
        let (master, tty) = pty();
        let running = thread::spawn(move || program(&mut Channel::open(&tty)?));
        let term = Term::new(Size::cells(80, 24), Options::default());
        let fake = Self {
            master: master.into(),
            term,
            parser: Parser::new(),
            commands: Default::default(),
            id: String::new(),
        };
        (fake, running)
    }

    /// The next command of the program.
    fn command(&mut self) -> TransferCommand {
        loop {
            if let Some(command) = self.commands.pop_front() {
                self.id.clone_from(&command.id);
                return command;
            }
            let mut bytes = [0; 65536];
            let count = self.master.read(&mut bytes).expect("the program runs");
            self.parser.advance(&mut self.term, &bytes[..count]);
            let events = self.term.take_events().into_iter();
            self.commands.extend(events.filter_map(|event| match event {
                Event::Transfer(command) => Some(*command),
                _ => None,
            }));
        }
    }

    /// Waits for a command with this action.
    fn expect(&mut self, action: TransferAction) -> TransferCommand {
        let command = self.command();
        assert_eq!(command.action, action);
        command
    }

    fn reply(&mut self, reply: TransferReply<'_>) {
        let bytes = TransferReply { id: &self.id, ..reply }.encode();
        self.master.write_all(bytes.as_bytes()).expect("the program reads");
    }

    fn status(&mut self, file_id: &str, status: &str) {
        self.reply(TransferReply { action: "status", file_id, status, ..Default::default() });
    }

    /// Lists a file for the first path that the program asked for.
    fn list(&mut self, own: &str, name: &str, parent: &str, kind: TransferKind) {
        let (action, file_id) = ("file", "0");
        let status = own;
        self.reply(TransferReply {
            action,
            file_id,
            status,
            name,
            parent,
            kind,
            ..Default::default()
        });
    }

    fn data(&mut self, action: &str, file_id: &str, data: &[u8]) {
        self.reply(TransferReply { action, file_id, data, ..Default::default() });
    }
}

fn pty() -> (OwnedFd, PathBuf) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    // Another test checks that programs inherit no pty.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).expect("a pty");
    grantpt(&master).expect("a pty");
    unlockpt(&master).expect("a pty");
    let name = ptsname(&master, Vec::new()).expect("its name");
    (master, name.into_string().expect("UTF-8").into())
}

/// Fetches the terminal's home folder into `folder`, up to the terminal's permission.
fn fetching(folder: &Path) -> (Fake, Running) {
    fetching_path(folder, "~")
}

/// Fetches one path into `folder`, up to the terminal's permission.
fn fetching_path(folder: &Path, path: &'static str) -> (Fake, Running) {
    let to = folder.join("to");
    let (mut fake, running) = Fake::start(move |channel| fetch(channel, &[path.to_owned()], &to));
    assert_eq!(fake.expect(TransferAction::Receive).size, 1);
    assert_eq!(fake.expect(TransferAction::File).name.as_deref(), Some(path));
    fake.status("", "OK");
    (fake, running)
}

fn end(running: Running) -> Result<Transferred, TransferError> {
    running.join().expect("no panic")
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("it").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_terminal_cannot_write_outside_the_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut fake, running) = fetching(folder.path());
    fake.list("1", "/home/u/..", "", TransferKind::Directory);
    fake.list("2", "..", "", TransferKind::Regular);
    fake.list("3", "/home/u/~", "", TransferKind::Regular);
    fake.list("4", "/", "", TransferKind::Directory);
    fake.list("5", "/home/u/evil", "1", TransferKind::Regular);
    fake.list("6", "/home/u/link", "", TransferKind::Symlink);
    fake.list("7", "/etc/fine", "", TransferKind::Regular);
    fake.status("", "OK");
    let request = fake.expect(TransferAction::File);
    assert_eq!((request.file_id.as_str(), request.name.as_deref()), ("7", Some("/etc/fine")));
    // Files that were not requested are ignored.
    fake.data("end_data", "2", b"x");
    fake.data("end_data", "7", b"data");
    fake.expect(TransferAction::Finish);
    let done = end(running).expect("a transfer");
    assert_eq!((done.files, done.bytes, done.failures.len()), (1, 4, 6));
    assert_eq!(names(folder.path()), ["to"]);
    assert_eq!(names(&folder.path().join("to")), ["fine"]);
}

#[test]
fn a_terminal_chooses_no_names() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut fake, running) = fetching_path(folder.path(), "data/a/");
    fake.list("1", "/home/u/.bash_profile", "", TransferKind::Regular);
    fake.list("2", "/home/u/.ssh", "", TransferKind::Directory);
    fake.list("3", "/home/u/.ssh/config", "2", TransferKind::Regular);
    fake.list("4", "/home/u/data/a", "", TransferKind::Directory);
    fake.list("5", "/home/u/data/a/b", "4", TransferKind::Regular);
    fake.status("", "OK");
    assert_eq!(fake.expect(TransferAction::File).file_id, "5");
    fake.data("end_data", "5", b"data");
    fake.expect(TransferAction::Finish);
    let done = end(running).expect("a transfer");
    assert_eq!((done.files, done.failures.len()), (1, 3));
    assert_eq!(names(&folder.path().join("to")), ["a"]);
    assert_eq!(names(&folder.path().join("to/a")), ["b"]);
}

#[test]
fn a_link_in_the_folder_is_not_followed() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(folder.path().join("to")).expect("a folder");
    fs::create_dir(folder.path().join("outside")).expect("a folder");
    std::os::unix::fs::symlink("../outside", folder.path().join("to/d")).expect("a link");
    let (mut fake, running) = fetching(folder.path());
    fake.list("1", "/d", "", TransferKind::Directory);
    fake.list("2", "/d/a", "1", TransferKind::Regular);
    fake.status("", "OK");
    fake.expect(TransferAction::Finish);
    let done = end(running).expect("a transfer");
    assert_eq!((done.files, done.failures.len()), (0, 2), "{:?}", done.failures);
    assert!(names(&folder.path().join("outside")).is_empty());
}

#[test]
fn a_file_that_fails_is_removed_and_the_rest_arrives() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut fake, running) = fetching(folder.path());
    for name in ["one", "two"] {
        fake.list(name, &format!("/{name}"), "", TransferKind::Regular);
    }
    fake.status("", "OK");
    fake.expect(TransferAction::File);
    fake.expect(TransferAction::File);
    fake.data("data", "one", b"part");
    fake.status("one", "EIO:The disk\x1b[31m failed");
    fake.data("end_data", "two", b"whole");
    fake.expect(TransferAction::Finish);
    let done = end(running).expect("a transfer");
    assert_eq!(done.failures, [("one".to_owned(), "The disk[31m failed".to_owned())]);
    assert_eq!(names(&folder.path().join("to")), ["two"]);
}

#[test]
fn a_session_that_the_terminal_ends_is_canceled() {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut fake, running) = fetching(folder.path());
    fake.list("1", "/a", "", TransferKind::Regular);
    fake.status("", "OK");
    fake.expect(TransferAction::File);
    fake.data("data", "1", b"part");
    fake.status("", "EIO:Gone");
    fake.expect(TransferAction::Cancel);
    // Data that is still on its way does not reach the shell.
    fake.data("data", "1", b"more");
    fake.status("", "CANCELED");
    assert!(matches!(end(running), Err(TransferError::Refused(why)) if why == "Gone"));
    assert!(names(&folder.path().join("to")).is_empty(), "an incomplete file stays");
}

#[test]
fn a_put_waits_while_too_much_is_not_confirmed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    fs::write(&path, vec![b'x'; 1 << 20]).expect("a file");
    let (mut fake, running) = Fake::start(move |channel| put(channel, &[path], "~"));
    fake.expect(TransferAction::Send);
    fake.status("", "OK");
    let file = fake.expect(TransferAction::File);
    assert_eq!((file.name.as_deref(), file.size), (Some("~/a"), 1 << 20));
    let (mut received, mut confirmed) = (0, 0);
    loop {
        let command = fake.command();
        let data = command.data.expect("data");
        assert!(data.len() <= CHUNK);
        received += data.len() as u64;
        if command.action == TransferAction::EndData {
            break;
        }
        let on_its_way = received - confirmed;
        if on_its_way > WINDOW {
            // The program has stopped after the command that filled the window.
            assert!(on_its_way <= WINDOW + CHUNK as u64 && fake.commands.is_empty());
            confirmed = received;
            let (action, status, size) = ("status", "PROGRESS", Some(received));
            fake.reply(TransferReply { action, file_id: "1", status, size, ..Default::default() });
        }
    }
    assert_eq!(received, 1 << 20);
    fake.status("1", "OK");
    fake.expect(TransferAction::Finish);
    assert_eq!(end(running).expect("a transfer").bytes, 1 << 20);
}

#[test]
fn a_terminal_that_is_silent_or_a_multiplexer_is_named() {
    let named = |reply: &'static [u8]| {
        let (mut fake, running) = Fake::start(|channel| {
            channel.terminal_name()?;
            Ok(Transferred::default())
        });
        // The program is in raw mode before it asks.
        let mut asked = Vec::new();
        while !asked.ends_with(b"\x1b[c") {
            let mut bytes = [0; 64];
            let count = fake.master.read(&mut bytes).expect("a query");
            asked.extend_from_slice(&bytes[..count]);
        }
        fake.master.write_all(reply).expect("the program reads");
        let ended = end(running);
        drop(fake);
        ended
    };
    assert!(named(b"\x1bP>|Unterm(0.1)\x1b\\\x1b[?62c").is_ok());
    assert!(named(b"\x1b[?1;2c").is_ok(), "old terminals report no name");
    let tmux = named(b"\x1bP>|tmux 3.3a\x1b\\\x1b[?1;2c");
    assert!(matches!(tmux, Err(TransferError::Multiplexer(name)) if name == "tmux"));
    assert!(matches!(named(b"\x03"), Err(TransferError::Interrupted)));
}
