//! The workspace: a [`View`] of each pane, its names, and what the user does with splits.
//!
//! Owns what the window remembers of panes beyond their terminals: snapshots, scroll positions, selections, folds, copy
//! mode and titles. Never draws bars, and never owns tabs or splits: the mux publishes those as a `Layout`.

pub(crate) mod badge;
pub(crate) mod blocks;
pub(crate) mod closing;
pub(crate) mod copy;
pub(crate) mod copy_mode;
pub(crate) mod first_panes;
pub(crate) mod folds;
pub(crate) mod panes;
pub(crate) mod prompts;
pub(crate) mod scroll;
pub(crate) mod selection;
pub(crate) mod title;
pub(crate) mod view;
pub(crate) mod work;

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use unterm_mux::{Pane, PaneId};

use crate::window::workspace::{first_panes::FirstPanes, panes::Hand, view::Views};
use crate::{last_session::LastSession, layout_file::LayoutFile};

/// Duration of the visual bell.
const FLASH: Duration = Duration::from_millis(120);

/// The state of the workspace.
pub(crate) struct Workspace {
    pub(crate) views: Views,
    pub(crate) panes: Hand,
    /// The pane that last received a focus report.
    pub(crate) told_focus: Option<PaneId>,
    pub(crate) names: Names,
    /// The title last sent to the system.
    pub(crate) title: String,
    /// The project last reported to the registry.
    pub(crate) project: Option<String>,
    /// The state saved by the last window, or by this window since.
    pub(crate) last: Option<LastSession>,
    /// The tabs of the last window, until they are reopened.
    pub(crate) reopens: Option<LayoutFile>,
    /// When to save the open tabs for the next window, after a change.
    pub(crate) keep_at: Option<Instant>,
    /// The names of panes' profiles. They stay when a pane closes, since that can be undone.
    pub(crate) profiles: HashMap<PaneId, String>,
    /// Until when the last close can be undone.
    pub(crate) undo_until: Option<Instant>,
    /// The start's panes, until they are open.
    pub(crate) first: Option<FirstPanes>,
}

impl Default for Workspace {
    fn default() -> Self {
        Self {
            views: Views::default(),
            panes: Hand::default(),
            told_focus: None,
            names: Names { stale: true, ..Names::default() },
            title: String::new(),
            project: None,
            last: None,
            reopens: None,
            keep_at: None,
            profiles: HashMap::new(),
            undo_until: None,
            first: None,
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

impl Workspace {
    /// The command that actions apply to: the one that the user jumped to, else the last that has run.
    pub(crate) fn command_meant(&self, pane: &Pane) -> Option<u64> {
        let view = self.views.get(&pane.id())?;
        let term = pane.term();
        let current = view.blocks.current.filter(|id| term.command_or_rest(*id).is_some());
        current.or_else(|| {
            let ran = term.commands_with_rests().rev().find(|command| command.output_seq != 0);
            ran.map(|command| command.id)
        })
    }

    /// Ends the flashes that have lasted long enough; returns when the next one ends.
    pub(crate) fn end_flashes(&mut self, now: Instant) -> Option<Instant> {
        let mut next = None;
        for view in self.views.values_mut() {
            match view.signals.flash.map(|rang| rang + FLASH) {
                Some(end) if now < end => next = next.into_iter().chain([end]).min(),
                Some(_) => view.signals.flash = None,
                None => {}
            }
        }
        next
    }

    /// Whether a pane has a selection, which may have no text.
    pub(crate) fn has_selection(&self, pane: PaneId) -> bool {
        self.views.get(&pane).and_then(|view| view.selection?.range).is_some()
    }

    /// Ends the drag. False if no divider was dragged.
    pub(crate) fn drop_divider(&mut self) -> bool {
        self.panes.drag.take().is_some()
    }
}
