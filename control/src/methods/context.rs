//! The state that methods share, and typing into panes on behalf of a caller. The [`Authority`] must allow such typing.

use std::{sync::Arc, time::Instant};

use serde_json::{Map, Value};
use unterm_mux::{Composed, Mux, Pane, PaneId};

use super::{group::Group, params};
use crate::{
    Host,
    authority::{
        Authority, Input, Step,
        audit::{NOT_SHOWN, TYPED},
    },
    caller::Caller,
    error::{Error, Result},
    offload::blocking,
    registry::Registration,
    services::{
        limits::Limits,
        pane::Panes,
        people::{
            People,
            approvals::Approval,
            changes::Topic,
            questions::{Question, QuestionKind, Verdict},
        },
        records::{Records, audit::CallOutcome},
        shell::{
            Lines,
            echoes::BeforeTyping,
            kind::Shell,
            reading::Reading,
            secret::{self, SecretDetection},
        },
    },
};

/// The state that methods share.
pub struct Context {
    /// The panes.
    pub mux: Arc<Mux>,
    /// The app.
    pub host: Arc<dyn Host>,
    /// This instance's entry in the registry.
    pub registration: Arc<Registration>,
    /// Decides what each caller may do.
    pub(crate) authority: Authority,
    /// Limits on what clients use.
    pub(crate) limits: Limits,
    /// The lines that callers type.
    pub(crate) lines: Lines,
    /// The audit log and the recordings.
    pub(crate) records: Records,
    /// The user, the clients and their tokens.
    pub(crate) people: People,
    /// Leases, events, views and plugins of the panes.
    pub(crate) panes: Panes,
    /// When the last session moved to another window. Locked while sessions move.
    pub(crate) moves: Arc<parking_lot::Mutex<Option<Instant>>>,
    /// Returns every group in order, with the names of its methods. A function, because methods can't import the table
    /// that lists them.
    pub(crate) names_by_group: NamesByGroup,
}

