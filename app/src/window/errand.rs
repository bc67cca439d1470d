//! The results of errands: slow tasks that the user starts. Each errand runs on its own thread.

use std::path::PathBuf;

use unterm_mux::PaneId;

use crate::window::{
    input::dropped::Dropped,
    system::{folder::Purpose, paged::PagedFile, screenshot::SavedScreenshot},
};

/// The result of an errand.
#[derive(Debug)]
pub(crate) enum ErrandResult {
    /// The errand succeeded, and the user needs no message.
    Nothing,
    /// A message for the user: its topic and its text.
    Said(&'static str, String),
    /// An error message for the user: its topic and its text.
    Failed(&'static str, String),
    /// A new file. Its path is copied to the clipboard. The values: the message's topic and text, and the path.
    Copied(&'static str, &'static str, PathBuf),
    /// A screenshot, or an error. `None` if the user canceled the screenshot.
    Screenshot(Result<Option<SavedScreenshot>, String>),
    /// An existing file to edit beside a pane: the directory for relative names, and the file's name with a position
    /// in the file.
    File(PaneId, Option<PathBuf>, String),
    /// The directory that the user chose.
    Folder(Purpose, PathBuf),
    /// Files dropped on the window.
    Dropped(Dropped),
    /// Text to show in a pager.
    Paged(Page),
    /// The desktop has no dialog to choose directories.
    NoDialog(Purpose),
}

/// A text to show in a pager.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) file: PagedFile,
    /// The line to show first, counted from 1.
    pub(crate) line: usize,
    /// The title of the pager's tab.
    pub(crate) title: &'static str,
    /// The directory in which the pager runs.
    pub(crate) cwd: Option<PathBuf>,
}
