//! The drop-down window, and the session that a window saves for the next window.

use std::time::{Duration, Instant};

use unterm_control::workspace::LAST;
use winit::{event_loop::ActiveEventLoop, window::WindowAttributes};

use crate::window::{
    app::App, effect::Effect, surface::drop_down::place_on, ui::wrap::first_of,
    workspace::first_layout::first_layout,
};
use crate::{last_session::LastSession, layout_file::LayoutFile};

/// The delay between a change of the layout and saving the layout.
const KEEP: Duration = Duration::from_secs(2);
/// The topic of messages about the last window.
const ABOUT_LAST: &str = "last window";
/// The maximum number of errors of a layout that a message lists.
const FAULTS: usize = 3;

impl App {
    /// The number of tabs that the window opens at its start.
    pub(crate) fn first_tabs(&self) -> usize {
        let last = self.workspace.last.as_ref();
        match first_layout(&self.prefs.args, &self.prefs.settings, last) {
            Some(Ok(layout)) => layout.tab_count().max(1),
            _ => 1,
        }
    }

    /// The attributes and the size of the last window, if `window.restore` is on. Otherwise, `attributes` unchanged.
    pub(crate) fn as_last(
        &self,
        attributes: WindowAttributes,
        event_loop: &ActiveEventLoop,
    ) -> (WindowAttributes, Option<(u32, u32)>) {
        let replaces_one = self.prefs.args.succeed.is_some();
        let restores = self.prefs.config.window.restore || replaces_one;
        let Some(last) = self.workspace.last.as_ref().filter(|_| restores) else {
            return (attributes, None);
        };
        let screens =
            event_loop.available_monitors().map(|screen| (screen.position(), screen.size()));
        let attributes = match place_on(last, screens) {
            // If another window of Unterm is open, let the desktop choose the position.
            Some(place) if replaces_one || !self.has_sibling() => attributes.with_position(place),
            _ => attributes,
        };
        (attributes.with_maximized(last.maximized), Some((last.width, last.height)))
    }

    /// Whether another instance is registered.
    fn has_sibling(&self) -> bool {
        std::fs::read_dir(self.prefs.settings.home().join("instances"))
            .is_ok_and(|entries| entries.count() > 1)
    }

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
            let unopened = self.unopened();
            LastSession { layout, process, unopened, ..last }.write(self.prefs.settings.home());
        }
    }

    /// The session to save for the next window. `None` for a drop-down window.
    pub(crate) fn session(&self) -> Option<LastSession> {
        let form = self.form().filter(|_| !self.prefs.args.quake)?;
        // Save directories, but not programs, because the programs of this session will not be restarted.
        let layout = LayoutFile::of(&self.mux, false);
        let (process, unopened) = (Some(std::process::id()), self.unopened());
        Some(LastSession { layout, is_light: self.is_light(), process, unopened, ..form })
    }

    /// The tabs of earlier windows that must survive an unclean end of this window.
    fn unopened(&self) -> LayoutFile {
        let unopened = self.workspace.reopens.as_ref().filter(|unopened| unopened.ended_unclean);
        unopened.map(|unopened| unopened.layout.clone()).unwrap_or_default()
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

    /// The size and position of the window. For a fullscreen window, those of the last session, or else the configured
    /// size.
    fn form(&self) -> Option<LastSession> {
        let screen = self.surface.screen.as_ref()?;
        let geometry = self.surface.geometry?;
        if screen.window.fullscreen().is_some() {
            let wanted = &self.prefs.config.window;
            let (width, height) = geometry.window_for(wanted.columns, wanted.rows);
            let first = || LastSession { width, height, ..LastSession::default() };
            return Some(self.workspace.last.clone().unwrap_or_else(first));
        }
        let place = screen.window.outer_position().ok().map(|place| (place.x, place.y));
        let maximized = screen.window.is_maximized();
        let (width, height) = (geometry.width, geometry.height);
        Some(LastSession { width, height, place, maximized, ..LastSession::default() })
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
        let Some(last) = &self.workspace.last else { return };
        let args = &self.prefs.args;
        let named = args.layout.as_deref().unwrap_or(&self.prefs.config.startup.layout);
        let is_open = named == LAST && args.execute.is_empty() && args.cwd.is_none();
        if self.prefs.args.quake {
            return;
        }
        let live = unterm_control::client::live(self.prefs.settings.home());
        let running: Vec<u32> = live.iter().map(|instance| instance.pid).collect();
        let Some(unopened) = last.unopened(is_open, &running) else { return };
        if unopened.ended_unclean {
            let tabs = match unopened.layout.tab_count() {
                1 => "tab".to_owned(),
                tabs => format!("{tabs} tabs"),
            };
            let press = self.prefs.press("reopen_last_window", "reopens them");
            let (windows, whose) = match unopened.are_several {
                true => ("The last windows", "their"),
                false => ("The last window", "its"),
            };
            self.keep_saying(
                ABOUT_LAST,
                format!(
                    "{windows} ended without closing.\nThe action “Reopen last window” brings back {whose} {tabs}.{press}"
                ),
            );
        }
        self.workspace.reopens = Some(unopened);
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
