use unterm_mux::{MuxOptions, OnExit, Spawn};

use super::*;

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

/// Waits until the program has ended and its recording with it.
async fn over(recorder: &Recorder, pane: &Pane) {
    let waiting = async {
        while recorder.status(pane.id()).is_some() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it never ends");
}

/// Waits until the recording goes on in another one than that.
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

/// All that the program wrote, as the logs have it, in the order of the recordings.
fn output(rows: &[Record]) -> Vec<u8> {
    let events = rows.iter().flat_map(|row| log::read(&row.log_path).unwrap());
    events.filter(|event| event.kind == Kind::Out).flat_map(|event| event.bytes).collect()
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
async fn so_many_commands_are_enough_for_one() {
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
    let (_mux, pane) = pane("stty -echo; read x; echo before; read x; echo after; read x");
    let first = recorder.start(pane.clone(), |_| false).await.unwrap();
    pane.write(b"\n").unwrap();
    // Five of its minutes.
    tokio::time::sleep(minute * 10).await;
    pane.write(b"\n").unwrap();
    rotated(&recorder, &pane, &first).await;
    pane.write(b"\n").unwrap();
    over(&recorder, &pane).await;
    let rows = rows(home.path()).unwrap();
    assert!(rows.len() > 1, "{rows:?}");
    assert_eq!(rows[0].exit_reason.as_deref(), Some("rotated"));
    let output = String::from_utf8(output(&rows)).unwrap();
    assert!(output.ends_with("before\r\nafter\r\n"), "{output:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_session_is_recorded_where_the_settings_say_so() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("recording.json"), r#"{"recording":{"enabled":true}}"#).unwrap();
    let recorder = Arc::new(Recorder::new(home.path()));
    let mux = Mux::new(MuxOptions::default());
    let hub = crate::services::events::Hub::new(&mux);
    let filter = crate::services::events::Filter { kinds: vec!["session_opened"], panes: None };
    let following = recorder.clone().follow(Arc::downgrade(&mux), hub.listen(filter), |_| false);
    tokio::spawn(following);
    let spawn = Spawn { program: Some("cat".to_owned()), ..Spawn::default() };
    let pane = mux.open_tab(spawn, None, OnExit::Hold).unwrap();
    let waiting = async {
        while recorder.status(pane.id()).is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it is never recorded");
    recorder.stop_all().await;
    assert!(recorder.status(pane.id()).is_none());
    mux.shutdown();
}

/// What was typed, as the log has it.
fn input(row: &Record) -> String {
    let events = log::read(&row.log_path).unwrap().into_iter();
    let typed = events.filter(|event| event.kind == Kind::In).flat_map(|event| event.bytes);
    String::from_utf8(typed.collect()).unwrap()
}

/// Waits until the screen has a text, and lets nothing else of the test's go on meanwhile.
fn see(pane: &Pane, text: &str) {
    let start = Instant::now();
    while pane.term().find(text, 1).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(60), "{text} never came");
        std::thread::yield_now();
    }
}

// On one thread, so that the recording looks at what was typed only when the password has long been read.
#[tokio::test(flavor = "current_thread")]
async fn a_password_in_one_piece_is_in_no_recording_though_the_echo_is_back_at_once() {
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
