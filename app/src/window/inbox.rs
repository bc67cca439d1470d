//! The news that other threads send to the window. The inbox merges news, so that a flood of output or titles causes
//! only one wake-up.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use unterm_mux::{MuxEvent, Observer, PaneId, TransferRequest};
use unterm_term::{
    ClipboardData, ClipboardError, ClipboardRead, ClipboardTarget, ClipboardWrite, Event,
};

use crate::window::{
    input::buffer::Buffer,
    redraw::Redraw,
    system::{
        appearance::reported::{ReportedSettings, Source},
        notices,
    },
    workspace::surroundings::Surroundings,
};

/// The minimum duration of a command whose end may be announced to the user.
const SHORTEST: Duration = Duration::from_secs(1);

/// A request to wake the event loop. The news itself is in the [`Inbox`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wake;

/// The news since the last [`Inbox::take`]. The number of panes limits its size.
#[derive(Debug, Default)]
pub(crate) struct News {
    pub(crate) panes: PaneNews,
    pub(crate) clipboard: ClipboardNews,
    pub(crate) system: SystemNews,
    pub(crate) control: ControlNews,
    /// Requests of programs to transfer files (OSC 5113).
    pub(crate) transfers: Vec<(PaneId, TransferRequest)>,
    /// Tabs, splits or focus changed.
    pub(crate) layout: bool,
    /// The title or working directory of a pane changed, or a pane's program ended.
    pub(crate) titles: bool,
    /// A program requested another shape of the mouse pointer.
    pub(crate) pointer_shape: bool,
    /// The last tab was closed, or a signal requested the end.
    pub(crate) stop: bool,
    /// A signal requested the end of the programs, too.
    pub(crate) ends_programs: bool,
    /// The result of the last search.
    pub(crate) found: Option<crate::window::overlays::search::search_result::SearchResult>,
}

impl News {
    /// The frame that is due whatever the state of the window is: a whole frame, unless only the listed news arrived.
    /// The app decides about these: output, progress and program states, the beginnings and ends of commands, the shape
    /// of the pointer, and the clipboards without a paste or a question.
    pub(crate) fn redraw(&self) -> Redraw {
        let Self { panes, clipboard, system, control, transfers, layout, titles, found, .. } = self;
        let PaneNews { output: _, works: _, commands: _, bells, exited, removed } = panes;
        let ClipboardNews { pastes, paste_events, reads, is_missing, .. } = clipboard;
        let SystemNews { desktop, reader, reader_asks, notices, dropped, done, surroundings: _ } =
            system;
        let is_quiet = !layout
            && !titles
            && found.is_none()
            && transfers.is_empty()
            && (bells.is_empty() && exited.is_empty() && removed.is_empty())
            && (pastes.is_empty() && paste_events.is_empty() && reads.is_empty() && !is_missing)
            && (desktop.is_empty() && !reader && reader_asks.is_none())
            && (notices.is_empty() && dropped.is_empty() && done.is_empty())
            && control.is_quiet();
        Redraw::if_changed(!is_quiet)
    }
}

impl ControlNews {
    /// Whether nothing is reported but the states of programs.
    fn is_quiet(&self) -> bool {
        let Self { instance_title, agents, settings_unopened, settings, instances, .. } = self;
        let Self { program_states: _, recordings, proxy, inboxes, asked, .. } = self;
        instance_title.is_none()
            && (!agents && !settings_unopened && settings.is_none() && instances.is_none())
            && (!recordings && proxy.is_none() && inboxes.is_empty() && asked.is_empty())
    }
}

/// News about panes.
#[derive(Debug, Default)]
pub(crate) struct PaneNews {
    /// Panes with new output.
    pub(crate) output: HashSet<PaneId>,
    pub(crate) bells: HashSet<PaneId>,
    /// Panes whose program ended.
    pub(crate) exited: Vec<PaneId>,
    /// Panes that were removed.
    pub(crate) removed: Vec<PaneId>,
    /// Panes whose programs reported progress or a status, set the color of their tab or rang the bell, and panes in
    /// which a command began or a program ended.
    pub(crate) works: HashSet<PaneId>,
    /// Panes whose shells reported the start or the end of a command.
    pub(crate) commands: HashSet<PaneId>,
}

/// The maximum number of bytes that programs wrote to the clipboards (OSC 5522) and that wait for the window.
const WRITES_CAP: usize = 128 << 20;

/// The maximum number of requests of a pane to read, and to write, that wait for the window. A terminal has no more
/// pending requests than that.
const REQUESTS_CAP: usize = 8;

/// The types on a clipboard, for panes whose programs handle pastes themselves (mode 5522).
#[derive(Debug)]
pub(crate) struct PasteEvent {
    pub(crate) panes: Vec<PaneId>,
    pub(crate) buffer: Buffer,
    /// `None` if the clipboard can't be reached.
    pub(crate) types: Option<Vec<&'static str>>,
}

