//! Why a method failed, in words. Codes are a matter of each wire.

use std::{path::PathBuf, sync::Arc};

use unterm_mux::{Axis, ExitStatus, MuxError, SpawnError, WriteError};

use crate::{
    caller::{Access, Scopes},
    services::{audit::Outcome, person::PAUSE, policy::Refusal},
    untrusted,
};

/// Characters of a line or a command that a message quotes.
const QUOTED: usize = 200;

/// A method's failure. The messages are part of the contract of the TCP wire.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Neither `id` nor `session_id` was given, or not as something that can name a session.
    #[error("Missing 'id' or 'session_id' parameter")]
    NoTarget,
    /// A session was named by text that is no number; the text as JSON.
    #[error("Invalid session_id: {0}")]
    BadTarget(String),
    /// No such session.
    #[error("Session {0} not found")]
    NoSession(u64),
    /// A required parameter is missing or is not text.
    #[error("Missing '{0}'")]
    Missing(&'static str),
    /// The same, of `session.input`, in its own documented words.
    #[error("Missing '{0}' parameter")]
    MissingParameter(&'static str),
    /// A parameter is not what it should be.
    #[error("Invalid '{name}': expected {expected}, got {got}")]
    Invalid {
        /// The parameter.
        name: &'static str,
        /// What would be right.
        expected: String,
        /// What was given, as JSON.
        got: String,
    },
    /// The parameters could not be read at all.
    #[error("Invalid params: {}", unplaced(.0))]
    Params(serde_json::Error),
    /// A grid of too many cells.
    #[error("Invalid size: {cols}x{rows} is more than {max} cells")]
    TooLarge {
        /// Columns.
        cols: u16,
        /// Rows.
        rows: u16,
        /// The most cells a grid may have.
        max: u32,
    },
    /// The working directory is none.
    #[error("Invalid 'cwd': {0:?} is not a directory")]
    BadCwd(PathBuf),
    /// A signal that is not sent as a control character.
    #[error("Unsupported signal: {0}")]
    Signal(String),
    /// A session did not take input.
    #[error("Session {id}: {error}")]
    Write {
        /// The session.
        id: u64,
        /// Why.
        error: WriteError,
    },
    /// A session's program ended while a command ran in it.
    #[error("Session {id} ended before the command finished ({how})", how = Ending(*.status))]
    Ended {
        /// The session.
        id: u64,
        /// How its program ended; `None`: the session was closed.
        status: Option<ExitStatus>,
    },
    /// The rules on what may be entered refuse it.
    #[error("Command blocked by policy: {0}")]
    Policy(Refusal),
    /// Rules that can't be used.
    #[error("Invalid policy: {0}")]
    BadPolicy(String),
    /// Somebody else has the session's input for now.
    #[error("Session {id} is leased by {holder}")]
    Leased {
        /// The session.
        id: u64,
        /// Who has it.
        holder: String,
    },
    /// The caller's lease of the session is over, since a person typed there.
    #[error(
        "Nothing was typed: a person has typed in session {0} since you took its lease, and it is theirs now. Take the lease anew once they are done, or give it back"
    )]
    TakenOver(u64),
    /// A line stands at the prompt that has not been entered yet.
    #[error("Nothing was typed: {} “{line}”. {}", match by_person {
        true => format!("a person is typing a line at the prompt of session {id}:"),
        false => format!("an unfinished line stands at the prompt of session {id}:"),
    }, match by_person {
        true => "Wait until they enter it",
        false => "Wait until it is entered, or clear it with ctrl+c",
    })]
    Begun {
        /// A person typed at this prompt.
        by_person: bool,
        /// The session.
        id: u64,
        /// What can be seen of the line, escaped.
        line: String,
    },
    /// Something else than a shell at its prompt would read what is typed.
    #[error(
        "Nothing was typed: session {id} runs “{what}”, which would read it. Wait for its end, or use input"
    )]
    Busy {
        /// The session.
        id: u64,
        /// What runs, escaped.
        what: String,
    },
    /// A person has just pressed a key, and the caller is an agent.
    #[error(
        "Nothing was typed: a person pressed a key in session {0} less than {pause} seconds ago. Try again once they pause", pause = PAUSE.as_secs()
    )]
    PersonTypes(u64),
    /// A program asks for a secret, and the caller is an agent.
    #[error(
        "Session {0} asks for a secret, which only a person may type. Ask them to and wait until they have, or give up with ctrl+c"
    )]
    Secret(u64),
    /// A program may ask for a secret, and the caller is an agent.
    #[error(
        "Nothing was typed: session {id} may ask for a secret ({why}). Look at its screen: if it asks, leave that to the person, else type with no_secret: true"
    )]
    MaybeSecret {
        /// The session.
        id: u64,
        /// Why, escaped.
        why: String,
    },
    /// No shell of the session marks its commands.
    #[error(
        "Session {0} has no shell integration: it is off, or the system gave no random numbers"
    )]
    NotIntegrated(u64),
    /// What was waited for only the marks of a shell's integration tell, and none come.
    #[error(
        "Session {id} reports no prompts and no ends of commands: “{program}” in it has no shell integration. Wait for text, stable_ms or exit instead"
    )]
    NoMarks {
        /// The session.
        id: u64,
        /// What runs in its foreground.
        program: String,
    },
    /// No such command block.
    #[error("{}", match block {
        Some(block) => format!("Block {block} of session {id} not found"),
        None => format!("Session {id} keeps no command that has ended"),
    })]
    NoBlock {
        /// The session.
        id: u64,
        /// The block; `None`: the last that has ended.
        block: Option<u64>,
    },
    /// A session is too small for another one beside it.
    #[error("Session {id} is too small to split: each part needs {needs}", needs = .axis.split_needs())]
    NoRoom {
        /// The session.
        id: u64,
        /// How the two would lie.
        axis: Axis,
    },
    /// Something that a service could not do, in its words.
    #[error("{0}")]
    Failed(String),
    /// The mux refused.
    #[error(transparent)]
    Mux(MuxError),
    /// It needs a window.
    #[error("There is no window: this instance runs headless, or is closing")]
    NoWindow,
    /// The window can't do an action, or does not know it.
    #[error("{0}")]
    Action(String),
    /// The registry could not be read.
    #[error("cannot read the registry: {0}")]
    Registry(std::io::Error),
    /// The caller's token does not reach this far.
    #[error("Not allowed: {0}")]
    Denied(Denial),
    /// The method does not exist.
    #[error("Unknown method: {0}")]
    Unknown(String),
    /// The method panicked; a fault of ours.
    #[error("Internal error: {0}")]
    Panicked(String),
    /// A reply could not be written as JSON; a fault of ours.
    #[error("Internal error: cannot write the reply: {0}")]
    Reply(serde_json::Error),
    /// A reply can't be read: it comes from an instance of another version, or is a fault of ours.
    #[error("Cannot read the reply of {method}: {error}")]
    Unread {
        /// The method.
        method: &'static str,
        /// Why.
        error: serde_json::Error,
    },
    /// A call was given up at its deadline.
    #[error("{0} took too long")]
    Deadline(String),
    /// Another instance refused the call, or is gone.
    #[error(transparent)]
    Remote(#[from] crate::client::ClientError),
}

