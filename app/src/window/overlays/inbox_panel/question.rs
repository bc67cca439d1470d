//! The question of the marked entry: its text, and the answers that it accepts.

use unterm_control::{Question, QuestionKind, methods::inbox::ShowReply};

use crate::window::overlays::inbox_panel::cells::Cells;

/// The receiver of answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// A program. An answer names the dialog with this fingerprint.
    Program(String),
    /// The agent that asked the question of this number. The texts are the answers, in the order of the choices.
    Agent(u64, Vec<String>),
    /// Only the pane itself, or another window, accepts an answer. Contains the reason.
    Elsewhere(&'static str),
}

/// A question, as the panel shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShownQuestion {
    pub(crate) cells: Cells,
    pub(crate) receiver: Receiver,
    /// The choices, numbered from 1.
    pub(crate) choices: Vec<String>,
    /// The numbers of the choices that clearly mean to approve and to deny.
    pub(crate) approve: Option<usize>,
    pub(crate) deny: Option<usize>,
    pub(crate) takes_text: bool,
    /// Whether the question replaced another question without a request of the user. The next answer then only confirms
    /// that the user has read it.
    pub(crate) is_unread: bool,
}

impl ShownQuestion {
    /// The question of a program.
    pub(crate) fn of_program(shown: &ShowReply, cells: Cells) -> Self {
        let choices = shown.choices.iter().map(|choice| choice.label.clone()).collect();
        let is_secret = shown.kind.is_some_and(|kind| kind.name() == "password");
        let receiver = match is_secret {
            true => Receiver::Elsewhere("Passwords are typed only in the pane itself"),
            false => Receiver::Program(shown.dialog.clone()),
        };
        Self {
            cells,
            receiver,
            choices,
            approve: shown.approve,
            deny: shown.deny,
            takes_text: true,
            is_unread: false,
        }
        .without_answers_elsewhere()
    }

    /// The question of an agent in this instance.
    pub(crate) fn of_agent(question: &Question) -> Self {
        let at = |answer: &str| {
            let is_approval = question.kind == QuestionKind::Approval;
            let mut answers = question.choices.iter().filter(|_| is_approval);
            answers.position(|choice| choice == answer).map(|at| at + 1)
        };
        let rows = [question.heading()];
        let rows = rows.iter().map(String::as_str).chain(question.text.lines());
        Self {
            cells: Cells::plain(rows),
            receiver: Receiver::Agent(question.number, question.choices.clone()),
            choices: question.choices.iter().map(|choice| question.title(choice)).collect(),
            approve: at("once"),
            deny: at("deny"),
            takes_text: question.takes_text,
            is_unread: false,
        }
    }

    /// A question that the panel can't answer.
    pub(crate) fn elsewhere(text: &str, why: &'static str) -> Self {
        Self {
            cells: Cells::plain([text]),
            receiver: Receiver::Elsewhere(why),
            choices: Vec::new(),
            approve: None,
            deny: None,
            takes_text: false,
            is_unread: false,
        }
    }

    /// Whether another reading of a question shows the same text, and accepts the same answers.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let Self { cells, receiver, choices, approve, deny, takes_text, is_unread: _ } = self;
        *cells == other.cells
            && *receiver == other.receiver
            && *choices == other.choices
            && (*approve, *deny, *takes_text) == (other.approve, other.deny, other.takes_text)
    }

    fn without_answers_elsewhere(self) -> Self {
        if !matches!(self.receiver, Receiver::Elsewhere(_)) {
            return self;
        }
        Self { choices: Vec::new(), approve: None, deny: None, takes_text: false, ..self }
    }
}
