//! The errors of methods, with their messages. Each wire maps them to its own codes.

use std::{path::PathBuf, sync::Arc};

use unterm_mux::{Axis, ExitStatus, MuxError, SpawnError, WriteError};

use crate::{
    caller::{Access, Scopes},
    services::{people::user_typing::PAUSE, records::audit::CallOutcome, shell::policy::Refusal},
    untrusted,
};

/// The maximum number of characters of a line or a command that a message quotes.
const QUOTED: usize = 200;

/// A method's failure. The TCP wire documents these messages, so clients may depend on them.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The call names no session: `id` and `session_id` are missing, or have a type that can't name a session.
    #[error("Missing 'id' or 'session_id' parameter")]
    NoTarget,
    /// `id` or `session_id` is text, but not a number.
    #[error("Invalid {name}: {got}")]
    BadTarget {
        /// The parameter.
        name: &'static str,
        /// The text, as JSON.
        got: String,
    },
    /// No session has this number.
    #[error("Session {0} not found")]
    NoSession(u64),
    /// A required parameter is missing or is not text.
    #[error("Missing '{0}'")]
    Missing(&'static str),
    /// Like `Missing`, with the message that `session.input` documents.
    #[error("Missing '{0}' parameter")]
    MissingParameter(&'static str),
    /// A parameter has an invalid value.
    #[error("Invalid '{name}': expected {expected}, got {got}")]
    Invalid {
        /// The parameter.
        name: &'static str,
        /// The values that would be valid.
        expected: String,
        /// The given value, as JSON.
        got: String,
    },
    /// A condition to wait for is invalid.
    #[error("Invalid '{list}[{index}]{}': expected {expected}, got {got}", path(.key))]
    Condition {
        /// The list: `any` or `all`.
        list: &'static str,
        /// The condition's index in the list, from 0.
        index: usize,
        /// The condition's key, if it is a known one.
        key: Option<&'static str>,
        /// The values that would be valid.
        expected: String,
        /// The given value, as JSON.
        got: String,
    },
    /// The parameters could not be parsed.
    #[error("Invalid params: {}", unplaced(.0))]
    Params(serde_json::Error),
    /// The requested grid has too many cells.
    #[error("Invalid size: {cols}x{rows} is more than {max} cells")]
    TooLarge {
        /// Columns.
        cols: u16,
        /// Rows.
        rows: u16,
        /// The maximum number of cells of a grid.
        max: u32,
    },
    /// The working directory is not a directory.
    #[error("Invalid 'cwd': {0:?} is not a directory")]
    BadCwd(PathBuf),
    /// The signal has no control character, so it can't be sent.
    #[error("Unsupported signal: {0}")]
    Signal(String),
    /// Writing to a session failed.
    #[error("Session {id}: {error}")]
    Write {
        /// The session.
        id: u64,
        /// The reason.
        error: WriteError,
    },
    /// The session's program ended while a command was running in it.
    #[error("Session {id} ended before the command finished ({how})", how = ExitText(*.status))]
    Ended {
        /// The session.
        id: u64,
        /// The end of the program: its exit code or signal. `None` if the session was closed.
        status: Option<ExitStatus>,
    },
    /// The session's program had already ended before the command was typed.
    #[error("Nothing was typed: session {id} has ended ({how})", how = ExitText(*.status))]
    Over {
        /// The session.
        id: u64,
        /// The end of the program: its exit code or signal. `None` if the session was closed.
        status: Option<ExitStatus>,
    },
    /// The command is incomplete, so the shell would wait for its rest. Contains the missing part.
    #[error("Nothing was typed: the command is unfinished, it needs {0}")]
    Unfinished(String),
    /// The line policy refuses the line.
    #[error("Command blocked by policy: {0}")]
    Policy(Refusal),
    /// The rules of a policy are invalid.
    #[error("Invalid policy: {0}")]
    BadPolicy(String),
    /// Another caller holds the lease on the session's input.
    #[error("Session {id} is leased by {holder}")]
    Leased {
        /// The session.
        id: u64,
        /// The name of the lease's holder.
        holder: String,
    },
    /// The user typed in the session, which ended the caller's lease.
    #[error(
        "Nothing was typed: the user has typed in session {0} since you took its lease, and it is theirs now. Take the lease anew once they are done, or give it back"
    )]
    TakenOver(u64),
    /// The prompt contains a line that has not been entered yet.
    #[error("Nothing was typed: {} “{line}”. {}", match by_user {
        true => format!("the user is typing a line at the prompt of session {id}:"),
        false => format!("an unfinished line stands at the prompt of session {id}:"),
    }, match by_user {
        true => "Wait until they enter it",
        false => "Wait until it is entered, or clear it with ctrl+c",
    })]
    Begun {
        /// Whether the user typed at this prompt.
        by_user: bool,
        /// The session.
        id: u64,
        /// The visible part of the line, escaped.
        line: String,
    },
    /// The program in the session is not a shell at its prompt, and would read the input.
    #[error(
        "Nothing was typed: session {id} runs “{what}”, which would read it. Wait for its end, or use input, for example a key that ends it"
    )]
    Busy {
        /// The session.
        id: u64,
        /// The running program, escaped.
        what: String,
    },
    /// The shell has not started the line that was entered at its prompt, for example because the line has an open
    /// quote.
    #[error(
        "Nothing was typed: the shell in session {0} has not begun what was entered at its prompt, and may wait for the rest of it. Wait until it begins, or drop it with ctrl+c"
    )]
    Unbegun(u64),
    /// The shell marks no prompts, and the screen shows no prompt.
    #[error(
        "Nothing was typed: the shell in session {0} marks no prompts, and may be reading input for a command instead of waiting at its prompt. Look at the screen: answer the command with input, or return to the prompt with ctrl+c"
    )]
    Promptless(u64),
    /// The user pressed a key a moment ago, and the caller is an agent.
    #[error(
        "Nothing was typed: the user pressed a key in session {0} less than {pause} seconds ago. Try again once they pause", pause = PAUSE.as_secs()
    )]
    UserTypes(u64),
    /// The program asks for a secret, and the caller is an agent.
    #[error(
        "Session {0} asks for a secret, which only the user may type. Ask them to and wait until they have, or give up with ctrl+c"
    )]
    Secret(u64),
    /// The program may be asking for a secret, and the caller is an agent.
    #[error(
        "Nothing was typed: session {id} may ask for a secret ({why}). Look at its screen: if it asks, leave that to the user, else type with no_secret: true"
    )]
    MaybeSecret {
        /// The session.
        id: u64,
        /// The reason for the doubt, escaped.
        why: String,
    },
    /// No shell in the session marks its commands.
    #[error(
        "Session {0} has no shell integration: it is off, or the system gave no random numbers"
    )]
    NotIntegrated(u64),
    /// The wait needs the marks of shell integration, but the session's program sends no marks.
    #[error(
        "Session {id} reports no prompts and no ends of commands: “{program}” in it has no shell integration. Wait for text, stable_ms or exit instead"
    )]
    NoMarks {
        /// The session.
        id: u64,
        /// The program in the foreground.
        program: String,
    },
    /// The session has no such command block.
    #[error("{}", match block {
        Some(block) => format!("Block {block} of session {id} not found"),
        None => format!("Session {id} keeps no command that has ended"),
    })]
    NoBlock {
        /// The session.
        id: u64,
        /// The block. `None` stands for the last block that has ended.
        block: Option<u64>,
    },
    /// The session is too small to split.
    #[error("Session {id} is too small to split: each part needs {needs}", needs = .axis.split_needs())]
    NoRoom {
        /// The session.
        id: u64,
        /// The direction of the split.
        axis: Axis,
    },
    /// A service failed. Contains the reason.
    #[error("{0}")]
    Failed(String),
    /// The mux refused the request.
    #[error(transparent)]
    Mux(MuxError),
    /// The method needs a window.
    #[error("There is no window: this instance runs headless, or is closing")]
    NoWindow,
    /// The window can't perform the action, or has no action with this name.
    #[error("{0}")]
    Action(String),
    /// The registry could not be read.
    #[error("cannot read the registry: {0}")]
    Registry(std::io::Error),
    /// The caller may not make this call.
    #[error("Not allowed: {0}")]
    Denied(Denial),
    /// The method does not exist.
    #[error("Unknown method: {0}")]
    Unknown(String),
    /// The method panicked, which is a bug in Unterm.
    #[error("Internal error: {0}")]
    Panicked(String),
    /// A reply could not be serialized as JSON, which is a bug in Unterm.
    #[error("Internal error: cannot write the reply: {0}")]
    Reply(serde_json::Error),
    /// A reply can't be parsed: it was sent by an instance of another version, or there is a bug in Unterm.
    #[error("Cannot read the reply of {method}: {error}")]
    Unread {
        /// The method.
        method: &'static str,
        /// The reason.
        error: serde_json::Error,
    },
    /// A call did not finish before its deadline.
    #[error("{0} took too long")]
    Deadline(String),
    /// Another instance refused the call, or has ended.
    #[error(transparent)]
    Remote(#[from] crate::client::ClientError),
}

