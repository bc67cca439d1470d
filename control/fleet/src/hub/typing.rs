//! Typing by users in the dashboard, for the audit log. Input without a long pause becomes one entry for each session,
//! not one for each key.

use std::{collections::HashMap, time::Duration};

use parking_lot::Mutex;
use tokio::time::Instant;

use crate::identity::MachineId;

/// Input after a longer pause becomes a new entry.
const PAUSE: Duration = Duration::from_secs(60);

/// The time at which each user last typed into each session. A user is identified by the sign-in.
#[derive(Default)]
pub struct Typing(Mutex<HashMap<(String, MachineId, String), Instant>>);

impl Typing {
    /// Records that a user types into a session. Returns whether the user begins to type.
    pub fn begins(&self, sign_in: &str, machine: &MachineId, sid: &str) -> bool {
        let mut last = self.0.lock();
        last.retain(|_, at| at.elapsed() < PAUSE);
        let key = (sign_in.to_owned(), machine.clone(), sid.to_owned());
        last.insert(key, Instant::now()).is_none()
    }

    /// Forgets that a user has typed, so that the next key counts as a beginning.
    pub fn forget(&self, sign_in: &str, machine: &MachineId, sid: &str) {
        self.0.lock().remove(&(sign_in.to_owned(), machine.clone(), sid.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn typing_is_logged_after_a_pause_and_per_session() {
        let typing = Typing::default();
        let machine = MachineId::try_from("1df461750a3e".to_owned()).unwrap();
        let begins = |sign_in, sid| typing.begins(sign_in, &machine, sid);
        assert!(begins("a", "1") && begins("b", "1") && begins("a", "2"));
        tokio::time::advance(PAUSE / 2).await;
        assert!(!begins("a", "1"));
        tokio::time::advance(PAUSE * 2 / 3).await;
        assert!(!begins("a", "1") && begins("b", "1"));
    }
}
