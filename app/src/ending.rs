//! How an instance without a window ends while its programs continue: because a caller asks it to detach or to restart, or
//! because a window takes its place.

use std::{
    io,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use unterm_mux::{Mux, MuxEvent, Observer, Pane, PaneId, PaneState};

use crate::{args::Args, running::running, sessions::Sessions, succession::Restart};

/// The time between two checks whether a command runs.
const CHECK: Duration = Duration::from_secs(60);

/// The actions that end an instance without a window. Its programs continue.
pub(crate) const ACTIONS: [&str; 2] = ["detach", "restart"];

/// Why an instance without a window ends.
pub(crate) struct Stop {
    /// The reason, for the log.
    pub(crate) reason: String,
    /// Whether its programs end, too. If false, programs that are still in the instance at its end continue, because a
    /// move to another instance has failed, or because another instance has just moved them here.
    pub(crate) ends_programs: bool,
}

/// Ends an instance without a window.
pub(crate) struct Ending {
    mux: Weak<Mux>,
    args: Args,
    sessions: Arc<Sessions>,
    /// Receives the reason.
    stop: mpsc::Sender<Stop>,
    /// Whether the programs were left.
    has_left: AtomicBool,
    /// The program that replaces this one once the instance has ended.
    next: Mutex<Option<Restart>>,
}

impl Ending {
    pub(crate) fn new(
        mux: &Arc<Mux>,
        args: &Args,
        sessions: &Arc<Sessions>,
        stop: mpsc::Sender<Stop>,
    ) -> Self {
        let (mux, args, sessions) = (Arc::downgrade(mux), args.clone(), Arc::clone(sessions));
        let (has_left, next) = (AtomicBool::new(false), Mutex::default());
        Self { mux, args, sessions, stop, has_left, next }
    }

    /// Lets the programs continue. Returns false if they were left before.
    pub(crate) fn hand_over(&self) -> bool {
        let is_first = !self.has_left.swap(true, Ordering::Relaxed);
        if let Some(mux) = self.mux.upgrade().filter(|_| is_first) {
            mux.leave();
        }
        is_first
    }

    /// Runs one of [`ACTIONS`]. Returns false if no program can continue.
    ///
    /// # Errors
    /// If the installed program can't take over all programs. Nothing has changed then.
    pub(crate) fn act(&self, action: &str) -> Result<bool, String> {
        if action == "restart" { self.restart() } else { Ok(self.detach()) }
    }

    /// Lets the programs continue, and ends the instance. Returns false if no program can continue.
    fn detach(&self) -> bool {
        let can_leave = self.mux.upgrade().is_some_and(|mux| !mux.kept_panes().is_empty());
        let has_left = can_leave && self.hand_over();
        if has_left {
            self.end("a request to detach");
        }
        has_left
    }

    /// Lets the programs continue, ends the instance, and then starts the installed program in the same process. Returns
    /// false if no program can continue.
    ///
    /// # Errors
    /// If the installed program can't take over all programs. Nothing has changed then.
    fn restart(&self) -> Result<bool, String> {
        let Some(mux) = self.mux.upgrade() else { return Ok(false) };
        let is_running = |pane: &Arc<Pane>| pane.state() == PaneState::Running;
        let running = mux.panes().into_iter().filter(is_running).count();
        let kept = mux.kept_panes().len();
        match (kept, running.saturating_sub(kept)) {
            (0, _) => return Ok(false),
            (_, 0) => {}
            (_, 1) => return Err("a program would end: no keeper is its parent".to_owned()),
            (_, ends) => {
                return Err(format!("{ends} programs would end: no keeper is their parent"));
            }
        }
        let restart = Restart::prepare(&self.args, &self.sessions);
        *self.next.lock() = Some(restart.map_err(|error| format!("{error:#}"))?);
        self.has_left.store(true, Ordering::Relaxed);
        mux.leave_to_successor();
        self.end("a request to restart");
        Ok(true)
    }

    /// Ends the instance.
    pub(crate) fn end(&self, reason: &str) {
        self.stop(reason, false);
    }

    fn stop(&self, reason: &str, ends_programs: bool) {
        // The receiver is gone if the instance ends already.
        let _ = self.stop.send(Stop { reason: reason.to_owned(), ends_programs });
    }

    /// Ends the instance and its programs once no window has come for `limit` and no command runs in its panes: neither
    /// in the foreground nor in the background, and none is stopped.
    ///
    /// # Errors
    /// If the system starts no thread.
    pub(crate) fn end_unless_shown(self: &Arc<Self>, limit: Duration) -> io::Result<()> {
        let ending = Arc::downgrade(self);
        let watch = move || end_unless_shown(&ending, limit, thread::sleep);
        thread::Builder::new().name("unfetched".to_owned()).spawn(watch).map(drop)
    }

    /// The program that replaces this one, if there is one.
    pub(crate) fn take_next(&self) -> Option<Restart> {
        self.next.lock().take()
    }
}

/// See [`Ending::end_unless_shown`]. `wait` waits for some time.
fn end_unless_shown(ending: &Weak<Ending>, limit: Duration, mut wait: impl FnMut(Duration)) {
    wait(limit);
    let mut was_busy = true;
    while let Some(ending) = ending.upgrade() {
        let Some(mux) = ending.mux.upgrade() else { return };
        // A shell may be between two commands of a script, so check twice.
        let is_busy = mux.panes().iter().any(|pane| is_busy(pane));
        if !is_busy && !was_busy {
            return ending.stop("no window has come, and no command runs", true);
        }
        was_busy = is_busy;
        drop((ending, mux));
        wait(CHECK);
    }
}

/// Whether a command runs in a pane, also in the background, or is stopped.
fn is_busy(pane: &Pane) -> bool {
    running(pane).is_some() || pane.process().jobs().is_some_and(|jobs| !jobs.is_empty())
}

impl Observer for Ending {
    fn output(&self, _: PaneId) {}

    /// An instance that waits for a window ends with its last program. After its programs were left, the caller decides.
    fn event(&self, event: MuxEvent) {
        let waits = self.args.waits_for_window() && !self.has_left.load(Ordering::Relaxed);
        if event == MuxEvent::Empty && waits {
            self.end("the end of the last program");
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use clap::Parser as _;
    use unterm_mux::{MuxOptions, OnExit, Spawn};
    use unterm_term::Size;

    use super::*;

    fn program(file: &str) -> Spawn {
        Spawn { program: Some(file.to_owned()), ..Spawn::default() }
    }

    #[test]
    fn programs_end_after_the_last_command_if_no_window_comes() {
        let mux = Mux::new(MuxOptions::default());
        let size = Some(Size::cells(80, 24));
        let busy = mux.open_tab(program("/bin/cat"), size, OnExit::Close).unwrap();
        mux.open_tab(program("/bin/sh"), size, OnExit::Close).unwrap();
        let (stop, stopped) = mpsc::channel();
        let ending = Ending::new(&mux, &Args::parse_from(["unterm"]), &Arc::default(), stop);
        let ending = Arc::new(ending);
        let limit = Duration::from_secs(7200);
        let mut waits = Vec::new();
        end_unless_shown(&Arc::downgrade(&ending), limit, |time| {
            assert!(stopped.try_recv().is_err(), "after {waits:?}");
            waits.push(time);
            if waits.len() == 3 {
                mux.close_pane(busy.id()).unwrap();
            }
        });
        assert_eq!(waits, [limit, CHECK, CHECK, CHECK]);
        assert!(stopped.try_recv().unwrap().ends_programs);
        mux.shutdown();
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn programs_do_not_end_while_a_job_runs_or_is_stopped() {
        let mux = Mux::new(MuxOptions::default());
        let size = Some(Size::cells(80, 24));
        let pane = mux.open_tab(program("/bin/sh"), size, OnExit::Close).unwrap();
        let (stop, stopped) = mpsc::channel();
        let ending = Ending::new(&mux, &Args::parse_from(["unterm"]), &Arc::default(), stop);
        let ending = Arc::new(ending);
        // Enters a line, and waits until the shell has changed its jobs and reads again. No event reports that.
        let enter = |line: &str, stopped_jobs: &[bool]| {
            pane.write(line.as_bytes()).unwrap();
            let end = std::time::Instant::now() + Duration::from_secs(30);
            let jobs = || pane.process().jobs().unwrap_or_default();
            while jobs().iter().map(|job| job.is_stopped).ne(stopped_jobs.iter().copied())
                || running(&pane).is_some()
            {
                assert!(std::time::Instant::now() < end, "{line:?}: {:?}", jobs());
                thread::yield_now();
            }
        };
        enter("sleep 1000 &\n", &[false]);
        let mut waits = 0;
        end_unless_shown(&Arc::downgrade(&ending), CHECK, |_| {
            assert!(stopped.try_recv().is_err(), "after {waits} checks");
            waits += 1;
            match waits {
                3 => enter("kill -STOP %1\n", &[true]),
                6 => enter("kill -KILL %1; wait\n", &[]),
                _ => {}
            }
        });
        assert_eq!(waits, 7);
        assert!(stopped.try_recv().unwrap().ends_programs);
        mux.shutdown();
    }

    #[test]
    fn an_instance_that_has_ended_is_not_ended_again() {
        let mux = Mux::new(MuxOptions::default());
        let (stop, stopped) = mpsc::channel();
        let ending =
            Arc::new(Ending::new(&mux, &Args::parse_from(["unterm"]), &Arc::default(), stop));
        let weak = Arc::downgrade(&ending);
        drop(mux);
        end_unless_shown(&weak, CHECK, |_| {});
        drop(ending);
        end_unless_shown(&weak, CHECK, |_| {});
        assert!(stopped.try_recv().is_err());
    }
}
