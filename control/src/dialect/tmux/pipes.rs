//! Pipes: panes whose output goes to a shell command, or that receive a command's output (`pipe-pane`).
//!
//! The calling client can't stay, so it starts a process that serves the pipe. The process claims the pipe with a
//! ticket.

use tokio::sync::oneshot;
use unterm_mux::Tap;

use crate::caller::{Caller, Opener};

/// The maximum number of pipes.
const MOST: usize = 100;

/// An open pipe.
struct Pipe {
    pane: u64,
    /// The program that opened the pipe.
    by: Opener,
    ticket: String,
    /// The parts for the serving process. `None` after the process has claimed the pipe.
    unclaimed: Option<(Claim, oneshot::Sender<()>)>,
    /// Dropped when the pipe is closed.
    _end: oneshot::Sender<()>,
}

/// A pipe that a client has requested.
pub struct Request {
    /// The pane.
    pub pane: u64,
    /// The caller that types the command's output, with its approval.
    pub caller: Caller,
    /// The shell command.
    pub command: String,
    /// The pane's output. It also reports the end of the pane's program.
    pub tap: Option<Tap>,
    /// Whether the command reads the output.
    pub reads: bool,
    /// Whether the command's output is typed in the pane.
    pub writes: bool,
}

/// The parts of a pipe that the serving process needs.
pub struct Claim {
    /// The pipe.
    pub request: Request,
    /// Ends when the pipe is closed.
    pub end: oneshot::Receiver<()>,
}

/// The open pipes. A program has at most one pipe for each pane, and can't close pipes of other programs.
#[derive(Default)]
pub struct Pipes(Vec<Pipe>);

impl Pipes {
    /// Opens a pipe. Returns its ticket, and a future that resolves when the serving process has claimed the pipe.
    ///
    /// # Errors
    /// There are too many pipes, or the system returns no random bytes.
    pub fn open(
        &mut self,
        by: Opener,
        request: Request,
    ) -> Result<(String, oneshot::Receiver<()>), String> {
        if self.0.len() >= MOST {
            return Err(format!("too many pipes: at most {MOST}"));
        }
        let ticket = unterm_mux::random::hex().map_err(|error| error.to_string())?;
        let ((close, end), (tell, claimed)) = (oneshot::channel(), oneshot::channel());
        let pane = request.pane;
        let unclaimed = Some((Claim { request, end }, tell));
        self.0.push(Pipe { pane, by, ticket: ticket.clone(), unclaimed, _end: close });
        Ok((ticket, claimed))
    }

    /// Claims a pipe. `None` if there is no such pipe, or it was claimed before.
    pub fn claim(&mut self, ticket: &str) -> Option<Claim> {
        let pipe = self.0.iter_mut().find(|pipe| pipe.ticket == ticket)?;
        let (claim, tell) = pipe.unclaimed.take()?;
        // The client that opened the pipe may have gone.
        let _ = tell.send(());
        Some(claim)
    }

    /// Whether a pane has a pipe.
    pub fn has(&self, pane: u64) -> bool {
        self.0.iter().any(|pipe| pipe.pane == pane)
    }

    /// Closes the pipe that a program has opened for a pane. Returns false if there is none.
    pub fn close(&mut self, pane: u64, by: &Opener) -> bool {
        let before = self.0.len();
        self.0.retain(|pipe| pipe.pane != pane || pipe.by != *by);
        self.0.len() < before
    }

    /// Closes the pipe with this ticket.
    pub fn finish(&mut self, ticket: &str) {
        self.0.retain(|pipe| pipe.ticket != ticket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::poll::poll_once;

    fn request(pane: u64) -> Request {
        let caller = Caller::of_user(None);
        let command = "cat".to_owned();
        Request { pane, caller, command, tap: None, reads: false, writes: true }
    }

    #[tokio::test]
    async fn a_pipe_is_claimed_once_and_ends_when_it_is_closed() {
        let mut pipes = Pipes::default();
        let (own, other) = (Opener::Pane(1), Opener::Pane(2));
        let (ticket, mut claimed) = pipes.open(own.clone(), request(3)).unwrap();
        assert!(pipes.has(3) && !pipes.has(4));
        assert!(poll_once(&mut claimed).await.is_pending());
        assert!(pipes.claim("other").is_none());
        let mut claim = pipes.claim(&ticket).unwrap();
        assert!(pipes.claim(&ticket).is_none());
        claimed.await.unwrap();
        assert!(!pipes.close(3, &other));
        assert!(poll_once(&mut claim.end).await.is_pending());
        assert!(pipes.close(3, &own) && !pipes.close(3, &own));
        assert!(poll_once(&mut claim.end).await.is_ready());
    }

    #[test]
    fn pipes_are_bounded() {
        let mut pipes = Pipes::default();
        for pane in 0..MOST as u64 {
            pipes.open(Opener::Pane(0), request(pane)).unwrap();
        }
        assert!(pipes.open(Opener::Pane(0), request(MOST as u64)).is_err());
    }
}
