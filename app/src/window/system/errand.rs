//! The results of errands: slow tasks that the user starts, each on its own thread.

use std::path::PathBuf;

use unterm_mux::PaneId;

use crate::window::{
    input::dropped::Dropped,
    system::{folder::Purpose, paged::PagedFile, screenshot::Taken},
};

/// The result of an errand.
#[derive(Debug)]
pub(crate) enum Done {
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
    /// Text to show in a pager.
    Paged(Page),
    /// The desktop has no dialog for directories.
    NoDialog(Purpose),
}

/// Text to show in a pager.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) file: PagedFile,
    /// The line to show first, from 1.
    pub(crate) line: usize,
    /// The title of the tab.
    pub(crate) title: &'static str,
    /// The directory in which the pager runs.
    pub(crate) cwd: Option<PathBuf>,
}