/// The number of bytes of data. An alias shares the bytes of its type.
pub(crate) fn bytes_of(data: &ClipboardData) -> usize {
    let is_first = |at: usize| data[..at].iter().all(|(_, other)| !Arc::ptr_eq(other, &data[at].1));
    (0..data.len()).filter(|&at| is_first(at)).map(|at| data[at].1.len()).sum()
}

/// Programs' requests to the clipboards, and the results of pastes.
#[derive(Debug, Default)]
pub(crate) struct ClipboardNews {
    /// The newest text written to the clipboard.
    pub(crate) text: Option<String>,
    /// The newest text written to the primary selection.
    pub(crate) primary: Option<String>,
    /// Results of paste requests, in order: the receiving panes, and the text, if the clipboard contained text.
    pub(crate) pastes: Vec<(Vec<PaneId>, Option<String>)>,
    /// Results of paste requests of panes whose programs handle pastes themselves.
    pub(crate) paste_events: Vec<PasteEvent>,
    /// Requests of programs to read (OSC 5522).
    pub(crate) reads: Vec<(PaneId, ClipboardRead)>,
    /// Data that programs wrote (OSC 5522), at most [`WRITES_CAP`] bytes.
    pub(crate) writes: Vec<(PaneId, ClipboardWrite)>,
    /// Results of reads: the pane, the request's handle, and the data.
    pub(crate) reads_done: Vec<(PaneId, u64, Result<ClipboardData, ClipboardError>)>,
    /// Results of writes.
    pub(crate) writes_done: Vec<(PaneId, u64, Result<(), ClipboardError>)>,
    /// The user requested a clipboard, but the system provides none.
    pub(crate) is_missing: bool,
}

impl ClipboardNews {
    /// Adds a request to read. A terminal that is reset forgets its earlier requests, so the oldest can be dropped.
    fn add_read(&mut self, pane: PaneId, read: ClipboardRead) {
        drop_oldest(&mut self.reads, pane);
        self.reads.push((pane, read));
    }

    /// Adds data that a program wrote, or the answer that there is too much of it.
    fn add_write(&mut self, pane: PaneId, write: ClipboardWrite) {
        drop_oldest(&mut self.writes, pane);
        let waiting: usize = self.writes.iter().map(|(_, write)| bytes_of(&write.data)).sum();
        if waiting + bytes_of(&write.data) <= WRITES_CAP {
            self.writes.push((pane, write));
        } else {
            self.writes_done.push((pane, write.handle, Err(ClipboardError::Busy)));
        }
    }
}

/// Makes room for another request of a pane.
fn drop_oldest<T>(requests: &mut Vec<(PaneId, T)>, pane: PaneId) {
    if requests.iter().filter(|(of, _)| *of == pane).count() >= REQUESTS_CAP
        && let Some(oldest) = requests.iter().position(|(of, _)| *of == pane)
    {
        requests.remove(oldest);
    }
}

/// News from the desktop and from slow tasks.
#[derive(Debug, Default)]
pub(crate) struct SystemNews {
    /// The latest preferences of the desktop, by their source.
    pub(crate) desktop: HashMap<Source, ReportedSettings>,
    /// A screen reader has connected.
    pub(crate) reader: bool,
    /// The id of the accessibility node on which a screen reader requested an action.
    pub(crate) reader_asks: Option<u64>,
    /// Events about notifications, in the order of their arrival.
    pub(crate) notices: Vec<notices::NoticeEvent>,
    /// Files dropped on the window.
    pub(crate) dropped: Vec<crate::window::input::dropped::Dropped>,
    /// Results of errands.
    pub(crate) done: Vec<crate::window::errand::ErrandResult>,
    /// The surroundings of panes, if they were read.
    pub(crate) surroundings: Option<Vec<(PaneId, Surroundings)>>,
}

/// News from the control server, its clients and watched files.
#[derive(Debug, Default)]
pub(crate) struct ControlNews {
    /// The new title of the instance; the outer `None` means that the title did not change.
    pub(crate) instance_title: Option<Option<String>>,
    /// The driver of a pane changed, or agents were paused or resumed.
    pub(crate) agents: bool,
    /// The link to the settings page expired before the page was opened.
    pub(crate) settings_unopened: bool,
    /// The last change of the configuration.
    pub(crate) settings: Option<crate::config::Change>,
    /// The number of running instances, if it may have changed.
    pub(crate) instances: Option<usize>,
    /// A plugin read another state from a screen.
    pub(crate) program_states: bool,
    /// A recording may have started or ended.
    pub(crate) recordings: bool,
    /// Whether the proxy is enabled; `None` if the proxy's file did not change.
    pub(crate) proxy: Option<bool>,
    /// Changes of the inboxes of all instances, and the results of requests about them.
    pub(crate) inboxes: Vec<crate::window::overlays::inbox_panel::message::InboxNews>,
    /// Requests of control clients. Each client waits for its answer.
    pub(crate) asked: Vec<unterm_control::HostRequest>,
}

