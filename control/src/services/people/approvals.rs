//! Approvals: the first call of an unknown client that changes something needs the user's approval.
//!
//! Owns the user's answers: the clients that are always allowed (`clients.json` in Unterm's home, shared by all
//! instances), the calls that were allowed once, and the denials. A client is identified by the name that it reports.
//! The name protects nothing: a client needs a token to connect at all. A token that the user created for an agent
//! counts as approval.

use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::BuildHasher,
    path::Path,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    approved::Approved,
    questions::{Answer, Draft, Question, QuestionKind, Questions, Verdict},
};
use crate::{
    caller::{Caller, Capabilities},
    services::records::shared_file::SharedFile,
    untrusted,
};

/// The file's name in Unterm's home directory.
const FILE: &str = "clients.json";
/// The maximum number of stored clients. A further client replaces the client that was allowed first.
const MOST: usize = 200;
/// A call that was allowed once must be made within this time.
const SPARE: Duration = Duration::from_secs(300);
/// A client that was denied this often within `REMEMBERED` is denied without asking, even on new connections.
const DENIALS: usize = 3;
const REMEMBERED: Duration = Duration::from_secs(600);

/// The rule for the first call of an unknown client that changes something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Approval {
    /// Ask the user.
    Ask,
    /// Allow the call.
    #[default]
    Allow,
    /// Refuse the call.
    Deny,
}

impl Approval {
    /// The stricter of two rules.
    pub fn stricter(self, other: Self) -> Self {
        match (self, other) {
            (Self::Deny, _) | (_, Self::Deny) => Self::Deny,
            (Self::Ask, _) | (_, Self::Ask) => Self::Ask,
            (Self::Allow, Self::Allow) => Self::Allow,
        }
    }
}

/// Whether a client may act.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The client may act.
    Allowed,
    /// The user has not answered yet, or has not been asked.
    Unknown,
    /// The client may not act.
    Denied,
}

/// A client that may act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownClient {
    /// The name that the client gave.
    pub client: String,
    /// The time at which the client was approved (RFC 3339, UTC).
    pub since: String,
}

#[derive(Clone, Default, Serialize, Deserialize)]
struct Rows {
    allowed: Vec<KnownClient>,
}

/// Identifies one call: the number of its connection, and a hash of the exact call that the user was asked about.
type OneCall = (u64, u64);

#[derive(Default)]
struct State {
    rule: Approval,
    /// The calls that the user allowed once, with the times of the answers.
    once: HashMap<OneCall, Instant>,
    /// The connections that were denied, with the times.
    denied: HashMap<u64, Instant>,
    /// The times when clients were denied, by the clients' names.
    denials: HashMap<String, Vec<Instant>>,
    /// The number of the open question about each call. Closed questions are removed when the next question is asked.
    asked: HashMap<OneCall, u64>,
}

impl State {
    /// Whether the rule denies all clients, or this connection was denied recently.
    fn is_denied(&self, connection: u64) -> bool {
        let denied = self.denied.get(&connection);
        self.rule == Approval::Deny || denied.is_some_and(|at| at.elapsed() < REMEMBERED)
    }

    /// Whether clients with this name were denied so often recently that Unterm denies them without asking the user.
    fn is_tiresome(&mut self, client: &str) -> bool {
        self.denials.retain(|_, times| times.last().is_some_and(|at| at.elapsed() < REMEMBERED));
        let times = self.denials.get(client).map_or(&[][..], Vec::as_slice);
        times.iter().filter(|at| at.elapsed() < REMEMBERED).count() >= DENIALS
    }
}

/// Decides which clients may act.
pub struct Approvals {
    file: SharedFile<Rows>,
    state: Mutex<State>,
    /// Hashes calls with a random key, so that a client can't construct two calls with the same hash.
    hash: RandomState,
}

impl Approvals {
    /// The approvals that are stored in a home directory.
    pub fn new(home: &Path, rule: Approval) -> Self {
        let state = Mutex::new(State { rule, ..State::default() });
        Self { file: SharedFile::new(home, FILE), state, hash: RandomState::new() }
    }

    /// The rule for unknown clients.
    pub fn rule(&self) -> Approval {
        self.state.lock().rule
    }