/// The reason why a caller may not call a method.
#[derive(Debug, thiserror::Error)]
pub enum Denial {
    /// The token lacks the scope that the method or the route needs.
    #[error("{what} is out of the token's scopes")]
    Scope {
        /// The method or the route.
        what: String,
        /// The access that the method or the route needs.
        needs: Access,
        /// The scopes of the token.
        has: Scopes,
    },
    /// The token does not reach the session.
    #[error("{what} is out of the token's sessions")]
    Sessions {
        /// The method.
        what: String,
        /// The session in the call's parameters, if there is one.
        session: Option<u64>,
        /// The sessions that the token reaches.
        reached: Arc<[u64]>,
    },
    /// The user has not approved the call.
    #[error("{0} needs the user's approval")]
    Approval(String),
    /// The method gives more rights than any token for an agent may have.
    #[error("{0} is not for agents' tokens")]
    Agents(String),
    /// The token has expired or was revoked.
    #[error("the token has ended, or was taken back")]
    Ended,
    /// Any other reason.
    #[error("{0}")]
    Other(String),
}

impl Error {
    /// Creates the error for a session whose prompt contains an unfinished line.
    pub fn begun(id: u64, line: &str, by_user: bool) -> Self {
        Self::Begun { by_user, id, line: untrusted::line(line, QUOTED) }
    }

