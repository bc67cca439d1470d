use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use unterm_mux::{MuxOptions, OnExit, Spawn};

use super::{
    log::{Event, EventKind},
    *,
};

fn events(row: &Record) -> Vec<Event> {
    log::read(File::open(&row.log_path).unwrap()).unwrap()
}

/// A mux with one pane that runs a script.
fn pane(script: &str) -> (Arc<Mux>, Arc<Pane>) {
    let mux = Mux::new(MuxOptions::default());
    let spawn = Spawn {
        program: Some("sh".to_owned()),
        args: vec!["-c".to_owned(), script.to_owned()],
        ..Spawn::default()
    };
    let pane = mux.open_tab(spawn, None, OnExit::Hold).unwrap();
    (mux, pane)
}

fn recorder(home: &Path, limits: Limits) -> Recorder {
    Recorder { limits, ..Recorder::new(home) }
}

/// Waits until the program and its recording have ended.
async fn over(recorder: &Recorder, pane: &Pane) {
    let waiting = async {
        while recorder.status(pane.id()).is_some() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it never ends");
}

/// Waits until the recording continues in a log other than `first`.
async fn rotated(recorder: &Recorder, pane: &Pane, first: &Record) {
    let is_first = || {
        let now = recorder.status(pane.id()).expect("it is recorded");
        now.unterm_session_id == first.unterm_session_id
    };
    let waiting = async {
        while is_first() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it never rotates");
}

/// All output in the logs, in the order of the recordings.
fn output(rows: &[Record]) -> Vec<u8> {
    let events = rows.iter().flat_map(events);
    events.filter(|event| event.kind == EventKind::Out).flat_map(|event| event.bytes).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_recording_goes_on_in_others_and_nothing_is_lost() {
    let home = tempfile::tempdir().unwrap();
    let recorder = recorder(home.path(), Limits { bytes: 20_000, ..LIMITS });
    let (_mux, pane) = pane(
        "stty -echo; read x; i=0; while [ $i -lt 2000 ]; do i=$((i+1)); echo line $i of many; done; read x",
    );
    let first = recorder.start(pane.clone(), |_| false).await.unwrap();
    recorder.attach(pane.id(), "trace".to_owned()).await.unwrap();
    pane.write(b"\n").unwrap();
    rotated(&recorder, &pane, &first).await;
    pane.write(b"\n").unwrap();
    over(&recorder, &pane).await;
    let rows = rows(home.path()).unwrap();
    assert!(rows.len() > 1, "{rows:?}");
    let expected: String = (1..=2000).map(|n| format!("line {n} of many\r\n")).collect();
    let output = String::from_utf8(output(&rows)).unwrap();
    assert!(output.ends_with(&expected), "{} bytes of {}", output.len(), expected.len());
    for (index, row) in rows.iter().enumerate() {
        let is_last = index + 1 == rows.len();
        let reason = if is_last { "exited" } else { "rotated" };
        assert_eq!(row.exit_reason.as_deref(), Some(reason));
        let parent = index.checked_sub(1).map(|parent| rows[parent].unterm_session_id.clone());
        assert_eq!(row.parent_session_id, parent);
        assert_eq!(row.trace_ids, ["trace"]);
        assert!(row.md_path.is_file());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_takes_so_many_trace_ids() {
    let home = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(home.path());
    let (_mux, pane) = pane("read x");
    recorder.start(pane.clone(), |_| false).await.unwrap();
    let attach = |number: usize| recorder.attach(pane.id(), number.to_string());
    for number in 0..MOST_TRACES {
        attach(number).await.unwrap();
    }
    assert!(attach(MOST_TRACES).await.unwrap_err().contains("256 trace ids already"));
    assert_eq!(attach(0).await.unwrap().len(), MOST_TRACES, "it is there");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recording_rotates_after_its_limit_of_commands() {
    let home = tempfile::tempdir().unwrap();
    let recorder = recorder(home.path(), Limits { blocks: 2, ..LIMITS });
    let mark = r"printf '\033]133;A\007$ \033]133;B\007c\r\n\033]133;C\007out\r\n\033]133;D;0\007'";
    let (_mux, pane) =
        pane(&format!("stty -echo; for i in 1 2 3 4 5; do read x; {mark}; done; read x"));
    let first = recorder.start(pane.clone(), |_| false).await.unwrap();
    for _ in 0..5 {
        pane.write(b"\n").unwrap();
    }
    rotated(&recorder, &pane, &first).await;
    pane.write(b"\n").unwrap();
    over(&recorder, &pane).await;
    let rows = rows(home.path()).unwrap();
    assert_eq!(rows.iter().map(|row| row.block_count).sum::<u64>(), 5, "{rows:?}");
    assert!(rows[0].block_count >= 2 && rows.len() > 1, "{rows:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_pause_another_one_begins() {
    let home = tempfile::tempdir().unwrap();
    let minute = Duration::from_millis(1);
    let recorder = recorder(home.path(), Limits { minute, ..LIMITS });
    let (_mux, pane) = pane("stty -echo; echo ready; while read x; do echo $x; done");
    // Lines that are written before the terminal stops echoing would be in the output twice.
    let seen = pane.clone();
    tokio::task::spawn_blocking(move || see(&seen, "ready")).await.unwrap();
    let first = recorder.start(pane.clone(), |_| false).await.unwrap();
    let mut lines = String::new();
    let writing = async {
        // On a busy machine, the recording may see several lines at once. So repeat the pauses until the recording has
        // seen a pause.
        for line in 0.. {
            pane.write(format!("{line}\n").as_bytes()).unwrap();
            lines += &format!("{line}\r\n");
            // This is more than five of the test's minutes, after which the recording continues in a new log.
            tokio::time::sleep(minute * 10).await;
            if recorder.status(pane.id()).expect("it is recorded").unterm_session_id
                != first.unterm_session_id
            {
                return;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), writing).await.expect("it never rotates");
    pane.write(b"\x04").unwrap();
    over(&recorder, &pane).await;
    let rows = rows(home.path()).unwrap();
    assert!(rows.len() > 1, "{rows:?}");
    assert_eq!(rows[0].exit_reason.as_deref(), Some("rotated"));
    assert_eq!(String::from_utf8(output(&rows)).unwrap(), lines);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_session_is_recorded_where_the_settings_say_so() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("recording.json"), r#"{"recording":{"enabled":true}}"#).unwrap();
    let recorder = Arc::new(Recorder::new(home.path()));
    let mux = Mux::new(MuxOptions::default());
    let following = recorder.clone().follow(&mux, |_| false);
    let spawn = Spawn {
        program: Some("sh".to_owned()),
        args: vec!["-c".to_owned(), "echo first; exec cat".to_owned()],
        ..Spawn::default()
    };
    let pane = mux.open_tab(spawn, None, OnExit::Hold).unwrap();
    // The program may have written all its output before the settings are read.
    let (seen, text) = (pane.clone(), "first");
    tokio::task::spawn_blocking(move || see(&seen, text)).await.unwrap();
    tokio::spawn(following);
    let waiting = async {
        while recorder.status(pane.id()).is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it is never recorded");
    recorder.stop_all().await;
    assert!(recorder.status(pane.id()).is_none());
    assert!(output(&rows(home.path()).unwrap()).starts_with(b"first\r\n"));
    mux.shutdown();
}

/// The input in the log.
fn input(row: &Record) -> String {
    let events = events(row).into_iter();
    let typed = events.filter(|event| event.kind == EventKind::In).flat_map(|event| event.bytes);
    String::from_utf8(typed.collect()).unwrap()
}

/// Waits until the screen shows a text. Blocks the thread, so that no other task of the test runs meanwhile.
fn see(pane: &Pane, text: &str) {
    let start = Instant::now();
    while pane.term().find(text, 1).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "{text} never came");
        std::thread::yield_now();
    }
}

// The test runs on one thread, so that the recorder handles the input only after the program has read the password.
#[tokio::test(flavor = "current_thread")]
async fn a_password_typed_at_once_is_in_no_recording() {
    let home = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(home.path());
    let (_mux, pane) = pane(
        "printf 'name: '; read -r a; stty -echo; printf 'password: '; read -r b; stty echo; echo again; read -r c",
    );
    let hides = |pane: &Pane| pane.process().echo() == Some(false);
    recorder.start(pane.clone(), hides).await.unwrap();
    let admit = |_: &unterm_mux::Composed| Ok::<_, ()>(());
    see(&pane, "name:");
    pane.write(b"somebody\n").unwrap();
    see(&pane, "password:");
    pane.write_admitted(b"hunter2\n", admit).unwrap().unwrap();
    see(&pane, "again");
    pane.write(b"visible\n").unwrap();
    over(&recorder, &pane).await;
    let row = rows(home.path()).unwrap().remove(0);
    assert_eq!(input(&row), "somebody\nvisible\n");
    let text = fs::read_to_string(&row.md_path).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
}

#[tokio::test(flavor = "current_thread")]
async fn a_password_typed_key_by_key_is_in_no_recording() {
    let home = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(home.path());
    let (_mux, pane) =
        pane("stty -echo; printf 'password: '; read -r b; stty echo; echo again; read -r c");
    let hides = |pane: &Pane| pane.process().echo() == Some(false);
    recorder.start(pane.clone(), hides).await.unwrap();
    see(&pane, "password:");
    for key in ["h", "u", "n", "t", "e", "r", "2", "\r"] {
        pane.write(key.as_bytes()).unwrap();
    }
    see(&pane, "again");
    pane.write(b"visible\n").unwrap();
    over(&recorder, &pane).await;
    let row = rows(home.path()).unwrap().remove(0);
    assert_eq!(input(&row), "visible\n");
}

/// A script that prints marks like a shell with integration.
const MARKED: &str = r#"
begin() { printf '\033]133;A\007$ \033]133;B\007%s\r\n\033]633;E;%s\007\033]133;C\007' "$1" "$1"; }
finish() { printf '\033]133;D;%s\007' $1; }
stty -echo
read x
"#;

#[tokio::test(flavor = "multi_thread")]
async fn one_burst_of_twelve_mebibytes_is_recorded_whole() {
    let home = tempfile::tempdir().unwrap();
    let big = home.path().join("big");
    let line = |n: usize| format!("{n:08} and so it goes on and on, line by line\n");
    let text: String = (0..(12 << 20) / line(0).len()).map(line).collect();
    fs::write(&big, &text).unwrap();
    let recorder = Recorder::new(home.path());
    let (_mux, pane) = pane(&format!(
        "{MARKED}begin 'cat big'; cat {}; finish 0; echo over; read x",
        big.display()
    ));
    recorder.start(pane.clone(), |_| false).await.unwrap();
    pane.write(b"\n").unwrap();
    let seen = pane.clone();
    // The text comes after the end mark of the command.
    tokio::task::spawn_blocking(move || see(&seen, "over")).await.unwrap();
    let last = recorder.stop(pane.id(), "stopped").await.unwrap();
    let rows = rows(home.path()).unwrap();
    assert!(rows.len() > 2, "it goes over several files");
    assert_eq!(rows.last(), Some(&last));
    let whole = String::from_utf8(output(&rows)).unwrap().replace("\r\n", "\n");
    assert!(whole.contains(&text), "{} of {} bytes", whole.len(), text.len());
    for row in &rows {
        assert_eq!((row.bytes_lost, &row.error), (0, &None));
        // Every part names the command, although the shell reported it only in the first.
        let page = fs::read_to_string(&row.md_path).unwrap();
        assert!(page.contains("## Block 1 — `cat big`"), "{}", &page[..600]);
        assert!(page.contains(" and so it goes on and on"));
        assert_eq!((&row.shell, &row.project_path), (&rows[0].shell, &rows[0].project_path));
    }
    let (first, last) = (&rows[0], &rows[rows.len() - 1]);
    assert!(fs::read_to_string(&first.md_path).unwrap().contains("> exit: unknown"));
    assert!(fs::read_to_string(&last.md_path).unwrap().contains("> exit: 0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn output_that_ends_with_a_partial_mark_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(home.path());
    let (_mux, pane) = pane(r"stty -echo; read x; printf 'end\033]133;'");
    recorder.start(pane.clone(), |_| false).await.unwrap();
    pane.write(b"\n").unwrap();
    over(&recorder, &pane).await;
    let rows = rows(home.path()).unwrap();
    assert!(output(&rows).ends_with(b"end\x1b]133;"), "{:?}", output(&rows));
}

/// A pane in its own project, and the project.
fn project_pane(script: &str) -> (Arc<Mux>, Arc<Pane>, tempfile::TempDir) {
    let project = tempfile::tempdir().unwrap();
    let mux = Mux::new(MuxOptions::default());
    let spawn = Spawn {
        program: Some("sh".to_owned()),
        args: vec!["-c".to_owned(), script.to_owned()],
        cwd: Some(project.path().to_owned()),
        ..Spawn::default()
    };
    let pane = mux.open_tab(spawn, None, OnExit::Hold).unwrap();
    (mux, pane, project)
}

/// All files below a folder, by their relative paths.
fn files_below(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder).unwrap().display().to_string());
            }
        }
    }
    found.sort();
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_gets_the_masked_page_alone_and_git_ignores_it() {
    let home = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(home.path());
    let (_mux, pane, project) = project_pane("stty -echo; read x; echo password=hunter2; read x");
    let started = recorder.start(pane.clone(), |_| false).await.unwrap();
    assert!(started.log_path.starts_with(home.path()), "{:?}", started.log_path);
    pane.write(b"\n").unwrap();
    let seen = pane.clone();
    tokio::task::spawn_blocking(move || see(&seen, "hunter2")).await.unwrap();
    let row = recorder.stop(pane.id(), "stopped").await.unwrap();
    let date = &row.started_at[..10];
    let page = format!(".unterm/sessions/{date}/{}", row.md_path.file_name().unwrap().display());
    assert_eq!(files_below(project.path()), [".unterm/.gitignore".to_owned(), page.clone()]);
    assert_eq!(row.md_path, project.path().canonicalize().unwrap().join(page));
    assert_eq!(fs::read_to_string(project.path().join(".unterm/.gitignore")).unwrap(), "*\n");
    let text = fs::read_to_string(&row.md_path).unwrap();
    assert!(text.contains("password: <redacted>") && !text.contains("hunter2"), "{text}");
    assert_eq!(recorder.page(&row.unterm_session_id).unwrap(), text);
}

#[tokio::test(flavor = "multi_thread")]
async fn output_does_not_choose_the_project() {
    let home = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().display();
    let (_mux, pane, project) = project_pane(&format!(
        r"stty -echo; printf '\033]7;file://{path}\033\\said\n'; read x; echo more; read x"
    ));
    let recorder = recorder(home.path(), Limits { bytes: 1, ..LIMITS });
    let seen = pane.clone();
    tokio::task::spawn_blocking(move || see(&seen, "said")).await.unwrap();
    assert_eq!(pane.term().cwd(), Some(&*format!("file://{path}")), "the terminal believes it");
    let first = recorder.start(pane.clone(), |_| false).await.unwrap();
    pane.write(b"\n").unwrap();
    rotated(&recorder, &pane, &first).await;
    recorder.stop(pane.id(), "stopped").await.unwrap();
    let project = project.path().canonicalize().unwrap();
    for row in rows(home.path()).unwrap() {
        assert_eq!(row.project_path.as_deref(), project.to_str());
        assert!(row.md_path.starts_with(&project), "{:?}", row.md_path);
    }
    assert!(files_below(elsewhere.path()).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_linked_folder_in_a_project_gets_no_page() {
    for linked in [".unterm", ".unterm/sessions"] {
        let home = tempfile::tempdir().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        let recorder = Recorder::new(home.path());
        let (_mux, pane, project) = project_pane("read x");
        let link = project.path().join(linked);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(elsewhere.path(), link).unwrap();
        recorder.start(pane.clone(), |_| false).await.unwrap();
        let row = recorder.stop(pane.id(), "stopped").await.unwrap();
        assert!(row.md_path.starts_with(home.path()), "{:?}", row.md_path);
        assert!(recorder.page(&row.unterm_session_id).unwrap().starts_with("---\n"));
        assert!(files_below(elsewhere.path()).is_empty(), "{linked}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_whose_gitignore_is_a_link_gets_no_page() {
    let home = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(home.path());
    let (_mux, pane, project) = project_pane("read x");
    let other = tempfile::NamedTempFile::new().unwrap();
    fs::create_dir(project.path().join(".unterm")).unwrap();
    symlink(other.path(), project.path().join(".unterm/.gitignore")).unwrap();
    recorder.start(pane.clone(), |_| false).await.unwrap();
    let row = recorder.stop(pane.id(), "stopped").await.unwrap();
    assert!(row.md_path.starts_with(home.path()), "{:?}", row.md_path);
    assert_eq!(fs::read(other.path()).unwrap(), b"", "what it leads to is not written");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_was_replaced_by_something_else_is_not_read() {
    let home = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(home.path());
    let (_mux, pane, project) = project_pane("read x");
    recorder.start(pane.clone(), |_| false).await.unwrap();
    let row = recorder.stop(pane.id(), "stopped").await.unwrap();
    let token = home.path().join("active.json");
    fs::write(&token, "the instance's token").unwrap();
    let page = row.md_path.clone();
    let refused = |what: &str| {
        let error = recorder.page(&row.unterm_session_id).unwrap_err();
        assert!(error.contains("can't be read"), "{what}: {error}");
    };
    for target in [token.as_path(), Path::new("/dev/zero"), Path::new("/nowhere")] {
        fs::remove_file(&page).unwrap();
        symlink(target, &page).unwrap();
        refused("a link");
    }
    fs::remove_file(&page).unwrap();
    fs::hard_link(&token, &page).unwrap();
    refused("a hard link");
    fs::remove_file(&page).unwrap();
    let mode = rustix::fs::Mode::RWXU;
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, &page, fifo, mode, 0).unwrap();
    refused("a pipe");
    // Now a parent folder is replaced by a link.
    fs::remove_dir_all(project.path().join(".unterm")).unwrap();
    let evil = tempfile::tempdir().unwrap();
    let below = page.strip_prefix(project.path().canonicalize().unwrap().join(".unterm")).unwrap();
    fs::create_dir_all(evil.path().join(below).parent().unwrap()).unwrap();
    fs::write(evil.path().join(below), "somebody else's").unwrap();
    symlink(evil.path(), project.path().join(".unterm")).unwrap();
    refused("a linked folder");
    // Now the row contains the path of a different file.
    let row = Record { md_path: token.clone(), log_path: token, ..row.clone() };
    index(home.path(), |rows| replace_row(rows, &row)).unwrap();
    refused("another file");
}

#[test]
fn recovery_reads_no_links_and_no_devices() {
    let home = tempfile::tempdir().unwrap();
    let project = tempfile::tempdir().unwrap();
    let folder = project.path().join(".unterm/sessions/2026-01-02");
    fs::create_dir_all(&folder).unwrap();
    let secret = home.path().join("active.json");
    let mut line = Vec::new();
    Event { micros: 1, kind: EventKind::Out, bytes: b"the token".to_vec() }.write(&mut line);
    fs::write(&secret, line).unwrap();
    let row = |number: u64, name: &str, path: PathBuf| Record {
        unterm_session_id: name.to_owned(),
        tab_id: number,
        project_path: Some(project.path().display().to_string()),
        started_at: "2026-01-02T03:04:05Z".to_owned(),
        md_path: path.with_extension("md"),
        log_path: path,
        pid: u32::MAX,
        ..Record::default()
    };
    let at = |name: &str| folder.join(name).with_extension("log");
    symlink(&secret, at("link")).unwrap();
    symlink("/dev/zero", at("zero")).unwrap();
    fs::hard_link(&secret, at("hard")).unwrap();
    let (fifo, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
    rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), fifo, mode, 0).unwrap();
    // A log that an earlier version left in the project.
    fs::write(at("old"), "1\tout\tb2xk\n").unwrap();
    let mut all: Vec<Record> = ["link", "zero", "hard", "pipe", "old"]
        .iter()
        .enumerate()
        .map(|(number, name)| row(number as u64, name, at(name)))
        .collect();
    all.push(row(9, "elsewhere", secret));
    index(home.path(), |rows| rows.clone_from(&all)).unwrap();
    recover(home.path());
    for row in rows(home.path()).unwrap() {
        let is_old = row.unterm_session_id == "old";
        assert_eq!(row.ended_at.is_some(), is_old, "{}", row.unterm_session_id);
        assert_eq!(read_page(home.path(), &row).is_ok(), is_old, "{}", row.unterm_session_id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_settings_are_an_error_and_nothing_is_recorded() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("recording.json");
    fs::write(&path, "{half").unwrap();
    let recorder = Recorder::new(home.path());
    let (_mux, pane) = pane("read x");
    let error = recorder.start(pane.clone(), |_| false).await.unwrap_err();
    assert!(error.starts_with(&path.display().to_string()), "{error}");
    assert!(!recorder.has(pane.id()));
    let error = export(home.path(), &pane, None).unwrap_err();
    assert!(error.starts_with(&path.display().to_string()), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{half");
    assert_eq!(files_below(home.path()), ["recording.json"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_lost_to_a_full_disk_are_counted_and_reported() {
    let home = tempfile::tempdir().unwrap();
    let (_mux, pane) = pane("stty -echo; echo ready; read x; echo never; read x");
    let seen = pane.clone();
    tokio::task::spawn_blocking(move || see(&seen, "ready")).await.unwrap();
    let (mut record, _file) = open(home.path(), describe(&pane).unwrap(), |_| ()).unwrap();
    record.project_path = None;
    let shared = Arc::new(Mutex::new(record));
    let has_failed = Arc::new(AtomicBool::new(false));
    let recording = Recording {
        home: home.path().to_owned(),
        pane: pane.clone(),
        record: shared.clone(),
        log: Log::new(File::options().write(true).open("/dev/full").unwrap()),
        settings: Settings::default(),
        limits: LIMITS,
        idle: Duration::from_secs(600),
        failed: Arc::new({
            let has_failed = has_failed.clone();
            move |_, _| has_failed.store(true, Ordering::Release)
        }),
    };
    let tap = pane.tap_recording(Arc::new(|_| false));
    let end = tap.ender();
    let thread = thread::spawn(move || recording.run(tap, || "stopped"));
    pane.write(b"\n").unwrap();
    let start = Instant::now();
    while shared.lock().bytes_lost < "\nnever\r\n".len() as u64 {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", shared.lock());
        thread::yield_now();
    }
    end.end();
    let row = thread.join().unwrap().unwrap();
    assert!(!has_failed.load(Ordering::Acquire));
    assert_eq!((row.bytes_raw, row.bytes_lost), (0, 8));
    assert!(row.error.as_ref().unwrap().contains("No space left on device"), "{row:?}");
    let page = read_page(home.path(), &row).unwrap();
    assert!(page.contains("> 8 bytes were not recorded: No space left on device"), "{page}");
    assert_eq!(rows(home.path()).unwrap(), [row]);
}

#[test]
fn a_late_page_still_reports_why_bytes_were_lost() {
    let home = tempfile::tempdir().unwrap();
    let (_mux, pane) = pane("read x");
    let (record, _file) = open(home.path(), describe(&pane).unwrap(), |_| ()).unwrap();
    let lost = Record {
        ended_at: Some(record.started_at.clone()),
        project_path: None,
        bytes_lost: 8,
        error: Some("No space left on device".to_owned()),
        ..record
    };
    let recorder = Recorder::new(home.path());
    recorder.unfinished.add(home.path(), lost.clone(), "the disk is full");
    let row = recorder.rows().unwrap().remove(0);
    assert_eq!(row.error.as_deref(), Some("the page is not written yet: the disk is full"));
    recorder.unfinished.try_again(home.path());
    let row = recorder.rows().unwrap().remove(0);
    assert_eq!((row.bytes_lost, &row.error), (8, &lost.error));
    let page = recorder.page(&row.unterm_session_id).unwrap();
    assert!(page.contains("> 8 bytes were not recorded: No space left on device"), "{page}");
}