    /// Sets the rule for unknown clients. Returns whether it changed.
    pub fn set_rule(&self, rule: Approval) -> bool {
        std::mem::replace(&mut self.state.lock().rule, rule) != rule
    }

    /// Whether a caller may change something without approval: the rule allows it, the caller is no agent, or the user
    /// created a token for the agent.
    pub fn is_settled(&self, caller: &Caller) -> bool {
        !caller.has(Capabilities::ASKS_FIRST) || self.rule() == Approval::Allow
    }

    /// Whether the rule is to ask, and the user chose to always allow clients with this name, in any instance.
    pub fn is_let_in(&self, caller: &Caller) -> bool {
        let name = name(caller);
        self.rule() == Approval::Ask
            && has_own_name(caller)
            && self.known().is_ok_and(|known| known.iter().any(|known| known.client == name))
    }

    /// Whether a program that speaks tmux may change panes that it did not open: the rule allows it, or the user chose
    /// to always allow clients with this name.
    pub fn lets_drive(&self, caller: &Caller) -> bool {
        self.rule() == Approval::Allow || self.is_let_in(caller)
    }

    fn call(&self, caller: &Caller, call: &str) -> OneCall {
        (caller.connection, self.hash.hash_one(call))
    }

    /// Whether a client may make a call. `call`: the full text of the call. Uses up the permission if the call was
    /// allowed once.
    pub fn standing(&self, caller: &Caller, call: &str) -> Standing {
        if self.is_settled(caller) || self.is_let_in(caller) {
            return Standing::Allowed;
        }
        let call = self.call(caller, call);
        let mut state = self.state.lock();
        if state.is_denied(caller.connection) {
            return Standing::Denied;
        }
        if state.once.remove(&call).is_some_and(|at| at.elapsed() < SPARE) {
            Standing::Allowed
        } else if state.is_tiresome(&name(caller)) {
            Standing::Denied
        } else {
            Standing::Unknown
        }
    }

    /// Approves a call if the client may make it. `call`: the full text of the call. Uses up the permission if the call
    /// was allowed once.
    ///
    /// # Errors
    /// The client's standing: the user has not been asked yet, or has denied the call.
    pub fn approve(&self, caller: &Caller, call: &str) -> Result<Approved, Standing> {
        match self.standing(caller, call) {
            Standing::Allowed => Ok(Approved::by_approvals()),
            other => Err(other),
        }
    }

    /// Whether a client may act, before it sends a call. Does not use up a permission for one call.
    pub fn standing_at_all(&self, caller: &Caller) -> Standing {
        if self.is_settled(caller) || self.is_let_in(caller) {
            return Standing::Allowed;
        }
        let mut state = self.state.lock();
        if state.is_denied(caller.connection) || state.is_tiresome(&name(caller)) {
            Standing::Denied
        } else {
            Standing::Unknown
        }
    }

    /// Asks the user whether a client may make a call, described by `would`. Returns the question's number, the
    /// receiver of the answer, and whether a new question was opened. Repeating a call opens no second question.
    ///
    /// # Errors
    /// Too many questions are open. A message for users.
    pub fn ask(
        &self,
        questions: &Questions,
        caller: &Caller,
        call: &str,
        would: &str,
        session: Option<u64>,
    ) -> Result<(u64, Answer, bool), String> {
        let call = self.call(caller, call);
        let mut state = self.state.lock();
        let open = state.asked.get(&call).copied();
        if let Some((number, (_, answer))) = open.and_then(|n| Some((n, questions.find(n)?))) {
            return Ok((number, answer, false));
        }
        // "Always" is offered only if the client's name is shown in full. Otherwise, the user could not know which
        // client it allows.
        let verdicts = Verdict::ALL.into_iter();
        let verdicts = verdicts.filter(|it| *it != Verdict::Always || has_own_name(caller));
        let choices: Vec<_> = verdicts.map(|verdict| verdict.name().to_owned()).collect();
        let (number, answer) = questions.ask(Draft {
            kind: QuestionKind::Approval,
            client: &name(caller),
            text: would,
            choices: &choices,
            takes_text: false,
            session,
            connection: caller.connection,
            call: call.1,
        })?;
        // A withdrawn question gets no answer, so it must be removed here.
        state.asked.retain(|_, number| questions.is_open(*number));
        state.asked.insert(call, number);
        Ok((number, answer, true))
    }

