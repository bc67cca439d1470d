//! Tests panes with a scripted process, for cases that a real program cannot produce reliably.

use std::{
    collections::VecDeque,
    sync::atomic::{AtomicU32, Ordering},
    time::Instant,
};

use unterm_term::{LineId, Modes, Options, Size};

use super::{reader::SYNCHRONIZED_LIMIT, *};
use crate::{KILL_GRACE, Mux, ReadOutcome, Signal, observer::Threads};

/// The scripted result of one read.
enum Step {
    Bytes(&'static str),
    /// The read times out: it sleeps until its deadline.
    Late,
    Error,
}

#[derive(Default)]
struct Script {
    steps: Mutex<VecDeque<Step>>,
    /// The deadlines of all reads that were allowed to wait.
    deadlines: Mutex<Vec<Option<Instant>>>,
    written: Mutex<Vec<u8>>,
    kills: AtomicU32,
    status: Option<ExitStatus>,
}

impl Process for Script {
    fn read(&self, buffer: &mut [u8], deadline: Option<Instant>) -> io::Result<ReadOutcome> {
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Ok(ReadOutcome::TimedOut);
        }
        self.deadlines.lock().push(deadline);
        match self.steps.lock().pop_front() {
            Some(Step::Bytes(text)) => {
                buffer[..text.len()].copy_from_slice(text.as_bytes());
                Ok(ReadOutcome::Bytes(text.len()))
            }
            Some(Step::Late) => {
                let deadline = deadline.expect("a deadline");
                thread::sleep(deadline.saturating_duration_since(Instant::now()));
                Ok(ReadOutcome::TimedOut)
            }
            Some(Step::Error) => Err(io::ErrorKind::Other.into()),
            None => Ok(ReadOutcome::Ended),
        }
    }

    fn stop_reading(&self) {}

    fn detach(&self) {}

    fn attach(&self) {}

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        self.written.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn resize(&self, _: Size) -> io::Result<()> {
        Ok(())
    }

    fn signal(&self, _: Signal) -> io::Result<()> {
        Ok(())
    }

    fn kill(&self) {
        self.kills.fetch_add(1, Ordering::Relaxed);
    }

    fn program(&self) -> &str {
        "/remote/bin/script"
    }

    fn exit_status(&self) -> Option<ExitStatus> {
        self.status
    }
}

/// Runs a pane with a script of reads until the script ends.
fn play(
    steps: impl IntoIterator<Item = Step>,
    status: Option<ExitStatus>,
) -> (Arc<Pane>, Arc<Script>) {
    let script = Arc::new(Script {
        steps: Mutex::new(steps.into_iter().collect()),
        status,
        ..Script::default()
    });
    let term = Term::new(Size::cells(20, 3), Options::default());
    let threads = Arc::new(Threads::default());
    let pane = Pane::new(Parts {
        id: PaneId(0),
        process: script.clone(),
        term,
        command: None,
        nonce: None,
        name: None,
        rest: Rest::default(),
        on_exit: OnExit::Hold,
        observers: Arc::default(),
        owner: Weak::<Mux>::new(),
    });
    pane.start([threads.alive(), threads.alive()]).unwrap();
    assert!(threads.wait(KILL_GRACE * 10));
    (pane, script)
}

#[test]
fn the_timeout_of_synchronized_output_restarts_at_each_begin() {
    loop {
        let began = Instant::now();
        let (pane, script) = play(
            [
                Step::Bytes("\x1b[?2026h"),
                Step::Bytes("held back"),
                Step::Bytes("\x1b[?2026l\x1b[?2026h"),
                Step::Bytes("\x1b[?2026l"),
                Step::Bytes("\x1b[?2026h"),
                Step::Late,
            ],
            Some(ExitStatus::Code(0)),
        );
        if began.elapsed() > SYNCHRONIZED_LIMIT * 2 {
            // The test machine was so slow that the timeout passed meanwhile.
            continue;
        }
        let deadlines = script.deadlines.lock().clone();
        let [none, first, same, next, off, again, over, ..] = deadlines[..] else {
            panic!("{deadlines:?}");
        };
        assert_eq!(none, None);
        assert!(first.is_some() && first == same);
        assert!(next > first);
        assert_eq!(off, None);
        assert!(again >= next);
        assert_eq!(over, None, "it was ended");
        assert!(!pane.term().modes().contains(Modes::SYNCHRONIZED));
        return;
    }
}