/// A function that returns the names of methods by group.
type NamesByGroup = fn() -> Vec<(Group, Vec<&'static str>)>;

impl Context {
    /// Builds the state for a mux, a host and a registry entry.
    pub fn new(
        mux: Arc<Mux>,
        host: Arc<dyn Host>,
        registration: Arc<Registration>,
        rule: Approval,
        names_by_group: NamesByGroup,
    ) -> Self {
        let changes = host.changes().unwrap_or_default();
        let people = People::new(registration.home(), registration.start(), rule, changes);
        let states_changed = {
            let host = host.clone();
            move || host.program_states_changed()
        };
        let (tokens, questions) = (people.tokens.clone(), people.questions.clone());
        let panes = Panes::new(registration.home(), &mux, tokens, questions, states_changed);
        let lines = Lines::default();
        Self {
            authority: Authority {
                mux: mux.clone(),
                tokens: people.tokens.clone(),
                approvals: people.approvals.clone(),
                clients: people.clients.clone(),
                leases: panes.leases.clone(),
                openers: panes.openers.clone(),
                policy: lines.policy.clone(),
                refused_lines: lines.refused_lines.clone(),
            },
            limits: Limits::default(),
            lines,
            records: Records::new(registration.home()),
            people,
            panes,
            moves: Arc::default(),
            mux,
            host,
            registration,
            names_by_group,
        }
    }

    /// Types into a pane for a caller. All methods that send input call this, except those that run a command and wait
    /// for its end.
    pub(crate) fn type_in(&self, caller: &Caller, pane: &Pane, bytes: &[u8]) -> Result<()> {
        self.type_looked(caller, pane, bytes, false)
    }

    /// Types into a pane like `type_in`. `has_looked`: whether the caller states that the program does not ask for a
    /// secret. The statement counts only if Unterm can't determine that itself.
    pub(crate) fn type_looked(
        &self,
        caller: &Caller,
        pane: &Pane,
        bytes: &[u8],
        has_looked: bool,
    ) -> Result<()> {
        self.type_if(caller, pane, bytes, has_looked, |_| Ok(()))
    }

    /// Types into a pane like `type_looked`, if `still` returns true just before, when no other input can come in
    /// between. `still` must not use the pane.
    pub(crate) fn type_if(
        &self,
        caller: &Caller,
        pane: &Pane,
        bytes: &[u8],
        has_looked: bool,
        still: impl FnOnce(&Composed) -> Result<()>,
    ) -> Result<()> {
        let id = pane.id();
        let touches = pane.touches();
        self.authority.decide(caller, &Step::Type(pane, Input::Bytes { bytes, has_looked }))?;
        // The line must be read before `admit` runs, because the terminal may be locked then.
        let is_read = self.lines.policy.binds(id) || self.lines.refused_lines.any_released();
        let reading = is_read.then(|| Reading::of(pane));
        let admit = |composed: &Composed| {
            still(composed)?;
            let reading = reading.as_ref();
            self.authority.decide(caller, &Step::Compose { pane, touches, reading, composed })
        };
        // The echo must be recorded before the program can show it.
        let echoes = BeforeTyping::of(pane).map(|place| self.lines.echoes.add(pane, place, bytes));
        let written = match pane.write_admitted(bytes, admit) {
            Ok(written) => written.map_err(|error| Error::Write { id: id.0, error }),
            Err(refusal) => Err(refusal),
        };
        if written.is_err() {
            self.lines.echoes.withdraw(&echoes.unwrap_or_default());
        }
        written?;
        self.typed(caller, pane);
        Ok(())
    }

    /// Records that a caller has typed into a pane. The window then shows the caller as the pane's driver.
    pub(crate) fn typed(&self, caller: &Caller, pane: &Pane) {
        if self.panes.drivers.typed(caller, pane) {
            self.host.agents_changed();
        }
    }

    /// Notifies the window and the pages that the open questions, or the clients that may act, have changed.
    pub(crate) fn questions_changed(&self) {
        self.host.agents_changed();
        self.people.changes.notify(Topic::Agents);
        self.panes.hub.wake();
    }

    /// Answers a question on behalf of the user.
    ///
    /// # Errors
    /// The question is no longer open, the answer is not one of its choices, or the answer could not be stored. A
    /// message for users.
    pub(crate) async fn answer(
        &self,
        number: u64,
        answer: &str,
    ) -> std::result::Result<(), String> {
        let taken = self.people.questions.take(number, answer)?;
        let Question { kind, client, text, session, .. } = taken.question();
        let is_secret = || session.is_some_and(|id| self.asks_secret(PaneId(id)));
        let said = match kind {
            QuestionKind::Approval if is_secret() => format!("{answer}: {NOT_SHOWN}"),
            QuestionKind::Approval => format!("{answer}: {text}"),
            QuestionKind::Question => format!("answered: {text}"),
        };
        let session = session.map_or_else(String::new, |id| id.to_string());
        let outcome = match answer == Verdict::Deny.name() {
            true => CallOutcome::Refused(String::new()),
            false => CallOutcome::Done,
        };
        let is_always = *kind == QuestionKind::Approval && answer == Verdict::Always.name();
        let client = client.clone();
        self.records.audit.add("approvals.answer", session, &said, outcome, Some(client.clone()));
        let approvals = self.people.approvals.clone();
        // The list of clients that may act is a file, so this runs on a blocking thread.
        let settled = blocking(move || {
            let settled = match taken.question().kind {
                QuestionKind::Approval => approvals.settle(taken.question(), taken.answer()),
                QuestionKind::Question => Ok(()),
            };
            taken.send();
            settled
        });
        let settled = settled.await.unwrap_or_else(|error| Err(error.to_string()));
        if is_always {
            self.people.questions.withdraw_approvals(Some(&client));
        }
        self.questions_changed();
        settled
    }

    /// Closes a question without an answer, and notifies the caller that asked it.
    pub(crate) fn leave_unanswered(&self, number: u64) {
        if self.people.questions.withdraw(number) {
            self.questions_changed();
        }
    }

    /// Pauses or resumes agents. While agents are paused, their calls that change something wait.
    pub(crate) fn pause(&self, paused: bool) {
        self.people.clients.pause(paused);
        self.host.agents_changed();
    }

    /// Types a command and Enter for a caller.
    pub(crate) fn enter(&self, caller: &Caller, pane: &Pane, command: &str) -> Result<()> {
        self.authority.command(caller, pane, command)?;
        self.type_in(caller, pane, format!("{command}\r").as_bytes())
    }

    /// Whether a call with these parameters sends input that the program does not show, such as a password. The log
    /// must not contain such input. The log does contain commands that were typed without echo, as within ssh, unless
    /// the program asks for a secret.
    pub(crate) fn hides(&self, pane: PaneId, params: &Map<String, Value>) -> bool {
        let has = |keys: &[&str]| keys.iter().any(|key| params.contains_key(*key));
        has(&TYPED) && self.hides_input(pane) || has(&["command"]) && self.asks_secret(pane)
    }

    /// See [`hides_input`].
    pub(crate) fn hides_input(&self, pane: PaneId) -> bool {
        self.mux.pane(pane).is_some_and(|pane| hides_input(&pane))
    }

    /// Whether the program in a pane asks for a secret, or may be asking ([`secret::asked`]).
    pub(crate) fn asks_secret(&self, pane: PaneId) -> bool {
        self.mux.pane(pane).is_some_and(|pane| secret::asked(&pane) != SecretDetection::No)
    }

    /// Whether the program in any pane of a tab asks for a secret, or may be asking.
    pub(crate) fn asks_any_secret(&self) -> bool {
        self.mux.panes().iter().any(|pane| secret::asked(pane) != SecretDetection::No)
    }

    /// Whether keys that the user presses may be a secret. They may be if the focused pane's program hides its input.
    /// They may also be if a program in any other pane may ask for a secret, because keys may be sent to all panes.
    pub(crate) fn may_hide_keys(&self) -> bool {
        self.mux.layout().active_tab().is_some_and(|tab| self.hides_input(tab.focused))
            || self.asks_any_secret()
    }

    /// The pane with a session's number. Fails if another caller holds the pane's lease.
    pub(crate) fn pane_for(
        &self,
        caller: &Caller,
        target: params::Target<'_>,
    ) -> Result<Arc<Pane>> {
        let pane = self.pane(target)?;
        self.authority.touch(caller, &pane)?;
        Ok(pane)
    }

    /// The pane with a session's number. This includes hidden panes, which no list contains.
    pub fn pane(&self, target: params::Target<'_>) -> Result<Arc<Pane>> {
        let id = target.id()?;
        self.mux.pane(PaneId(id)).ok_or(Error::NoSession(id))
    }
}

/// Whether the program in a pane hides its input. It does if it asks for a secret, or if echo is off and the program is
/// not a shell that edits a line.
pub(crate) fn hides_input(pane: &Pane) -> bool {
    pane.process().echo() == Some(false)
        && (pane.foreground().is_none_or(|process| Shell::of_process(&process.name).is_none())
            || secret::asked(pane) != SecretDetection::No)
}