    /// Applies the user's answer to a question about a call. May write a file.
    ///
    /// # Errors
    /// The answer can't be saved. A message for users. The call is allowed nevertheless.
    pub fn settle(&self, question: &Question, answer: &str) -> Result<(), String> {
        let call = (question.connection, question.call);
        let mut state = self.state.lock();
        // The user may have been asked about the call again, by a question with another number.
        if state.asked.get(&call) == Some(&question.number) {
            state.asked.remove(&call);
        }
        state.once.retain(|_, at| at.elapsed() < SPARE);
        match Verdict::of(answer) {
            Some(Verdict::Once) => {
                state.once.insert(call, Instant::now());
            }
            Some(Verdict::Deny) | None => {
                state.denied.insert(call.0, Instant::now());
                state.denials.entry(question.client.clone()).or_default().push(Instant::now());
            }
            Some(Verdict::Always) => {
                state.once.insert(call, Instant::now());
                drop(state);
                let known =
                    KnownClient { client: question.client.clone(), since: crate::services::now() };
                self.file.change(|rows| {
                    rows.allowed.retain(|other| other.client != known.client);
                    if rows.allowed.len() >= MOST {
                        rows.allowed.remove(0);
                    }
                    rows.allowed.push(known);
                    Ok(((), true))
                })?;
                self.state.lock().once.remove(&call);
            }
        }
        Ok(())
    }

    /// The clients that are always allowed.
    ///
    /// # Errors
    /// The file can't be read. A message for users.
    pub fn known(&self) -> Result<Vec<KnownClient>, String> {
        Ok(self.file.get()?.allowed.clone())
    }

    /// Removes a client from those that are always allowed. Returns false if no client has this name.
    ///
    /// # Errors
    /// The file can't be written. A message for users.
    pub fn forget(&self, client: &str) -> Result<bool, String> {
        self.file.change(|rows| {
            let before = rows.allowed.len();
            rows.allowed.retain(|known| known.client != client);
            let is_gone = rows.allowed.len() < before;
            Ok((is_gone, is_gone))
        })
    }

    /// Forgets a connection that has ended.
    pub fn release(&self, connection: u64) {
        let mut state = self.state.lock();
        state.once.retain(|call, _| call.0 != connection);
        state.asked.retain(|call, _| call.0 != connection);
        state.denied.remove(&connection);
    }
}

/// The maximum number of characters of a client's name, so that it fits on one line.
const LONGEST_NAME: usize = 40;
/// The text that is shown for a client without a name.
const NAMELESS: &str = "a client without a name";

/// Whether a client can be recognized by its name: the client has a name, and the name is shown in full.
fn has_own_name(caller: &Caller) -> bool {
    let given = caller.client.as_deref().unwrap_or_default().trim();
    !given.is_empty() && given != NAMELESS && !name(caller).ends_with('…')
}

