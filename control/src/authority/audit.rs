//! Audit: which calls the log contains, and their texts. This module denies nothing, and logs the outcome of a call
//! whatever the gates decided.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Demand, Subjects};
use crate::{
    caller::{Access, Caller},
    error::Error,
    services::records::audit::{Audit, CallOutcome},
};

/// Parameters that contain typed input. If the program does not echo the input, neither the log nor a gate may show it.
pub const TYPED: [&str; 4] = ["input", "text", "paste", "keys"];

/// Parameters that describe what a call does to a session, in methods and in the tools that call them. A name or a
/// title is not among them, because a name on its own in the log would look like a command. Methods that only set a
/// name or a title list that parameter themselves.
pub const DOING: [&str; 6] = ["command", TYPED[0], TYPED[1], TYPED[2], TYPED[3], "signal"];

/// The text that replaces input that the program does not echo.
pub const NOT_SHOWN: &str = "(not shown: the program does not echo it)";

/// The audit log's text about a call.
#[derive(Clone)]
pub struct Detail {
    /// A description of the call, in one line.
    pub text: String,
    /// Whether the call types input that the program does not echo. The log must not show such input, even if the call
    /// is refused.
    pub is_secret: bool,
}

impl Detail {
    /// The detail of a call that types input that the program does not echo.
    pub fn not_shown() -> Self {
        Self { text: NOT_SHOWN.to_owned(), is_secret: true }
    }

    /// The detail of a call whose values may be secrets. Contains only the parameters' names, and their section.
    pub fn names(params: &Map<String, Value>) -> Self {
        let names = params.keys().map(String::as_str).filter(|name| *name != "section");
        let names = names.collect::<Vec<_>>().join(", ");
        let text = match params.get("section").and_then(Value::as_str) {
            Some(section) => format!("{section}: {names}"),
            None => names,
        };
        Self { text, is_secret: false }
    }
}

/// The calls of a method that are logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logged {
    /// No calls, because the method only reads what its token may see, or lists something for the user.
    Nothing,
    /// Only refused calls. For an answer of the user, its effect is logged instead, because an answer can arrive in
    /// several ways. For reading a session's variable, nothing is logged, because reads are not in the log.
    Refusals,
    /// All calls.
    Everything,
}

impl Logged {
    /// The logged calls of a method, which follow from the subjects that the method reveals and changes.
    pub const fn of(demand: &Demand) -> Self {
        // Lists of tokens and agents contain no secrets, so reading them is not logged.
        const TAKEN: Subjects = Subjects::HIDDEN
            .difference(Subjects::RIGHTS)
            .difference(Subjects::ENVIRONMENT)
            .union(Subjects::FOLDER);
        if matches!(demand.access, Access::Read) {
            Self::Nothing
        } else if demand.changes.intersects(Subjects::ANSWERS) {
            Self::Refusals
        } else if !demand.changes.is_empty() || demand.reveals.intersects(TAKEN) {
            Self::Everything
        } else if demand.reveals.intersects(Subjects::ENVIRONMENT) {
            Self::Refusals
        } else {
            Self::Nothing
        }
    }
}

/// The record of a call for the log. Empty if the call is not logged.
#[derive(Clone)]
pub struct Record<'a>(Option<LoggedCall<'a>>);

#[derive(Clone)]
struct LoggedCall<'a> {
    audit: &'a Audit,
    caller: &'a Caller,
    method: &'static str,
    logged: Logged,
    session: String,
    detail: Detail,
}

impl<'a> Record<'a> {
    /// The record of a call. `detail` returns the session that the call concerns, or an empty text for none, and the
    /// text about the call. It is called only if the method is logged.
    ///
    /// # Errors
    /// The error of `detail`.
    pub fn of<E>(
        audit: &'a Audit,
        caller: &'a Caller,
        demand: &Demand,
        detail: impl FnOnce() -> Result<(String, Detail), E>,
    ) -> Result<Self, E> {
        let logged = Logged::of(demand);
        if logged == Logged::Nothing {
            return Ok(Self(None));
        }
        let (session, detail) = detail()?;
        Ok(Self(Some(LoggedCall { audit, caller, method: demand.name, logged, session, detail })))
    }

    /// Whether the call types input that the program does not echo.
    pub fn is_secret(&self) -> bool {
        self.0.as_ref().is_some_and(|noted| noted.detail.is_secret)
    }

    /// Writes the record with the call's outcome. If the call named no session, the session in the reply is logged.
    pub fn write(self, error: Option<&Error>, reply: &[u8]) {
        #[derive(Deserialize)]
        struct Made {
            session_id: String,
        }

        let Some(LoggedCall { audit, caller, method, logged, mut session, detail }) = self.0 else {
            return;
        };
        if session.is_empty()
            && let Ok(made) = serde_json::from_slice::<Made>(reply)
        {
            session = made.session_id;
        }
        let outcome = match error.map_or(CallOutcome::Done, Error::outcome) {
            CallOutcome::Failed(_) if detail.is_secret => CallOutcome::Failed(NOT_SHOWN.to_owned()),
            outcome => outcome,
        };
        if logged == Logged::Everything || matches!(outcome, CallOutcome::Refused(_)) {
            audit.add(method, session, &detail.text, outcome, caller.client.clone());
        }
    }
}

/// The record of a running call. The record is written when the call ends or is abandoned. For a call that may last
/// long, it is written when the call begins, and again if the call then fails.
pub struct CallInProgress<'a> {
    record: Option<Record<'a>>,
    is_written: bool,
}

impl<'a> CallInProgress<'a> {
    /// The record of a call that is about to run.
    pub fn new(record: Record<'a>) -> Self {
        Self { record: Some(record), is_written: false }
    }

    /// Writes the record at the beginning of the call.
    pub fn begin(&mut self) {
        if let Some(record) = self.record.clone() {
            record.write(None, &[]);
            self.is_written = true;
        }
    }

    /// Writes the outcome, unless the record was already written and there is no error.
    pub fn write(&mut self, error: Option<&Error>, reply: &[u8]) {
        if let Some(record) = self.record.take()
            && (error.is_some() || !self.is_written)
        {
            record.write(error, reply);
        }
    }
}

impl Drop for CallInProgress<'_> {
    fn drop(&mut self) {
        self.write(None, &[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        dialect::{settings::own_methods, tmux},
        methods::METHODS,
    };

    #[test]
    fn methods_beyond_reading_are_logged() {
        let more_than_read = METHODS.iter().chain(own_methods()).chain(tmux::own_methods());
        let more_than_read = more_than_read.filter(|entry| entry.access != Access::Read);
        let logged = more_than_read.map(|entry| (entry.name, Logged::of(entry)));
        let partly: Vec<_> = logged.filter(|(_, logged)| *logged != Logged::Everything).collect();
        assert_eq!(
            partly,
            [
                ("session.env", Logged::Refusals),
                ("approvals.list", Logged::Nothing),
                ("approvals.answer", Logged::Refusals),
                ("token.list", Logged::Nothing),
            ]
        );
    }
}
