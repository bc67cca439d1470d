//! The connection of this process with the keeper, which is the parent of programs that outlive their window.
//!
//! All panes share one connection. A program does not need it after its start: its pty and its exit status come from
//! descriptors of its own.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use unterm_keeper::{
    Client, Error, Held, Identity, Launcher, MAX_TEXT, PaneKey, Placement, Refusal, Start,
    Successor,
};

use crate::{ProgramPlacement, lock::Mutex};

/// The time after a failure before the next attempt to reach the keeper. Until then, programs start without a wait.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// The connection with the keeper. The keeper is started when the first program needs it.
pub(super) struct Keeper {
    launcher: Launcher,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The name of this instance.
    owner: String,
    client: Option<Client>,
    /// The program that takes the place of this process.
    successor: Option<Successor>,
    /// Whether the keeper has received the current successor, or the information that there is none.
    is_successor_known: bool,
    /// Whether this process ends on purpose, without a successor.
    is_withdrawn: bool,
    /// Whether the keeper of this connection is too old for successors.
    is_keeper_too_old: bool,
    has_warned_of_successor: bool,
    /// The time before which the keeper is not tried again, after a failure.
    retry_at: Option<Instant>,
    has_warned: bool,
    has_warned_of_journal: bool,
    /// The first failure, until it was taken.
    fault: Option<String>,
}

/// Why the keeper has not started a program.
pub(super) enum NotStarted {
    /// The program cannot be started, by the keeper or otherwise.
    Program(String),
    /// There is no keeper. The program may be started without one.
    NoKeeper,
}

/// A pane of the keeper that belongs to this process.
pub(super) struct KeeperPane {
    keeper: Arc<Keeper>,
    key: PaneKey,
    /// The data that the keeper has already received.
    placement: Mutex<ProgramPlacement>,
}

impl Keeper {
    pub(super) fn new(program: PathBuf, socket: PathBuf) -> Self {
        Self { launcher: Launcher { program, socket }, state: Mutex::default() }
    }

    /// Sets the name of this instance, for the next connection.
    pub(super) fn set_owner(&self, name: &str) {
        name.clone_into(&mut self.state.lock().owner);
    }

    /// Sets the program that takes the place of this process. Starts no keeper: a new connection begins with it. Has no
    /// effect after [`Self::withdraw_successor`].
    pub(super) fn set_successor(&self, successor: Successor) {
        let mut state = self.state.lock();
        if state.is_withdrawn {
            return;
        }
        if state.successor.as_ref() != Some(&successor) {
            state.successor = Some(successor);
            state.is_successor_known = false;
        }
        if !state.is_successor_known {
            state.introduce_now();
        }
    }

    /// No program takes the place of this process. That reaches a keeper that runs even if there is no connection, because
    /// that keeper may know a successor.
    pub(super) fn withdraw_successor(&self) {
        let mut state = self.state.lock();
        if state.successor.take().is_some() {
            state.is_successor_known = false;
        }
        state.is_withdrawn = true;
        if !state.is_successor_known && !state.introduce_now() {
            state.connect_to_running(&self.launcher);
            // A missing keeper is not a failure, so the next program may start a keeper at once.
            state.client.take_if(|client| !client.is_usable());
        }
    }

    /// Returns the reason why there is no keeper, once.
    pub(super) fn take_fault(&self) -> Option<String> {
        self.state.lock().fault.take()
    }

    /// Starts a program. May wait for a few seconds, if the keeper does not answer.
    pub(super) fn start(self: &Arc<Self>, start: &Start) -> Result<(Held, KeeperPane), NotStarted> {
        match self.request(|client| client.start(start.clone())) {
            Ok(held) => Ok(self.own(held)),
            Err(Error::Refused(Refusal::CannotStart, why)) => Err(NotStarted::Program(why)),
            Err(error) => {
                self.state.lock().note_fault(&error);
                Err(NotStarted::NoKeeper)
            }
        }
    }

    /// The panes that no process owns, oldest first.
    pub(super) fn left(&self) -> Result<Vec<Identity>, Error> {
        let panes = self.request(Client::panes)?;
        let identify = |number| match self.request(|client| client.identify(number)) {
            Ok(identity) => Some(Ok(identity)),
            // The pane is gone since the keeper has listed it.
            Err(Error::Refused(Refusal::NoPane, _)) => None,
            Err(error) => Some(Err(error)),
        };
        let all: Result<Vec<Identity>, Error> = panes.into_iter().filter_map(identify).collect();
        Ok(all?.into_iter().filter(|identity| identity.owner.is_none()).collect())
    }

    /// Takes over a pane that no process owns.
    pub(super) fn take(self: &Arc<Self>, number: u64) -> Result<(Held, KeeperPane), Error> {
        self.request(|client| client.take(number)).map(|held| self.own(held))
    }

    fn own(self: &Arc<Self>, held: Held) -> (Held, KeeperPane) {
        let pane =
            KeeperPane { keeper: Arc::clone(self), key: held.key, placement: Mutex::default() };
        (held, pane)
    }

    /// Remembers that a pane has no journal. Only the first time is a warning.
    pub(super) fn note_journal_fault(&self, why: &str) {
        let mut state = self.state.lock();
        if std::mem::replace(&mut state.has_warned_of_journal, true) {
            tracing::debug!("no journal: {why}");
            return;
        }
        let fault = format!("The text in panes does not outlive this window: no journal, {why}.");
        tracing::warn!("{fault}");
        state.fault.get_or_insert(fault);
    }

    fn request<T>(&self, send: impl Fn(&mut Client) -> Result<T, Error>) -> Result<T, Error> {
        self.state.lock().request(&self.launcher, send)
    }
}

