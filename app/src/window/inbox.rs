//! What other threads tell the window: gathered, so that a flood of output or titles is one wake-up.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use unterm_mux::{MuxEvent, Observer, PaneId};
use unterm_term::{ClipboardTarget, Event};
use winit::event_loop::EventLoopProxy;

use super::{appearance, echo::IdleApp, notices};

/// Commands that took less time are nothing to wake the window for.
const SHORTEST: Duration = Duration::from_secs(1);

/// Wakes the event loop. What there is to do stands in the [`Inbox`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Wake;

/// News since the window last looked. Bounded by the number of panes.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Panes whose terminal changed.
    pub(super) output: HashSet<PaneId>,
    /// Panes whose bell rang.
    pub(super) bells: HashSet<PaneId>,
    /// Panes whose program ended.
    pub(super) exited: Vec<PaneId>,
    /// Panes that are gone.
    pub(super) removed: Vec<PaneId>,
    /// Tabs, splits or focus changed.
    pub(super) layout: bool,
    /// A title or working directory changed, or the instance's title.
    pub(super) titles: bool,
    /// Panes whose programs said how they fare, or coloured their tab.
    pub(super) works: HashSet<PaneId>,
    /// A program wants another shape of the mouse pointer.
    pub(super) pointer_shape: bool,
    /// The last tab has closed, or a signal said stop.
    pub(super) stop: bool,
    /// The newest text written to the clipboard.
    pub(super) clipboard: Option<String>,
    /// The newest text written to the primary selection.
    pub(super) primary: Option<String>,
    /// Answers to requests to paste, in their order: into which panes, and the text, if there was one.
    pub(super) pastes: Vec<(Vec<PaneId>, Option<String>)>,
    /// Somebody asked for the clipboard, and there is none.
    pub(super) has_no_clipboard: bool,
    /// The title that the instance was given, if it changed.
    pub(super) instance_title: Option<Option<String>>,
    /// Who drives a pane changed, or whether agents are paused.
    pub(super) agents: bool,
    /// A browser was started on the settings page, and the page did not come.
    pub(super) settings_unopened: bool,
    /// What the last search found.
    pub(super) found: Option<super::search::Found>,
    /// What the desktop prefers, by who speaks for it.
    pub(super) desktop: HashMap<appearance::Source, appearance::Said>,
    /// A screen reader listens from now on.
    pub(super) reader: bool,
    /// The node that a screen reader wants to have used.
    pub(super) reader_asks: Option<u64>,
    /// The last change of the preferences.
    pub(super) settings: Option<crate::config::Change>,
    /// How many instances run, if that may have changed.
    pub(super) instances: Option<usize>,
    /// A recording may have begun or ended.
    pub(super) recordings: bool,
    /// Whether the proxy is on, if its file changed.
    pub(super) proxy: Option<bool>,
    /// What callers of the control port ask; each waits for its answer.
    pub(super) asked: Vec<unterm_control::HostRequest>,
    /// Notices, and what became of them.
    pub(super) told: Vec<notices::Told>,
    /// Drops of files on the window.
    pub(super) dropped: Vec<super::dropped::Dropped>,
    /// What came of errands.
    pub(super) done: Vec<super::errand::Done>,
}

#[derive(Default)]
struct State {
    news: News,
    awake: bool,
    /// Since when a pane's command runs.
    running: HashMap<PaneId, Instant>,
}

/// The window's end of every other thread.
pub(super) struct Inbox {
    state: Mutex<State>,
    proxy: EventLoopProxy<Wake>,
    /// The app, to show echoes.
    pub(super) app: IdleApp,
}

impl Inbox {
    pub(super) fn new(proxy: EventLoopProxy<Wake>) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), proxy, app: IdleApp::default() })
    }

    /// Takes the news; the next ones wake the loop again.
    pub(super) fn take(&self) -> News {
        let mut state = self.state.lock();
        state.awake = false;
        std::mem::take(&mut state.news)
    }

    /// Whether there is something to take.
    pub(super) fn has_news(&self) -> bool {
        self.state.lock().awake
    }

    /// Adds to the news and wakes the event loop, unless that was done since the last [`Inbox::take`].
    pub(super) fn post(&self, add: impl FnOnce(&mut News)) {
        let mut state = self.state.lock();
        add(&mut state.news);
        let was_awake = std::mem::replace(&mut state.awake, true);
        drop(state);
        if !was_awake {
            // An error means the loop has ended; nobody is left to tell.
            let _ = self.proxy.send_event(Wake);
        }
    }
}

impl Observer for Inbox {
    fn output(&self, pane: PaneId) {
        if !self.show_echo(pane) {
            self.post(|news| {
                news.output.insert(pane);
            });
        }
    }

    fn event(&self, event: MuxEvent) {
        let running = |change: &dyn Fn(&mut HashMap<PaneId, Instant>) -> Option<Instant>| {
            change(&mut self.state.lock().running)
        };
        match event {
            MuxEvent::Told { pane, event: Event::CommandStart { .. } } => {
                running(&|panes| panes.insert(pane, Instant::now()));
                return;
            }
            MuxEvent::Told { pane, event: Event::CommandEnd { command, exit_code, .. } } => {
                let started = running(&|panes| panes.remove(&pane));
                let took = started.map_or(Duration::ZERO, |started| started.elapsed());
                if took >= SHORTEST {
                    let ended = notices::Ended { command, exit_code, took };
                    let told = notices::Told::Ended(pane, ended);
                    self.post(|news| notices::queue(&mut news.told, told));
                }
                return;
            }
            MuxEvent::PaneRemoved(pane) => drop(running(&|panes| panes.remove(&pane))),
            _ => {}
        }
        self.post(|news| match event {
            MuxEvent::Layout | MuxEvent::PaneOpened(_) => news.layout = true,
            MuxEvent::PaneExited(pane) => {
                news.exited.push(pane);
                news.titles = true;
            }
            MuxEvent::Title(_) | MuxEvent::Cwd(_) => news.titles = true,
            MuxEvent::PaneRemoved(pane) => news.removed.push(pane),
            MuxEvent::Empty => news.stop = true,
            MuxEvent::Bell(pane) => {
                news.bells.insert(pane);
            }
            MuxEvent::Clipboard { target, text, .. } => match target {
                ClipboardTarget::Clipboard => news.clipboard = Some(text),
                ClipboardTarget::Primary => news.primary = Some(text),
            },
            MuxEvent::Told { pane, event } => match event {
                Event::PointerShape => news.pointer_shape = true,
                Event::Progress | Event::ProgramStatus | Event::TabColor => {
                    news.works.insert(pane);
                }
                Event::Notification(notification) => {
                    notices::queue(&mut news.told, notices::Told::Show(pane, notification));
                }
                Event::NotificationClosed { handle } => {
                    notices::queue(&mut news.told, notices::Told::TakenBack(pane, handle));
                }
                Event::ClipboardQuery { target } => {
                    tracing::debug!(
                        pane = pane.0,
                        ?target,
                        "a program asks for a clipboard: refused"
                    );
                }
                _ => {}
            },
        });
    }
}