#[test]
fn a_program_that_cannot_be_read_is_ended() {
    let (pane, script) = play([Step::Bytes("x"), Step::Error, Step::Error], None);
    assert!(script.kills.load(Ordering::Relaxed) > 0);
    assert_eq!(pane.state(), PaneState::Exited(ExitStatus::Signal(1)));
    assert_eq!(pane.write(b"x"), Err(crate::WriteError::Ended));
    let mut text = String::new();
    pane.term().row_text(LineId(0), &mut text);
    assert_eq!(text, "x");
}

#[test]
fn nothing_of_a_pane_assumes_a_local_child() {
    let (pane, _) =
        play([Step::Bytes("\x1b]7;file://far.example/home\x07")], Some(ExitStatus::Code(7)));
    assert_eq!(pane.state(), PaneState::Exited(ExitStatus::Code(7)));
    assert_eq!(pane.title(), "script");
    assert_eq!(pane.cwd_uri(), "file://far.example/home");
    assert_eq!(pane.cwd_path(), None);
    assert_eq!(pane.foreground(), None);
}

#[test]
fn history_and_terminal_are_cleared_without_the_program() {
    let steps = [Step::Bytes("\x1b[?2004h1\r\n2\r\n3\r\n4\r\n5")];
    let (pane, script) = play(steps, Some(ExitStatus::Code(0)));
    let first_row = || {
        let (term, mut text) = (pane.term(), String::new());
        term.row_text(term.live_top(), &mut text);
        (term.history_rows(), text)
    };
    assert_eq!(first_row(), (2, "3".to_owned()));
    let told = pane.watch();
    let before = *told.borrow();
    pane.clear_history();
    assert_eq!(first_row(), (0, "3".to_owned()));
    assert!(*told.borrow() > before, "who shows it hears of it");
    assert!(pane.term().modes().contains(Modes::BRACKETED_PASTE));
    pane.reset();
    assert_eq!(first_row(), (0, String::new()));
    assert!(!pane.term().modes().contains(Modes::BRACKETED_PASTE));
    assert!(script.written.lock().is_empty(), "the program is told nothing");
}

#[test]
fn clearing_the_screen_keeps_the_prompt_and_the_modes() {
    for (bytes, kept, column) in [
        ("0\r\n\x1b[?2004h1\r\n2\r\n\x1b]133;A\x07$ \x1b]133;B\x07ls", "$ ls", 4),
        // A prompt of two lines.
        ("0\r\n1\r\n\x1b]133;A\x07a\r\n$ \x1b]133;B\x07x", "a\n$ x", 3),
        // Without a marked prompt, the row with the cursor stays.
        ("1\r\n2\r\n3\r\n4\r\n5", "5", 1),
        ("1\r\n2\r\n3\x1b[A", "2", 1),
    ] {
        let (pane, script) = play([Step::Bytes(bytes)], Some(ExitStatus::Code(0)));
        pane.clear_screen();
        let term = pane.term();
        let rows = (0..u64::from(term.size().rows)).map(|row| {
            let mut text = String::new();
            term.row_text(LineId(term.live_top().0 + row), &mut text);
            text
        });
        let text = rows.collect::<Vec<_>>().join("\n");
        assert_eq!(text.trim_end_matches('\n'), kept, "{bytes:?}");
        assert_eq!((term.history_rows(), term.cursor().col), (0, column), "{bytes:?}");
        drop(term);
        assert!(script.written.lock().is_empty(), "the program is told nothing");
    }
}
