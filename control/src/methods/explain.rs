//! `session.explain`: the state of a session's program, and the chain of sources that led to it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::Pane;

use super::{
    Caller, Context, Group, Method, Result, Subjects, params::SessionOnly, session::blocking,
};
use crate::{
    error::Error,
    services::{
        at_time,
        pane::program_state::{
            ProgramStates,
            claim::{Need, Source, State},
            decide::Verdict,
        },
        records::{recording::settings::Settings, redact::Redaction},
    },
    untrusted,
};

/// The maximum number of characters of a text in a reply.
const LONGEST: usize = 500;
/// The maximum number of claims in a reply. A terminal keeps up to 256 reports.
const MOST: usize = 64;

/// `session.explain`.
pub struct Explain;

/// The state of a session's program. Programs choose what they report and show, so the texts are as untrusted as their
/// output. Secrets in them are redacted.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ExplainReply {
    pub id: u64,
    /// `working`, `needs_you`, `done`, `failed` or `idle`. `done` and `failed` last until the user has seen them.
    pub state: State,
    /// What the program needs from the user: `permission`, `question`, `password`, `approval` or `login`. Absent if the
    /// source does not say, or if the state is not `needs_you`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Need")]
    pub kind: Option<Need>,
    /// A line for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub message: Option<String>,
    /// The completed part in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u8")]
    pub progress: Option<u8>,
    /// When the state began (RFC 3339, UTC). Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub since: Option<String>,
    /// The source that decided.
    pub source: Source,
    /// The rule by which the source decided.
    pub reason: String,
    /// The tasks that the program reports (OSC 7501), the most urgent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<Task>,
    /// What every source reports, the strongest source first; at most 64 claims.
    pub chain: Vec<Link>,
}

/// A task of a program.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Task {
    /// The task, as a path of words.
    pub task: String,
    pub state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Need")]
    pub kind: Option<Need>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u8")]
    pub progress: Option<u8>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub since: Option<String>,
}

/// What one source reports.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Link {
    pub source: Source,
    /// The task that it is about. Absent: the whole program.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub task: String,
    pub state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Need")]
    pub kind: Option<Need>,
    /// `decides`: it is the session's state. `overridden`: another source or task counts instead. `seen`: the user has
    /// looked at the session since. `over`: the program has ended since.
    pub verdict: Verdict,
    pub rule: String,
    /// The sequence or the text to which the rule applied.
    pub text: String,
    /// When the state began (RFC 3339, UTC). Absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub since: Option<String>,
}

impl Method for Explain {
    const NAME: &'static str = "session.explain";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION.union(Subjects::DRIVERS);
    const DOC: &'static str = "Returns the state of a session's program, the source that decided, and what every source reports: its rule, the text \
        to which it applied, and the time.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = ExplainReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<ExplainReply> {
        let pane = context.pane(params.session())?;
        let programs = context.panes.programs.clone();
        let home = context.registration.home().to_owned();
        // This reads the processes of the pane, and a file with rules of redaction.
        blocking(move || Ok(explain(&pane, &programs, &mut Shown::of(&home)?))).await?
    }
}

fn explain(pane: &Pane, programs: &ProgramStates, shown: &mut Shown) -> ExplainReply {
    let explained = programs.explain(pane);
    let tasks = explained.tasks().take(MOST).map(|claim| Task {
        task: claim.task.clone(),
        state: claim.state,
        kind: claim.need,
        message: claim.message.as_deref().map(|message| shown.line(message)),
        progress: claim.progress,
        since: at_time(claim.since),
    });
    let tasks = tasks.collect();
    let decides = explained.decides();
    let chain = explained.chain.iter().take(MOST).map(|(claim, verdict)| Link {
        source: claim.source,
        task: claim.task.clone(),
        state: claim.state,
        kind: claim.need,
        verdict: *verdict,
        rule: shown.line(&claim.rule),
        text: shown.line(&claim.text),
        since: at_time(claim.since),
    });
    let chain = chain.collect();
    ExplainReply {
        id: pane.id().0,
        state: decides.state,
        kind: decides.need,
        message: decides.message.as_deref().map(|message| shown.line(message)),
        progress: decides.progress,
        since: at_time(decides.since),
        source: decides.source,
        reason: shown.line(&decides.rule),
        tasks,
        chain,
    }
}

/// Prepares texts of programs for a reply: redacts secrets as a screen is redacted, and escapes and shortens the rest.
pub(super) struct Shown(Redaction);

impl Shown {
    /// Reads the user's own patterns of secrets below Unterm's home.
    pub(super) fn of(home: &std::path::Path) -> Result<Self> {
        let settings = Settings::read(home).map_err(Error::Failed)?;
        let redaction = Redaction::new(true, &settings.redaction.custom_patterns);
        redaction.map(Self).map_err(Error::Failed)
    }

    /// A text as one line.
    pub(super) fn line(&mut self, text: &str) -> String {
        untrusted::name(&self.0.apply(text), LONGEST)
    }
}
