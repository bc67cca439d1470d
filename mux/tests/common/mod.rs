//! Shared by the tests of real panes: creates a mux, records its events, and waits for events and output without
//! sleeping.
#![allow(dead_code, reason = "the test of leaks uses a part of it")]

#[cfg(target_os = "linux")]
pub mod keeper;
pub mod remote;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};
use unterm_mux::{Mux, MuxEvent, MuxOptions, Observer, OnExit, Pane, PaneId, PaneState, Spawn};
use unterm_term::{LineId, Size};

/// The longest wait. It is longer than any step takes on a busy machine, so a test that reaches it has failed.
pub const LIMIT: Duration = Duration::from_secs(30);

/// Stores every event of a mux, and wakes the tests that wait for one.
#[derive(Default)]
pub struct Ear {
    events: Mutex<Vec<MuxEvent>>,
    heard: Condvar,
}

impl Observer for Ear {
    fn output(&self, _: PaneId) {
        self.heard.notify_all();
    }

    fn event(&self, event: MuxEvent) {
        self.events.lock().push(event);
        self.heard.notify_all();
    }
}

impl Ear {
    pub fn new(mux: &Mux) -> Arc<Self> {
        let ear = Arc::new(Self::default());
        mux.observe(ear.clone());
        ear
    }

    /// Waits until the mux has sent an event.
    pub fn wait_for(&self, event: &MuxEvent) {
        self.wait_for_one(&format!("{event:?}"), |sent| (sent == event).then_some(()));
    }

    /// Waits until `find` returns a value for an event.
    pub fn wait_for_one<T>(&self, what: &str, find: impl Fn(&MuxEvent) -> Option<T>) -> T {
        self.wait_among(what, |events| events.iter().find_map(&find))
    }

    /// Waits until `find` returns a value. Calls it after each event and each output.
    pub fn wait_until<T>(&self, what: &str, mut find: impl FnMut() -> Option<T>) -> T {
        self.wait_among(what, |_| find())
    }

    fn wait_among<T>(&self, what: &str, mut find: impl FnMut(&[MuxEvent]) -> Option<T>) -> T {
        let deadline = Instant::now() + LIMIT;
        let mut events = self.events.lock();
        loop {
            if let Some(found) = find(&events) {
                return found;
            }
            let late = self.heard.wait_until(&mut events, deadline).timed_out();
            assert!(!late, "{what} did not come: {events:?}");
        }
    }

    pub fn all(&self) -> Vec<MuxEvent> {
        self.events.lock().clone()
    }

    pub fn has(&self, event: &MuxEvent) -> bool {
        self.events.lock().contains(event)
    }
}

pub fn headless() -> Arc<Mux> {
    Mux::new(MuxOptions { default_size: Size::cells(80, 24), ..MuxOptions::default() })
}

pub fn run(program: &str, args: &[&str]) -> Spawn {
    Spawn {
        program: Some(program.into()),
        args: args.iter().map(|arg| (*arg).into()).collect(),
        ..Spawn::default()
    }
}

pub fn sh(script: &str) -> Spawn {
    run("sh", &["-c", script])
}

pub fn open(mux: &Mux, script: &str) -> Arc<Pane> {
    mux.open_tab(sh(script), None, OnExit::Hold).unwrap()
}

/// The rows of the live screen.
pub fn screen(pane: &Pane) -> Vec<String> {
    let term = pane.term();
    let top = term.live_top().0;
    (0..u64::from(term.size().rows))
        .map(|row| {
            let mut text = String::new();
            term.row_text(LineId(top + row), &mut text);
            text
        })
        .collect()
}

/// Waits until a condition is true. Checks it after each change of the pane's `seq`.
pub fn wait(pane: &Pane, what: &str, mut condition: impl FnMut(&Pane) -> bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let outcome = runtime.block_on(async {
        let mut seq = pane.watch();
        tokio::time::timeout(LIMIT, async {
            while !condition(pane) {
                seq.changed().await.unwrap();
            }
        })
        .await
    });
    assert!(outcome.is_ok(), "{what} did not come: {:?} {:#?}", pane.state(), screen(pane));
}

/// Waits until the program reads its terminal again. No event reports that.
pub fn wait_until_settled(pane: &Pane) {
    let end = Instant::now() + LIMIT;
    while !pane.is_settled() {
        assert!(Instant::now() < end, "the program never reads: {:#?}", screen(pane));
        std::thread::yield_now();
    }
}

pub fn wait_text(pane: &Pane, text: &str) {
    wait(pane, text, |pane| screen(pane).iter().any(|row| row.contains(text)));
}

pub fn wait_end(pane: &Pane) -> PaneState {
    wait(pane, "the end", |pane| pane.state() != PaneState::Running);
    pane.state()
}
