//! `session.env` and `session.set_env`: variables of a session's shell.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::Pane;

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word, params::session_params,
    session::blocking,
};
use crate::{
    error::Error,
    services::shell::{kind::Shell, run},
};

/// `session.env`.
pub struct Env;

session_params! {
    /// A session and a variable.
    EnvParams {
        /// The variable's name.
        name: String,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct EnvReply {
    pub name: String,
    /// The variable's value. `null` if it is unset or unknown.
    pub value: Option<String>,
    /// The source: `set_env`, the value that session.set_env set; `process`, the environment with which the foreground
    /// process was started. The environment of a shell does not contain variables that the shell exported after its
    /// start. The environment of the shell's programs does.
    pub source: Word,
    /// The source in words, and how to ask the shell itself.
    pub message: String,
}

impl EnvReply {
    fn of(pane: &Pane, name: String) -> Self {
        let (source, origin, value) = match pane.variable(&name) {
            Some(Some(value)) => ("set_env", "Set by session.set_env", Some(value)),
            Some(None) => ("set_env", "Removed by session.set_env", None),
            None => match pane.process().variable(&name) {
                Some(value) => {
                    let origin =
                        "From the environment that the foreground process was started with";
                    ("process", origin, Some(value))
                }
                None => {
                    let origin =
                        "Not in the environment that the foreground process was started with";
                    ("process", origin, None)
                }
            },
        };
        let is_shell = pane.foreground().is_some_and(|it| Shell::of_process(&it.name).is_some());
        let message = match is_shell {
            true => format!(
                "{origin}. The shell may have changed it since: run `printenv` with exec.run_wait to see the shell's value"
            ),
            false => origin.to_owned(),
        };
        Self { name, value, source: source.into(), message }
    }
}

impl Method for Env {
    const NAME: &'static str = "session.env";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::ENVIRONMENT;
    const DOC: &'static str = "Reads a variable: the value that session.set_env set, or else the value with which the foreground process was started. Variables that a shell has exported since then are unknown.";
    type Params<'a> = EnvParams<'a>;
    type Reply = EnvReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: EnvParams<'a>,
    ) -> Result<EnvReply> {
        let pane = context.pane(params.target())?;
        let name = params.name.required("name")?.into_owned();
        blocking(move || EnvReply::of(&pane, name)).await
    }
}

/// `session.set_env`.
pub struct SetEnv;

session_params! {
    /// A session, a variable, and its new value.
    SetEnvParams {
        /// The variable's name: letters, digits and `_`.
        name: String,
        /// The variable's new value.
        #[serde(default)]
        value: String,
        /// Unset the variable instead.
        #[serde(default)]
        unset: bool,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct SetEnvReply {
    pub status: Word,
    /// Whether the session's shell will set the variable: before its next prompt at the latest, and before its next
    /// command if it is zsh, fish, or a bash that session.create or session.split started. False: the shell has no
    /// integration that can set variables.
    pub applied: bool,
    pub message: String,
}

/// The maximum time to wait for the shell's prompt after the end of a command.
const PROMPT: Duration = Duration::from_secs(2);
/// The shells whose integration can set variables.
const LISTENING: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

impl Method for SetEnv {
    const NAME: &'static str = "session.set_env";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::ENVIRONMENT;
    const DOC: &'static str = "Sets a variable for the next commands of a session's shell, and for sessions split from it. Types nothing.";
    const DESCRIBED_BY: &'static [&'static str] = &["name"];
    type Params<'a> = SetEnvParams<'a>;
    type Reply = SetEnvReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SetEnvParams<'a>,
    ) -> Result<SetEnvReply> {
        let pane = context.pane(params.target())?;
        let name = params.name.required("name")?.into_owned();
        let value = match params.unset.is_set("unset")? {
            true => None,
            false => Some(params.value.required("value")?.into_owned()),
        };
        let line = format!("{name}={}", value.as_deref().unwrap_or_default());
        context.authority.variable(caller, &pane, &line)?;
        let shell = Shell::of_pane(&pane);
        let own = pane.clone();
        let work =
            move || pane.set_variable(&name, value.as_deref()).map_err(|error| (error, name));
        let is_set = blocking(work).await?.map_err(|(error, name)| match error.kind() {
            std::io::ErrorKind::InvalidInput => Error::Invalid {
                name: "name",
                expected: "letters, digits and '_', and a value without NUL".to_owned(),
                got: format!("{name:?}"),
            },
            _ => Error::Failed(format!("{name} can't be set: {error}")),
        })?;
        if is_set {
            // The shell may have read the file just before it showed its prompt, and so missed this change.
            let until = tokio::time::Instant::now() + PROMPT;
            run::wait_for_prompt(&own, until).await;
            let is_prompting =
                own.term().commands().next_back().is_some_and(|it| it.is_prompting());
            if is_prompting {
                // readline handles the signal only while it waits for a key. So Unterm waits until the shell is
                // settled, sends the signal, and waits until the shell has handled it.
                run::wait_until_settled(&own, until).await;
                own.announce_variables();
                run::wait_until_settled(&own, until).await;
            }
        }
        let applied = is_set && shell.is_some_and(|shell| LISTENING.contains(&shell));
        let message = match applied {
            true => "The shell sets it, before its next prompt at the latest",
            false => {
                "The session's shell has no integration that sets variables; type `export` instead, or give session.create an env"
            }
        };
        Ok(SetEnvReply { status: "ok".into(), applied, message: message.to_owned() })
    }
}
