//! Questions from agents to the user: requests for approval, and questions of their own.
//!
//! Owns how they are shown: a message that stays until answered and takes no keys, and, on request, a panel with the
//! full, scrollable text and the answers. Until the panel opens, typing still goes to the program, so the user cannot
//! answer by accident. The message shortens a long text in the middle; only the panel with the full text accepts an
//! answer. The control server owns the questions.

use unterm_control::{Kind, Question, Verdict, shortened};

use super::{App, errand::Done, panel::Item, picker::Choice};

/// The topic of the message.
pub(super) const ABOUT: &str = "agents ask";

/// The questions shown so far.
#[derive(Default)]
pub(super) struct Asked {
    /// The highest question number so far.
    newest: u64,
    /// The number of the question in the message.
    shown: Option<u64>,
    /// The number of open questions.
    pub(super) open: usize,
}

/// Maximum length of a question in the message, in characters.
const MOST: usize = 180;

/// A question on one line. A long one keeps its beginning and end, with a note of how much is left out.
fn fitted(text: &str) -> String {
    let line = text.split('\n').map(str::trim_end).collect::<Vec<_>>().join(" ⏎ ");
    shortened(&line, MOST)
}

impl App {
    /// The open questions of all clients, including requests for approval.
    fn questions_of_agents(&self) -> Vec<Question> {
        self.server.as_ref().map(unterm_control::Server::questions).unwrap_or_default()
    }

    /// Updates the message after the questions may have changed: shows the first, and removes an answered one.
    pub(super) fn agents_ask(&mut self) {
        let questions = self.questions_of_agents();
        let first = questions.first();
        let newest = questions.iter().map(|question| question.number).max().unwrap_or(0);
        let asked = Asked {
            newest: newest.max(self.asked.newest),
            shown: first.map(|question| question.number),
            open: questions.len(),
        };
        let is_new = asked.newest > self.asked.newest;
        let is_same = (asked.shown, asked.open) == (self.asked.shown, self.asked.open);
        self.asked = asked;
        // A message that the user dismissed stays dismissed.
        if is_same && !is_new {
            return;
        }
        let Some(question) = first else {
            self.settle(ABOUT);
            return;
        };
        let press = self.press("answer_agent", "or a click here shows the answers");
        let more = match questions.len() {
            1 => String::new(),
            more => format!(" ({} more)", more - 1),
        };
        let text = fitted(&question.text);
        let place = question.session.map_or_else(String::new, |id| format!(" in pane {id}"));
        let says = match question.kind {
            Kind::Approval => {
                format!("Allow “{}” to act{place}?{more}\n{text}{press}", question.client)
            }
            Kind::Question => {
                format!("“{}” asks{place}:{more}\n{text}{press}", question.client)
            }
        };
        self.keep_saying(ABOUT, says);
        if is_new {
            self.ask_attention();
        }
    }

    /// Lists the answers to the question in the message. Returns false if there is no question.
    pub(super) fn answer_agent(&mut self) -> bool {
        let shown = self.asked.shown;
        let mut questions = self.questions_of_agents().into_iter();
        let Some(question) = questions.find(|question| Some(question.number) == shown) else {
            return false;
        };
        let titled = |choice: &String| match question.kind {
            Kind::Approval => Verdict::of(choice)
                .map_or_else(|| choice.clone(), |verdict| verdict.title(&question.client)),
            Kind::Question => choice.clone(),
        };
        let mut items: Vec<_> = question
            .choices
            .iter()
            .map(|choice| Item::new(titled(choice), Choice::Answer(choice.clone())))
            .collect();
        if question.kind == Kind::Question {
            if question.takes_text {
                items.push(Item::new("In your own words…", Choice::OwnWords));
            }
            items.push(Item::new("Don't answer", Choice::NoAnswer));
        }
        let (client, text) = (&question.client, question.text);
        let hint = match question.kind {
            Kind::Approval => {
                let place =
                    question.session.map_or_else(String::new, |id| format!(" in pane {id}"));
                format!("Allow “{client}” to do this{place}? Choose an answer")
            }
            Kind::Question => format!("“{client}” asks. Choose an answer"),
        };
        self.pick_answer(&hint, text, items, question.number);
        true
    }

    /// Sends the user's chosen or typed answer.
    pub(super) fn agent_answered(&mut self, number: u64, answer: &str) {
        let Some(server) = &self.server else { return };
        let (answers, answer) = (server.answers(), answer.to_owned());
        self.errand("agents", move || match answers.give(number, &answer) {
            Ok(()) => Done::Nothing,
            Err(why) => Done::Failed("agents", format!("The answer was not accepted.\n{why}")),
        });
    }

    /// Reports to the client that the user declined to answer.
    pub(super) fn leave_unanswered(&mut self, number: u64) {
        if let Some(server) = &self.server {
            server.answers().refuse(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_question_is_seen() {
        assert_eq!(fitted("run: make\ninstall"), "run: make ⏎ install");
        let long = fitted(&format!("run: echo {}; rm -r build", "x".repeat(500)));
        assert!(long.starts_with("run: echo xx") && long.ends_with("; rm -r build"), "{long}");
        assert!(long.contains("[… 343 characters …]"), "{long}");
    }
}
