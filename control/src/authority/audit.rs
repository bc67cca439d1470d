//! Audit: which calls the log has, and what it says of them. It denies nothing; whatever the gates said, it enters what came of
//! the call.

use serde::Deserialize;

use super::{Demand, Subjects};
use serde_json::{Map, Value};

use crate::{
    caller::{Access, Caller},
    error::Error,
    services::audit::{Audit, Outcome},
};

/// Parameters that hold what is typed: where a program does not show it, nobody else does.
pub const TYPED: [&str; 4] = ["input", "text", "paste", "keys"];

/// Parameters that say by themselves what is done to a session, of methods and of the tools that call them. A name or a title
/// says it only of a method that does no more than to give it: alone, it looks like a command.
pub const DOING: [&str; 6] = ["command", TYPED[0], TYPED[1], TYPED[2], TYPED[3], "signal"];

/// What stands for something typed that its program does not show.
pub const NOT_SHOWN: &str = "(not shown: the program does not echo it)";

/// What the audit log says of a call.
#[derive(Clone)]
pub struct Detail {
    /// What is done, in a line.
    pub text: String,
    /// A program is sent what it does not show: nobody else does, also where the call is refused for it.
    pub is_secret: bool,
}

impl Detail {
    /// Of a call that sends a program what it does not show.
    pub fn not_shown() -> Self {
        Self { text: NOT_SHOWN.to_owned(), is_secret: true }
    }

    /// Of a call whose values may be secrets: the parameters' names, and the section that they are in.
    pub fn names(params: &Map<String, Value>) -> Self {
        let section = params.get("section").and_then(Value::as_str);
        let names = params.keys().map(String::as_str).filter(|name| *name != "section");
        let names = names.collect::<Vec<_>>().join(", ");
        let text = section.map_or(names.clone(), |section| format!("{section}: {names}"));
        Self { text, is_secret: false }
    }
}

/// Which calls of a method the log has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logged {
    /// None: it looks at what its token may see, or lists for the person.
    Nothing,
    /// Those that are refused. What the person answers is logged where that takes effect, by whatever way it came.
    Refusals,
    /// All.
    Everything,
}

impl Logged {
    /// What follows from what a method reveals and changes.
    pub const fn of(demand: &Demand) -> Self {
        // Lists of tokens and agents contain no secret.
        const TAKEN: Subjects =
            Subjects::HIDDEN.difference(Subjects::RIGHTS).union(Subjects::FOLDER);
        if matches!(demand.access, Access::Read) {
            Self::Nothing
        } else if demand.changes.intersects(Subjects::ANSWERS) {
            Self::Refusals
        } else if !demand.changes.is_empty() || demand.reveals.intersects(TAKEN) {
            Self::Everything
        } else {
            Self::Nothing
        }
    }
}

/// A call, for the log; none where that leaves it out.
#[derive(Clone)]
pub struct Record<'a>(Option<Noted<'a>>);

#[derive(Clone)]
struct Noted<'a> {
    audit: &'a Audit,
    caller: &'a Caller,
    method: &'static str,
    logged: Logged,
    session: String,
    detail: Detail,
}

impl<'a> Record<'a> {
    /// Of a call about a session (or about none, if that is empty). `detail` is asked for if the log has calls of the method.
    ///
    /// # Errors
    /// That of `detail`.
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
        Ok(Self(Some(Noted { audit, caller, method: demand.name, logged, session, detail })))
    }

    /// Whether a program is sent what it does not show.
    pub fn is_secret(&self) -> bool {
        self.0.as_ref().is_some_and(|noted| noted.detail.is_secret)
    }

    /// Writes it, with what came of it. One that is about no session is about the one that its reply says was made.
    pub fn write(self, error: Option<&Error>, reply: &[u8]) {
        #[derive(Deserialize)]
        struct Made {
            session_id: String,
        }

        let Some(Noted { audit, caller, method, logged, mut session, detail }) = self.0 else {
            return;
        };
        if session.is_empty()
            && let Ok(made) = serde_json::from_slice::<Made>(reply)
        {
            session = made.session_id;
        }
        let outcome = match error.map_or(Outcome::Done, Error::outcome) {
            Outcome::Failed(_) if detail.is_secret => Outcome::Failed(NOT_SHOWN.to_owned()),
            outcome => outcome,
        };
        if logged == Logged::Everything || matches!(outcome, Outcome::Refused(_)) {
            audit.add(method, session, &detail.text, outcome, caller.client.clone());
        }
    }
}

/// The record of a call under way: written when that is done, or given up; of one that lasts when it begins, and again where
/// it then comes to nothing.
pub struct Begun<'a> {
    record: Option<Record<'a>>,
    is_written: bool,
}

impl<'a> Begun<'a> {
    /// Of a call that is made now.
    pub fn new(record: Record<'a>) -> Self {
        Self { record: Some(record), is_written: false }
    }

    /// Writes that it began.
    pub fn begin(&mut self) {
        if let Some(record) = self.record.clone() {
            record.write(None, &[]);
            self.is_written = true;
        }
    }

    /// Writes what came of it, unless that is written.
    pub fn write(&mut self, error: Option<&Error>, reply: &[u8]) {
        if let Some(record) = self.record.take()
            && (error.is_some() || !self.is_written)
        {
            record.write(error, reply);
        }
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.write(None, &[]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dialect::settings::own_methods, methods::METHODS};

    #[test]
    fn what_changes_something_or_gives_what_is_hidden_is_logged() {
        let more_than_read = METHODS.iter().chain(own_methods());
        let more_than_read = more_than_read.filter(|entry| entry.access != Access::Read);
        let logged = more_than_read.map(|entry| (entry.name, Logged::of(entry)));
        let partly: Vec<_> = logged.filter(|(_, logged)| *logged != Logged::Everything).collect();
        assert_eq!(
            partly,
            [
                ("approvals.list", Logged::Nothing),
                ("approvals.answer", Logged::Refusals),
                ("token.list", Logged::Nothing),
            ]
        );
    }
}
