//! Runs the actions of the window.

use unterm_control::Server;
use unterm_mux::{Axis, OnExit, Pane, PaneId, Spawn, Tab, TabId};

use crate::window::{
    app::{
        App,
        run::{Target, run},
    },
    effect::Effect,
    errand::ErrandResult,
    workspace::{panes::spawn_beside, view::View},
};
use crate::{action::Action, args::FONT_SIZES, links};

impl App {
    /// Runs an action on the active tab. Returns false if the action had no effect.
    pub(crate) fn act(&mut self, action: Action) -> bool {
        self.act_in(None, action)
    }

    /// Runs an action. If the action applies to tabs, it applies to `tab`, or to the active tab if that is `None`.
    pub(crate) fn act_in(&mut self, tab: Option<TabId>, action: Action) -> bool {
        let layout = self.mux.layout();
        let index = match tab {
            None => Some(layout.active),
            Some(id) => layout.tabs.iter().position(|tab| tab.id == id),
        };
        let Some((index, tab)) = index.and_then(|at| Some((at, layout.tabs.get(at)?))) else {
            return false;
        };
        run(self, &Target { layout: &layout, index, tab }, action)
    }

    /// Activates the target tab before a new tab or pane opens in or next to it, because the new pane receives the
    /// focus.
    pub(crate) fn bring_forward(&mut self, at: &Target<'_>) {
        if at.index != at.layout.active {
            self.report(self.mux.activate_tab(at.tab.id));
        }
    }

    /// Moves a tab by a number of places. Returns false if the tab is already at that end.
    pub(crate) fn move_tab(&mut self, at: &Target<'_>, by: isize) -> bool {
        let last = at.layout.tabs.len().saturating_sub(1);
        let place = at.index.saturating_add_signed(by).min(last);
        self.report(self.mux.move_tab(at.tab.id, place));
        place != at.index
    }

    /// Types text into the focused pane and into every pane that receives its input. Returns false if there is no
    /// pane.
    pub(crate) fn type_text(&mut self, text: &str) -> bool {
        let Some(pane) = self.focused_pane() else { return false };
        for pane in
            self.workspace.broadcast.listeners(pane.id(), &self.mux).into_iter().chain([pane])
        {
            self.type_bytes(&pane, text.as_bytes());
        }
        true
    }

    /// Opens a tab: with the settings of a profile, or else with a shell in the directory of the focused pane. If the
    /// focused pane belongs to tmux, the tab without a profile is a window of the same tmux server.
    pub(crate) fn open_tab(&mut self, profile: Option<&str>) {
        let Some(name) = profile else {
            let spawn = spawn_beside(&self.mux);
            let beside = self.focused_pane().filter(|pane| pane.is_in_tmux());
            return match beside {
                Some(pane) => self.report(self.mux.open_window_in_tmux(pane.id(), &spawn)),
                None => self.report(self.mux.open_tab(spawn, None, OnExit::Close)),
            };
        };
        let spawn = match self.prefs.config.find_profile(name) {
            Ok(profile) => profile.spawn(spawn_beside(&self.mux)),
            Err(why) => return self.complain("profile", why),
        };
        match self.mux.open_tab(spawn, None, OnExit::Close) {
            Ok(pane) => self.workspace.give_profile(&pane, name, &self.prefs, &self.mux),
            Err(error) => {
                self.complain("profile", format!("Can't open the profile {name:?}.\n{error}"));
            }
        }
    }

    /// Opens a new tab that runs the command of a tab's focused pane, in that pane's current directory.
    pub(crate) fn duplicate_tab(&mut self, tab: &Tab) {
        let Some(pane) = self.mux.pane(tab.focused) else { return };
        let (program, args) = match pane.command() {
            Some((program, args)) => (Some(program.to_owned()), args.to_vec()),
            None => (None, Vec::new()),
        };
        let spawn = Spawn { program, args, ..spawn_beside(&self.mux) };
        self.report(self.mux.open_tab(spawn, None, OnExit::Close));
    }

    /// Splits a pane, and opens a shell to the right of it or below it. If the pane is too small, shows a message.
    pub(crate) fn split(&mut self, pane: PaneId, axis: Axis) {
        let beside = spawn_beside(&self.mux);
        // The new pane uses the profile of the old pane, in the same directory.
        let name = self.workspace.profiles.get(&pane).cloned();
        let profile = name.as_deref().and_then(|name| self.prefs.config.find_profile(name).ok());
        let spawn = match profile {
            Some(profile) => Spawn { cwd: beside.cwd.clone(), ..profile.spawn(beside) },
            None => beside,
        };
        match self.mux.split(pane, axis, spawn, OnExit::Close) {
            Ok(pane) => name
                .iter()
                .for_each(|name| self.workspace.give_profile(&pane, name, &self.prefs, &self.mux)),
            error => self.report(error),
        }
    }

    pub(crate) fn with_focused(&self, act: impl FnOnce(&Pane)) {
        if let Some(pane) = self.focused_pane() {
            act(&pane);
        }
    }

    /// Sets the font size, limited to the allowed sizes. Returns false if the size does not change.
    pub(crate) fn set_font_size(&mut self, size: f32) -> bool {
        let size = size.clamp(*FONT_SIZES.start(), *FONT_SIZES.end());
        let changes = size != self.prefs.fonts.size;
        if changes {
            self.prefs.fonts.size = size;
            self.apply_fonts();
        }
        changes
    }

    /// Opens the settings page in the desktop's browser.
    pub(crate) fn open_settings(&mut self) {
        let Some(links) = self.server.as_ref().map(Server::settings_links) else {
            return self.complain("settings", "The control server is not running.".to_owned());
        };
        self.errand("settings", move || {
            match links.redirect().and_then(|file| links::open_settings(&file)) {
                Ok(()) => ErrandResult::Nothing,
                Err(error) => ErrandResult::Failed("settings", error),
            }
        });
    }

    /// Starts another instance, which keeps running after this one ends.
    pub(crate) fn new_window(&mut self) {
        let cwd =
            spawn_beside(&self.mux).cwd.or_else(std::env::home_dir).unwrap_or_else(|| "/".into());
        self.effect(Effect::NewWindow(cwd));
    }

    pub(crate) fn toggle_fullscreen(&mut self) {
        let Some(screen) = &self.surface.screen else { return };
        if screen.window.fullscreen().is_none() {
            // Save the window's size and position from before fullscreen.
            self.workspace.last = self.session().or(self.workspace.last.take());
        }
        self.effect(Effect::ToggleFullscreen);
    }

    /// Scrolls the focused pane. `scroll` receives the number of lines of a page. Returns false on the alternate
    /// screen, which has no history.
    pub(crate) fn scroll_view(&mut self, scroll: impl FnOnce(&mut View, i64)) -> bool {
        let Some(pane) = self.focused_pane() else { return false };
        let Some(view) = self.fresh_view(&pane) else { return false };
        if view.is_alternate() {
            return false;
        }
        let page = i64::from(view.snapshot.size.rows).max(2) - 1;
        scroll(view, page);
        true
    }
}
