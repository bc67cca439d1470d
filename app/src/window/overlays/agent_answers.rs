//! Shows the agents' questions, passes the user's answers to the control server, and pauses the agents.

use unterm_control::Question;

use crate::window::{
    cx::Cx,
    errand::ErrandResult,
    overlays::{
        Overlays,
        agent_questions::{ABOUT, ShownQuestions, fitted},
        choice::Choice,
        panel::item::Item,
        picker::Picker,
    },
};

impl Overlays {
    /// Updates the message after the agents' questions may have changed: shows the first open question, and removes a
    /// question that was answered. Returns true if there is a new question, which requests the user's attention.
    pub(crate) fn agents_ask(&mut self, cx: &mut Cx<'_>) -> bool {
        let questions = questions_of_agents(cx);
        let first = questions.first();
        let newest = questions.iter().map(|question| question.number).max().unwrap_or(0);
        let asked = ShownQuestions {
            newest: newest.max(self.asked.newest),
            shown: first.map(|question| question.number),
            open: questions.len(),
            about_no_pane: questions.iter().filter(|question| question.session.is_none()).count(),
        };
        let is_new = asked.newest > self.asked.newest;
        let is_same = (asked.shown, asked.open) == (self.asked.shown, self.asked.open);
        self.asked = asked;
        // If the user dismissed the message, it stays dismissed until another question arrives.
        if is_same && !is_new {
            return false;
        }
        let Some(question) = first else {
            self.toasts.settle(ABOUT);
            return false;
        };
        let press = cx.prefs.press("answer_agent", "or a click here shows the answers");
        let more = match questions.len() {
            1 => String::new(),
            more => format!(" ({} more)", more - 1),
        };
        let (heading, text) = (question.heading(), fitted(&question.text_on_one_line()));
        let message = format!("{heading}{more}\n{text}{press}");
        self.toasts.keep(ABOUT, message);
        is_new
    }

    /// Opens the panel with the answers to a question. `None`: the question in the message. Returns false if there is no
    /// such question.
    pub(crate) fn answer_agent(&mut self, number: Option<u64>, cx: &mut Cx<'_>) -> bool {
        let shown = number.or(self.asked.shown);
        let mut questions = questions_of_agents(cx).into_iter();
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
        self.open_picker(Picker::answer(&hint, text, items, question.number), cx);
        true
    }
}

/// The open questions of all clients, including requests for approval.
fn questions_of_agents(cx: &Cx<'_>) -> Vec<Question> {
    cx.server.map(unterm_control::Server::questions).unwrap_or_default()
}

/// Passes the answer that the user chose or typed to the client.
pub(crate) fn agent_answered(number: u64, answer: &str, cx: &mut Cx<'_>) {
    let Some(server) = cx.server else { return };
    let (answers, answer) = (server.answers(), answer.to_owned());
    cx.errand("agents", move || match answers.give(number, &answer) {
        Ok(()) => ErrandResult::Nothing,
        Err(why) => ErrandResult::Failed("agents", format!("The answer was not accepted.\n{why}")),
    });
}

/// Reports to the client that the user declined to answer.
pub(crate) fn leave_unanswered(number: u64, cx: &Cx<'_>) {
    if let Some(server) = cx.server {
        server.answers().refuse(number);
    }
}

/// Pauses or resumes the agents. Returns false if there is no control server.
pub(crate) fn toggle_agents(cx: &mut Cx<'_>) -> bool {
    let Some(server) = cx.server else { return false };
    let paused = !server.is_paused();
    server.pause(paused);
    let press = cx.prefs.press("pause_agents", "resumes them");
    cx.notify(
        "agents",
        if paused { format!("Agents paused{press}") } else { "Agents resumed".to_owned() },
    );
    true
}
