//! Asks the user questions, and carries out the answers.

use crate::window::{
    app::App,
    input::buffer::Buffer,
    overlays::{answer::Answer, confirm::Confirm},
};

impl App {
    /// Queues a question for the user. If too many questions are open, rejects it with a message.
    pub(crate) fn ask(&mut self, confirm: Confirm) {
        if let Err(question) = self.overlays.questions.ask(confirm) {
            let why = "Not done. Answer the open questions first.";
            self.refuse("questions", format!("{question}\n{why}"));
        }
    }

    /// Carries out the effect of the button that the user pressed.
    pub(crate) fn answered(&mut self, answer: Answer) {
        match answer {
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
