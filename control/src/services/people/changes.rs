//! Notifies settings pages of changes. A notification contains only the topic. Without subscribers, it costs nothing.

use tokio::sync::watch;

/// A part of the state that can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// The preferences: `config.toml`, or a theme.
    Settings,
    /// The proxy.
    Proxy,
    /// The rules on input, and whether agents are paused.
    Policy,
    /// Recordings.
    Recording,
    /// The connected clients, and what they did.
    Agents,
}

impl Topic {
    /// Every topic.
    pub const ALL: [Self; 5] =
        [Self::Settings, Self::Proxy, Self::Policy, Self::Recording, Self::Agents];

    /// The topic's name on wires.
    pub fn name(self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::Proxy => "proxy",
            Self::Policy => "policy",
            Self::Recording => "recording",
            Self::Agents => "agents",
        }
    }

    /// The topic that a method changes. In addition, every logged call changes [`Topic::Agents`].
    pub(crate) fn of_method(name: &str) -> Option<Self> {
        match name.split_once('.')? {
            ("proxy", _) => Some(Self::Proxy),
            ("policy", _) | ("agents", _) => Some(Self::Policy),
            ("session", rest) if rest.starts_with("recording") => Some(Self::Recording),
            _ => None,
        }
    }
}

/// The number of changes of each topic, in the order of [`Topic::ALL`].
pub type Counts = [u64; Topic::ALL.len()];

/// The channel for notifications.
#[derive(Debug)]
pub struct Changes(watch::Sender<Counts>);

impl Default for Changes {
    fn default() -> Self {
        Self(watch::Sender::new([0; Topic::ALL.len()]))
    }
}

impl Changes {
    /// Reports a change of a topic.
    pub fn notify(&self, topic: Topic) {
        if self.0.receiver_count() > 0 {
            self.0.send_modify(|counts| counts[topic as usize] += 1);
        }
    }

    /// Reports that a method that changes something was called.
    pub(crate) fn called(&self, method: &str) {
        if let Some(topic) = Topic::of_method(method) {
            self.notify(topic);
        }
        self.notify(Topic::Agents);
    }

    /// Subscribes to changes from now on.
    pub(crate) fn listen(&self) -> watch::Receiver<Counts> {
        self.0.subscribe()
    }
}
