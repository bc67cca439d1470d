//! Questions to the user: approvals of clients, and questions that agents ask.
//!
//! Owns the open questions, their order, the words that show them, and the channels for their answers. The window, the
//! settings page, the command line and the client's own dialog show the questions. The settings page contains its own
//! translations, and a test compares its English texts with the ones here. The code that asks a question interprets the
//! answer.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::untrusted::{self, escaped, shortened};

/// The maximum number of open questions of each kind, and of one connection. Further questions are refused.
const MOST: usize = 32;
const MOST_OF_ONE: usize = 4;
/// The maximum number of characters of a question. A longer question is shortened.
pub const LONGEST: usize = 2000;
/// The maximum number of characters, as shown, of a call that the user is asked to approve. A longer call is refused,
/// because the user must see all of it.
pub const LONGEST_APPROVAL: usize = 20_000;
/// The maximum number of characters of a choice. A longer choice is shortened.
pub const LONGEST_CHOICE: usize = 80;
const LONGEST_ANSWER: usize = 10_000;
/// If no call waits for an approval, its question stays open for this long, because the client is expected to repeat
/// the call.
const UNATTENDED: Duration = Duration::from_secs(300);
/// The maximum number of choices of a question.
pub const MOST_CHOICES: usize = 9;

/// The kind of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuestionKind {
    /// Whether a client may act: `once`, `always` (this client, from now on) or `deny`.
    Approval,
    /// An agent asks something.
    Question,
}

/// A question that is open.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Question {
    /// The number of the question. It is never used again.
    pub number: u64,
    /// The kind of the question.
    pub kind: QuestionKind,
    /// The name that the asking client gave.
    pub client: String,
    /// The text of the question. For an approval, what the client would do.
    pub text: String,
    /// The answers to choose from.
    pub choices: Vec<String>,
    /// Whether any other text is also accepted as an answer.
    pub takes_text: bool,
    /// The session that the question is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<u64>,
    /// The time at which the question was asked (RFC 3339, UTC).
    pub asked_at: String,
    /// Number of the connection that asks.
    #[serde(skip)]
    pub connection: u64,
    /// The call that an approval is about.
    #[serde(skip)]
    pub call: u64,
}

impl Question {
    /// The line that is shown above the question's text everywhere: the client, the kind of question, and the pane.
    pub fn heading(&self) -> String {
        let Self { client, session, .. } = self;
        let place = session.map_or_else(String::new, |pane| format!(" in pane {pane}"));
        match self.kind {
            QuestionKind::Approval => format!("Allow “{client}” to act{place}?"),
            QuestionKind::Question => format!("“{client}” asks{place}:"),
        }
    }

    /// The text on one line, with each line end marked.
    pub fn text_on_one_line(&self) -> String {
        self.text.split('\n').map(str::trim_end).collect::<Vec<_>>().join(" ⏎ ")
    }

    /// The label of one of the question's choices.
    pub fn title(&self, choice: &str) -> String {
        match (self.kind, Verdict::of(choice)) {
            (QuestionKind::Approval, Some(verdict)) => verdict.title(&self.client),
            _ => choice.to_owned(),
        }
    }

    /// The label for closing the question without an answer. `None`: the question must be answered.
    pub fn leaving(&self) -> Option<&'static str> {
        (self.kind == QuestionKind::Question).then_some("Don't answer")
    }
}

/// The user's answer to an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Allow this call.
    Once,
    /// Allow this call and all later calls of the client.
    Always,
    /// Deny the client until it connects again, for at most ten minutes.
    Deny,
}

impl Verdict {
    /// Every verdict, in the order in which they are offered.
    pub const ALL: [Self; 3] = [Self::Once, Self::Always, Self::Deny];

    /// The verdict's name on wires.
    pub fn name(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Always => "always",
            Self::Deny => "deny",
        }
    }

    /// The verdict's label for users.
    pub fn title(self, client: &str) -> String {
        match self {
            Self::Once => "Allow once".to_owned(),
            Self::Always => format!("Always allow “{client}”"),
            Self::Deny => "Deny".to_owned(),
        }
    }

    /// The verdict with this name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }
}

/// A question to be asked. The fields become those of the [`Question`].
#[allow(missing_docs, reason = "the question's fields say it")]
pub struct Draft<'a> {
    pub kind: QuestionKind,
    pub client: &'a str,
    pub text: &'a str,
    pub choices: &'a [String],
    pub takes_text: bool,
    pub session: Option<u64>,
    pub connection: u64,
    pub call: u64,
}

/// Receives the answer to a question. The value is `None` until there is an answer. The channel closes if the question
/// is withdrawn.
pub type Answer = watch::Receiver<Option<String>>;

