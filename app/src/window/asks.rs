//! What agents ask of the person: whether they may act, and questions of their own.
//!
//! Owns how it is shown: a message that stays until it is answered, and takes no key; when the person asks for it, a panel with
//! the whole text, which scrolls, and the answers. What is typed meanwhile goes where it went before, so nobody answers by
//! accident. The message holds the beginning and the end of a long text; an answer is only given in front of all of it. The
//! questions themselves are the control server's.

use unterm_control::{Kind, Question, Verdict, shortened};

use super::{App, errand::Done, panel::Item, picker::Choice};

/// What the message is about.
pub(super) const ABOUT: &str = "agents ask";

/// What was shown of the questions.
#[derive(Default)]
pub(super) struct Asked {
    /// The highest number so far.
    newest: u64,
    /// Number of the one that is shown.
    shown: Option<u64>,
    /// How many are open.
    pub(super) open: usize,
}

/// Characters of a question in the message.
const MOST: usize = 180;

/// A question in a few lines; of a long one the beginning and the end, and how much is missing between them.
fn fitted(text: &str) -> String {
    let line = text.split('\n').map(str::trim_end).collect::<Vec<_>>().join(" ⏎ ");
    shortened(&line, MOST)
}

impl App {
    /// What waits for an answer: whether clients may act before what they ask.
    fn questions_of_agents(&self) -> Vec<Question> {
        self.server.as_ref().map(unterm_control::Server::questions).unwrap_or_default()
    }

    /// The questions may have changed: the first is shown, and one that was answered elsewhere goes.
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
        // A message that the person put away stays away.
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

    /// Lists what may be answered to the question that is shown; false when there is none.
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

    /// An answer was chosen, or typed.
    pub(super) fn agent_answered(&mut self, number: u64, answer: &str) {
        let Some(server) = &self.server else { return };
        let (answers, answer) = (server.answers(), answer.to_owned());
        self.errand("agents", move || match answers.give(number, &answer) {
            Ok(()) => Done::Nothing,
            Err(why) => Done::Failed("agents", format!("The answer was not accepted.\n{why}")),
        });
    }

    /// The person does not answer a question: whoever asked hears so.
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
