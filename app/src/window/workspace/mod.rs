//! The workspace: a [`View`] of each pane, the names of panes, and the user's actions on splits.
//!
//! Owns the window's own state of panes: snapshots, scroll positions, selections, folds, copy mode and titles. Never
//! draws bars, and never owns tabs or splits: the mux publishes tabs and splits as a `Layout`.

pub(crate) mod badge;
pub(crate) mod blocks;
pub(crate) mod closing;
pub(crate) mod copy;
pub(crate) mod copy_mode;
pub(crate) mod cursor;
pub(crate) mod dividers;
pub(crate) mod first_layout;
pub(crate) mod first_panes;
pub(crate) mod folds;
pub(crate) mod hit_test;
pub(crate) mod kept_programs;
pub(crate) mod last_window;
pub(crate) mod mouse_report;
pub(crate) mod pane_profile;
pub(crate) mod panes;
pub(crate) mod prompts;
pub(crate) mod scroll;
pub(crate) mod selecting;
pub(crate) mod selection;
pub(crate) mod signals;
pub(crate) mod surroundings;
pub(crate) mod surveying;
pub(crate) mod title;
pub(crate) mod view;
pub(crate) mod work;

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use unterm_mux::PaneId;

use crate::last_session::{LastSession, Unopened};
use crate::window::workspace::{
    dividers::Dividers, first_panes::FirstPanes, kept_programs::KeptPrograms, panes::Broadcast,
    surroundings::Surveys, view::Views,
};

/// Duration of the visual bell.
const FLASH: Duration = Duration::from_millis(120);

pub(crate) struct Workspace {
    pub(crate) views: Views,
    pub(crate) dividers: Dividers,
    /// The panes that receive the input of the focused pane.
    pub(crate) broadcast: Broadcast,
    /// The pane that last received a report that it has the focus.
    pub(crate) reported_focus: Option<PaneId>,
    pub(crate) names: Names,
    /// The title that was last sent to the operating system.
    pub(crate) title: String,
    /// The project that was last reported to the registry of instances.
    pub(crate) project: Option<String>,
    /// The state that the last window saved, or that this window saved since.
    pub(crate) last: Option<LastSession>,
    /// The tabs of earlier windows, until this window reopens them.
    pub(crate) reopens: Option<Unopened>,
    /// The time at which to save the open tabs for the next window. Set after a change.
    pub(crate) keep_at: Option<Instant>,
    /// The names of the profiles of panes. A closed pane's name is kept, because closing can be undone.
    pub(crate) profiles: HashMap<PaneId, String>,
    /// The time until which the last close can be undone.
    pub(crate) undo_until: Option<Instant>,
    /// The first panes of the window, until they are open.
    pub(crate) first: Option<FirstPanes>,
    pub(crate) kept: KeptPrograms,
    pub(crate) surveys: Surveys,
}

impl Default for Workspace {
    fn default() -> Self {
        Self {
            views: Views::default(),
            dividers: Dividers::default(),
            broadcast: Broadcast::default(),
            reported_focus: None,
            names: Names { stale: true, ..Names::default() },
            title: String::new(),
            project: None,
            last: None,
            reopens: None,
            keep_at: None,
            profiles: HashMap::new(),
            undo_until: None,
            first: None,
            kept: KeptPrograms::default(),
            surveys: Surveys::default(),
        }
    }
}

/// When to read the titles and programs of panes again. Reading them queries the operating system.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Whether output has arrived, or a command has started or ended, since titles were last read. If so, a program may
    /// have started or ended.
    pub(crate) stale: bool,
    /// Whether titles must be read once more, because a program may start shortly after its output.
    again: bool,
    pub(crate) read: Option<Instant>,
    /// The focused pane of the active tab when the tabs were last labeled.
    active: Option<PaneId>,
}

impl Names {
    /// Whether titles must be read again, because panes have printed.
    pub(crate) fn are_due(&self) -> bool {
        self.stale || self.again
    }
}

impl Workspace {
    /// Ends the visual bells whose time is over. Returns the time at which the next one ends.
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
}