#[derive(Default)]
struct State {
    news: News,
    awake: bool,
    /// The start time of each pane's running command.
    running: HashMap<PaneId, Instant>,
}

/// Paints a pane's output on the thread that read the output. Returns false if the event loop must paint it.
pub(crate) type EchoPainter = Box<dyn Fn(&Inbox, PaneId) -> bool + Send + Sync>;

/// The queue of news from other threads to the window.
pub(crate) struct Inbox {
    state: Mutex<State>,
    /// A function that wakes the event loop.
    wake: Box<dyn Fn() + Send + Sync>,
    /// Paints output on the thread that read it; unset until the app allows such painting.
    echo_painter: OnceLock<EchoPainter>,
}

impl Inbox {
    /// Creates an empty inbox. `wake` is the function that wakes the event loop.
    pub(crate) fn new(wake: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            wake: Box::new(wake),
            echo_painter: OnceLock::new(),
        })
    }

    /// Sets the function with which panes' readers paint. Later calls have no effect.
    pub(crate) fn set_echo_painter(&self, painter: EchoPainter) {
        let _ = self.echo_painter.set(painter);
    }

    /// Returns the news and empties the inbox. The next news wakes the event loop again.
    pub(crate) fn take(&self) -> News {
        let mut state = self.state.lock();
        state.awake = false;
        std::mem::take(&mut state.news)
    }

    pub(crate) fn has_news(&self) -> bool {
        self.state.lock().awake
    }

    /// Adds news. Wakes the event loop, unless it was already woken since the last [`Inbox::take`].
    pub(crate) fn post(&self, add: impl FnOnce(&mut News)) {
        let mut state = self.state.lock();
        add(&mut state.news);
        let was_awake = std::mem::replace(&mut state.awake, true);
        drop(state);
        if !was_awake {
            (self.wake)();
        }
    }
}

impl Observer for Inbox {
    fn output(&self, pane: PaneId) {
        let is_shown = self.echo_painter.get().is_some_and(|paint| paint(self, pane));
        if !is_shown {
            self.post(|news| {
                news.panes.output.insert(pane);
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
                self.post(|news| {
                    news.panes.commands.insert(pane);
                    news.panes.works.insert(pane);
                });
                return;
            }
            MuxEvent::Told { pane, event: Event::CommandEnd { command, exit_code, .. } } => {
                let started = running(&|panes| panes.remove(&pane));
                let took = started.map_or(Duration::ZERO, |started| started.elapsed());
                if took >= SHORTEST {
                    let ended = notices::EndedCommand { command, exit_code, took };
                    let event = notices::NoticeEvent::Ended(pane, ended);
                    self.post(|news| notices::queue(&mut news.system.notices, event));
                }
                self.post(|news| {
                    news.panes.commands.insert(pane);
                    news.panes.works.insert(pane);
                });
                return;
            }
            MuxEvent::PaneRemoved(pane) => drop(running(&|panes| panes.remove(&pane))),
            _ => {}
        }
        self.post(|news| match event {
            MuxEvent::Layout | MuxEvent::PaneOpened(_) => news.layout = true,
            MuxEvent::PaneExited(pane) => {
                news.panes.exited.push(pane);
                news.panes.works.insert(pane);
                news.titles = true;
            }
            MuxEvent::Title(_) | MuxEvent::Cwd(_) => news.titles = true,
            MuxEvent::PaneRemoved(pane) => news.panes.removed.push(pane),
            MuxEvent::Empty => news.stop = true,
            MuxEvent::Bell(pane) => {
                news.panes.bells.insert(pane);
                news.panes.works.insert(pane);
            }
            MuxEvent::Clipboard { target, text, .. } => match target {
                ClipboardTarget::Clipboard => news.clipboard.text = Some(text),
                ClipboardTarget::Primary => news.clipboard.primary = Some(text),
            },
            MuxEvent::Transfer { pane, request } => {
                drop_oldest(&mut news.transfers, pane);
                news.transfers.push((pane, request));
            }
            MuxEvent::Told { pane, event } => match event {
                Event::PointerShape => news.pointer_shape = true,
                Event::Progress | Event::ProgramStatus | Event::TabColor => {
                    news.panes.works.insert(pane);
                }
                Event::Notification(notification) => {
                    notices::queue(
                        &mut news.system.notices,
                        notices::NoticeEvent::Show(pane, notification),
                    );
                }
                Event::NotificationClosed { handle } => {
                    notices::queue(
                        &mut news.system.notices,
                        notices::NoticeEvent::TakenBack(pane, handle),
                    );
                }
                Event::ClipboardRead(read) => news.clipboard.add_read(pane, *read),
                Event::ClipboardWrite(write) => news.clipboard.add_write(pane, *write),
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
