//! News from other threads to the window, merged so that a flood of output or titles causes one wake-up.

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

/// Shorter commands don't wake the window.
const SHORTEST: Duration = Duration::from_secs(1);

/// Wakes the event loop. The [`Inbox`] holds the news.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wake;

/// News since the window last took them. Bounded by the number of panes.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Panes with new output.
    pub(super) output: HashSet<PaneId>,
    pub(super) bells: HashSet<PaneId>,
    /// Panes whose program ended.
    pub(super) exited: Vec<PaneId>,
    /// Panes that were removed.
    pub(super) removed: Vec<PaneId>,
    /// Tabs, splits or focus changed.
    pub(super) layout: bool,
    /// The title or working directory of a pane changed, or a pane's program ended.
    pub(super) titles: bool,
    /// Panes whose programs reported progress or a status, or set the colour of their tab.
    pub(super) works: HashSet<PaneId>,
    /// A program requests another shape of the mouse pointer.
    pub(super) pointer_shape: bool,
    /// The last tab closed, or a signal requests the end.
    pub(super) stop: bool,
    /// The newest text written to the clipboard.
    pub(super) clipboard: Option<String>,
    /// The newest text written to the primary selection.
    pub(super) primary: Option<String>,
    /// Results of paste requests, in order: the receiving panes, and the text if there was any.
    pub(super) pastes: Vec<(Vec<PaneId>, Option<String>)>,
    /// The user wants to use the clipboard, but the system provides none.
    pub(super) has_no_clipboard: bool,
    /// The new title of the instance, if it changed.
    pub(super) instance_title: Option<Option<String>>,
    /// The driver of a pane changed, or agents were paused or resumed.
    pub(super) agents: bool,
    /// The settings page was not opened before its link expired.
    pub(super) settings_unopened: bool,
    /// The result of the last search.
    pub(super) found: Option<super::search::Found>,
    /// The desktop's preferences, by source.
    pub(super) desktop: HashMap<appearance::Source, appearance::Said>,
    /// A screen reader has connected.
    pub(super) reader: bool,
    /// The node on which a screen reader requests an action.
    pub(super) reader_asks: Option<u64>,
    /// The last change of the preferences.
    pub(super) settings: Option<crate::config::Change>,
    /// The number of running instances, if it may have changed.
    pub(super) instances: Option<usize>,
    /// A recording may have started or ended.
    pub(super) recordings: bool,
    /// Whether the proxy is enabled, if its file changed.
    pub(super) proxy: Option<bool>,
    /// Requests of control clients; each waits for its answer.
    pub(super) asked: Vec<unterm_control::HostRequest>,
    /// Notifications, and the desktop's replies to them.
    pub(super) told: Vec<notices::Told>,
    /// Files dropped on the window.
    pub(super) dropped: Vec<super::dropped::Dropped>,
    /// Results of errands.
    pub(super) done: Vec<super::errand::Done>,
}

#[derive(Default)]
struct State {
    news: News,
    awake: bool,
    /// When the running command of a pane started.
    running: HashMap<PaneId, Instant>,
}

/// The queue through which other threads reach the window.
pub(super) struct Inbox {
    state: Mutex<State>,
    proxy: EventLoopProxy<Wake>,
    /// The app, for threads that show an echo themselves.
    pub(super) app: IdleApp,
}

impl Inbox {
    pub(super) fn new(proxy: EventLoopProxy<Wake>) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), proxy, app: IdleApp::default() })
    }

    /// Takes the news; the next news wake the loop again.
    pub(super) fn take(&self) -> News {
        let mut state = self.state.lock();
        state.awake = false;
        std::mem::take(&mut state.news)
    }

    pub(super) fn has_news(&self) -> bool {
        self.state.lock().awake
    }

    /// Adds news and wakes the event loop, unless it was woken since the last [`Inbox::take`].
    pub(super) fn post(&self, add: impl FnOnce(&mut News)) {
        let mut state = self.state.lock();
        add(&mut state.news);
        let was_awake = std::mem::replace(&mut state.awake, true);
        drop(state);
        if !was_awake {
            // An error means that the loop has ended; the news can be dropped.
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
