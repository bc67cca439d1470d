//! Shows the agents' questions, and passes the user's answers to the control server.

use unterm_control::Question;

use crate::window::{
    app::App,
    overlays::{
        agent_questions::{ABOUT, ShownQuestions, fitted},
        choice::Choice,
        panel::item::Item,
        picker::Picker,
    },
    system::errand::ErrandResult,
};

impl App {
    /// The open questions of all clients, including requests for approval.
    fn questions_of_agents(&self) -> Vec<Question> {
        self.server.as_ref().map(unterm_control::Server::questions).unwrap_or_default()
    }

    /// Updates the message after the agents' questions may have changed: shows the first open question, and removes a
    /// question that was answered.
    pub(crate) fn agents_ask(&mut self) {
        let questions = self.questions_of_agents();
        let first = questions.first();
        let newest = questions.iter().map(|question| question.number).max().unwrap_or(0);
        let asked = ShownQuestions {
            newest: newest.max(self.overlays.asked.newest),
            shown: first.map(|question| question.number),
            open: questions.len(),
            about_no_pane: questions.iter().filter(|question| question.session.is_none()).count(),
        };
        let is_new = asked.newest > self.overlays.asked.newest;
        let is_same =
            (asked.shown, asked.open) == (self.overlays.asked.shown, self.overlays.asked.open);
        self.overlays.asked = asked;
        // If the user dismissed the message, it stays dismissed until another question arrives.
        if is_same && !is_new {
            return;
        }
        let Some(question) = first else {
            self.overlays.toasts.settle(ABOUT);
            return;
        };
        let press = self.prefs.press("answer_agent", "or a click here shows the answers");
        let more = match questions.len() {
            1 => String::new(),
            more => format!(" ({} more)", more - 1),
        };
        let (heading, text) = (question.heading(), fitted(&question.text_on_one_line()));
        let message = format!("{heading}{more}\n{text}{press}");
        self.keep_saying(ABOUT, message);
        if is_new {
            self.with_parts(|parts, cx| parts.system.notices.ask_attention(cx));
        }
    }

    /// Opens the panel with the answers to a question. `None`: the question in the message. Returns false if there is no
    /// such question.
    pub(crate) fn answer_agent(&mut self, number: Option<u64>) -> bool {
        let shown = number.or(self.overlays.asked.shown);
        let mut questions = self.questions_of_agents().into_iter();
        let Some(question) = questions.find(|question| Some(question.number) == shown) else {
            return false;
        };
        let choices = question.choices.iter();
        let mut items: Vec<_> = choices
            .map(|choice| Item::new(question.title(choice), Choice::Answer(choice.clone())))
            .collect();
        if question.takes_text {
            items.push(Item::new("In your own words…", Choice::OwnWords));
        }
        if let Some(leaving) = question.leaving() {
            items.push(Item::new(leaving, Choice::NoAnswer));
        }
        let hint = format!("{} Choose an answer", question.heading());
        let text = question.text;
        let picker = Picker::answer(&hint, text, items, question.number);
        self.with_parts(|parts, cx| parts.overlays.open_picker(picker, cx));
        true
    }

    /// Passes the answer that the user chose or typed to the client.
    pub(crate) fn agent_answered(&mut self, number: u64, answer: &str) {
        let Some(server) = &self.server else { return };
        let (answers, answer) = (server.answers(), answer.to_owned());
        self.errand("agents", move || match answers.give(number, &answer) {
            Ok(()) => ErrandResult::Nothing,
            Err(why) => {
                ErrandResult::Failed("agents", format!("The answer was not accepted.\n{why}"))
            }
        });
    }

    /// Reports to the client that the user declined to answer.
    pub(crate) fn leave_unanswered(&mut self, number: u64) {
        if let Some(server) = &self.server {
            server.answers().refuse(number);
        }
    }
}
