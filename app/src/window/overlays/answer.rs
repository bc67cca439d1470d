//! The effects of a question's buttons, as values.

use std::{path::PathBuf, sync::Arc};

use unterm_mux::PaneId;
use unterm_term::ClipboardRead;

use crate::window::{overlays::receiver::Receiver, workspace::closing::Closing};

/// The effect of a button.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Nothing,
    /// Pastes a text into panes.
    Paste {
        receivers: Arc<[Receiver]>,
        text: Arc<str>,
        /// Whether the lines are joined into a single line.
        joined: bool,
    },
    /// Closes panes in which programs run.
    Close(Closing),
    Copy(String),
    /// Answers a program's request to read a clipboard.
    ClipboardRead {
        pane: PaneId,
        read: Box<ClipboardRead>,
        access: ReadAccess,
    },
    /// Answers a program's request to transfer files: the folder that it can't leave, or `None` to deny it.
    Transfer {
        pane: PaneId,
        handle: u64,
        folder: Option<PathBuf>,
    },
    /// Shows a step of the tour. The first step is 0.
    Tour(usize),
}

/// The user's answer to a program that asks to read a clipboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadAccess {
    Denied,
    Once,
    /// The program may read again, as long as it shows the same password.
    Always,
}
