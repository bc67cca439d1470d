//! Errands: slow tasks that the user starts, each on its own thread, so that the window never blocks.
//!
//! Counts the running errands, and handles their results. The callers supply the tasks.

use crate::window::{
    app::App, effect::Effect, input::buffer::Buffer, system::errand::ErrandResult,
};

impl App {
    /// Runs a task on its own thread. Its result arrives through the inbox.
    pub(crate) fn errand(
        &mut self,
        about: &'static str,
        work: impl FnOnce() -> ErrandResult + Send + 'static,
    ) {
        self.effect(Effect::Errand(about, Box::new(work)));
    }

    /// Handles the result of an errand.
    pub(crate) fn errand_done(&mut self, done: ErrandResult) {
        self.system.end_errand();
        match done {
            ErrandResult::Nothing => {}
            ErrandResult::Said(about, text) => self.notify(about, text),
            ErrandResult::Failed(about, text) => self.complain(about, text),
            ErrandResult::Copied(about, text, path) => {
                let path = path.display().to_string();
                self.notify(about, format!("{text}\n{path}"));
                self.store(Buffer::Clipboard, path);
            }
            ErrandResult::Screenshot(taken) => self.screenshot_taken(taken),
            ErrandResult::File(pane, cwd, place) => self.edit_found(pane, cwd, &place),
            ErrandResult::Folder(purpose, folder) => self.use_folder(purpose, &folder),
            ErrandResult::Dropped(dropped) => self.paste_dropped(&dropped),
            ErrandResult::Paged(page) => self.open_page(page),
            ErrandResult::NoDialog(purpose) => self.type_folder(purpose),
        }
    }
}
