//! `session.wait` waits for a condition of a session, and can first type text. `session.watch` waits in the same way,
//! but never types.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use unterm_mux::{Pane, PaneState};

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::{Arg, session_params},
};
use crate::{
    error::Error,
    services::{
        self,
        pane::{
            program_state::{ProgramStates, claim::State},
            wait::{self, Condition, Sought},
        },
    },
};

/// The maximum number of conditions of one wait.
const MOST: usize = 32;

/// `session.wait`.
pub struct Wait;

/// A condition: an object with exactly one of these keys.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Awaited {
    /// A line contains this text.
    Text(String),
    /// A line matches this regular expression.
    Regex(String),
    /// The session has not changed for this many milliseconds.
    StableMs(u64),
    /// `true`: the program has ended.
    Exit(bool),
    /// `true`: the shell is at a prompt. Without shell integration: the line at the cursor looks like a prompt, such as `$ `.
    Prompt(bool),
    /// `true`: a command has ended. Needs shell integration.
    CommandDone(bool),
    /// `true`: the bell rang.
    Bell(bool),
    /// The title has changed to one that contains this text.
    Title(String),
    /// The session's `seq` has reached this number.
    Seq(u64),
    /// `true`: the program reads a line without echo, such as a password.
    Secret(bool),
    /// `true`: the program waits for input: it asks a question, shows a full screen, or reads its terminal and is silent.
    Input(bool),
    /// The state that session.explain returns: `working`, `needs_you`, `done`, `failed` or `idle`.
    State(#[schemars(with = "String")] State),
}

session_params! {
    /// A session and the conditions to wait for.
    WaitParams {
        /// Conditions. The wait ends when any of them is true, such as `[{"text": "ready"}, {"exit": true}]`.
        #[serde(default)]
        any: Vec<Awaited>,
        /// Conditions, which must all come true, each at any time since the wait began.
        #[serde(default)]
        all: Vec<Awaited>,
        /// Ignores everything that was already there at this `seq` of the session.
        #[serde(default)]
        since_seq: u64,
        /// Whether to search marked prompts and typed text as well. Default: true.
        #[serde(default)]
        include_typed: bool,
        /// Text to type first. Only changes after it then count.
        #[serde(default)]
        input: String,
        /// How long to wait, in milliseconds. Default: 30,000.
        #[serde(default)]
        timeout_ms: u64,
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct WaitReply {
    pub matched: bool,
    pub timed_out: bool,
    /// The conditions that came true, by their indices in the list, with the text or command that they found.
    pub conditions: Vec<Met>,
    /// The session's `seq` when the conditions were last checked. Pass it as `since_seq` to wait for later output.
    pub seq: u64,
    pub is_dead: bool,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Met {
    pub index: usize,
    /// The id of the line that contains the text, valid as long as the line is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_id: Option<u64>,
    /// The text of the line, or the title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The number of the command that ended, for block.get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Whether the pane's shell reported the end, rather than a program about a command of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentic: Option<bool>,
}

/// Collects the parameters of a call that `session.wait` and `session.watch` share.
macro_rules! given {
    ($params:ident) => {
        WaitParameters {
            any: &$params.any,
            all: &$params.all,
            since_seq: &$params.since_seq,
            include_typed: &$params.include_typed,
            timeout_ms: &$params.timeout_ms,
        }
    };
}

impl Method for Wait {
    const NAME: &'static str = "session.wait";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Waits for a condition of a session. Can type text first.";
    const LASTS: bool = true;
    type Params<'a> = WaitParams<'a>;
    type Reply = WaitReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: WaitParams<'a>,
    ) -> Result<WaitReply> {
        let pane = context.pane(params.target())?;
        let mut wait = Waiting::of(context, caller, given!(params)).await?;
        if let Some(input) = params.input.text("input")? {
            wait.sought.since = wait.sought.since.or_else(|| Some(pane.term().seq()));
            context.type_in(caller, &pane, input.as_bytes())?;
        }
        wait.end(context, caller, &pane).await
    }
}

/// `session.watch`.
pub struct Watch;

session_params! {
    /// A session and the conditions to wait for.
    WatchParams {
        /// Conditions. The wait ends when any of them is true, such as `[{"text": "ready"}, {"exit": true}]`.
        #[serde(default)]
        any: Vec<Awaited>,
        /// Conditions, which must all come true, each at any time since the wait began.
        #[serde(default)]
        all: Vec<Awaited>,
        /// Ignores everything that was already there at this `seq` of the session.
        #[serde(default)]
        since_seq: u64,
        /// Whether to search marked prompts and typed text as well. Default: true.
        #[serde(default)]
        include_typed: bool,
        /// How long to wait, in milliseconds. Default: 30,000.
        #[serde(default)]
        timeout_ms: u64,
    }
}

impl Method for Watch {
    const NAME: &'static str = "session.watch";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Waits for a condition of a session. Types nothing.";
    type Params<'a> = WatchParams<'a>;
    type Reply = WaitReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: WatchParams<'a>,
    ) -> Result<WaitReply> {
        let pane = context.pane(params.target())?;
        let wait = Waiting::of(context, caller, given!(params)).await?;
        wait.end(context, caller, &pane).await
    }
}

/// The conditions of a wait, and its timeout.
struct Waiting {
    sought: Sought,
    timeout: Duration,
}

/// The parameters that `session.wait` and `session.watch` share.
struct WaitParameters<'g, 'a> {
    any: &'g Arg<'a, Vec<Awaited>>,
    all: &'g Arg<'a, Vec<Awaited>>,
    since_seq: &'g Arg<'a, u64>,
    include_typed: &'g Arg<'a, bool>,
    timeout_ms: &'g Arg<'a, u64>,
}

impl Waiting {
    async fn of(context: &Context, caller: &Caller, given: WaitParameters<'_, '_>) -> Result<Self> {
        let WaitParameters { any, all, since_seq, include_typed, timeout_ms } = given;
        let list = |arg: &Arg<'_, Vec<Awaited>>, name| {
            arg.value::<Vec<Map<String, Value>>>(name, "a list of conditions")
        };
        let (name, given, is_all) = match (list(any, "any")?, list(all, "all")?) {
            (Some(any), None) => ("any", any, false),
            (None, Some(all)) => ("all", all, true),
            (Some(_), Some(_)) => {
                return Err(Error::Failed("Give 'any' or 'all', not both".to_owned()));
            }
            (None, None) => return Err(Error::Failed("Missing 'any' or 'all'".to_owned())),
        };
        if given.is_empty() || given.len() > MOST {
            return Err(Error::Invalid {
                name,
                expected: format!("from 1 to {MOST} conditions"),
                got: given.len().to_string(),
            });
        }
        let has_regex = given.iter().any(|given| given.contains_key("regex"));
        let programs = context.panes.programs.clone();
        let read = move || {
            let given = given.into_iter().enumerate();
            given.map(|(index, given)| condition(name, index, given, &programs)).collect()
        };
        let conditions: Result<Vec<Condition>> = match has_regex {
            // Compiling a regular expression takes time, so it runs as a search.
            true => context.limits.search_limiter.of(caller.token).run(0, move |_| read()).await?,
            false => read(),
        };
        let conditions = conditions?;
        let timeout = timeout_ms.number("timeout_ms", 0..=u64::MAX)?.unwrap_or(30_000);
        let since = since_seq.number("since_seq", 0..=u64::MAX)?;
        let includes_typed = include_typed.value("include_typed", "true or false")?.unwrap_or(true);
        let without_typed = (!includes_typed).then(|| context.lines.echoes.clone());
        let sought = Sought { conditions, is_all, since, without_typed };
        Ok(Self { sought, timeout: Duration::from_millis(timeout) })
    }

    /// Waits for the conditions, and returns the reply.
    async fn end(self, context: &Context, caller: &Caller, pane: &Arc<Pane>) -> Result<WaitReply> {
        let Self { sought, timeout } = self;
        let (hub, searches) = (&context.panes.hub, context.limits.search_limiter.of(caller.token));
        let outcome = wait::wait(hub, searches, pane, sought, timeout).await?;
        let found = outcome.found.into_iter().enumerate();
        let met = found.filter_map(|(index, found)| {
            let found = found?;
            Some(Met {
                index,
                line_id: found.line_id,
                text: found.text,
                block: found.command.map(|end| end.command),
                exit_code: found.command.and_then(|end| end.exit_code),
                authentic: found.command.map(|end| end.is_authentic),
            })
        });
        Ok(WaitReply {
            matched: outcome.matched,
            timed_out: !outcome.matched && !outcome.is_over,
            conditions: met.collect(),
            seq: outcome.seq,
            is_dead: pane.state() != PaneState::Running,
        })
    }
}

