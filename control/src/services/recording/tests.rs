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
    let path = home.path().join("recording.json");
    let recorder = Arc::new(Recorder::new(home.path()));
    let mux = Mux::new(MuxOptions::default());
    let hub = crate::services::events::Hub::new(&mux);
    let filter = crate::services::events::Filter { kinds: vec!["session_opened"], pane: None };
    let following = recorder.clone().follow(Arc::downgrade(&mux), hub.listen(filter), |_| false);
    tokio::spawn(following);
    let open = || {
        let spawn = Spawn { program: Some("cat".to_owned()), ..Spawn::default() };
        mux.open_tab(spawn, None, OnExit::Hold).unwrap()
    };
    let without = open();
    fs::write(&path, r#"{"recording":{"enabled":true}}"#).unwrap();
    // The first may have been looked at only now.
    let with = open();
    let waiting = async {
        while recorder.status(with.id()).is_none() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting).await.expect("it is never recorded");
    fs::write(&path, r#"{"recording":{"enabled":false}}"#).unwrap();
    assert_ne!(without.id(), with.id());
    recorder.stop_all().await;
    assert!(recorder.status(with.id()).is_none());
    mux.shutdown();
}
