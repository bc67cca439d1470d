//! The state that an instance leaves to the process that takes its place: its name, its start time, its ports and its
//! token. So a client reconnects as if the instance had not ended.
//!
//! The instance gives it to the keeper of its programs, and the keeper gives it to the process that it starts
//! ([`unterm_mux::SuccessorProgram`]). It is never written to a file. The only other source is an instance that waits for a
//! window: its entry, which only the same user can read, and `instance.hand_over`.

use std::{
    fmt,
    io::{self, Read},
};

use serde::{Deserialize, Serialize};
use unterm_mux::Mux;

use crate::{
    registry::{self, Record},
    services::people::approvals::Approval,
};

/// The maximum length of an inheritance as text, in bytes.
const LONGEST: u64 = 16 << 10;

/// The maximum length of each list, so that all of them are not too long for the keeper.
pub const LISTED: usize = 400;

/// The number of sessions that may open before the keeper receives the number of the first of them: more than can be
/// opened in half a second.
const SKIPPED: u64 = 256;

/// The shortest token that is accepted, in bytes. The token of an instance is a random UUID.
const SHORTEST_TOKEN: usize = 32;

/// The state that an instance leaves to the process that takes its place.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inheritance {
    /// The entry of the instance.
    pub record: Record,
    /// The number of the next session. Lower numbers are never given to other sessions.
    pub next_session: u64,
    /// The focused session of each tab. The active tab comes first. At most 400.
    #[serde(default)]
    pub focused: Vec<u64>,
    /// The keeper's numbers of programs with the numbers of their sessions. A program that came from another instance had
    /// another session there. At most 400.
    #[serde(default)]
    pub sessions: Vec<(u64, u64)>,
    /// Whether agents are paused.
    pub is_paused: bool,
    /// What happened to calls of unknown agents. Absent: the settings of the process decide.
    #[serde(default)]
    pub approval: Option<Approval>,
}

/// Why a process takes no instance's place.
#[derive(Debug, thiserror::Error)]
pub enum NotInherited {
    /// Standard input cannot be read.
    #[error("cannot read what the last instance left: {0}")]
    Read(#[from] io::Error),
    /// The text is no inheritance.
    #[error("what the last instance left is not valid: {0}")]
    Text(#[from] serde_json::Error),
    /// A value can't be used.
    #[error("what the last instance left is not valid: {0}")]
    Value(String),
}

impl Inheritance {
    /// The inheritance after a crash. A session may have opened after the last report to the keeper, so some numbers
    /// are left out.
    #[must_use]
    pub fn after_crash(mut self) -> Self {
        self.next_session = self.next_session.next_multiple_of(SKIPPED).saturating_add(SKIPPED);
        // An instance that leaves its place reports all of them.
        self.focused.truncate(LISTED);
        self.sessions.truncate(LISTED);
        self
    }

    /// The inheritance as text, for the process that takes the instance's place. It contains the instance's token.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads an inheritance to the end of `input`.
    ///
    /// # Errors
    /// It can't be read, or a value can't be used.
    pub fn read(input: impl Read) -> Result<Self, NotInherited> {
        let mut text = String::new();
        input.take(LONGEST).read_to_string(&mut text)?;
        let inheritance: Self = serde_json::from_str(&text)?;
        let Record { id, auth_token, .. } = &inheritance.record;
        // The name becomes the name of a file.
        if !registry::is_name(id) {
            return Err(NotInherited::Value(format!("{id:?} is no name of an instance")));
        }
        if auth_token.len() < SHORTEST_TOKEN {
            let text = format!("its token has fewer than {SHORTEST_TOKEN} characters");
            return Err(NotInherited::Value(text));
        }
        Ok(inheritance)
    }
}

/// See [`Inheritance::focused`].
pub(crate) fn focused(mux: &Mux) -> Vec<u64> {
    mux.focused_panes().iter().map(|pane| pane.0).take(LISTED).collect()
}

/// See [`Inheritance::sessions`].
pub(crate) fn sessions(mux: &Mux) -> Vec<(u64, u64)> {
    mux.kept_numbers().into_iter().map(|(program, pane)| (program, pane.0)).take(LISTED).collect()
}

impl fmt::Debug for Inheritance {
    /// Omits the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record { id, mcp_port, http_port, pid, .. } = &self.record;
        f.debug_struct("Inheritance")
            .field("id", id)
            .field("ports", &[mcp_port, http_port])
            .field("pid", pid)
            .field("next_session", &self.next_session)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Registration;

    fn inheritance(id: &str, token: &str) -> Inheritance {
        let home = tempfile::tempdir().unwrap();
        let registration = Registration::unregistered(home.path(), 7, 8, token.to_owned());
        let record = Record { id: id.to_owned(), ..Record::clone(&registration.record()) };
        Inheritance {
            record,
            next_session: 5,
            focused: vec![3, 1],
            sessions: vec![(7, 3)],
            is_paused: true,
            approval: Some(Approval::Deny),
        }
    }

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn an_inheritance_is_read_as_it_was_written() {
        let left = inheritance("bravo2", TOKEN);
        assert_eq!(Inheritance::read(left.to_text().as_bytes()).unwrap(), left);
        assert!(!format!("{left:?}").contains(TOKEN), "the token is secret");
    }

    #[test]
    fn names_that_are_paths_and_weak_tokens_are_refused() {
        for (id, token, why) in [
            ("../x", TOKEN, "no name of an instance"),
            ("", TOKEN, "no name of an instance"),
            ("alpha", "", "fewer than 32"),
            ("alpha", "short", "fewer than 32"),
        ] {
            let text = inheritance(id, token).to_text();
            let error = Inheritance::read(text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
        for text in ["", "{}", "[]"] {
            assert!(Inheritance::read(text.as_bytes()).is_err());
        }
    }

    #[test]
    fn an_heir_has_name_and_start_of_the_dead_instance() {
        let home = tempfile::tempdir().unwrap();
        let left = inheritance("golf", TOKEN);
        let register = |inherited: Option<Record>| {
            let token = TOKEN.to_owned();
            let registration = Registration::unregistered(home.path(), 1, 0, token);
            let registration = registration.in_place_of(inherited, "another".to_owned(), false);
            registration.enter().unwrap();
            registration
        };
        let heir = register(Some(left.record.clone()));
        assert_eq!(heir.start(), format!("golf {}", left.record.started_at));
        // The name belongs to a live instance now.
        let second = register(Some(left.record.clone()));
        assert_eq!(second.record().id, "alpha");
        assert_eq!(second.record().auth_token, "another", "two instances have one token");
        assert_eq!(heir.record().auth_token, TOKEN);
        assert_ne!(second.record().started_at, left.record.started_at);
    }
}
