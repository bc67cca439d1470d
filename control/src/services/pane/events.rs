//! Events of panes. Wakes the tasks that wait for events, and sends events to subscribers.
//!
//! Owns the numbers of events, the last report of each pane, and a bounded queue per subscriber. A slow subscriber
//! loses events and receives the number of lost events. No task ever waits for a subscriber.

use std::{
    collections::{BTreeSet, HashMap, VecDeque},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use unterm_mux::{ExitStatus, Mux, MuxEvent, Observer, Pane, PaneId, PaneState};
use unterm_term::Event;

use super::reports::{ProgramReport, ProgressReport};
use crate::services::clock;

/// Every kind of event.
pub const KINDS: [&str; 17] = [
    "output",
    "bell",
    "title",
    "cwd",
    "prompt",
    "command_start",
    "command_end",
    "notification",
    "progress",
    "status",
    "user_var",
    "clipboard",
    "adapter_state",
    "session_opened",
    "session_exited",
    "session_removed",
    "layout",
];

/// The maximum number of events that wait for one subscriber. Further events are dropped and counted.
const CAPACITY: usize = 1024;

/// The end of a command, as reported by shell integration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommandEnd {
    /// The command's number in its terminal, or 0 if the terminal kept none.
    pub command: u64,
    /// The exit code, if it was reported.
    pub exit_code: Option<i32>,
    /// Whether the pane's own shell reported the end. Otherwise, another program reported the end of a command of its
    /// own.
    pub is_authentic: bool,
}

/// The last event of each kind: the pane's `seq` at that time, and for some kinds further values. 0 if there was no
/// event of the kind.
#[derive(Clone, Copy, Debug, Default)]
pub struct LastReported {
    /// The last bell.
    pub bell: u64,
    /// The time of the last bell, in milliseconds since 1970.
    pub bell_time: u64,
    /// The time when the user last looked at the pane, in milliseconds since 1970.
    pub seen: u64,
    /// The last change of the title.
    pub title: u64,
    /// The last prompt.
    pub prompt: u64,
    /// The last end of a command.
    pub command: u64,
    /// The exit code and number of the command that ended last.
    pub command_end: Option<CommandEnd>,
    /// When the running command was started.
    pub started: Option<Instant>,
}

/// The events of one mux.
pub struct Hub {
    mux: Weak<Mux>,
    state: Mutex<State>,
    /// Changes with every event except output, which panes report themselves.
    moved: watch::Sender<u64>,
    /// Whether any subscriber wants output events.
    wants_output: AtomicBool,
}

#[derive(Default)]
struct State {
    seq: u64,
    panes: HashMap<PaneId, LastReported>,
    listeners: Vec<Weak<Queue>>,
}

/// The events that a subscriber has not received yet.
struct Queue {
    filter: Filter,
    waiting: Mutex<Waiting>,
    changed: Notify,
}

#[derive(Default)]
struct Waiting {
    events: VecDeque<Arc<Value>>,
    /// The panes that wrote output since the subscriber last received its events. Each pane becomes one event.
    output: BTreeSet<PaneId>,
    dropped: u64,
}

/// The events that a subscriber wants.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The kinds. Empty means all.
    pub kinds: Vec<&'static str>,
    /// The panes. `None` means all, and events without a pane.
    pub panes: Option<Arc<[u64]>>,
}

impl Filter {
    fn wants_some(&self, kind: &str) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    fn wants(&self, kind: &str, pane: Option<PaneId>) -> bool {
        let is_of = |panes: &Arc<[u64]>| pane.is_some_and(|pane| panes.contains(&pane.0));
        self.wants_some(kind) && self.panes.as_ref().is_none_or(is_of)
    }
}

/// A subscription to events.
pub struct Subscription {
    queue: Arc<Queue>,
    hub: Arc<Hub>,
}

impl Hub {
    /// A hub that receives the events of a mux from now on.
    pub fn new(mux: &Arc<Mux>) -> Arc<Self> {
        let hub = Arc::new(Self {
            mux: Arc::downgrade(mux),
            state: Mutex::default(),
            moved: watch::Sender::new(0),
            wants_output: AtomicBool::new(false),
        });
        mux.observe(Arc::new(MuxObserver(Arc::downgrade(&hub))));
        hub
    }

    /// The number of the last event.
    pub fn seq(&self) -> u64 {
        self.state.lock().seq
    }

    /// The values that a pane last reported.
    pub fn last_reported(&self, pane: PaneId) -> LastReported {
        self.state.lock().panes.get(&pane).copied().unwrap_or_default()
    }