/// Why a caller may not call a method.
#[derive(Debug, thiserror::Error)]
pub enum Denial {
    /// Its token's scopes don't hold what the method, or the route, needs.
    #[error("{what} is out of the token's scopes")]
    Scope {
        /// The method or the route.
        what: String,
        /// What it needs.
        needs: Access,
        /// What the token gives.
        has: Scopes,
    },
    /// Its token reaches other sessions only.
    #[error("{what} is out of the token's sessions")]
    Sessions {
        /// The method.
        what: String,
        /// The session that it names, if it names one.
        session: Option<u64>,
        /// Those that the token reaches.
        reached: Arc<[u64]>,
    },
    /// The person has not approved it.
    #[error("{0} needs the person's approval")]
    Approval(String),
    /// It gives more than any token for an agent does.
    #[error("{0} is not for agents' tokens")]
    Agents(String),
    /// Its token is worth nothing any more.
    #[error("the token has ended, or was taken back")]
    Ended,
    /// In the words of whoever refuses it.
    #[error("{0}")]
    Other(String),
}

impl Error {
    /// A session with a line at its prompt.
    pub fn begun(id: u64, line: &str, by_person: bool) -> Self {
        Self::Begun { by_person, id, line: untrusted::line(line, QUOTED) }
    }

    /// A session whose program may ask for a secret.
    pub fn maybe_secret(id: u64, why: &str) -> Self {
        Self::MaybeSecret { id, why: untrusted::line(why, QUOTED) }
    }

    /// A session in which something runs.
    pub fn busy(id: u64, what: &str) -> Self {
        Self::Busy { id, what: untrusted::line(what, QUOTED) }
    }

    /// What came of a call that ends so, for the audit log: without what was given, lines that the person has not entered,
    /// and what runs.
    pub fn outcome(&self) -> Outcome {
        let why = match self {
            Self::Invalid { name, expected, .. } => {
                format!("Invalid '{name}': expected {expected}")
            }
            Self::Begun { id, .. } => format!("A line is begun at the prompt of session {id}"),
            Self::Busy { id, .. } => format!("Session {id} runs what would read it"),
            Self::MaybeSecret { id, .. } => format!("Session {id} may ask for a secret"),
            error => error.to_string(),
        };
        if self.is_refusal() { Outcome::Refused(why) } else { Outcome::Failed(why) }
    }

    /// Whether the caller was kept from something it may ask for.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Policy(_)
                | Self::Leased { .. }
                | Self::TakenOver(_)
                | Self::Begun { .. }
                | Self::Busy { .. }
                | Self::PersonTypes(_)
                | Self::Secret(_)
                | Self::MaybeSecret { .. }
                | Self::Denied(_)
        )
    }
}

/// What methods return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The types that serde names as Rust does, and their names for people.
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

/// What is wrong with parameters, for people: without its place in them, and without Rust's names of types.
pub fn unplaced(error: &serde_json::Error) -> String {
    let mut text = error.to_string();
    text.truncate(text.rfind(" at line ").unwrap_or(text.len()));
    let Some((before, found)) = text.rsplit_once(", expected ") else { return text };
    match TYPES.iter().find(|(name, _)| *name == found) {
        Some((_, words)) => format!("{before}, expected {words}"),
        None => text,
    }
}

/// How a program ended, in words.
struct Ending(Option<ExitStatus>);

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(ExitStatus::Code(code)) => write!(f, "exit code {code}"),
            Some(ExitStatus::Signal(signal)) => write!(f, "killed by signal {signal}"),
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
}
