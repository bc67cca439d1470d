//! File transfers over the terminal (OSC 5113), with real programs.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    thread::{self, JoinHandle},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use unterm_mux::{
    Mux, MuxEvent, MuxOptions, Pane, TransferDirection, TransferRequest,
    transfer::{Channel, TransferError, Transferred, fetch, put},
};

use crate::common::{Ear, headless, open, wait, wait_text};

fn with_window() -> std::sync::Arc<Mux> {
    Mux::new(MuxOptions { sized_by_window: true, ..MuxOptions::default() })
}

/// Waits until the program's request arrives.
fn request(pane: &Pane, ear: &Ear) -> TransferRequest {
    let mut found = None;
    wait(pane, "its request", |_| {
        found = ear.all().into_iter().find_map(|event| match event {
            MuxEvent::Transfer { request, .. } => Some(request),
            _ => None,
        });
        found.is_some()
    });
    found.expect("a request")
}

#[test]
fn without_a_window_transfers_are_refused() {
    let mux = headless();
    let ear = Ear::new(&mux);
    let pane = open(
        &mux,
        r"stty -echo -icanon
        printf '\033]5113;ac=send;id=s\033\\'
        head -c 40 | tr '\033' '\n'",
    );
    // The error is EPERM.
    wait_text(&pane, "]5113;ac=status;id=s;st=RVBFUk06");
    assert!(!ear.all().iter().any(|event| matches!(event, MuxEvent::Transfer { .. })));
    mux.shutdown();
}

#[test]
fn a_program_puts_a_file_into_the_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let mux = with_window();
    let ear = Ear::new(&mux);
    // The name is `~/a`, the data `hello`, and the answer before it `OK`.
    let pane = open(
        &mux,
        r"stty -echo -icanon
        printf '\033]5113;ac=send;id=s\033\\'
        head -c 31 >/dev/null
        printf '\033]5113;ac=file;id=s;fid=1;n=fi9h\033\\'
        printf '\033]5113;ac=end_data;id=s;fid=1;d=aGVsbG8=\033\\\033]5113;ac=finish;id=s\033\\'
        echo sent; read line",
    );
    let asked = request(&pane, &ear);
    assert_eq!(asked.direction, TransferDirection::ToHere);
    assert_eq!(std::fs::read_dir(folder.path()).expect("it").count(), 0);
    pane.answer_transfer(asked.handle, Some(folder.path().to_owned()));
    wait_text(&pane, "sent");
    assert_eq!(std::fs::read_to_string(folder.path().join("a")).expect("a file"), "hello");
    mux.shutdown();
}

#[test]
fn a_file_larger_than_the_queue_reaches_its_program_whole() {
    const LENGTH: usize = 3 << 20;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    std::fs::write(&path, vec![b'x'; LENGTH]).expect("a file");
    let path = BASE64_STANDARD.encode(path.to_str().expect("UTF-8"));
    let mux = with_window();
    let ear = Ear::new(&mux);
    // After the answer, two escape characters in each of the file's entry, the end of the list and 768 parts.
    let script = format!(
        r"stty -echo -icanon
        printf '\033]5113;ac=receive;id=s;sz=1\033\\\033]5113;ac=file;id=s;fid=1;n=YQ==\033\\'
        head -c 31 >/dev/null
        printf '\033]5113;ac=file;id=s;fid=2;n={path}\033\\'
        stdbuf -o0 tr -dc '\033' | head -c 1540 | wc -c"
    );
    let pane = open(&mux, &script);
    let asked = request(&pane, &ear);
    assert_eq!(
        (asked.direction, &asked.paths[..]),
        (TransferDirection::FromHere, &["a".to_owned()][..])
    );
    pane.answer_transfer(asked.handle, Some(folder.path().to_owned()));
    wait_text(&pane, "1540");
    mux.shutdown();
}

/// A pane whose terminal the transfer's program uses in a thread of this process.
struct Fixture {
    mux: Arc<Mux>,
    ear: Arc<Ear>,
    pane: Arc<Pane>,
    /// The folder of the terminal's machine, and the folder at the program's end.
    there: tempfile::TempDir,
    here: tempfile::TempDir,
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.mux.shutdown();
    }
}

type Running = JoinHandle<Result<Transferred, TransferError>>;

impl Fixture {
    fn new(mux: Arc<Mux>) -> Self {
        let ear = Ear::new(&mux);
        // Nothing else may read the terminal.
        let pane = open(&mux, "echo ready; exec sleep 1000");
        wait_text(&pane, "ready");
        let folder = || tempfile::tempdir().expect("a folder");
        Self { mux, ear, pane, there: folder(), here: folder() }
    }

    fn start(
        &self,
        program: impl FnOnce(&mut Channel) -> Result<Transferred, TransferError> + Send + 'static,
    ) -> Running {
        let tty = self.pane.process().tty().expect("a terminal");
        thread::spawn(move || {
            let mut channel = Channel::open(&tty)?;
            channel.terminal_name()?;
            program(&mut channel)
        })
    }

    fn put(&self, paths: &[&str], to: &'static str) -> Running {
        let paths: Vec<PathBuf> = paths.iter().map(|path| self.here.path().join(path)).collect();
        self.start(move |channel| put(channel, &paths, to))
    }

    fn fetch(&self, paths: &[&str]) -> Running {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        let to = self.here.path().join("fetched");
        self.start(move |channel| fetch(channel, &paths, &to))
    }

