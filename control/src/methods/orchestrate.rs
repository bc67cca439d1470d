//! `orchestrate.*`: methods that act on several sessions at once.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::time::Instant;
use unterm_mux::PaneId;

use super::{
    Caller, Context, Group, Method, Result, Subjects,
    params::{Arg, Raw, session_params},
    session::{CreateParams, CreateReply, create},
};
use crate::{
    authority::{
        audit::{Detail, NOT_SHOWN},
        parameters::plain,
    },
    error::Error,
    services::{
        pane::wait::{self, Condition, Sought},
        shell::run::wait_for_prompt,
    },
};

/// The documented maximum time to wait for a new session's first prompt before the command is typed.
const START: Duration = Duration::from_millis(500);

/// `orchestrate.launch`.
pub struct Launch;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct Command<'a> {
    /// The command to run in the new session.
    #[serde(borrow, default, skip_serializing_if = "Arg::is_absent")]
    pub command: Arg<'a, String>,
}

#[derive(Default, Serialize, JsonSchema)]
pub struct LaunchParams<'a> {
    #[serde(flatten)]
    pub create: CreateParams<'a>,
    #[serde(flatten)]
    pub command: Command<'a>,
}

impl Method for Launch {
    const NAME: &'static str = "orchestrate.launch";
    const GROUP: Group = Group::Exec;
    const REVEALS: Subjects = Subjects::SESSIONS;
    const CHANGES: Subjects = Subjects::SESSIONS;
    const DOC: &'static str =
        "Opens a session and runs a command in it, without waiting for its end.";
    type Params<'a> = Raw<'a, LaunchParams<'a>>;
    type Reply = CreateReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: Self::Params<'a>,
    ) -> Result<CreateReply> {
        let given = params.params::<Command<'_>>()?;
        let command = given.command.text("command")?;
        // The checks must come before the session is opened. Otherwise, a refused call would leave a session behind.
        let create_params = params.params::<CreateParams<'_>>()?;
        if let Some(command) = &command {
            context.authority.length(command.len())?;
            context.lines.policy.check(None, command).map_err(Error::Policy)?;
            if create_params.is_shell()? {
                let lines: Vec<&str> = command.lines().collect();
                let judged = context.lines.policy.check_typed_at_prompt(None, None, &lines);
                judged.map_err(Error::Policy)?;
            }
        }
        let (pane, reply) = create(context, &create_params).await?;
        if let Some(command) = command {
            wait_for_prompt(&pane, Instant::now() + START).await;
            context.enter(caller, &pane, &command)?;
        }
        Ok(reply)
    }
}

/// `orchestrate.broadcast`.
pub struct Broadcast;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct BroadcastParams<'a> {
    /// The command.
    #[serde(borrow)]
    pub command: Arg<'a, String>,
    /// The sessions' numbers, as text or as numbers.
    #[serde(borrow)]
    pub sessions: Arg<'a, Vec<String>>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct BroadcastReply {
    pub results: Vec<BroadcastResult>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct BroadcastResult {
    pub session_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Method for Broadcast {
    const NAME: &'static str = "orchestrate.broadcast";
    const GROUP: Group = Group::Exec;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSIONS;
    const DOC: &'static str = "Types a command and Enter in several sessions.";
    type Params<'a> = BroadcastParams<'a>;
    type Reply = BroadcastReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: BroadcastParams<'a>,
    ) -> Result<BroadcastReply> {
        let command = params.command.required("command")?;
        let sessions = params.sessions.value::<Vec<Value>>("sessions", "a list of sessions")?;
        let send = |session_id: &str| -> Result<()> {
            let bad = || Error::BadTarget {
                name: "session_id",
                got: Value::from(session_id).to_string(),
            };
            let id = session_id.parse().map_err(|_| bad())?;
            let pane = context.mux.pane(PaneId(id)).ok_or(Error::NoSession(id))?;
            context.enter(caller, &pane, &command)
        };
        let sessions = sessions.ok_or(Error::Missing("sessions"))?;
        let detail = if ask_secret(context, &sessions) { NOT_SHOWN } else { &*command };
        let results = sessions.into_iter().map(|session| {
            let session_id = match session {
                Value::String(text) => text,
                other => other.to_string(),
            };
            match send(&session_id) {
                Ok(()) => BroadcastResult { session_id, sent: Some(true), error: None },
                Err(error) => {
                    let (id, outcome) = (session_id.clone(), error.outcome());
                    context.records.audit.add(
                        Self::NAME,
                        id,
                        detail,
                        outcome,
                        caller.client.clone(),
                    );
                    BroadcastResult { session_id, sent: None, error: Some(error.to_string()) }
                }
            }
        });
        Ok(BroadcastReply { results: results.collect() })
    }

    /// The log does not show the command if it may answer a question for a secret in one of the sessions.
    fn detail(context: &Context, params: &Map<String, Value>, usual: Detail) -> Detail {
        match params.get("sessions").and_then(Value::as_array) {
            Some(sessions) if ask_secret(context, sessions) => Detail::not_shown(),
            _ => usual,
        }
    }
}

/// Whether the program in one of these sessions asks for a secret.
fn ask_secret(context: &Context, sessions: &[Value]) -> bool {
    let mut panes = sessions.iter().filter_map(|session| plain(session).parse().ok().map(PaneId));
    panes.any(|pane| context.asks_secret(pane))
}

/// `orchestrate.wait`.
pub struct Wait;

session_params! {
    /// A session, and the text to wait for.
    WaitParams {
        /// The text to find.
        pattern: String,
        /// How long to wait, in milliseconds. Default: 10,000.
        #[serde(default)]
        timeout_ms: u64,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct WaitReply {
    pub matched: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub timed_out: bool,
    pub pattern: String,
}

impl Method for Wait {
    const NAME: &'static str = "orchestrate.wait";
    const GROUP: Group = Group::Exec;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Waits until a session shows a text.";
    type Params<'a> = WaitParams<'a>;
    type Reply = WaitReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: WaitParams<'a>,
    ) -> Result<WaitReply> {
        let pane = context.pane(params.target())?;
        let pattern = params.pattern.required("pattern")?.into_owned();
        let timeout = params.timeout_ms.number("timeout_ms", 0..=u64::MAX)?.unwrap_or(10_000);
        let timeout = Duration::from_millis(timeout);
        let conditions = vec![Condition::Text(pattern.clone())];
        let sought = Sought { conditions, is_all: false, since: None, without_typed: None };
        let (hub, searches) = (&context.panes.hub, context.limits.search_limiter.of(caller.token));
        let outcome = wait::wait(hub, searches, &pane, sought, timeout).await?;
        Ok(WaitReply { matched: outcome.matched, timed_out: !outcome.matched, pattern })
    }
}
