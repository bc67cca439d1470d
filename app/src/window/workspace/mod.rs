//! The workspace: a [`View`] of each pane, its names, and what the user does with splits.
//!
//! Owns what the window remembers of panes beyond their terminals: snapshots, scroll positions, selections, folds, copy
//! mode and titles. Never draws bars, and never owns tabs or splits: the mux publishes those as a `Layout`.

pub(crate) mod badge;
pub(crate) mod blocks;
pub(crate) mod closing;
pub(crate) mod copy;
pub(crate) mod copy_mode;
pub(crate) mod folds;
pub(crate) mod panes;
pub(crate) mod prompts;
pub(crate) mod scroll;
pub(crate) mod selection;
pub(crate) mod title;
pub(crate) mod view;
pub(crate) mod work;

use std::time::Instant;

use unterm_mux::PaneId;

use crate::last_session::LastSession;
use crate::window::workspace::{panes::Hand, view::Views};

/// The state of the workspace.
pub(crate) struct Workspace {
    pub(crate) views: Views,
    pub(crate) panes: Hand,
    /// The pane that last received a focus report.
    pub(crate) told_focus: Option<PaneId>,
    pub(crate) names: Names,
    /// The state saved by the last window, or by this window since.
    pub(crate) last: Option<LastSession>,
    /// When to save the open tabs for the next window, after a change.
    pub(crate) keep_at: Option<Instant>,
}

impl Default for Workspace {
    fn default() -> Self {
        Self {
            views: Views::default(),
            panes: Hand::default(),
            told_focus: None,
            names: Names { stale: true, ..Names::default() },
            last: None,
            keep_at: None,
        }
    }
}

/// When to read the panes' titles and programs again, which queries the system.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Output arrived since titles were last read: a program may have started or ended.
    pub(crate) stale: bool,
    /// Titles must be read once more, for programs that start shortly after the output.
    pub(crate) again: bool,
    pub(crate) read: Option<Instant>,
    /// The pane whose program the status bar names.
    pub(crate) program_of: Option<PaneId>,
}
