//! The drop-down window, and the session that a window saves for the next window.

use std::time::{Duration, Instant};

use crate::window::{app::App, effect::Effect, ui::wrap::first_of};
use crate::{last_session::LastSession, layout_file::LayoutFile};

/// The delay between a change of the layout and saving the layout.
const KEEP: Duration = Duration::from_secs(2);
/// The topic of messages about the last window.
const ABOUT_LAST: &str = "last window";
/// The maximum number of errors of a layout that a message lists.
const FAULTS: usize = 3;

impl App {
    /// Saves size, position, layout and the desktop's appearance for the next window. Called when this window closes.
    pub(crate) fn keep_session(&self) {
        if let Some(session) = self.session() {
            let unopened = LayoutFile::default();
            let session = LastSession { process: None, unopened, ..session };
            session.write(self.prefs.settings.home());
        }
    }

    /// Saves only the layout for the next window. Called when the desktop has ended, so that it no longer reports size
    /// and position.
    pub(crate) fn keep_layout(&self) {
        if let Some(last) = self.workspace.last.clone().filter(|_| !self.prefs.args.quake) {
            let (layout, process) = (LayoutFile::of(&self.mux, false), Some(std::process::id()));
            let unopened = self.workspace.unopened();
            LastSession { layout, process, unopened, ..last }.write(self.prefs.settings.home());
        }
    }

    /// The session to save for the next window. `None` for a drop-down window.
    pub(crate) fn session(&self) -> Option<LastSession> {
        let last = self.workspace.last.as_ref();
        let form = self.surface.form(last, &self.prefs).filter(|_| !self.prefs.args.quake)?;
        // Save directories, but not programs, because the programs of this session will not be restarted.
        let layout = LayoutFile::of(&self.mux, false);
        let (process, unopened) = (Some(std::process::id()), self.workspace.unopened());
        Some(LastSession { layout, is_light: self.is_light(), process, unopened, ..form })
    }

    /// Schedules saving of changed tabs, splits or directories. A window may end without closing, for example when its
    /// desktop ends, so it must not save only when it closes.
    pub(crate) fn keep_soon(&mut self) {
        if self.workspace.keep_at.is_none() {
            let time = self.now + KEEP;
            self.workspace.keep_at = Some(time);
            self.surface.wake_at(time);
        }
    }

    /// Saves the session if a save is due. Otherwise, returns the time at which it is due.
    pub(crate) fn keep_in_time(&mut self, now: Instant) -> Option<Instant> {
        // A change of a title also schedules a save. Do not write the file if the session is unchanged.
        if self.workspace.keep_at.take_if(|time| *time <= now).is_some()
            && let Some(session) = self.session()
            && self.workspace.last.as_ref() != Some(&session)
        {
            self.workspace.last = Some(session.clone());
            self.effect(Effect::KeepSession(Box::new(session)));
        }
        self.workspace.keep_at
    }

    /// Opens the tabs, splits and directories of the last window in this window. The programs of the last window have
    /// ended, so shells start instead. Returns false if there are none to open, or if they were already opened.
    pub(crate) fn reopen_last(&mut self) -> bool {
        let Some(unopened) = self.workspace.reopens.take() else { return false };
        self.overlays.toasts.settle(ABOUT_LAST);
        let faults = unopened.layout.open(&self.mux);
        if !faults.is_empty() {
            let shown = first_of(&faults, FAULTS).join("\n");
            self.complain(
                "layout",
                format!("The last window can't be opened exactly as it was.\n{shown}"),
            );
        }
        // From now on, the saved session contains these tabs as tabs of this window.
        self.keep_soon();
        true
    }

    /// Keeps the layout of the last window, so that the user can reopen it. Shows a message if that window ended
    /// without closing.
    pub(crate) fn offer_last(&mut self) {
        if let Some(offer) = self.workspace.offer_last(&self.prefs) {
            self.keep_saying(ABOUT_LAST, offer);
        }
    }

    /// Shows or hides the drop-down window. Returns false if this window is not a drop-down window.
    pub(crate) fn toggle_quake(&mut self) -> bool {
        let is_there = self.prefs.args.quake && self.surface.screen.is_some();
        if is_there {
            self.effect(Effect::ToggleDropDown { has_focus: self.input.focused });
            self.surface.redraw_whole();
        }
        is_there
    }

    /// The opacity of the panes' backgrounds.
    pub(crate) fn opacity(&self) -> f32 {
        if self.surface.is_transparent { self.prefs.config.window.opacity } else { 1.0 }
    }
}