    /// Changes with every event except output.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.moved.subscribe()
    }

    /// Subscribes to events from now on.
    pub fn listen(self: &Arc<Self>, filter: Filter) -> Subscription {
        let wants_output = filter.wants_some("output");
        let queue = Arc::new(Queue { filter, waiting: Mutex::default(), changed: Notify::new() });
        // Set the flag while holding the lock, because `output` clears it while holding the lock.
        let mut state = self.state.lock();
        self.wants_output.fetch_or(wants_output, Ordering::Release);
        state.listeners.push(Arc::downgrade(&queue));
        drop(state);
        Subscription { queue, hub: self.clone() }
    }

    /// Sends the subscribers the state of a watched pane's program.
    pub fn adapter_state(&self, pane: PaneId, state: Value) {
        self.publish("adapter_state", Some(pane), state, |_, _| {});
    }

    /// Records that the user looks at a pane now.
    pub fn looked_at(&self, pane: PaneId) {
        if self.pane(pane).is_some() {
            self.state.lock().panes.entry(pane).or_default().seen = clock();
            self.wake();
        }
    }

    /// Wakes the tasks that wait for events, because something changed for which no event exists.
    pub fn wake(&self) {
        self.moved.send_modify(|_| {});
    }

    /// The pane with this id, if it still exists.
    fn pane(&self, id: PaneId) -> Option<Arc<Pane>> {
        self.mux.upgrade()?.pane(id)
    }

    /// Records an event and sends it to the subscribers. `note` updates the last report of the pane.
    fn publish(
        &self,
        kind: &'static str,
        pane: Option<PaneId>,
        mut event: Value,
        note: impl FnOnce(&mut LastReported, u64),
    ) {
        let pane_seq = pane.and_then(|pane| self.pane(pane)).map(|pane| *pane.watch().borrow());
        let seq = {
            let mut state = self.state.lock();
            state.seq += 1;
            if let Some(pane) = pane {
                match kind {
                    "session_removed" => drop(state.panes.remove(&pane)),
                    // The pane may have been removed before.
                    "adapter_state" => {}
                    _ => note(state.panes.entry(pane).or_default(), pane_seq.unwrap_or_default()),
                }
            }
            let seq = state.seq;
            state.listeners.retain(|listener| listener.strong_count() > 0);
            let mut wanting: Vec<_> = state.listeners.iter().filter_map(Weak::upgrade).collect();
            wanting.retain(|queue| queue.filter.wants(kind, pane));
            if !wanting.is_empty() {
                event["event"] = json!(kind);
                event["seq"] = json!(seq);
                if let Some(pane) = pane {
                    event["session_id"] = json!(pane.0.to_string());
                }
                if let Some(pane_seq) = pane_seq {
                    event["session_seq"] = json!(pane_seq);
                }
                // Subscribers share one copy, and each copies the event only when it receives it. So a flood of events
                // costs a pane little.
                let event = Arc::new(event);
                wanting.iter().for_each(|queue| queue.push(&event));
            }
            seq
        };
        self.moved.send_replace(seq);
    }

    fn output(&self, pane: PaneId) {
        if !self.wants_output.load(Ordering::Acquire) {
            return;
        }
        let mut wants_output = false;
        let mut state = self.state.lock();
        state.listeners.retain(|listener| {
            let Some(queue) = listener.upgrade() else { return false };
            wants_output |= queue.filter.wants_some("output");
            if queue.filter.wants("output", Some(pane)) && queue.waiting.lock().output.insert(pane)
            {
                queue.changed.notify_one();
            }
            true
        });
        if !wants_output {
            self.wants_output.store(false, Ordering::Release);
        }
    }
}

impl Queue {
    fn push(&self, event: &Arc<Value>) {
        let mut waiting = self.waiting.lock();
        if waiting.events.len() < CAPACITY {
            waiting.events.push_back(event.clone());
        } else {
            waiting.dropped += 1;
        }
        drop(waiting);
        self.changed.notify_one();
    }
}

impl Subscription {
    /// Returns the next event, or the number of dropped events. Cancel-safe.
    pub async fn next(&mut self) -> Value {
        loop {
            if let Some(event) = self.take() {
                return event;
            }
            self.queue.changed.notified().await;
        }
    }

    /// Returns the next event, if there is one already.
    pub fn take(&mut self) -> Option<Value> {
        let (event, pane) = {
            let mut waiting = self.queue.waiting.lock();
            if let Some(event) = waiting.events.pop_front() {
                (Some(event), None)
            } else if waiting.dropped > 0 {
                let count = std::mem::take(&mut waiting.dropped);
                (Some(Arc::new(json!({"event": "dropped", "count": count}))), None)
            } else {
                (None, waiting.output.pop_first())
            }
        };
        if let Some(event) = event {
            return Some(Arc::unwrap_or_clone(event));
        }
        let pane = pane?;
        let session_seq = self.hub.mux.upgrade()?.pane(pane).map(|pane| *pane.watch().borrow());
        let (id, seq) = (pane.0.to_string(), self.hub.seq());
        Some(json!({"event": "output", "seq": seq, "session_id": id, "session_seq": session_seq}))
    }
}

/// Observes the mux. Holds a weak reference, because the mux keeps its observers alive.
struct MuxObserver(Weak<Hub>);

impl Observer for MuxObserver {
    fn output(&self, pane: PaneId) {
        if let Some(hub) = self.0.upgrade() {
            hub.output(pane);
        }
    }

