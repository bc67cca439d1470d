//! What methods work on, and how they type in panes: as far as the [`Authority`] lets their caller.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value};
use unterm_mux::{Composed, Mux, Pane, PaneId};

use super::{group::Catalog, params};
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
        approvals::{Approval, Approvals, Verdict},
        audit::{Audit, Outcome},
        bytes::Bytes,
        changes::{Changes, Topic},
        clients::Clients,
        drivers::Drivers,
        echoes::{Echoes, Place},
        events::Hub,
        hidden::HiddenPanes,
        leases::Leases,
        login_codes::LoginCodes,
        pictures::Pictures,
        policy::Policy,
        questions::{Kind, Question, Questions},
        reading::Reading,
        recording::Recorder,
        search_limiter::SearchLimiter,
        secret::{self, Asked},
        shell::{Shell, TypedRuns},
        texts::TextCache,
        tokens::Tokens,
    },
};

/// What methods work on.
pub struct Context {
    /// The panes.
    pub mux: Arc<Mux>,
    /// The app.
    pub host: Arc<dyn Host>,
    /// This instance in the registry.
    pub registration: Arc<Registration>,
    /// Who may do what.
    pub(crate) authority: Authority,
    /// What happens in the panes.
    pub(crate) hub: Arc<Hub>,
    /// What may be entered.
    pub(crate) policy: Arc<Policy>,
    /// What was done.
    pub(crate) audit: Audit,
    /// Whose input is whose.
    pub(crate) leases: Arc<Leases>,
    /// Who typed where last.
    pub(crate) drivers: Drivers,
    /// What callers typed, where programs may show it.
    pub(crate) echoes: Arc<Echoes>,
    /// What is recorded.
    pub(crate) recorder: Arc<Recorder>,
    /// Held while the proxy's file is changed.
    pub(crate) proxy_turn: Arc<Mutex<()>>,
    /// Who is connected, and whether they wait.
    pub(crate) clients: Arc<Clients>,
    /// Who may use the settings page.
    pub(crate) login_codes: Arc<LoginCodes>,
    /// What pages are told of.
    pub(crate) changes: Arc<Changes>,
    /// Texts of screens that were asked for last.
    pub(super) texts: TextCache,
    /// What a person made for agents.
    pub(crate) tokens: Arc<Tokens>,
    /// Who may act.
    pub(crate) approvals: Arc<Approvals>,
    /// What is put to the person.
    pub(crate) questions: Questions,
    /// Where what clients look for is matched.
    pub(crate) search_limiter: SearchLimiter,
    /// Who may take a picture now.
    pub(crate) pictures: Pictures,
    /// What the programs of hidden panes wrote.
    pub(crate) bytes: Arc<Bytes>,
    /// The hidden panes that end with their owners.
    pub(crate) hidden: HiddenPanes,
    /// The commands that were typed with marks of ours.
    pub(crate) runs: Arc<TypedRuns>,
    /// The names of the methods that this instance has.
    pub(crate) catalog: Arc<dyn Catalog>,
}

impl Context {
    /// For these.
    pub fn new(
        mux: Arc<Mux>,
        host: Arc<dyn Host>,
        registration: Arc<Registration>,
        rule: Approval,
        catalog: Arc<dyn Catalog>,
    ) -> Self {
        let policy = Arc::<Policy>::default();
        let tokens = Arc::new(Tokens::new(registration.home(), registration.start()));
        let approvals = Arc::new(Approvals::new(registration.home(), rule));
        let leases = Leases::new(&mux);
        let clients = Arc::<Clients>::default();
        let bytes = Arc::<Bytes>::default();
        Self {
            authority: Authority {
                mux: mux.clone(),
                tokens: tokens.clone(),
                approvals: approvals.clone(),
                clients: clients.clone(),
                leases: leases.clone(),
                policy: policy.clone(),
            },
            hidden: HiddenPanes::new(mux.clone(), bytes.clone()),
            bytes,
            hub: Hub::new(&mux),
            policy,
            audit: Audit::new(registration.home()),
            tokens,
            approvals,
            questions: Questions::default(),
            leases,
            drivers: Drivers::default(),
            echoes: Arc::default(),
            recorder: Arc::new(Recorder::new(registration.home())),
            proxy_turn: Arc::default(),
            clients,
            login_codes: Arc::default(),
            changes: host.changes().unwrap_or_default(),
            mux,
            host,
            registration,
            texts: TextCache::default(),
            search_limiter: SearchLimiter::default(),
            pictures: Pictures::default(),
            runs: Arc::default(),
            catalog,
        }
    }

    /// Types into a pane for a caller: what every method does that sends input, but for commands that are waited for.
    pub(crate) fn type_in(&self, caller: &Caller, pane: &Pane, bytes: &[u8]) -> Result<()> {
        self.type_looked(caller, pane, bytes, false)
    }

    /// The same; `has_looked`: the caller says that no secret is asked for, where that is in doubt.
    pub(crate) fn type_looked(
        &self,
        caller: &Caller,
        pane: &Pane,
        bytes: &[u8],
        has_looked: bool,
    ) -> Result<()> {
        let id = pane.id();
        let touches = pane.touches();
        self.authority.decide(caller, &Step::Type(pane, Input::Bytes { bytes, has_looked }))?;
        // Looked at before, since the terminal may be locked then.
        let reading = self.policy.binds(id).then(|| Reading::of(pane));
        let admit = |composed: &Composed| {
            let reading = reading.as_ref();
            self.authority.decide(caller, &Step::Compose { pane, touches, reading, composed })
        };
        let place = Place::of(pane);
        pane.write_admitted(bytes, admit)?.map_err(|error| Error::Write { id: id.0, error })?;
        if let Some(place) = place {
            self.echoes.add(pane, place, bytes);
        }
        self.typed(caller, pane);
        Ok(())
    }

