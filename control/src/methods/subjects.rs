//! What methods reveal and change, and the access that it takes. Each method names its subjects, and a test holds its
//! [`Access`] to them: a method can't need less than what it shows.

use crate::caller::Access;

bitflags::bitflags! {
    /// What a method reveals to its caller, or changes for it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Subjects: u16 {
        /// This instance (version, ports, title, methods), and what is listed of this user's others.
        const INSTANCE = 1 << 0;
        /// The session that the call names: screen, history, commands, state.
        const SESSION = 1 << 1;
        /// Any session, and how sessions lie in tabs and windows.
        const SESSIONS = 1 << 2;
        /// Files that last: recordings, layouts, exported pages.
        const FILES = 1 << 3;
        /// Who is connected, and what callers did.
        const CALLERS = 1 << 4;
        /// The rules on what may be entered.
        const RULES = 1 << 5;
        /// Preferences. Below admin, the values of `[env]` are hidden.
        const PREFERENCES = 1 << 6;
        /// Addresses of proxies. Below admin, user names and passwords in them are hidden.
        const PROXY = 1 << 7;
        /// Environment variables of programs, which hold API keys and the like.
        const ENVIRONMENT = 1 << 8;
        /// What the person's display shows, other programs' windows too.
        const DISPLAY = 1 << 9;
        /// The system's clipboard.
        const CLIPBOARD = 1 << 10;
        /// Which tokens there are, and which agents may act.
        const RIGHTS = 1 << 11;
        /// What gives access by itself, or what the person hides: tokens, codes, patterns of secrets.
        const SECRETS = 1 << 12;
        /// The person, who is asked a question.
        const PERSON = 1 << 13;
        /// The files below a session's working directory: what a command there could read and write.
        const FOLDER = 1 << 14;
    }
}

impl Subjects {
    /// What it takes to see them.
    pub fn to_see(self) -> Access {
        const HIDDEN: Subjects = Subjects::ENVIRONMENT
            .union(Subjects::DISPLAY)
            .union(Subjects::CLIPBOARD)
            .union(Subjects::RIGHTS)
            .union(Subjects::SECRETS);
        if self.intersects(HIDDEN) {
            Access::Admin
        } else if self.intersects(Self::FOLDER) {
            Access::Act
        } else {
            Access::Read
        }
    }

    /// What it takes to change them.
    pub fn to_change(self) -> Access {
        const OF_SESSIONS: Subjects = Subjects::INSTANCE
            .union(Subjects::SESSION)
            .union(Subjects::SESSIONS)
            .union(Subjects::FILES)
            .union(Subjects::FOLDER)
            .union(Subjects::ENVIRONMENT);
        if Self::PERSON.contains(self) {
            Access::Read
        } else if OF_SESSIONS.union(Self::PERSON).contains(self) {
            Access::Act
        } else {
            Access::Admin
        }
    }

    /// Their names, parted by commas.
    pub fn names(self) -> String {
        let names: Vec<_> = self.iter_names().map(|(name, _)| name.to_lowercase()).collect();
        names.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        methods::{Entry, METHODS},
        wire::http::own_methods,
    };

    fn entries() -> impl Iterator<Item = &'static Entry> {
        METHODS.iter().chain(own_methods())
    }

    #[test]
    fn a_method_needs_what_its_subjects_take() {
        for entry in entries() {
            let needed = entry.reveals.to_see().max(entry.changes.to_change());
            let Entry { name, reveals, changes, .. } = entry;
            assert_eq!(entry.access, needed, "{name} reveals {reveals:?}, changes {changes:?}");
        }
    }

    #[test]
    fn what_a_token_for_some_sessions_reaches_is_theirs() {
        // A method of a single session says nothing of others; one that may be about none filters by its caller.
        let own = Subjects::INSTANCE
            | Subjects::SESSION
            | Subjects::FILES
            | Subjects::FOLDER
            | Subjects::CALLERS
            | Subjects::ENVIRONMENT
            | Subjects::PERSON;
        for entry in entries().filter(|entry| entry.is_of_session || entry.is_of_none) {
            let filtered = if entry.is_of_none { Subjects::SESSIONS } else { Subjects::empty() };
            assert!((own | filtered).contains(entry.reveals), "{}", entry.name);
            assert!(own.contains(entry.changes), "{}", entry.name);
        }
    }

    #[test]
    fn secrets_take_admin_and_screens_take_read() {
        assert_eq!(Subjects::SESSION.to_see(), Access::Read);
        assert_eq!((Subjects::SESSION | Subjects::ENVIRONMENT).to_see(), Access::Admin);
        assert_eq!(Subjects::empty().to_change(), Access::Read);
        assert_eq!(Subjects::PERSON.to_change(), Access::Read);
        assert_eq!((Subjects::SESSION | Subjects::PERSON).to_change(), Access::Act);
        assert_eq!((Subjects::SESSION | Subjects::RULES).to_change(), Access::Admin);
        assert_eq!((Subjects::SESSION | Subjects::FILES).names(), "session, files");
    }
}