    /// Creates the error for a session whose program may be asking for a secret.
    pub fn maybe_secret(id: u64, why: &str) -> Self {
        Self::MaybeSecret { id, why: untrusted::line(why, QUOTED) }
    }

    /// Creates the error for a session that is running a program.
    pub fn busy(id: u64, what: &str) -> Self {
        Self::Busy { id, what: untrusted::line(what, QUOTED) }
    }

    /// The outcome of a call that fails with this error, for the audit log. Values of parameters, unfinished lines and
    /// names of running programs are left out, because the log must not contain them.
    pub fn outcome(&self) -> CallOutcome {
        let why = match self {
            Self::Invalid { name, expected, .. } => {
                format!("Invalid '{name}': expected {expected}")
            }
            Self::Condition { list, index, key, expected, .. } => {
                format!("Invalid '{list}[{index}]{}': expected {expected}", path(key))
            }
            Self::Begun { id, .. } => format!("A line is begun at the prompt of session {id}"),
            Self::Busy { id, .. } => format!("Session {id} runs what would read it"),
            Self::MaybeSecret { id, .. } => format!("Session {id} may ask for a secret"),
            error => error.to_string(),
        };
        if self.is_refusal() { CallOutcome::Refused(why) } else { CallOutcome::Failed(why) }
    }

    /// Whether Unterm refused the call. False if Unterm tried to execute the call and failed.
    pub fn is_refusal(&self) -> bool {
        self.kind() == ErrorKind::Refused
    }

