//! Errands: slow tasks that the user starts, each on its own thread, so that the window never blocks.
//!
//! Owns the threads, and reports their results; callers supply the work.

use std::path::PathBuf;

use unterm_mux::PaneId;

use super::{App, clipboard::Buffer, dropped::Dropped, folder::Purpose, screenshot::Taken};

/// The result of an errand.
#[derive(Debug)]
pub(super) enum Done {
    /// No message.
    Nothing,
    /// A message: its topic and text.
    Said(&'static str, String),
    /// An error: its topic and text.
    Failed(&'static str, String),
    /// A new file, whose path is copied: the message's topic and text, and the path.
    Copied(&'static str, &'static str, PathBuf),
    /// A screenshot, or its error; `None` if the user cancelled.
    Screenshot(Result<Option<Taken>, String>),
    /// An existing file to edit beside a pane: the directory for relative names, and the file's name with its position.
    File(PaneId, Option<PathBuf>, String),
    /// The chosen directory.
    Folder(Purpose, PathBuf),
    /// Files dropped on the window.
    Dropped(Dropped),
    /// The desktop has no dialog for directories.
    NoDialog(Purpose),
}

/// Maximum number of concurrent errands; further ones fail with a message.
const CAP: usize = 8;

impl App {
    /// Runs work on its own thread; the result arrives through the inbox.
    pub(super) fn errand(
        &mut self,
        about: &'static str,
        work: impl FnOnce() -> Done + Send + 'static,
    ) {
        if self.errands >= CAP {
            return self.complain(
                about,
                "Too many tasks are running. Try again when one has ended.".to_owned(),
            );
        }
        let inbox = std::sync::Arc::clone(&self.inbox);
        let started = std::thread::Builder::new().name(about.to_owned()).spawn(move || {
            let done = work();
            inbox.post(|news| news.done.push(done));
        });
        match started {
            Ok(_) => self.errands += 1,
            Err(error) => self.complain(about, format!("Can't start a thread for it.\n{error}")),
        }
    }

    /// Handles an errand's result.
    pub(super) fn errand_done(&mut self, done: Done) {
        self.errands = self.errands.saturating_sub(1);
        match done {
            Done::Nothing => {}
            Done::Said(about, text) => self.notify(about, text),
            Done::Failed(about, text) => self.complain(about, text),
            Done::Copied(about, text, path) => {
                let path = path.display().to_string();
                self.notify(about, format!("{text}\n{path}"));
                self.clipboard.store(Buffer::Clipboard, path);
            }
            Done::Screenshot(taken) => self.screenshot_taken(taken),
            Done::File(pane, cwd, place) => self.edit_found(pane, cwd, &place),
            Done::Folder(purpose, folder) => self.use_folder(purpose, &folder),
            Done::Dropped(dropped) => self.paste_dropped(&dropped),
            Done::NoDialog(purpose) => self.type_folder(purpose),
        }
    }
}
