//! One pane: a program, its terminal, and the two threads between them.

use std::{path::PathBuf, sync::Arc};

use parking_lot::MutexGuard;
use tokio::sync::watch;
use unterm_term::{Size, Term};

use crate::{ExitStatus, Foreground, Process, Signal, Tap};

/// Names a pane for the life of the process; never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PaneId(pub u64);

/// What becomes of a pane in a tab when its program ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnExit {
    /// It is removed.
    #[default]
    Close,
    /// It stays readable, as exited, until it is closed.
    Hold,
}

/// Whether a pane's program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaneState {
    /// It runs.
    Running,
    /// It has ended, and all its output has been read.
    Exited(ExitStatus),
    /// The pane was closed: its program was ended and its threads are gone or going.
    Removed,
}

/// Why input was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// More than a mebibyte waits for a program that does not read.
    #[error("the program is not reading its input: {queued} bytes are waiting")]
    Full {
        /// Bytes that wait.
        queued: usize,
    },
    /// The program has ended.
    #[error("the program has ended")]
    Ended,
}

/// One pane.
pub struct Pane {}

impl Pane {
    /// Its id.
    pub fn id(&self) -> PaneId {
        todo!()
    }

    /// Its terminal, locked. Hold it briefly: the program's output waits.
    pub fn term(&self) -> MutexGuard<'_, Term> {
        todo!()
    }

    /// The terminal's `seq` as last published; moves after every batch of output, resize and change of state. Await
    /// `changed()` on it to wait for output.
    pub fn watch(&self) -> watch::Receiver<u64> {
        todo!()
    }

    /// Queues input for the program, all of it or nothing; never blocks.
    pub fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let _ = bytes;
        todo!()
    }

    /// Resizes the terminal, then the pty.
    pub fn resize(&self, size: Size) {
        let _ = size;
        todo!()
    }

    /// Whether a caller fixed the grid's size (an explicit size in session.create), so that the window keeps off.
    pub fn is_pinned(&self) -> bool {
        todo!()
    }

    /// Fixes the grid's size, or gives it back to the window.
    pub fn set_pinned(&self, pinned: bool) {
        let _ = pinned;
        todo!()
    }

    /// Whether its program runs.
    pub fn state(&self) -> PaneState {
        todo!()
    }

    /// Its program.
    pub fn process(&self) -> &Arc<dyn Process> {
        todo!()
    }

    /// The title: set by the program, else the foreground process's name.
    pub fn title(&self) -> String {
        todo!()
    }

    /// The process group in the foreground.
    pub fn foreground(&self) -> Option<Foreground> {
        todo!()
    }

    /// The working directory as a `file://` URI: from OSC 7, else from the system; empty when neither tells.
    pub fn cwd_uri(&self) -> String {
        todo!()
    }

    /// The working directory as a local path, for a new pane beside this one.
    pub fn cwd_path(&self) -> Option<PathBuf> {
        todo!()
    }

    /// Signals the foreground process group.
    pub fn signal(&self, signal: Signal) -> std::io::Result<()> {
        let _ = signal;
        todo!()
    }

    /// Starts a tap on the bytes that pass through this pane; it ends when dropped.
    pub fn tap(&self) -> Tap {
        todo!()
    }
}
