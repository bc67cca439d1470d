//! `inbox.list`: everything in an instance that needs the user, and waiting for it to change.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::Path,
    time::Duration,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::{
    sync::watch,
    time::{Instant, sleep_until, timeout_at},
};
use unterm_mux::{Mux, PaneId};

use super::{
    Caller, Context, Group, Method, Result, Subjects, explain::Shown, params::Arg,
    session::blocking,
};
use crate::services::{
    at_time, milliseconds_of,
    pane::{
        events::{Filter, Subscription},
        program_state::{
            ProgramStates,
            claim::{Need, Source, State},
        },
        wait::deadline,
    },
    people::questions::Kind,
};

/// After an event, the panes are checked again after these times, because some programs print a question before they
/// read their terminal, and no event reports that they read it.
const LOOKS: [Duration; 3] =
    [Duration::from_millis(30), Duration::from_millis(350), Duration::from_millis(1100)];
/// The shortest time from a check to the next one after output, for panes that never stop printing.
const PAUSE: Duration = Duration::from_millis(500);
/// The shortest time from a check to the next one after any other event.
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
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ListReply {
    /// What needs the user, newest first.
    pub entries: Vec<Entry>,
    /// Pass it as `version` to wait for a change.
    pub version: String,
}

/// A thing that needs the user.
#[derive(Clone, Debug, Hash, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Entry {
    /// The session. Absent: an agent asks about no session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub session: Option<u64>,
    /// The title of the session's tab.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// `permission`, `question`, `password`, `approval` or `login`. Absent if the source does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Need")]
    pub kind: Option<Need>,
    /// The question, with secrets redacted. As untrusted as a program's output.
    pub question: String,
    /// When it began (RFC 3339, UTC). Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub since: Option<String>,
    /// The source that reports it.
    pub source: Source,
    /// The number of the question, for approvals.answer. Absent for a program's own question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub number: Option<u64>,
}

impl Method for List {
    const NAME: &'static str = "inbox.list";
    const GROUP: Group = Group::Governance;
    const REVEALS: Subjects = Subjects::SESSIONS.union(Subjects::CALLERS);
    const DOC: &'static str = "Lists what needs the person, newest first: questions and approvals of agents, and the sessions whose program waits for \
        the person. With `version`, waits for a change.";
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
        let end = deadline(Instant::now(), Duration::from_millis(timeout));
        let Some(version) = version else { return now(context).await };
        // The subscription begins before the first check, so that no change between the two is missed.
        let mut changes = Changes::of(context);
        loop {
            let inbox = now(context).await?;
            if inbox.version != version || Instant::now() >= end {
                return Ok(inbox);
            }
            changes.next(end).await;
        }
    }
}

/// The present inbox.
async fn now(context: &Context) -> Result<ListReply> {
    let (mux, programs) = (context.mux.clone(), context.panes.programs.clone());
    let home = context.registration.home().to_owned();
    // This reads the processes of every pane.
    let entries = blocking(move || entries(&mux, &programs, &home)).await??;
    let mut hasher = DefaultHasher::new();
    for entry in &entries {
        // Titles can move, and the time of a program's own question is that of its last output. Both can change while
        // the question stays.
        Entry { since: None, title: String::new(), ..entry.clone() }.hash(&mut hasher);
    }
    Ok(ListReply { version: format!("{:016x}", hasher.finish()), entries })
}

fn entries(mux: &Mux, programs: &ProgramStates, home: &Path) -> Result<Vec<Entry>> {
    let mut shown = Shown::of(home)?;
    let layout = mux.layout();
    let mut title = |id: PaneId| {
        let given = layout.tab_of(id).and_then(|at| layout.tabs[at].title.clone());
        let pane = || mux.pane(id).map(|pane| pane.title()).unwrap_or_default();
        shown.line(&given.unwrap_or_else(pane))
    };
    let mut found = Vec::new();
    for pane in mux.panes() {
        let explained = programs.explain(&pane);
        let claim = explained.decides();
        // Questions to the user are listed below, with their text, even if the program reports something else.
        if claim.state != State::NeedsYou || claim.source == Source::Approval {
            continue;
        }
        let question = claim.message.clone().unwrap_or_else(|| claim.text.clone());
        found.push((
            claim.since,
            Entry {
                session: Some(pane.id().0),
                title: title(pane.id()),
                kind: claim.need,
                question,
                since: at_time(claim.since),
                source: claim.source,
                number: None,
            },
        ));
    }
    for asked in programs.questions.list() {
        let kind = match asked.kind {
            Kind::Approval => Need::Approval,
            Kind::Question => Need::Question,
        };
        let since = milliseconds_of(&asked.asked_at);
        found.push((
            since,
            Entry {
                session: asked.session,
                title: asked.session.map_or_else(String::new, |id| title(PaneId(id))),
                kind: Some(kind),
                question: format!("{} {}", asked.heading(), asked.text_on_one_line()),
                since: at_time(since),
                source: Source::Approval,
                number: Some(asked.number),
            },
        ));
    }
    // The newest first. The order of the panes keeps equal times in a fixed order.
    found.sort_by_key(|(since, _)| std::cmp::Reverse(*since));
    let entries = found.into_iter().map(|(_, entry)| {
        let question = shown.line(&entry.question);
        Entry { question, ..entry }
    });
    Ok(entries.collect())
}

/// The changes after which the inbox may differ.
struct Changes {
    events: Subscription,
    /// Questions to the user are no events, but they wake this.
    moved: watch::Receiver<u64>,
    /// The time of the last event, and the number of checks since.
    last: Instant,
    checks: usize,
    /// The time of the last check.
    checked: Instant,
}

impl Changes {
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
