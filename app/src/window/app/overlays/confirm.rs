//! Asks the user questions, and carries out the answers.

use unterm_mux::input::Modifiers;

use crate::window::{
    app::{
        App,
        overlays::layer::{Layer, Press},
    },
    input::{buffer::Buffer, keys::Pressed},
    overlays::{
        canvas::Canvas,
        confirm::{Answer, Confirm},
        taker::Taker,
    },
    surface::plan::Drawn,
};
use crate::{action::Action, config::keys::Found};

/// The overlay of the open question.
pub(crate) struct QuestionsLayer;

impl Layer for QuestionsLayer {
    fn is_open(&self, app: &App) -> bool {
        app.overlays.questions.is_open() && !app.overlays.question_waits()
    }

    fn has_mouse(&self) -> bool {
        true
    }

    fn taker(&self) -> Option<Taker> {
        Some(Taker::Nobody)
    }

    fn key(&self, app: &mut App, press: &Press<'_>) -> bool {
        if app.tries_key(press) {
            return false;
        }
        app.confirm_key(press.pressed, press.modifiers);
        true
    }

    /// A question does not use text, and no text reaches anything below.
    fn text(&self, _: &mut App, _: &str) -> bool {
        true
    }

    fn press(&self, app: &mut App) -> bool {
        app.confirm_click();
        true
    }

    /// A button changes its color while the pointer is on it, so the move requires a new frame.
    fn point(&self, app: &mut App, _: f64, _: f64) -> bool {
        app.surface.pacing.ask();
        false
    }

    fn draw(&self, drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
        if drawn.overlays.question_waits() {
            return;
        }
        drawn.overlays.questions.draw(canvas.geometry, canvas.colors, canvas.pointer, canvas.scene);
    }
}

impl App {
    /// Queues a question for the user. If too many questions are open, rejects it with a message.
    pub(crate) fn ask(&mut self, confirm: Confirm) {
        if confirm.buttons.is_empty() {
            return;
        }
        if self.overlays.questions.are_full() {
            let why = "Not done. Answer the open questions first.";
            return self.refuse("questions", format!("{}\n{why}", confirm.question));
        }
        self.overlays.questions.0.push_back(confirm);
        self.surface.pacing.ask();
    }

    /// Whether a key runs its action even though a question is open. The tour allows this, so that the user can try
    /// keys. Ctrl+C always closes the question.
    fn tries_key(&self, press: &Press<'_>) -> bool {
        let bound = self.prefs.found(&[], press.pressed, press.modifiers);
        let copies = matches!(
            bound,
            Some((_, Found::Actions([Action::Copy]))) if !press.modifiers.contains(Modifiers::SHIFT)
        );
        bound.is_some() && !copies && self.overlays.questions.lets_keys_act()
    }

    /// Handles a key while a question is open. Programs do not receive such keys.
    pub(crate) fn confirm_key(&mut self, pressed: Pressed, modifiers: Modifiers) {
        let Some(open) = self.overlays.questions.0.front_mut() else { return };
        let button = open.key(pressed.key.off_keypad(), modifiers);
        self.surface.pacing.ask();
        if let Some(button) = button {
            self.answer(button);
        }
    }

    /// Handles a click while a question is open. A click on a button presses it. A click outside the question presses
    /// the last button.
    pub(crate) fn confirm_click(&mut self) {
        let Some((x, y)) = self.input.pointer.position else { return };
        let Some(geometry) = self.surface.geometry else {
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
        let geometry = self.surface.geometry;
        let questions = &mut self.overlays.questions.0;
        let works = |open: &Confirm| geometry.is_none_or(|size| open.can_press(button, &size));
        if !questions.front().is_some_and(works) {
            return;
        }
        let Some(mut open) = questions.pop_front() else { return };
        match open.buttons.swap_remove(button).answer {
            Answer::Nothing => {}
            Answer::Close(what) => self.close_now(what),
            Answer::Copy(text) => self.store(Buffer::Clipboard, text),
            Answer::ClipboardRead { pane, read, access } => {
                self.clipboard_read_answered(pane, *read, access);
            }
            Answer::Transfer { pane, handle, folder } => {
                self.transfer_answered(pane, handle, folder);
            }
            Answer::Tour(step) => drop(self.show_tour(step)),
            Answer::Paste { receivers, text, joined } => {
                self.paste_asked(&receivers, &text, joined);
            }
        }
    }
}
