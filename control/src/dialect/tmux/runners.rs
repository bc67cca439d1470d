//! The processes that run hooks at events. The client that sets such a hook ends soon, so it starts a process that runs
//! the commands with its rights. The process identifies itself with a ticket.

use tokio::sync::oneshot;

use crate::caller::{Caller, Opener};

/// The maximum number of processes.
const MOST: usize = 100;

/// The program and the server whose hooks a process runs.
pub struct Claim {
    /// The program that set the hooks.
    pub caller: Caller,
    /// The name of the server (`-L`).
    pub server: String,
}

struct Runner {
    by: Opener,
    ticket: String,
    /// The parts for the process. `None` after the process has connected.
    unclaimed: Option<(Claim, oneshot::Sender<()>)>,
}

/// The processes: at most one for each program.
#[derive(Default)]
pub struct Runners(Vec<Runner>);

impl Runners {
    /// Adds a process for a program. Returns the ticket, and a future that resolves when the process has connected.
    /// `None` if the program has a process already.
    ///
    /// # Errors
    /// There are too many processes, or the system returns no random bytes.
    pub fn open(
        &mut self,
        by: &Opener,
        claim: Claim,
    ) -> Result<Option<(String, oneshot::Receiver<()>)>, String> {
        if self.0.iter().any(|runner| runner.by == *by) {
            return Ok(None);
        }
        if self.0.len() >= MOST {
            return Err(format!("too many programs with hooks: at most {MOST}"));
        }
        let ticket = unterm_mux::random::hex().map_err(|error| error.to_string())?;
        let (tell, claimed) = oneshot::channel();
        let unclaimed = Some((claim, tell));
        self.0.push(Runner { by: by.clone(), ticket: ticket.clone(), unclaimed });
        Ok(Some((ticket, claimed)))
    }

    /// Connects a process. `None` if there is no such ticket, or it was used before.
    pub fn claim(&mut self, ticket: &str) -> Option<Claim> {
        let runner = self.0.iter_mut().find(|runner| runner.ticket == ticket)?;
        let (claim, tell) = runner.unclaimed.take()?;
        // The client that started the process may have gone.
        let _ = tell.send(());
        Some(claim)
    }

    /// Removes the process with this ticket.
    pub fn finish(&mut self, ticket: &str) {
        self.0.retain(|runner| runner.ticket != ticket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_one_process_that_connects_once() {
        let mut runners = Runners::default();
        let claim = || Claim { caller: Caller::of_user(None), server: "default".to_owned() };
        let by = Opener::Pane(1);
        let (ticket, _) = runners.open(&by, claim()).unwrap().unwrap();
        assert!(runners.open(&by, claim()).unwrap().is_none());
        assert!(runners.claim("other").is_none());
        assert!(runners.claim(&ticket).is_some() && runners.claim(&ticket).is_none());
        runners.finish(&ticket);
        assert!(runners.open(&by, claim()).unwrap().is_some());
        for pane in 2..=MOST as u64 {
            runners.open(&Opener::Pane(pane), claim()).unwrap();
        }
        assert!(runners.open(&Opener::Pane(0), claim()).is_err());
    }
}