    fn answer(&self, is_allowed: bool) {
        let handle = request(&self.pane, &self.ear).handle;
        self.pane.answer_transfer(handle, is_allowed.then(|| self.there.path().to_owned()));
    }
}

fn end(running: Running) -> Result<Transferred, TransferError> {
    running.join().expect("no panic")
}

/// Writes a folder with files of many sizes and names.
fn fill(folder: &Path) {
    fs::create_dir_all(folder.join("inner/empty")).expect("folders");
    for (name, length) in
        [("a b", 0), ("\u{e9}\u{4e2d}", 1), ("inner/c", 3072), ("inner/d", 300_000)]
    {
        let data: Vec<u8> = (0..length).map(|at: usize| (at * 31 % 251) as u8).collect();
        fs::write(folder.join(name), data).expect("a file");
    }
}

fn assert_equal(one: &Path, other: &Path) {
    for name in ["a b", "\u{e9}\u{4e2d}", "inner/c", "inner/d"] {
        let read = |folder: &Path| fs::read(folder.join(name)).expect(name);
        assert!(read(one) == read(other), "{name}");
    }
    assert!(other.join("inner/empty").is_dir());
}

#[test]
fn folders_are_put_and_fetched_whole() {
    let fixture = Fixture::new(with_window());
    let folder = fixture.here.path().join("folder");
    fill(&folder);
    std::os::unix::fs::symlink("a b", folder.join("link")).expect("a link");
    let running = fixture.put(&["folder"], "~/sub/");
    fixture.answer(true);
    let done = end(running).expect("a transfer");
    assert_eq!((done.files, done.bytes), (4, 303_073));
    assert_eq!(done.failures.len(), 1, "{:?}", done.failures);
    assert!(done.failures[0].0.ends_with("/link") && done.failures[0].1.contains("links"));
    assert_equal(&folder, &fixture.there.path().join("sub/folder"));

    let fixture = Fixture::new(with_window());
    let folder = fixture.there.path().join("folder");
    fill(&folder);
    let running = fixture.fetch(&["~/folder", "missing"]);
    fixture.answer(true);
    let done = end(running).expect("a transfer");
    assert_eq!((done.files, done.bytes), (4, 303_073));
    assert_eq!(done.failures.len(), 1, "{:?}", done.failures);
    assert_eq!(done.failures[0].0, "missing");
    assert_equal(&folder, &fixture.here.path().join("fetched/folder"));
}

#[test]
fn many_small_files_are_all_copied() {
    const COUNT: usize = 300;
    let fixture = Fixture::new(with_window());
    let folder = fixture.here.path().join("many");
    fs::create_dir(&folder).expect("a folder");
    for number in 0..COUNT {
        fs::write(folder.join(number.to_string()), number.to_string()).expect("a file");
    }
    let running = fixture.put(&["many"], "~");
    fixture.answer(true);
    let done = end(running).expect("a transfer");
    assert_eq!((done.files, &done.failures[..]), (COUNT, &[][..]));
    let names = fs::read_dir(fixture.there.path().join("many")).expect("a folder");
    assert_eq!(names.count(), COUNT);
}

#[test]
fn files_that_exist_stay_and_the_others_are_copied() {
    let fixture = Fixture::new(with_window());
    for name in ["a", "b"] {
        fs::write(fixture.here.path().join(name), vec![b'n'; 20_000]).expect("a file");
    }
    fs::write(fixture.there.path().join("a"), "old").expect("a file");
    let running = fixture.put(&["a", "b"], "~");
    fixture.answer(true);
    let done = end(running).expect("a transfer");
    assert_eq!(done.files, 1);
    assert!(done.failures[0].1.contains("exists"), "{:?}", done.failures);
    assert_eq!(fs::read_to_string(fixture.there.path().join("a")).expect("it"), "old");
    assert_eq!(fs::read(fixture.there.path().join("b")).expect("it").len(), 20_000);
}

#[test]
fn a_refusal_names_its_reason() {
    let refused = |fixture: &Fixture, running: Running| match end(running) {
        Err(TransferError::Refused(why)) => (why, fs::read_dir(fixture.there.path())),
        other => panic!("{other:?}"),
    };
    let fixture = Fixture::new(headless());
    fs::write(fixture.here.path().join("a"), "x").expect("a file");
    let (why, _) = refused(&fixture, fixture.put(&["a"], "~"));
    assert_eq!(why, "No window can ask the user");
    let fixture = Fixture::new(with_window());
    fs::write(fixture.here.path().join("a"), "x").expect("a file");
    let running = fixture.put(&["a"], "~");
    fixture.answer(false);
    let (why, files) = refused(&fixture, running);
    assert_eq!((why.as_str(), files.expect("a folder").count()), ("User refused the transfer", 0));
    let (why, _) = refused(&fixture, fixture.fetch(&["a"; 7]));
    assert!(why.contains("between 1 and 6"), "{why}");
}

#[test]
fn ctrl_c_cancels_while_the_user_is_asked() {
    let fixture = Fixture::new(with_window());
    fs::write(fixture.here.path().join("a"), "x").expect("a file");
    let running = fixture.put(&["a"], "~");
    request(&fixture.pane, &fixture.ear);
    fixture.pane.write(b"\x03").expect("input");
    let ended = end(running);
    assert!(matches!(ended, Err(TransferError::Interrupted)), "{ended:?}");
    // The terminal echoes again, and no reply was left for the shell.
    fixture.pane.write(b"typed").expect("input");
    wait_text(&fixture.pane, "typed");
    assert!(!crate::common::screen(&fixture.pane).iter().any(|row| row.contains("5113")));
}