struct Open {
    since: Instant,
    question: Question,
    sender: watch::Sender<Option<String>>,
}

#[derive(Default)]
struct State {
    last: u64,
    open: BTreeMap<u64, Open>,
}

impl State {
    /// Withdraws approvals that no call waits for: all approvals that are too old, and the oldest approval of a
    /// connection that has reached its maximum.
    fn forget_unattended(&mut self, connection: u64) {
        let left = |open: &Open| {
            open.question.kind == QuestionKind::Approval && open.sender.receiver_count() == 0
        };
        self.open.retain(|_, open| !left(open) || open.since.elapsed() < UNATTENDED);
        let own = || self.open.values().filter(|open| open.question.connection == connection);
        let count = own().filter(|open| open.question.kind == QuestionKind::Approval).count();
        let oldest = own().find(|open| left(open)).map(|open| open.question.number);
        if let Some(oldest) = oldest.filter(|_| count >= MOST_OF_ONE) {
            self.open.remove(&oldest);
        }
    }
}

/// The complete text of an approval, as the user sees it. Invisible characters are escaped. A tab is escaped, too,
/// because it completes words in a shell.
pub fn approvable(text: &str) -> Result<String, String> {
    let text = escaped(text).replace('\t', "\\t");
    let count = text.chars().count();
    if count > LONGEST_APPROVAL {
        return Err(format!(
            "This call is too long to be approved: the user would have to read {count} characters, and at most {LONGEST_APPROVAL} are shown. Make it shorter, or write long text to a file in several calls."
        ));
    }
    Ok(text)
}

/// The open questions.
#[derive(Default)]
pub struct Questions(Mutex<State>);

impl Questions {
    /// Asks a question. Returns its number and the receiver of the answer.
    ///
    /// # Errors
    /// Too many questions are open, or an approval is too long to be shown. A message for users.
    pub fn ask(&self, draft: Draft<'_>) -> Result<(u64, Answer), String> {
        let text = match draft.kind {
            QuestionKind::Approval => approvable(draft.text)?,
            QuestionKind::Question => shortened(&escaped(draft.text), LONGEST),
        };
        let mut state = self.0.lock();
        state.forget_unattended(draft.connection);
        // Each kind is counted separately, so that questions of agents can't crowd out approvals.
        let alike = || state.open.values().filter(|open| open.question.kind == draft.kind);
        let of_one = alike().filter(|open| open.question.connection == draft.connection).count();
        if alike().count() >= MOST || of_one >= MOST_OF_ONE {
            return Err("The user has too many questions to answer already".to_owned());
        }
        state.last += 1;
        let number = state.last;
        let question = Question {
            number,
            kind: draft.kind,
            client: draft.client.to_owned(),
            text,
            choices: draft
                .choices
                .iter()
                .take(MOST_CHOICES)
                .map(|choice| untrusted::name(choice, LONGEST_CHOICE))
                .collect(),
            takes_text: draft.takes_text,
            session: draft.session,
            asked_at: crate::services::now(),
            connection: draft.connection,
            call: draft.call,
        };
        let (sender, answer) = watch::channel(None);
        state.open.insert(number, Open { since: Instant::now(), question, sender });
        Ok((number, answer))
    }

    /// The open questions: approvals first, then questions of agents, each oldest first.
    pub fn list(&self) -> Vec<Question> {
        let state = self.0.lock();
        let mut all: Vec<_> = state.open.values().map(|open| open.question.clone()).collect();
        all.sort_by_key(|question| (question.kind != QuestionKind::Approval, question.number));
        all
    }

    /// The question with this number, and the receiver of its answer.
    pub fn find(&self, number: u64) -> Option<(Question, Answer)> {
        let state = self.0.lock();
        let open = state.open.get(&number)?;
        Some((open.question.clone(), open.sender.subscribe()))
    }

    /// Whether the question with this number is still open.
    pub fn is_open(&self, number: u64) -> bool {
        self.0.lock().open.contains_key(&number)
    }

    /// Removes a question in order to answer it, so that it can't be answered again.
    ///
    /// # Errors
    /// There is no open question with this number, or the answer is not one of its choices. A message for users.
    pub fn take(&self, number: u64, answer: &str) -> Result<AnsweredQuestion, String> {
        let mut state = self.0.lock();
        let Entry::Occupied(open) = state.open.entry(number) else {
            return Err(format!("There is no question {number}: it was answered, or taken back"));
        };
        let question = &open.get().question;
        if !question.takes_text && !question.choices.iter().any(|choice| choice == answer) {
            let choices = question.choices.join(", ");
            return Err(format!("{answer:?} is no answer to question {number}: {choices}"));
        }
        let answer = answer.chars().take(LONGEST_ANSWER).collect();
        Ok(AnsweredQuestion { open: open.remove(), answer })
    }

