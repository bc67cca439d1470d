//! Errands: what a click asks for and takes time, each on a thread of its own, so that the window never waits.
//!
//! Owns the threads and what is said of their results; what an errand does is its caller's.

use std::path::PathBuf;

use unterm_mux::PaneId;

use super::{App, clipboard::Buffer, dropped::Dropped, folder::Purpose, screenshot::Taken};

/// What came of an errand.
#[derive(Debug)]
pub(super) enum Done {
    /// Nothing that anyone must hear of.
    Nothing,
    /// To be told to the person: what it is about, and the text.
    Said(&'static str, String),
    /// The same of something that went wrong.
    Failed(&'static str, String),
    /// A file was made, whose path is copied: what it is about, and the text.
    Copied(&'static str, &'static str, PathBuf),
    /// A picture was taken, or why not; `None`: the person cancelled.
    Screenshot(Result<Option<Taken>, String>),
    /// A file is there, to be edited beside a pane: the directory it was looked for in, and its name with the place in it.
    File(PaneId, Option<PathBuf>, String),
    /// A directory was chosen.
    Folder(Purpose, PathBuf),
    /// Files were dropped on the window.
    Dropped(Dropped),
    /// The desktop has no dialog to choose a directory in.
    NoDialog(Purpose),
}

/// Errands under way at a time; a person who clicks on while they hang is told so.
const CAP: usize = 8;

impl App {
    /// Does something on a thread of its own; its result comes through the inbox.
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

    /// An errand has ended.
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