impl State {
    /// Sends a request, and connects first if necessary.
    fn request<T>(
        &mut self,
        launcher: &Launcher,
        send: impl Fn(&mut Client) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let result = match self.request_once(launcher, &send) {
            // The keeper was killed since the last request, so start another one.
            Err(Error::Ended) => self.request_once(launcher, &send),
            result => result,
        };
        self.note_connection();
        result
    }

    /// Drops a connection that is useless, and sets the time of the next attempt.
    fn note_connection(&mut self) {
        if self.client.as_ref().is_some_and(Client::is_usable) {
            self.retry_at = None;
            return;
        }
        self.client = None;
        let now = Instant::now();
        if self.retry_at.is_none_or(|at| at <= now) {
            self.retry_at = Some(now + RETRY_AFTER);
        }
    }

    /// Sends a message about a pane. Starts no keeper: another keeper does not have the pane.
    fn send(
        &mut self,
        launcher: &Launcher,
        send: impl FnOnce(&mut Client) -> Result<(), Error>,
    ) -> Result<(), Error> {
        if self.client.is_none() {
            if self.retry_at.is_some_and(|at| Instant::now() < at) {
                return Err(Error::TimedOut);
            }
            self.connect_to_running(launcher);
        }
        let result = self.client.as_mut().map_or(Err(Error::Ended), send);
        self.note_connection();
        result
    }

    fn request_once<T>(
        &mut self,
        launcher: &Launcher,
        send: impl Fn(&mut Client) -> Result<T, Error>,
    ) -> Result<T, Error> {
        if let Some(client) = self.client.as_mut().filter(|client| client.is_usable()) {
            return send(client);
        }
        self.client = None;
        if self.retry_at.is_some_and(|at| Instant::now() < at) {
            return Err(Error::TimedOut);
        }
        let client = launcher.connect(&self.owner)?;
        let client = self.introduced(client);
        send(self.client.insert(client))
    }

    /// Connects to a keeper if one runs.
    fn connect_to_running(&mut self, launcher: &Launcher) {
        let client = Client::connect(&launcher.socket, &self.owner).ok();
        self.client = client.map(|client| self.introduced(client));
    }

    /// A new connection, over which the keeper has received the successor, or the information that there is none: the
    /// keeper stores the successor of a process even without a connection.
    fn introduced(&mut self, mut client: Client) -> Client {
        self.is_keeper_too_old = false;
        self.is_successor_known = false;
        if self.successor.is_some() || self.is_withdrawn {
            // A connection that is useless now shows that with the next request.
            let _ = self.introduce(&mut client);
        }
        client
    }

    /// Sends the successor over the connection. Returns false if there is none, or it has ended with its keeper, so that
    /// another keeper may run.
    fn introduce_now(&mut self) -> bool {
        let Some(mut client) = self.client.take() else { return false };
        let sent = self.introduce(&mut client);
        self.client = Some(client);
        self.note_connection();
        !matches!(sent, Err(Error::Ended))
    }

    /// Sends the successor to the keeper. After a failure, the next call tries again, unless the keeper is too old.
    fn introduce(&mut self, client: &mut Client) -> Result<(), Error> {
        if self.is_keeper_too_old {
            return Ok(());
        }
        let sent = client.set_successor(self.successor.clone());
        self.is_successor_known = sent.is_ok();
        if let Err(error) = &sent {
            self.is_keeper_too_old = matches!(error, Error::Refused(Refusal::UnknownRequest, _));
            // Only the first time is a warning. If there is no successor, nothing is lost.
            if self.successor.is_some() && !self.has_warned_of_successor {
                self.has_warned_of_successor = true;
                tracing::warn!(%error, "after a crash, nothing takes the place of this instance");
            } else {
                tracing::debug!(%error, "the keeper does not know the successor");
            }
        }
        sent
    }

    /// Remembers that a program was started without the keeper. Only the first time is a warning.
    fn note_fault(&mut self, error: &Error) {
        if self.has_warned {
            tracing::debug!(%error, "no keeper");
            return;
        }
        self.has_warned = true;
        let fault = format!("Programs do not outlive this window: {error}.");
        tracing::warn!("{fault}");
        self.fault = Some(fault);
    }
}

impl KeeperPane {
    /// The keeper's number of the pane.
    pub(super) fn number(&self) -> u64 {
        self.key.number
    }

    /// Stores the data that the next owner of the pane needs.
    pub(super) fn describe(&self, placement: ProgramPlacement) {
        let before = std::mem::replace(&mut *self.placement.lock(), placement.clone());
        if before == placement {
            return;
        }
        let ProgramPlacement { title, tab, split } = placement;
        let placement = Placement { title: shorten(title), tab, split: shorten(split) };
        self.send(|client| client.describe(self.key, placement));
    }

    /// Makes the keeper close its duplicate of the master, and forget the pane after the program's end.
    pub(super) fn close(&self) {
        self.send(|client| client.close(self.key));
    }

    fn send(&self, send: impl FnOnce(&mut Client) -> Result<(), Error>) {
        let keeper = &self.keeper;
        if let Err(error) = keeper.state.lock().send(&keeper.launcher, send) {
            // If the keeper is gone, its duplicate of the master is closed, too.
            tracing::debug!(%error, "cannot reach the keeper");
        }
    }
}

/// The beginning of a text that the keeper may refuse because of its length.
fn shorten(mut text: String) -> String {
    let end = (0..=text.len().min(MAX_TEXT)).rev().find(|end| text.is_char_boundary(*end));
    text.truncate(end.unwrap_or(0));
    text
}

#[cfg(test)]
mod tests;