    /// The kind of failure.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSession(_) => ErrorKind::NoSession,
            Self::Policy(_)
            | Self::Leased { .. }
            | Self::TakenOver(_)
            | Self::Begun { .. }
            | Self::Busy { .. }
            | Self::Promptless(_)
            | Self::Unbegun(_)
            | Self::UserTypes(_)
            | Self::Secret(_)
            | Self::MaybeSecret { .. }
            | Self::Denied(_) => ErrorKind::Refused,
            Self::NoTarget
            | Self::BadTarget { .. }
            | Self::Missing(_)
            | Self::MissingParameter(_)
            | Self::Invalid { .. }
            | Self::Params(_)
            | Self::Condition { .. }
            | Self::TooLarge { .. }
            | Self::BadCwd(_)
            | Self::Mux(_) => ErrorKind::Invalid,
            Self::Remote(crate::client::ClientError::Call { message, .. }) => {
                ErrorKind::of_message(message)
            }
            _ => ErrorKind::Failed,
        }
    }
}

/// The meaning of a failure for the caller. Wires with several error codes map it to one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// There is no such session.
    NoSession,
    /// A parameter is invalid.
    Invalid,
    /// Unterm refused the call.
    Refused,
    /// Any other failure.
    Failed,
}

impl ErrorKind {
    /// The kind of an error of another instance. It is found from the message, because the instance sends the same code
    /// for all errors. See [`Error::kind`].
    fn of_message(message: &str) -> Self {
        const INVALID: [&str; 7] = [
            "Missing '",
            "Invalid '",
            "Invalid id: ",
            "Invalid session_id: ",
            "Invalid params: ",
            "Invalid size: ",
            "cannot start ",
        ];
        const REFUSED: [&str; 2] = ["Not allowed: ", "Command blocked by policy: "];
        // Returns the rest of a message after its beginning, such as `session 7 `.
        fn of_session<'m>(message: &'m str, word: &str) -> Option<&'m str> {
            let (number, rest) = message.strip_prefix(word)?.split_once(' ')?;
            number.parse::<u64>().is_ok().then_some(rest)
        }
        let begins = |with: &[&str]| with.iter().any(|begin| message.starts_with(begin));
        if begins(&INVALID) {
            return Self::Invalid;
        }
        if begins(&REFUSED) {
            return Self::Refused;
        }
        if let Some(why) = message.strip_prefix("Nothing was typed: ") {
            let has_ended =
                of_session(why, "session ").is_some_and(|rest| rest.starts_with("has ended ("));
            let is_failure = has_ended || why.starts_with("the command is unfinished");
            return if is_failure { Self::Failed } else { Self::Refused };
        }
        match of_session(message, "Session ") {
            Some("not found") => Self::NoSession,
            Some(rest) if rest.starts_with("is leased by ") => Self::Refused,
            Some(rest) if rest.starts_with("asks for a secret") => Self::Refused,
            _ => Self::Failed,
        }
    }
}

/// The path of a key within its object, such as `.text`.
pub fn path(key: &Option<&'static str>) -> String {
    key.map(|key| format!(".{key}")).unwrap_or_default()
}

/// The result of a method.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Rust's type names in the messages of serde, and the texts that replace them for users.
const TYPES: [(&str, &str); 8] = [
    ("u8", "a whole number of at least 0"),
    ("u16", "a whole number of at least 0"),
    ("u32", "a whole number of at least 0"),
    ("u64", "a whole number of at least 0"),
    ("usize", "a whole number of at least 0"),
    ("i64", "a whole number"),
    ("f32", "a number"),
    ("f64", "a number"),
];

/// An error about parameters as a message for users: without the position in the JSON, and without Rust's type names.
pub fn unplaced(error: &serde_json::Error) -> String {
    let mut text = error.to_string();
    text.truncate(text.rfind(" at line ").unwrap_or(text.len()));
    let Some((before, found)) = text.rsplit_once(", expected ") else { return text };
    match TYPES.iter().find(|(name, _)| *name == found) {
        Some((_, words)) => format!("{before}, expected {words}"),
        None => text,
    }
}

/// The end of a program in words.
struct ExitText(Option<ExitStatus>);

