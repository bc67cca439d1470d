//! Whether the programs of a pane may read the clipboards (OSC 5522): what the user allowed and denied.
//!
//! A program is recognized by a password that it chose, or that the window sent it with a paste.

use std::time::{Duration, Instant};

use unterm_term::{ClipboardRead, ClipboardTarget};

/// The time for which the password of a paste is valid.
const ONCE: Duration = Duration::from_secs(30);

/// The maximum number of passwords of a pane that the user always allows. The oldest is dropped.
const ALWAYS_CAP: usize = 16;

/// What the user allowed and denied to the programs of a pane.
#[derive(Debug, Default)]
pub(crate) struct ClipboardAccess {
    /// The passwords of programs that may always read.
    always: Vec<String>,
    once: Option<Once>,
    /// How often the user had typed in the pane when a request was denied last.
    denied_at: Option<u64>,
}

/// The password of the last paste. It allows one read of the pasted clipboard.
#[derive(Debug)]
struct Once {
    password: String,
    target: ClipboardTarget,
    until: Instant,
}

impl ClipboardAccess {
    /// Whether the program may read without a question. The password of a paste is then used up.
    pub(crate) fn allows(&mut self, read: &ClipboardRead, now: Instant) -> bool {
        let Some(requester) = &read.requester else { return false };
        let is_its = |once: &mut Once| once.password == requester.password;
        if let Some(once) = self.once.take_if(is_its) {
            return once.target == read.target && now <= once.until;
        }
        self.always.contains(&requester.password)
    }

    /// Allows one read of the clipboard that the user just pasted. The password of an earlier paste ends.
    pub(crate) fn allow_once(&mut self, password: String, target: ClipboardTarget, now: Instant) {
        self.once = Some(Once { password, target, until: now + ONCE });
    }

    /// Allows all reads with the password of this request, if it has one.
    pub(crate) fn allow_always(&mut self, read: &ClipboardRead) {
        let Some(requester) = &read.requester else { return };
        if self.always.contains(&requester.password) {
            return;
        }
        if self.always.len() == ALWAYS_CAP {
            self.always.remove(0);
        }
        self.always.push(requester.password.clone());
    }

    /// Records that the user denied a request. `touches` is how often the user has typed in the pane.
    pub(crate) fn deny(&mut self, touches: u64) {
        self.denied_at = Some(touches);
    }

    /// Whether the user denied a request and has not typed in the pane since. Further requests are then denied without a
    /// question, so that a program can't ask again and again.
    pub(crate) fn is_denied(&self, touches: u64) -> bool {
        self.denied_at == Some(touches)
    }
}

#[cfg(test)]
mod tests {
    use unterm_term::ClipboardRequester;

    use super::*;

    fn read(password: &str, target: ClipboardTarget) -> ClipboardRead {
        let requester = (!password.is_empty())
            .then(|| ClipboardRequester { name: "name".into(), password: password.into() });
        ClipboardRead { handle: 1, target, types: vec!["text/plain".into()], requester }
    }

    #[test]
    fn the_password_of_a_paste_is_good_once_and_for_30_seconds() {
        let (clipboard, primary) = (ClipboardTarget::Clipboard, ClipboardTarget::Primary);
        let now = Instant::now();
        let mut access = ClipboardAccess::default();
        access.allow_once("a".into(), clipboard, now);
        assert!(!access.allows(&read("", clipboard), now));
        assert!(!access.allows(&read("b", clipboard), now));
        assert!(access.allows(&read("a", clipboard), now + ONCE));
        assert!(!access.allows(&read("a", clipboard), now), "it was used");
        access.allow_once("a".into(), clipboard, now);
        assert!(!access.allows(&read("a", primary), now), "another clipboard");
        access.allow_once("a".into(), clipboard, now);
        assert!(!access.allows(&read("a", clipboard), now + ONCE + Duration::from_secs(1)));
        access.allow_once("a".into(), clipboard, now);
        access.allow_once("b".into(), primary, now);
        assert!(!access.allows(&read("a", clipboard), now), "a later paste ended it");
        assert!(access.allows(&read("b", primary), now));
    }

    #[test]
    fn a_program_that_is_always_allowed_is_known_by_its_password() {
        let (target, now) = (ClipboardTarget::Clipboard, Instant::now());
        let mut access = ClipboardAccess::default();
        access.allow_always(&read("", target));
        assert!(!access.allows(&read("", target), now));
        for number in 0..=ALWAYS_CAP {
            access.allow_always(&read(&number.to_string(), target));
        }
        assert!(!access.allows(&read("0", target), now), "the oldest was dropped");
        for _ in 0..2 {
            assert!(access.allows(&read("1", ClipboardTarget::Primary), now));
        }
    }

    #[test]
    fn after_a_denial_the_user_must_type_before_the_next_question() {
        let mut access = ClipboardAccess::default();
        assert!(!access.is_denied(0));
        access.deny(7);
        assert!(access.is_denied(7));
        assert!(!access.is_denied(8));
    }
}