/// Parses a condition. `index`: its position in the list, for errors.
fn condition(
    list: &'static str,
    index: usize,
    given: Map<String, Value>,
    programs: &Arc<ProgramStates>,
) -> Result<Condition> {
    let given = Value::Object(given);
    let awaited = Awaited::deserialize(&given).map_err(|_| Error::Condition {
        list,
        index,
        key: None,
        expected: "one of text, regex, stable_ms, exit, prompt, command_done, bell, title, seq, secret, input, state"
            .to_owned(),
        got: given.to_string(),
    })?;
    let invalid = |key, expected: String| {
        let got = given[key].to_string();
        Error::Condition { list, index, key: Some(key), expected, got }
    };
    let is_set = |key, is_set: bool, condition| match is_set {
        true => Ok(condition),
        false => Err(invalid(key, "true, since only what comes true is waited for".to_owned())),
    };
    Ok(match awaited {
        Awaited::Text(text) if text.is_empty() => {
            return Err(invalid("text", "text that is not empty".to_owned()));
        }
        Awaited::Text(text) => Condition::Text(text),
        Awaited::Regex(pattern) => match services::regex(&pattern) {
            Ok(regex) => Condition::Regex(Box::new(regex)),
            Err(error) => {
                return Err(invalid("regex", format!("a regular expression ({error})")));
            }
        },
        Awaited::StableMs(quiet) => Condition::Stable(Duration::from_millis(quiet)),
        Awaited::Exit(is) => is_set("exit", is, Condition::Exit)?,
        Awaited::Prompt(is) => is_set("prompt", is, Condition::Prompt)?,
        Awaited::CommandDone(is) => is_set("command_done", is, Condition::CommandDone)?,
        Awaited::Bell(is) => is_set("bell", is, Condition::Bell)?,
        Awaited::Title(text) => Condition::Title(text),
        Awaited::Seq(seq) => Condition::Seq(seq),
        Awaited::Secret(is) => is_set("secret", is, Condition::Secret)?,
        Awaited::Input(is) => is_set("input", is, Condition::Input)?,
        Awaited::State(state) => Condition::State(state, programs.clone()),
    })
}
