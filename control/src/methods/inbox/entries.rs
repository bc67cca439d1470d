//! The entries of the inbox.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{Mux, PaneId};

use crate::{
    error::Result,
    methods::{Context, explain::ReplyTexts, session::blocking},
    services::{
        at_time, milliseconds_of,
        pane::{
            dialogs::Dialogs,
            program_state::{
                ProgramStates,
                claim::{Need, Source, State},
            },
        },
        people::questions::QuestionKind,
    },
};

/// A thing that needs the user.
#[derive(Clone, Debug, Hash, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Entry {
    /// The session. Absent if an agent asks a question that is about no session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub session: Option<u64>,
    /// The title of the session's tab.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// `permission`, `question`, `password`, `approval` or `login`. Absent if the source does not report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Need")]
    pub kind: Option<Need>,
    /// The question, with secrets redacted. As untrusted as a program's output.
    pub question: String,
    /// When the need began (RFC 3339, UTC). Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub since: Option<String>,
    /// The source that reports it.
    pub source: Source,
    /// The number of the question, for approvals.answer. Absent for a program's own question, which inbox.answer answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub number: Option<u64>,
    /// Identifies the entry, for inbox.dismiss and inbox.snooze. Differs if the question is asked again.
    #[serde(default)]
    pub key: String,
    /// Whether the user has dismissed or snoozed the entry. Listed only with `all`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub aside: bool,
}

/// Everything that needs the user, newest first, whether or not it is put aside.
pub(super) async fn all_entries(context: &Context) -> Result<Vec<Entry>> {
    let (mux, programs) = (context.mux.clone(), context.panes.programs.clone());
    let dialogs = context.panes.dialogs.clone();
    let home = context.registration.home().to_owned();
    // This reads the processes of every pane, which may block.
    blocking(move || entries(&mux, &programs, &dialogs, &home)).await?
}

fn entries(
    mux: &Mux,
    programs: &ProgramStates,
    dialogs: &Dialogs,
    home: &Path,
) -> Result<Vec<Entry>> {
    let mut shown = ReplyTexts::of(home)?;
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
        // Skip approvals here. The code below lists all questions to the user with their text, even if the program
        // reports something else.
        if claim.state != State::NeedsYou || claim.source == Source::Approval {
            continue;
        }
        let question = claim.message.clone().unwrap_or_else(|| claim.text.clone());
        // The time in a report is when the program asked. The time of other sources is that of the last output, so only
        // input in between distinguishes another question with an equal text.
        let asked = if claim.source == Source::Report { claim.since } else { 0 };
        let identity = (pane.id().0, claim.source, &claim.task, claim.need, &question, asked);
        let key = dialogs.key((identity, pane.inputs()));
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
                key,
                aside: false,
            },
        ));
    }
    for asked in programs.questions.list() {
        let kind = match asked.kind {
            QuestionKind::Approval => Need::Approval,
            QuestionKind::Question => Need::Question,
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
                key: dialogs.key(("question", asked.number)),
                aside: false,
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