    fn event(&self, event: MuxEvent) {
        let Some(hub) = self.0.upgrade() else { return };
        let nothing = |_: &mut LastReported, _: u64| {};
        let none = || json!({});
        match event {
            MuxEvent::Layout => hub.publish("layout", None, none(), nothing),
            MuxEvent::Empty => {}
            MuxEvent::PaneOpened(pane) => {
                hub.publish("session_opened", Some(pane), none(), nothing)
            }
            MuxEvent::PaneExited(pane) => {
                let state = hub.pane(pane).map(|p| p.state());
                let how = match state {
                    Some(PaneState::Exited(ExitStatus::Code(code))) => json!({"exit_code": code}),
                    Some(PaneState::Exited(ExitStatus::Signal(signal))) => {
                        json!({"exit_signal": signal})
                    }
                    _ => none(),
                };
                hub.publish("session_exited", Some(pane), how, nothing);
            }
            MuxEvent::PaneRemoved(pane) => {
                hub.publish("session_removed", Some(pane), none(), nothing)
            }
            MuxEvent::Title(pane) => {
                let title = hub.pane(pane).map(|p| p.title());
                hub.publish("title", Some(pane), json!({"title": title}), |last, seq| {
                    last.title = seq;
                });
            }
            MuxEvent::Cwd(pane) => {
                let cwd = hub.pane(pane).map(|p| p.cwd_uri());
                hub.publish("cwd", Some(pane), json!({"cwd": cwd}), nothing);
            }
            MuxEvent::Bell(pane) => {
                hub.publish("bell", Some(pane), none(), |last, seq| {
                    (last.bell, last.bell_time) = (seq, clock());
                });
            }
            // The event does not contain the clipboard's content. Callers that may read the clipboard can request it.
            MuxEvent::Clipboard { pane, .. } => {
                hub.publish("clipboard", Some(pane), none(), nothing)
            }
            // Ignore this event: only the user can answer, so no client may receive the question or decide it.
            MuxEvent::Transfer { .. } => {}
            MuxEvent::Told { pane, event } => match event {
                Event::ClipboardWrite(_) => hub.publish("clipboard", Some(pane), none(), nothing),
                Event::InputStart => {
                    hub.publish("prompt", Some(pane), none(), |last, seq| last.prompt = seq);
                }
                Event::CommandStart { command } => {
                    hub.publish(
                        "command_start",
                        Some(pane),
                        json!({"command": command}),
                        |last, _| {
                            last.started = Some(Instant::now());
                        },
                    );
                }
                Event::CommandEnd { command, exit_code, is_authentic } => {
                    let payload = json!({"command": command, "exit_code": exit_code, "authentic": is_authentic});
                    hub.publish("command_end", Some(pane), payload, |last, seq| {
                        last.command = seq;
                        last.command_end = Some(CommandEnd { command, exit_code, is_authentic });
                        last.started = None;
                    });
                }
                Event::Notification(notification) => {
                    let payload = json!({"title": notification.title, "body": notification.body});
                    hub.publish("notification", Some(pane), payload, nothing);
                }
                Event::Progress => {
                    let progress = hub.pane(pane).and_then(|pane| ProgressReport::of(&pane.term()));
                    hub.publish("progress", Some(pane), json!({"progress": progress}), nothing);
                }
                Event::ProgramStatus => {
                    // The event contains only the newest report, because a pane can have many reports, and a queue many
                    // events.
                    let newest = hub.pane(pane).map(|pane| ProgramReport::newest(&pane.term()));
                    hub.publish("status", Some(pane), json!({"programs": newest}), nothing);
                }
                Event::UserVar { name, value } => {
                    let payload = json!({"name": name, "value": value});
                    hub.publish("user_var", Some(pane), payload, nothing);
                }
                _ => {}
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use unterm_mux::MuxOptions;

    use super::*;

    #[tokio::test]
    async fn a_slow_listener_gets_the_count_of_missed_events() {
        let mux = Mux::new(MuxOptions::default());
        let hub = Hub::new(&mux);
        let filter = Filter { kinds: vec!["bell"], panes: None };
        let mut listener = hub.listen(filter);
        for _ in 0..CAPACITY + 5 {
            hub.publish("bell", Some(PaneId(1)), json!({}), |last, _| last.bell = 1);
            hub.publish("title", Some(PaneId(1)), json!({}), |_, _| {});
        }
        for n in 0..CAPACITY as u64 {
            assert_eq!(listener.next().await["seq"], 2 * n + 1, "others are not heard");
        }
        assert_eq!(listener.next().await, json!({"event": "dropped", "count": 5}));
        assert_eq!(hub.last_reported(PaneId(1)).bell, 1);
        hub.publish("bell", Some(PaneId(1)), json!({}), |_, _| {});
        assert_eq!(listener.next().await["event"], "bell");
        drop(listener);
        hub.publish("session_removed", Some(PaneId(1)), json!({}), |_, _| {});
        assert!(hub.state.lock().panes.is_empty());
        assert!(hub.state.lock().listeners.is_empty());
    }
}