impl std::fmt::Display for ExitText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(ExitStatus::Code(code)) => write!(f, "exit code {code}"),
            Some(ExitStatus::Signal(signal)) => write!(f, "killed by signal {signal}"),
            Some(ExitStatus::Lost) => f.write_str("its exit status was lost"),
            None => f.write_str("it was closed"),
        }
    }
}

impl From<MuxError> for Error {
    fn from(error: MuxError) -> Self {
        match error {
            MuxError::NoPane(id) => Self::NoSession(id.0),
            MuxError::Spawn(SpawnError::BadCwd(path)) => Self::BadCwd(path),
            MuxError::NoRoom { pane, axis } => Self::NoRoom { id: pane.0, axis },
            error => Self::Mux(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_type_is_named_for_people() {
        #[derive(Debug, serde::Deserialize)]
        struct Params {
            #[expect(dead_code, reason = "only its type is of interest")]
            lines: u64,
        }
        for (params, why) in [
            (
                r#"{"lines": -1}"#,
                "invalid value: integer `-1`, expected a whole number of at least 0",
            ),
            (
                r#"{"lines": "x"}"#,
                r#"invalid type: string "x", expected a whole number of at least 0"#,
            ),
            ("{}", "missing field `lines`"),
        ] {
            let error = serde_json::from_str::<Params>(params).unwrap_err();
            assert_eq!(Error::Params(error).to_string(), format!("Invalid params: {why}"));
        }
    }

    #[test]
    fn the_kind_of_another_instances_error_is_that_of_its_own() {
        let name = "title";
        let params = serde_json::from_str::<u64>("-1").unwrap_err();
        let size = MuxError::Spawn(SpawnError::Program { program: "x".into(), error: "no".into() });
        for (error, kind) in [
            (Error::NoSession(7), ErrorKind::NoSession),
            (Error::NoTarget, ErrorKind::Invalid),
            (Error::BadTarget { name: "id", got: "\"x\"".into() }, ErrorKind::Invalid),
            (Error::BadTarget { name: "session_id", got: "1".into() }, ErrorKind::Invalid),
            (Error::Missing(name), ErrorKind::Invalid),
            (Error::MissingParameter(name), ErrorKind::Invalid),
            (Error::Invalid { name, expected: "a".into(), got: "b".into() }, ErrorKind::Invalid),
            (Error::Params(params), ErrorKind::Invalid),
            (Error::TooLarge { cols: 1, rows: 1, max: 0 }, ErrorKind::Invalid),
            (Error::BadCwd("/no".into()), ErrorKind::Invalid),
            (Error::Mux(size), ErrorKind::Invalid),
            (Error::Policy(Refusal::NotAllowed), ErrorKind::Refused),
            (Error::Leased { id: 7, holder: "x".into() }, ErrorKind::Refused),
            (Error::TakenOver(7), ErrorKind::Refused),
            (Error::begun(7, "make", true), ErrorKind::Refused),
            (Error::begun(7, "ls", false), ErrorKind::Refused),
            (Error::busy(7, "x has ended (no)"), ErrorKind::Refused),
            (Error::Promptless(7), ErrorKind::Refused),
            (Error::Unbegun(7), ErrorKind::Refused),
            (Error::UserTypes(7), ErrorKind::Refused),
            (Error::Secret(7), ErrorKind::Refused),
            (Error::maybe_secret(7, "why"), ErrorKind::Refused),
            (Error::Denied(Denial::Ended), ErrorKind::Refused),
            (Error::Over { id: 7, status: None }, ErrorKind::Failed),
            (Error::Unfinished("a quote".into()), ErrorKind::Failed),
            (Error::NotIntegrated(7), ErrorKind::Failed),
            (Error::BadPolicy("x".into()), ErrorKind::Failed),
            (Error::Failed("Session x not found".into()), ErrorKind::Failed),
            (Error::Unknown("x".into()), ErrorKind::Failed),
        ] {
            let message = error.to_string();
            assert_eq!(error.kind(), kind, "{message}");
            assert_eq!(ErrorKind::of_message(&message), kind, "{message}");
        }
    }
}
