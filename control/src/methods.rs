//! The one table of methods.
//!
//! A method is a type that implements [`Method`]: its name, what it needs of a caller, its typed parameters and reply, a
//! line of doc, and the call. Dispatch, `server.capabilities` and the tests that no method lacks a test read the table.
//! Methods never write to a wire and never know which one they were called on.

mod action;
mod aliases;
mod approvals;
mod audit;
mod blocks;
mod capture;
mod cells;
pub(crate) mod config;
mod events;
mod exec;
mod find;
mod input;
mod instance;
mod layout;
mod lease;
mod orchestrate;
pub(crate) mod params;
mod policy;
pub(crate) mod proxy;
mod recording;
mod screen;
mod selftest;
mod server;
pub(crate) mod session;
mod settings;
mod signal;
mod system;
mod token;
mod variables;
mod wait;
mod workspace;

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, LazyLock},
};

use parking_lot::Mutex;
use schemars::{JsonSchema, Schema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use unterm_mux::{Composed, Edited, Mux, Pane, PaneId};

use crate::{
    Host,
    caller::{Access, Caller, Wire},
    error::{Error, Result},
    registry::Registration,
    services::{
        approvals::{Approval, Approvals, Verdict},
        audit::Audit,
        bytes::Bytes,
        changes::{Changes, Topic},
        clients::Clients,
        door::Door,
        drivers::Drivers,
        events::Hub,
        leases::{Kept, Leases},
        policy::{Policy, Refusal},
        questions::{Kind, Question, Questions},
        reading::Reading,
        recording::Recorder,
        secret,
        shell::Shell,
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
    /// What happens in the panes.
    pub(crate) hub: Arc<Hub>,
    /// What may be entered.
    pub(crate) policy: Policy,
    /// What was done.
    pub(crate) audit: Audit,
    /// Whose input is whose.
    pub(crate) leases: Leases,
    /// Who typed where last.
    pub(crate) drivers: Drivers,
    /// What is recorded.
    pub(crate) recorder: Arc<Recorder>,
    /// Held while the proxy's file is changed.
    pub(crate) proxy_turn: Arc<Mutex<()>>,
    /// Who is connected, and whether they wait.
    pub(crate) clients: Clients,
    /// Who may use the settings page.
    pub(crate) door: Door,
    /// What pages are told of.
    pub(crate) changes: Arc<Changes>,
    texts: screen::TextCache,
    /// What a person made for agents.
    pub(crate) tokens: Arc<Tokens>,
    /// Who may act.
    pub(crate) approvals: Arc<Approvals>,
    /// What is put to the person.
    pub(crate) questions: Questions,
    /// What the programs of hidden panes wrote.
    pub(crate) bytes: Bytes,
}

impl Context {
    /// For these.
    pub fn new(
        mux: Arc<Mux>,
        host: Arc<dyn Host>,
        registration: Arc<Registration>,
        rule: Approval,
    ) -> Self {
        Self {
            hub: Hub::new(&mux),
            policy: Policy::default(),
            audit: Audit::new(registration.home()),
            tokens: Arc::new(Tokens::new(registration.home(), registration.start())),
            approvals: Arc::new(Approvals::new(registration.home(), rule)),
            questions: Questions::default(),
            leases: Leases::default(),
            drivers: Drivers::default(),
            recorder: Arc::new(Recorder::new(registration.home())),
            proxy_turn: Arc::default(),
            clients: Clients::default(),
            door: Door::default(),
            changes: host.changes().unwrap_or_default(),
            mux,
            host,
            registration,
            texts: screen::TextCache::default(),
            bytes: Bytes::default(),
        }
    }

    /// Types into a pane for a caller: what every method does that sends input. Leases are kept, and the rules on what
    /// may be entered are applied to the line as it is composed in the pane, whoever sent its parts.
    pub(crate) fn type_in(&self, caller: &Caller, pane: &Pane, bytes: &[u8]) -> Result<()> {
        let id = pane.id();
        self.admit_to(caller, pane)?;
        // What ends a question is no answer to it: Ctrl+C, Ctrl+D, Ctrl+Z, Ctrl+\.
        if !bytes.iter().all(|byte| matches!(byte, 0x03 | 0x04 | 0x1a | 0x1c)) {
            refuse_secret(caller, pane)?;
        }
        // Looked at before, since the terminal may be locked then.
        let reading = self.policy.binds(id).then(|| Reading::of(pane));
        let admit = |composed: &Composed| {
            reading.as_ref().map_or(Ok(()), |reading| reading.check(&self.policy, id, composed))
        };
        pane.write_admitted(bytes, admit)
            .map_err(Error::Policy)?
            .map_err(|error| Error::Write { id: id.0, error })?;
        if self.drivers.typed(caller, pane) {
            self.host.agents_changed();
        }
        Ok(())
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
        let said = match kind {
            Kind::Approval => format!("{answer}: {text}"),
            Kind::Question => format!("answered: {text}"),
        };
        let session = session.map_or_else(String::new, |id| id.to_string());
        let is_allowed = answer != Verdict::Deny.name();
        let is_always = *kind == Kind::Approval && answer == Verdict::Always.name();
        let client = client.clone();
        self.audit.add("approvals.answer", session, &said, is_allowed, Some(client.clone()));
        let approvals = self.approvals.clone();
        // Who may act from now on stands in a file.
        let settled = session::blocking(move || {
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

    /// Whether a caller may run a command in a pane, behind what stands in its line.
    pub(crate) fn admit_command(&self, caller: &Caller, pane: &Pane, command: &str) -> Result<()> {
        self.admit_to(caller, pane)?;
        refuse_secret(caller, pane)?;
        let line = pane.typed() + command;
        self.policy.check_typed(Some(pane.id()), &[command], &line).map_err(Error::Policy)?;
        let lines: Vec<&str> = command.lines().collect();
        self.policy.check_typed(Some(pane.id()), &lines, "").map_err(Error::Policy)?;
        self.admit_behind_edits(pane, command).map_err(Error::Policy)
    }

    /// Whether a command may be entered behind what keys have made of a pane's line, if they have.
    fn admit_behind_edits(&self, pane: &Pane, command: &str) -> std::result::Result<(), Refusal> {
        let mut composed = pane.compose(&[]);
        if composed.unfinished.edited == Edited::No || !self.policy.binds(pane.id()) {
            return Ok(());
        }
        let reading = Reading::of(pane);
        if reading.is_shell() {
            let mut line = std::mem::take(&mut composed.unfinished);
            line.text.push_str(command);
            command.clone_into(&mut line.added);
            composed.entered.push(line);
            reading.check(&self.policy, pane.id(), &composed)?;
        }
        Ok(())
    }

    /// Types a command and Enter for a caller.
    pub(crate) fn enter(&self, caller: &Caller, pane: &Pane, command: &str) -> Result<()> {
        self.admit_command(caller, pane, command)?;
        self.type_in(caller, pane, format!("{command}\r").as_bytes())
    }

    /// See [`hides_input`].
    pub(crate) fn hides_input(&self, pane: PaneId) -> bool {
        self.mux.pane(pane).is_some_and(|pane| hides_input(&pane))
    }

    /// The same of the pane that a person's keys go to.
    pub(crate) fn focus_hides_input(&self) -> bool {
        self.mux.layout().active_tab().is_some_and(|tab| self.hides_input(tab.focused))
    }

    /// Whether a caller may have a pane's shell set a variable: some are run as commands, so the rules see it as a line.
    pub(crate) fn admit_variable(&self, caller: &Caller, pane: &Pane, line: &str) -> Result<()> {
        self.admit_to(caller, pane)?;
        self.policy.check_typed(Some(pane.id()), &[line], line).map_err(Error::Policy)
    }

    /// Whether a caller may type in a pane, or do what its lease keeps to its holder: resize, rename, move and close it.
    pub(crate) fn admit_to(&self, caller: &Caller, pane: &Pane) -> Result<()> {
        let id = pane.id().0;
        self.leases.admit(caller, pane).map_err(|kept| match kept {
            Kept::Leased(holder) => Error::Leased { id, holder },
            Kept::TakenOver => Error::TakenOver(id),
        })
    }

    /// The pane that a session's number names, for what its lease keeps to its holder.
    pub(crate) fn pane_for(
        &self,
        caller: &Caller,
        target: params::Target<'_>,
    ) -> Result<Arc<Pane>> {
        let pane = self.pane(target)?;
        self.admit_to(caller, &pane)?;
        Ok(pane)
    }

    /// The pane a session's number names. Hidden panes are in no list; they are found by whoever knows their number.
    pub fn pane(&self, target: params::Target<'_>) -> Result<Arc<Pane>> {
        let id = target.id()?;
        self.mux.pane(PaneId(id)).ok_or(Error::NoSession(id))
    }
}

/// Keeps agents from answering what asks for a secret: it is the person's to type, and nobody else's to know.
fn refuse_secret(caller: &Caller, pane: &Pane) -> Result<()> {
    if caller.wire == Wire::Mcp && secret::is_asked(pane) {
        return Err(Error::Secret(pane.id().0));
    }
    Ok(())
}

/// Whether a program reads something in a pane that it does not show: it asks for a secret, or the echo is off and it is no
/// shell's line.
pub(crate) fn hides_input(pane: &Pane) -> bool {
    pane.process().echo() == Some(false)
        && (pane.foreground().is_none_or(|process| Shell::of_process(&process.name).is_none())
            || secret::is_asked(pane))
}

/// Parameters that hold what is typed: where a program does not show it, nobody else does.
pub(crate) const TYPED: [&str; 4] = ["input", "text", "paste", "keys"];

/// Parameters that say by themselves what is done to a session, of methods and of the tools that call them. A name or a title
/// says it only of a method that does no more than to give it ([`Method::TELLING`]): alone, it looks like a command.
pub(crate) const DOING: [&str; 6] = ["command", TYPED[0], TYPED[1], TYPED[2], TYPED[3], "signal"];

/// A method.
pub trait Method: 'static {
    /// Its name on the wire.
    const NAME: &'static str;
    /// The group `server.capabilities` lists it under.
    const GROUP: Group;
    /// What it needs of a caller.
    const ACCESS: Access;
    /// What it does, in a line.
    const DOC: &'static str;
    /// Whether the audit log has it, unless it only looks.
    const AUDITED: bool = true;
    /// Whether it is about the one session that its parameters name, and tells and changes nothing of others: what a token
    /// for some sessions reaches.
    const OF_SESSION: bool = false;
    /// Whether it may tell and change nothing of any session, or only of those that its caller reaches: what such a token
    /// reaches too, here without a session that is named.
    const OF_NONE: bool = false;
    /// The parameters that name its session.
    const NAMED: &'static [&'static str] = &["id", "session_id"];
    /// Whether it gives more than an agent's token does, or what outlives it: it is refused to them all.
    const FOR_PEOPLE: bool = false;
    /// Whether it waits, once it has looked at its parameters, for something that may take its time: the audit log has it when
    /// it begins.
    const LASTS: bool = false;
    /// The parameters that say by themselves what it does, what says most first: the audit log has the first that is given,
    /// else all of them.
    const TELLING: &'static [&'static str] = &DOING;
    /// Its parameters.
    type Params<'a>: Deserialize<'a> + JsonSchema + Send;
    /// Its reply.
    type Reply: Serialize + JsonSchema + Send;

    /// Does it.
    fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: Self::Params<'a>,
    ) -> impl Future<Output = Result<Self::Reply>> + Send + 'a;

    /// What the audit log says of a call, `told` being what [`Method::TELLING`] gives of its parameters.
    fn detail(_context: &Context, _params: &Map<String, Value>, told: String) -> String {
        told
    }
}

/// The groups of `server.capabilities`, in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of the groups say it")]
pub enum Group {
    Session,
    Exec,
    Screen,
    Workspace,
    Capture,
    Proxy,
    Governance,
    System,
    Instance,
}

impl Group {
    /// Every group, in order.
    pub const ALL: [Self; 9] = [
        Self::Session,
        Self::Exec,
        Self::Screen,
        Self::Workspace,
        Self::Capture,
        Self::Proxy,
        Self::Governance,
        Self::System,
        Self::Instance,
    ];

    /// Its name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Exec => "exec",
            Self::Screen => "screen",
            Self::Workspace => "workspace",
            Self::Capture => "capture",
            Self::Proxy => "proxy",
            Self::Governance => "governance",
            Self::System => "system",
            Self::Instance => "instance",
        }
    }
}

