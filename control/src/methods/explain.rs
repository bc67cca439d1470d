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
        pane::{
            contexts::{self, ProgramContext, end_text},
            program_state::{
                ProgramStates,
                claim::{Need, Source, State},
                decide::Verdict,
            },
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
    /// source does not report it, or if the state is not `needs_you`.
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
    /// Where the program runs, as it and its parents report (OSC 3008). Absent if there is no report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ProgramContext")]
    pub context: Option<ProgramContext>,
    /// The context that ended last. Absent if none has ended since the session's program began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ContextEnd")]
    pub ended_context: Option<ContextEnd>,
}

/// The end of a context (OSC 3008), such as that of a command, a container or a login.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct ContextEnd {
    /// The command, container, machine or program.
    pub name: String,
    /// How the context ended, such as `crash by SIGKILL` or `failure with status 3`. Absent if the end was not
    /// reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub exit: Option<String>,
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
    /// The task that the claim is about. Absent: the claim is about the whole program.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub task: String,
    pub state: State,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Need")]
    pub kind: Option<Need>,
    /// `decides`: this claim is the session's state. `overridden`: another source or task counts instead. `seen`: the
    /// user has looked at the session since then. `over`: the program has ended since then.
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
        // Explaining reads the pane's processes and the file with the redaction rules, which may block.
        blocking(move || Ok(explain(&pane, &programs, &mut ReplyTexts::of(&home)?))).await?
    }
}

fn explain(pane: &Pane, programs: &ProgramStates, shown: &mut ReplyTexts) -> ExplainReply {
    let explained = programs.explain(pane);
    let (context, ended_context) = contexts(pane, shown);
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
        context,
        ended_context,
    }
}

/// Where a pane's program runs, and how the last context ended.
fn contexts(pane: &Pane, shown: &mut ReplyTexts) -> (Option<ProgramContext>, Option<ContextEnd>) {
    let (context, ended) = {
        let term = pane.term();
        let ended = term.ended_context();
        let ended = ended.map(|it| (contexts::name_of(&it.context).to_owned(), end_text(it)));
        (ProgramContext::of_term(&term), ended)
    };
    let mut line = |text: Option<String>| text.map(|text| shown.line(&text));
    let context = context.map(|ProgramContext { user, host, container, vm }| ProgramContext {
        user: line(user),
        host: line(host),
        container: line(container),
        vm: line(vm),
    });
    let ended = ended.map(|(name, exit)| ContextEnd {
        name: shown.line(&name),
        exit: exit.map(|exit| shown.line(&exit)),
    });
    (context, ended)
}

/// Prepares texts of programs for a reply: redacts secrets as a screen is redacted, and escapes and shortens the rest.
pub(in crate::methods) struct ReplyTexts(Redaction);

impl ReplyTexts {
    /// Reads the user's own patterns of secrets below Unterm's home.
    pub(in crate::methods) fn of(home: &std::path::Path) -> Result<Self> {
        let settings = Settings::read(home).map_err(Error::Failed)?;
        let redaction = Redaction::new(true, &settings.redaction.custom_patterns);
        redaction.map(Self).map_err(Error::Failed)
    }

    /// Rows of a screen. Secrets are masked, so that all other text keeps its place.
    pub(in crate::methods) fn rows(&mut self, rows: &[String]) -> Vec<String> {
        let covered = self.0.cover(&rows.join("\n"));
        covered.split('\n').map(untrusted::escaped).collect()
    }

    /// A text without secrets, with all its lines.
    pub(in crate::methods) fn text(&mut self, text: &str) -> String {
        self.0.apply(text)
    }

    /// The part of a long line that begins at a character. Secrets are masked before the line is cut, because half a
    /// secret is not recognized.
    pub(in crate::methods) fn part(&mut self, line: &str, from: usize) -> String {
        let covered = self.0.cover(line);
        if covered.chars().count() <= LONGEST {
            return untrusted::escaped(&covered);
        }
        let start = if from > 0 { "…" } else { "" };
        let part: String = covered.chars().skip(from).take(LONGEST).collect();
        let end = if part.chars().count() == LONGEST { "…" } else { "" };
        format!("{start}{}{end}", untrusted::escaped(&part))
    }

    /// A text as one line.
    pub(in crate::methods) fn line(&mut self, text: &str) -> String {
        untrusted::name(&self.0.apply(text), LONGEST)
    }
}