    /// A caller has typed into a pane, which says so.
    pub(crate) fn typed(&self, caller: &Caller, pane: &Pane) {
        if self.drivers.typed(caller, pane) {
            self.host.agents_changed();
        }
    }

    /// The questions to the person, or who may act, have changed.
    pub(crate) fn questions_changed(&self) {
        self.host.agents_changed();
        self.changes.tell(Topic::Agents);
    }

    /// The person answers a question.
    ///
    /// # Errors
    /// There is no such question any more, that is no answer to it, or the answer could not be kept; for people.
    pub(crate) async fn answer(
        &self,
        number: u64,
        answer: &str,
    ) -> std::result::Result<(), String> {
        let taken = self.questions.take(number, answer)?;
        let Question { kind, client, text, session, .. } = taken.question();
        let is_secret = || session.is_some_and(|id| self.asks_secret(PaneId(id)));
        let said = match kind {
            Kind::Approval if is_secret() => format!("{answer}: {NOT_SHOWN}"),
            Kind::Approval => format!("{answer}: {text}"),
            Kind::Question => format!("answered: {text}"),
        };
        let session = session.map_or_else(String::new, |id| id.to_string());
        let outcome = match answer == Verdict::Deny.name() {
            true => Outcome::Refused(String::new()),
            false => Outcome::Done,
        };
        let is_always = *kind == Kind::Approval && answer == Verdict::Always.name();
        let client = client.clone();
        self.audit.add("approvals.answer", session, &said, outcome, Some(client.clone()));
        let approvals = self.approvals.clone();
        // Who may act from now on stands in a file.
        let settled = blocking(move || {
            let settled = match taken.question().kind {
                Kind::Approval => approvals.settle(taken.question(), taken.answer()),
                Kind::Question => Ok(()),
            };
            taken.tell();
            settled
        });
        let settled = settled.await.unwrap_or_else(|error| Err(error.to_string()));
        if is_always {
            self.questions.withdraw_approvals(Some(&client));
        }
        self.questions_changed();
        settled
    }

    /// Makes calls that change something wait, or go on.
    pub(crate) fn pause(&self, paused: bool) {
        self.clients.pause(paused);
        self.host.agents_changed();
    }

    /// Types a command and Enter for a caller.
    pub(crate) fn enter(&self, caller: &Caller, pane: &Pane, command: &str) -> Result<()> {
        self.authority.command(caller, pane, command)?;
        self.type_in(caller, pane, format!("{command}\r").as_bytes())
    }

    /// Whether a call with these parameters sends a pane's program what that does not show (a password), which is for nobody.
    /// A command is to be known also where there is no echo, as within ssh, unless it answers a question for a secret.
    pub(crate) fn hides(&self, pane: PaneId, params: &Map<String, Value>) -> bool {
        let has = |keys: &[&str]| keys.iter().any(|key| params.contains_key(*key));
        has(&TYPED) && self.hides_input(pane) || has(&["command"]) && self.asks_secret(pane)
    }

    /// See [`hides_input`].
    pub(crate) fn hides_input(&self, pane: PaneId) -> bool {
        self.mux.pane(pane).is_some_and(|pane| hides_input(&pane))
    }

    /// Whether a program asks for a secret in a pane, or may ([`secret::asked`]).
    pub(crate) fn asks_secret(&self, pane: PaneId) -> bool {
        self.mux.pane(pane).is_some_and(|pane| secret::asked(&pane) != Asked::No)
    }

    /// Whether a program asks for a secret in any pane of a tab, or may.
    pub(crate) fn asks_any_secret(&self) -> bool {
        self.mux.panes().iter().any(|pane| secret::asked(pane) != Asked::No)
    }

    /// Whether what is typed as a person types it may be hidden: the pane that their keys go to hides it, or it may answer a
    /// question for a secret in another, since all of them may get it.
    pub(crate) fn may_hide_keys(&self) -> bool {
        self.mux.layout().active_tab().is_some_and(|tab| self.hides_input(tab.focused))
            || self.asks_any_secret()
    }

    /// The pane that a session's number names, for what its lease keeps to its holder.
    pub(crate) fn pane_for(
        &self,
        caller: &Caller,
        target: params::Target<'_>,
    ) -> Result<Arc<Pane>> {
        let pane = self.pane(target)?;
        self.authority.touch(caller, &pane)?;
        Ok(pane)
    }

    /// The pane a session's number names. Hidden panes are in no list; they are found by whoever knows their number.
    pub fn pane(&self, target: params::Target<'_>) -> Result<Arc<Pane>> {
        let id = target.id()?;
        self.mux.pane(PaneId(id)).ok_or(Error::NoSession(id))
    }
}

/// Whether a program reads something in a pane that it does not show: it asks for a secret, or the echo is off and it is no
/// shell's line.
pub(crate) fn hides_input(pane: &Pane) -> bool {
    pane.process().echo() == Some(false)
        && (pane.foreground().is_none_or(|process| Shell::of_process(&process.name).is_none())
            || secret::asked(pane) != Asked::No)
}
