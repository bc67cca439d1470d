//! `inbox.*`: everything in an instance that needs the user, waiting for it to change, answers to programs, and entries
//! that the user puts aside.

mod answer;
mod aside;
mod entries;

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until, timeout_at},
};

use self::entries::all_entries;
pub use self::{
    answer::{Answer, AnswerParams, AnswerReply, Choice, Show, ShowReply},
    aside::{AsideReply, Dismiss, KeyParams, Restore, Snooze, SnoozeParams},
    entries::Entry,
};
use super::{Caller, Context, Group, Method, Result, Subjects, params::Arg};
use crate::services::pane::{
    events::{Filter, Subscription},
    wait::deadline,
};

/// The delays after an event at which the panes are checked again. Some programs print a question before they read
/// their terminal, and no event reports when they begin to read it.
const LOOKS: [Duration; 3] =
    [Duration::from_millis(30), Duration::from_millis(350), Duration::from_millis(1100)];
/// The minimum time between two checks after output. Limits the checks of panes that never stop printing.
const PAUSE: Duration = Duration::from_millis(500);
/// The minimum time between two checks after any other event.
const BREATH: Duration = Duration::from_millis(50);

/// `inbox.list`.
pub struct List;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct ListParams<'a> {
    /// Waits until the inbox differs from the one that was returned with this `version`.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub version: Arg<'a, String>,
    /// How long to wait, in milliseconds. Default: 30,000.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub timeout_ms: Arg<'a, u64>,
    /// True: lists entries that were dismissed or snoozed, too.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub all: Arg<'a, bool>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ListReply {
    /// What needs the user, newest first.
    pub entries: Vec<Entry>,
    /// Pass it as `version` to wait for a change.
    pub version: String,
}

impl Method for List {
    const NAME: &'static str = "inbox.list";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::SESSIONS.union(Subjects::CALLERS);
    const DOC: &'static str = "Lists what needs the user, newest first: questions and approvals of agents, and the sessions whose program waits for \
        the user. With `version`, waits for a change.";
    const NAMED: &'static [&'static str] = &[];
    type Params<'a> = ListParams<'a>;
    type Reply = ListReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: ListParams<'a>,
    ) -> Result<ListReply> {
        let version = params.version.text("version")?;
        let timeout = params.timeout_ms.number("timeout_ms", 0..=u64::MAX)?.unwrap_or(30_000);
        let is_all = params.all.is_set("all")?;
        let end = deadline(Instant::now(), Duration::from_millis(timeout));
        let Some(version) = version else { return now(context, is_all).await };
        // The subscription begins before the first check, so that no change between the two is missed.
        let mut changes = InboxChanges::of(context);
        loop {
            let inbox = now(context, is_all).await?;
            if inbox.version != version || Instant::now() >= end {
                return Ok(inbox);
            }
            // A snoozed entry returns without an event.
            let due = context.panes.put_aside.next().map_or(end, |due| due.min(end));
            changes.next(due).await;
        }
    }
}

/// The present inbox. `is_all`: includes dismissed and snoozed entries.
async fn now(context: &Context, is_all: bool) -> Result<ListReply> {
    let mut entries = all_entries(context).await?;
    for entry in &mut entries {
        entry.aside = context.panes.put_aside.contains(&entry.key);
    }
    entries.retain(|entry| is_all || !entry.aside);
    let mut hasher = DefaultHasher::new();
    for entry in &entries {
        // Leave out the title, the time and the key, because they can change while the question stays: titles can be
        // animated, the time of a program's own question is the time of its last output, and the key changes with each
        // input.
        let (title, key) = (String::new(), String::new());
        Entry { since: None, title, key, ..entry.clone() }.hash(&mut hasher);
    }
    Ok(ListReply { version: format!("{:016x}", hasher.finish()), entries })
}

/// The changes after which the inbox may differ.
struct InboxChanges {
    events: Subscription,
    /// Changes when a question to the user appears or is closed, which is not an event.
    moved: watch::Receiver<u64>,
    /// The time of the last event, and the number of checks since.
    last: Instant,
    checks: usize,
    /// The time of the last check.
    checked: Instant,
}

impl InboxChanges {
    fn of(context: &Context) -> Self {
        let hub = &context.panes.hub;
        let now = Instant::now();
        let (events, moved) = (hub.listen(Filter::default()), hub.watch());
        Self { events, moved, last: now, checks: 0, checked: now }
    }

    /// Returns when the inbox should be checked again, at the latest at `end`.
    async fn next(&mut self, end: Instant) {
        let due = LOOKS.get(self.checks).map_or(end, |after| (self.last + *after).min(end));
        let event = async {
            tokio::select! {
                event = self.events.next() => event["event"] == "output",
                Ok(()) = self.moved.changed() => false,
            }
        };
        match timeout_at(due, event).await {
            Err(_) => self.checks += 1,
            Ok(is_output) => {
                let pause = if is_output { PAUSE } else { BREATH };
                sleep_until((self.checked + pause).min(end)).await;
                while self.events.take().is_some() {}
                self.moved.borrow_and_update();
                (self.last, self.checks) = (Instant::now(), 0);
            }
        }
        self.checked = Instant::now();
    }
}