/// The name by which a client is stored and shown: its own name on one line, with invisible characters escaped.
pub fn name(caller: &Caller) -> String {
    let given = caller.client.as_deref().unwrap_or_default();
    let given = if given.trim().is_empty() { NAMELESS } else { given };
    untrusted::name(given, LONGEST_NAME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::{Scopes, TokenKind, Wire};

    fn agent(connection: u64) -> Caller {
        Caller {
            wire: Wire::Mcp,
            connection,
            token: TokenKind::Instance,
            client: Some("agent".to_owned()),
            conversation: None,
            scopes: Scopes::all(),
            panes: None,
            capabilities: Capabilities::at_login(TokenKind::Instance, true),
            opener: None,
            process: None,
            approved: None,
            subscription: Default::default(),
            signals: Default::default(),
        }
    }

    fn asking(home: &Path) -> (Approvals, Questions) {
        (Approvals::new(home, Approval::Ask), Questions::default())
    }

    fn answer((approvals, questions): &(Approvals, Questions), by: &Caller, verdict: Verdict) {
        let (number, ..) = approvals.ask(questions, by, "run ls", "run: ls", None).unwrap();
        let taken = questions.take(number, verdict.name()).unwrap();
        approvals.settle(taken.question(), taken.answer()).unwrap();
    }

    #[test]
    fn an_answer_about_a_client_lasts_as_long_as_chosen() {
        let home = tempfile::tempdir().unwrap();
        let here = asking(home.path());
        let approvals = &here.0;
        let standing = |connection| approvals.standing(&agent(connection), "run ls");
        assert_eq!(standing(1), Standing::Unknown);
        answer(&here, &agent(1), Verdict::Once);
        assert_eq!(standing(2), Standing::Unknown, "another connection");
        assert_eq!(approvals.standing(&agent(1), "run rm"), Standing::Unknown, "another call");
        assert_eq!(standing(1), Standing::Allowed);
        assert_eq!(standing(1), Standing::Unknown, "once is once");
        answer(&here, &agent(1), Verdict::Deny);
        assert_eq!(standing(1), Standing::Denied);
        approvals.release(1);
        assert_eq!(standing(1), Standing::Unknown);
        answer(&here, &agent(2), Verdict::Always);
        assert_eq!(standing(3), Standing::Allowed);
        let elsewhere = Approvals::new(home.path(), Approval::Ask);
        let there = || elsewhere.standing(&agent(1), "run ls");
        assert_eq!(there(), Standing::Allowed, "in other instances too");
        assert!(approvals.forget("agent").unwrap() && !approvals.forget("agent").unwrap());
        assert_eq!(there(), Standing::Unknown);
        assert!(approvals.set_rule(Approval::Deny) && !approvals.set_rule(Approval::Deny));
        assert_eq!(standing(4), Standing::Denied);
        let granted = Caller { token: TokenKind::Agent(1), ..agent(4) }.for_agent();
        assert_eq!(approvals.standing(&granted, ""), Standing::Allowed, "its token is an answer");
        approvals.set_rule(Approval::Allow);
        assert_eq!(standing(4), Standing::Allowed, "nobody is asked");
    }

    #[test]
    fn each_call_is_a_question_of_its_own() {
        let home = tempfile::tempdir().unwrap();
        let (approvals, questions) = asking(home.path());
        let ask = |call| approvals.ask(&questions, &agent(1), call, call, None).unwrap();
        let (first, again, other) = (ask("run: ls"), ask("run: ls"), ask("run: id"));
        assert_eq!((first.0, first.2, again.2), (again.0, true, false));
        assert!(other.2 && questions.list().len() == 2);
    }

    #[test]
    fn questions_that_were_taken_back_are_forgotten() {
        let home = tempfile::tempdir().unwrap();
        let (approvals, questions) = asking(home.path());
        for number in 0..100 {
            let call = format!("run: {number}");
            let (asked, ..) = approvals.ask(&questions, &agent(1), &call, &call, None).unwrap();
            assert!(questions.withdraw(asked));
        }
        assert_eq!(approvals.state.lock().asked.len(), 1);
    }

    #[test]
    fn a_client_that_is_denied_often_causes_no_more_questions() {
        let home = tempfile::tempdir().unwrap();
        let here = asking(home.path());
        for connection in 0..DENIALS as u64 {
            let standing = here.0.standing(&agent(connection), "run ls");
            assert_eq!(standing, Standing::Unknown);
            answer(&here, &agent(connection), Verdict::Deny);
        }
        assert_eq!(here.0.standing(&agent(99), "run ls"), Standing::Denied);
    }

    #[test]
    fn a_client_without_a_short_name_is_never_allowed_for_good() {
        let named = |given: &str| name(&Caller { client: Some(given.to_owned()), ..agent(1) });
        let long = named(&format!("claude-code wants to act.\nrun: ls{}", "x".repeat(100)));
        assert!(!long.contains('\n') && long.chars().count() <= LONGEST_NAME + 1, "{long}");
        let home = tempfile::tempdir().unwrap();
        let (approvals, questions) = asking(home.path());
        let long = "x".repeat(100);
        for (at, given) in [None, Some(" "), Some(NAMELESS), Some(&long)].into_iter().enumerate() {
            let nobody = Caller { client: given.map(str::to_owned), ..agent(at as u64) };
            let (number, ..) = approvals.ask(&questions, &nobody, "run", "run", None).unwrap();
            assert!(questions.take(number, "always").is_err(), "{given:?}");
        }
    }
}
