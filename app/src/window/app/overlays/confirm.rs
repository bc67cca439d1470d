//! Asks questions, and carries out the answers.

use unterm_mux::input::Modifiers;

use crate::window::{
    app::App,
    input::keys::Pressed,
    overlays::confirm::{Answer, Confirm},
};

/// Maximum number of queued questions; further ones are rejected with a message.
const CAP: usize = 8;

impl App {
    /// Queues a question for the user.
    pub(crate) fn ask(&mut self, confirm: Confirm) {
        if confirm.buttons.is_empty() {
            return;
        }
        if self.overlays.questions.0.len() == CAP {
            let why = "Not done. Answer the open questions first.";
            return self.refuse("questions", format!("{}\n{why}", confirm.question));
        }
        self.overlays.questions.0.push_back(confirm);
        self.surface.pacing.ask();
    }

    /// Handles a key while a question is open; programs receive no keys then.
    pub(crate) fn confirm_key(&mut self, pressed: Pressed, modifiers: Modifiers) {
        let Some(open) = self.overlays.questions.0.front_mut() else { return };
        let button = open.key(pressed.key.off_keypad(), modifiers);
        self.surface.pacing.ask();
        if let Some(button) = button {
            self.answer(button);
        }
    }

    /// Handles a click while a question is open: presses a button; outside the question, presses the last one.
    pub(crate) fn confirm_click(&mut self) {
        let Some((x, y)) = self.input.pointer.position else { return };
        let Some(geometry) = self.surface.screen.as_ref().map(|screen| screen.geometry) else {
            return;
        };
        let Some(open) = self.overlays.questions.0.front() else { return };
        match open.at(&geometry, x, y) {
            Ok(button) => self.answer(button),
            Err(true) => {}
            Err(false) => self.answer(open.buttons.len() - 1),
        }
    }

    /// Presses a button of the open question.
    fn answer(&mut self, button: usize) {
        self.surface.pacing.ask();
        let Some(mut open) = self.overlays.questions.0.pop_front() else { return };
        match open.buttons.swap_remove(button).answer {
            Answer::Nothing => {}
            Answer::Close(what) => self.close_now(what),
            Answer::Paste { receivers, text, joined } => {
                self.paste_asked(&receivers, &text, joined);
            }
        }
    }
}