/// A call under way.
pub type Call<'a> = Pin<Box<dyn Future<Output = Result<()>> + Send + 'a>>;

/// A row of the table: a method with its types erased.
pub struct Entry {
    /// Its name on the wire.
    pub name: &'static str,
    /// Its group in `server.capabilities`.
    pub group: Group,
    /// What it needs of a caller.
    pub access: Access,
    /// What it does, in a line.
    pub doc: &'static str,
    /// Whether the audit log has it, unless it only looks.
    pub is_audited: bool,
    /// Whether it is about one session only.
    pub is_of_session: bool,
    /// Whether it may be about none.
    pub is_of_none: bool,
    /// The parameters that name its session.
    pub named: &'static [&'static str],
    /// Whether it is refused to every token of an agent.
    pub is_for_people: bool,
    /// Whether the audit log has it when it begins.
    pub lasts: bool,
    /// The parameters that say most of it, in order.
    pub telling: &'static [&'static str],
    /// What the audit log says of a call, given its parameters and what is told of them.
    pub(crate) detail: fn(&Context, &Map<String, Value>, String) -> String,
    /// The schema of its parameters.
    pub params_schema: fn() -> Schema,
    /// The schema of its reply.
    pub reply_schema: fn() -> Schema,
    /// Reads the parameters (JSON), calls, and appends the reply (JSON) to the buffer.
    pub(crate) call: for<'a> fn(&'a Context, &'a Caller, &'a str, &'a mut Vec<u8>) -> Call<'a>,
}