    /// Withdraws a question. Returns whether it was open.
    pub fn withdraw(&self, number: u64) -> bool {
        self.0.lock().open.remove(&number).is_some()
    }

    /// Withdraws all approvals, or all approvals of one client. The waiting calls then check the client's standing
    /// again.
    pub fn withdraw_approvals(&self, client: Option<&str>) {
        self.0.lock().open.retain(|_, open| {
            let Question { kind, client: asks, .. } = &open.question;
            *kind != QuestionKind::Approval || client.is_some_and(|client| client != asks)
        });
    }

    /// Withdraws all questions of a connection. Returns whether there were any.
    pub fn release(&self, connection: u64) -> bool {
        let mut state = self.0.lock();
        let before = state.open.len();
        state.open.retain(|_, open| open.question.connection != connection);
        state.open.len() < before
    }
}

/// A question that is being answered.
pub struct AnsweredQuestion {
    open: Open,
    answer: String,
}

impl AnsweredQuestion {
    /// The question.
    pub fn question(&self) -> &Question {
        &self.open.question
    }

    /// The answer.
    pub fn answer(&self) -> &str {
        &self.answer
    }

    /// Sends the answer to the task that waits for it.
    pub fn send(self) {
        self.open.sender.send_replace(Some(self.answer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(choices: &[String]) -> Draft<'_> {
        Draft {
            kind: QuestionKind::Question,
            client: "agent",
            text: "Deploy?",
            choices,
            takes_text: false,
            session: Some(3),
            connection: 7,
            call: 0,
        }
    }

    #[test]
    fn a_question_is_answered_once_and_by_what_it_offers() {
        let questions = Questions::default();
        let choices = ["yes".to_owned(), "no".to_owned()];
        let (number, answer) = questions.ask(draft(&choices)).unwrap();
        assert!(questions.take(number, "maybe").is_err_and(|why| why.contains("yes, no")));
        assert_eq!(questions.list()[0].text, "Deploy?");
        questions.take(number, "yes").unwrap().send();
        assert_eq!(answer.borrow().as_deref(), Some("yes"));
        assert!(questions.take(number, "no").is_err(), "an answer can't be given again");
        let (next, _) = questions.ask(draft(&choices)).unwrap();
        assert!(next > number);
    }

    #[test]
    fn one_connection_asks_only_so_much_and_takes_it_along() {
        let questions = Questions::default();
        let asked: Vec<_> = (0..MOST_OF_ONE).map(|_| questions.ask(draft(&[])).unwrap()).collect();
        assert!(questions.ask(draft(&[])).is_err());
        assert!(questions.release(7) && questions.list().is_empty());
        assert!(asked[0].1.has_changed().is_err(), "who waits hears that it is over");
    }

    #[test]
    fn an_approval_that_nobody_waits_for_makes_room() {
        let questions = Questions::default();
        let approval = || questions.ask(Draft { kind: QuestionKind::Approval, ..draft(&[]) });
        let waits = approval().unwrap();
        for _ in 0..2 * MOST_OF_ONE {
            approval().unwrap();
        }
        let open = questions.list();
        assert_eq!((open.len(), open[0].number), (MOST_OF_ONE, waits.0));
    }

    #[test]
    fn invisible_characters_of_a_question_are_escaped() {
        let questions = Questions::default();
        let text = "a\u{202e}b\u{200b}\u{1b}[2Jc";
        let (number, _) = questions.ask(Draft { text, ..draft(&[]) }).unwrap();
        let (question, _) = questions.find(number).unwrap();
        assert!(!question.text.contains(['\u{202e}', '\u{200b}', '\u{1b}']), "{:?}", question.text);
    }

    #[test]
    fn a_call_too_long_to_show_whole_is_refused() {
        let questions = Questions::default();
        let ask =
            |text: &str| questions.ask(Draft { kind: QuestionKind::Approval, text, ..draft(&[]) });
        let longest = format!("{}; rm -r /", "x".repeat(LONGEST_APPROVAL - 9));
        let (number, _) = ask(&longest).unwrap();
        assert_eq!(questions.find(number).unwrap().0.text, longest);
        let why = ask(&format!("{longest}!")).unwrap_err();
        assert!(why.contains("20001 characters") && why.contains("at most 20000"), "{why}");
        assert!(ask(&"\u{200b}".repeat(3000)).is_err(), "escapes count as they are shown");
        let (number, _) = ask("a\tb\u{202e}\nc\r\0").unwrap();
        assert_eq!(questions.find(number).unwrap().0.text, "a\\tb\\u{202e}\nc\\u{d}\\u{0}");
        assert_eq!(questions.list().len(), 2, "what is refused is not asked");
    }
}