pub(crate) const fn entry<M: Method>() -> Entry {
    Entry {
        name: M::NAME,
        group: M::GROUP,
        access: M::ACCESS,
        doc: M::DOC,
        is_audited: M::AUDITED,
        is_of_session: M::OF_SESSION,
        is_of_none: M::OF_NONE,
        named: M::NAMED,
        is_for_people: M::FOR_PEOPLE,
        lasts: M::LASTS,
        telling: M::TELLING,
        detail: M::detail,
        params_schema: || schema_for!(M::Params<'static>),
        reply_schema: || schema_for!(M::Reply),
        call: call::<M>,
    }
}

fn call<'a, M: Method>(
    context: &'a Context,
    caller: &'a Caller,
    params: &'a str,
    reply: &'a mut Vec<u8>,
) -> Call<'a> {
    Box::pin(async move {
        // Clients write no parameters as `{}`, `[]`, `null` or not at all; none of our methods takes a list.
        let params = if params.starts_with('{') { params } else { "{}" };
        let params = serde_json::from_str(params).map_err(Error::Params)?;
        let value = M::call(context, caller, params).await?;
        serde_json::to_writer(reply, &value).map_err(Error::Reply)
    })
}

/// Every method, group by group, in the order `server.capabilities` lists them.
pub static METHODS: &[Entry] = &[
    entry::<session::List>(),
    entry::<session::Get>(),
    entry::<session::Status>(),
    entry::<session::Create>(),
    entry::<session::Input>(),
    entry::<aliases::SendText>(),
    entry::<session::Resize>(),
    entry::<session::Destroy>(),
    entry::<session::Idle>(),
    entry::<session::Cwd>(),
    entry::<variables::Env>(),
    entry::<variables::SetEnv>(),
    entry::<session::History>(),
    entry::<aliases::ReadTail>(),
    entry::<audit::Log>(),
    entry::<recording::Start>(),
    entry::<recording::Stop>(),
    entry::<recording::Status>(),
    entry::<recording::List>(),
    entry::<recording::Read>(),
    entry::<recording::AttachTrace>(),
    entry::<recording::Export>(),
    entry::<input::Type>(),
    entry::<input::Paste>(),
    entry::<input::Keys>(),
    entry::<input::Mouse>(),
    entry::<wait::Wait>(),
    entry::<wait::Watch>(),
    entry::<lease::Lease>(),
    entry::<lease::Release>(),
    entry::<layout::Split>(),
    entry::<layout::Focus>(),
    entry::<layout::Move>(),
    entry::<layout::Rename>(),
    entry::<blocks::List>(),
    entry::<blocks::Get>(),
    entry::<exec::Run>(),
    entry::<exec::Send>(),
    entry::<exec::RunWait>(),
    entry::<exec::Status>(),
    entry::<exec::Cancel>(),
    entry::<signal::Send>(),
    entry::<orchestrate::Launch>(),
    entry::<orchestrate::Broadcast>(),
    entry::<orchestrate::Wait>(),
    entry::<screen::Read>(),
    entry::<screen::Text>(),
    entry::<screen::Cursor>(),
    entry::<screen::Scroll>(),
    entry::<screen::Search>(),
    entry::<find::Find>(),
    entry::<screen::DetectErrors>(),
    entry::<cells::Diff>(),
    entry::<cells::Cells>(),
    entry::<capture::Png>(),
    entry::<cells::Bytes>(),
    entry::<aliases::ReadRaw>(),
    entry::<workspace::Save>(),
    entry::<workspace::Restore>(),
    entry::<workspace::List>(),
    entry::<capture::Screen>(),
    entry::<capture::Window>(),
    entry::<capture::Select>(),
    entry::<capture::Clipboard>(),
    entry::<proxy::Status>(),
    entry::<proxy::Nodes>(),
    entry::<proxy::Switch>(),
    entry::<proxy::Speedtest>(),
    entry::<proxy::Configure>(),
    entry::<proxy::Disable>(),
    entry::<proxy::Env>(),
    entry::<policy::Set>(),
    entry::<policy::Check>(),
    entry::<approvals::List>(),
    entry::<approvals::Answer>(),
    entry::<approvals::Forget>(),
    entry::<approvals::Ask>(),
    entry::<token::Create>(),
    entry::<token::List>(),
    entry::<token::Revoke>(),
    entry::<server::Info>(),
    entry::<server::Health>(),
    entry::<server::Capabilities>(),
    entry::<selftest::Run>(),
    entry::<config::Get>(),
    entry::<config::Set>(),
    entry::<settings::Open>(),
    entry::<events::Subscribe>(),
    entry::<events::Unsubscribe>(),
    entry::<system::Info>(),
    entry::<system::LaunchAdmin>(),
    entry::<instance::List>(),
    entry::<instance::Info>(),
    entry::<instance::SetTitle>(),
    entry::<instance::Focus>(),
    entry::<layout::TabList>(),
    entry::<layout::TabCreate>(),
    entry::<layout::TabClose>(),
    entry::<layout::TabFocus>(),
    entry::<layout::TabMove>(),
    entry::<layout::TabRename>(),
    entry::<layout::WindowList>(),
    entry::<layout::WindowFocus>(),
    entry::<action::List>(),
    entry::<action::Run>(),
];

static BY_NAME: LazyLock<Vec<&'static Entry>> = LazyLock::new(|| {
    let mut entries: Vec<_> = METHODS.iter().collect();
    entries.sort_unstable_by_key(|entry| entry.name);
    entries
});

/// The method of that name.
pub fn find(name: &str) -> Option<&'static Entry> {
    let index = BY_NAME.binary_search_by(|entry| entry.name.cmp(name)).ok()?;
    Some(BY_NAME[index])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_found_by_its_name_and_documented() {
        for entry in METHODS {
            assert!(
                std::ptr::eq(find(entry.name).unwrap(), entry),
                "{} is there twice",
                entry.name
            );
            assert!(entry.doc.ends_with('.'), "{} wants a sentence", entry.name);
            assert!(Group::ALL.contains(&entry.group));
        }
        assert!(find("nope.nope").is_none());
        assert!(find("").is_none());
    }

    #[test]
    fn schemas_say_what_is_required_and_refuse_no_client() {
        let create =
            serde_json::to_value((find("exec.run_wait").unwrap().params_schema)()).unwrap();
        assert_eq!(create["required"], serde_json::json!(["command"]));
        assert_eq!(create["properties"]["timeout_ms"]["type"], "integer");
        for entry in METHODS {
            let schema = serde_json::to_string(&(entry.params_schema)()).unwrap();
            assert!(!schema.contains("\"null\""), "{}: {schema}", entry.name);
            let schema = serde_json::to_value((entry.reply_schema)()).unwrap();
            // As documented.
            let kind = match entry.name {
                "session.audit_log" | "session.recording_list" => "array",
                _ => "object",
            };
            assert_eq!(schema["type"], kind, "{}", entry.name);
        }
    }

    #[test]
    fn rows_speak_of_parameters_that_there_are() {
        for entry in METHODS {
            let schema = serde_json::to_value((entry.params_schema)()).unwrap();
            let has = |name: &&str| schema["properties"].get(*name).is_some();
            let is_named = !entry.is_of_session || entry.named.iter().any(has);
            assert!(is_named, "{} names no session", entry.name);
            let is_told = *entry.telling == DOING || entry.telling.iter().all(has);
            assert!(is_told, "{} has no {:?}", entry.name, entry.telling);
        }
    }

    #[test]
    fn every_method_has_a_wire_test() {
        let tests = concat!(
            include_str!("../tests/methods.rs"),
            include_str!("../tests/beyond.rs"),
            include_str!("../tests/rules.rs"),
            include_str!("../tests/files.rs"),
            include_str!("../tests/variables.rs"),
            include_str!("../tests/capture.rs"),
            include_str!("../tests/http.rs"),
        );
        for entry in METHODS {
            assert!(tests.contains(&format!("\"{}\"", entry.name)), "{} has no test", entry.name);
        }
    }
}
