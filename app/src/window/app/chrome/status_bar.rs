//! Carries out clicks on the status bar.

use std::{ops::Bound, path::Path};

use winit::event::MouseButton;

use crate::window::{
    app::App, input::buffer::Buffer, system::errand::ErrandResult, ui::geometry::contains,
    workspace::view::View,
};
use crate::{
    action::Action,
    config::{StatusItem, theme},
    proxy,
};

impl App {
    /// Handles a change of the proxy: applies it to programs that start from now on. This takes time, so it runs on a
    /// thread.
    pub(crate) fn proxy_changed(&mut self, enabled: bool) {
        self.prefs.has_proxy = enabled;
        let (mux, home) = (self.mux.clone(), self.prefs.settings.home().to_owned());
        let apply = move || unterm_control::apply_proxy(&mux, &home);
        if let Err(error) = std::thread::Builder::new().name("proxy".to_owned()).spawn(apply) {
            tracing::warn!(%error, "can't apply the proxy to programs");
        }
    }

    /// The item under the pointer. The outer `None` means that the pointer is not on the bar.
    pub(crate) fn status_item(&self) -> Option<Option<StatusItem>> {
        let (x, y) = self.input.pointer.position?;
        let bar = self.surface.geometry?.status_bar();
        contains(bar, x, y).then(|| self.chrome.status_bar.at(x, y))
    }

    pub(crate) fn status_pressed(&mut self, item: Option<StatusItem>, button: MouseButton) {
        let view = self.focused_pane().and_then(|pane| self.workspace.views.get(&pane.id()));
        let action = match (item, button) {
            (Some(StatusItem::Program), MouseButton::Left) => Action::ChooseShell,
            (Some(StatusItem::Theme), MouseButton::Left) => Action::ChooseTheme,
            (Some(StatusItem::CaptureExclude), MouseButton::Left) => Action::CaptureRegionExclude,
            (Some(StatusItem::CaptureInclude), MouseButton::Left) => Action::CaptureRegionInclude,
            (Some(StatusItem::Recording), MouseButton::Left) => Action::ToggleRecording,
            (Some(StatusItem::Proxy), MouseButton::Left) => Action::ToggleProxy,
            (Some(StatusItem::Agents), MouseButton::Left) => match self.are_agents_paused() {
                true => Action::PauseAgents,
                false => Action::AnswerAgent,
            },
            (Some(StatusItem::Pane), MouseButton::Left) => {
                let Some(pane) = self.focused_pane() else { return };
                self.store(Buffer::Clipboard, pane.id().0.to_string());
                return self.notify("copied", "Copied the pane's number.".to_owned());
            }
            (Some(StatusItem::Directory), MouseButton::Left) => {
                let path = view.and_then(View::cwd).map(Path::to_owned);
                return self.copy_path(path.as_deref());
            }
            (Some(StatusItem::Project), MouseButton::Left) => {
                let path = view.and_then(View::project_root).map(Path::to_owned);
                return self.copy_path(path.as_deref());
            }
            _ => return,
        };
        self.act_by_choice(None, action);
    }

    fn copy_path(&mut self, path: Option<&Path>) {
        let Some(path) = path.map(|path| path.display().to_string()) else { return };
        self.notify("copied", format!("Copied {path}"));
        self.store(Buffer::Clipboard, path);
    }

    /// Turns the proxy on or off in its file. The watcher of the file then updates the bar.
    pub(crate) fn toggle_proxy(&mut self) {
        let home = self.prefs.settings.home().to_owned();
        self.errand("proxy", move || match proxy::toggle(&home) {
            Ok(true) => ErrandResult::Said(
                "proxy",
                "Proxy on, for programs started from now on.".to_owned(),
            ),
            Ok(false) => ErrandResult::Said(
                "proxy",
                "Proxy off, for programs started from now on.".to_owned(),
            ),
            Err(error) => ErrandResult::Failed("proxy", format!("{error:#}")),
        });
    }

    /// Switches to the next theme.
    pub(crate) fn next_theme(&mut self) {
        let home = self.prefs.settings.home();
        let names = theme::names(home);
        let current = theme::listed(self.prefs.config.theme.pick(self.is_light()), home);
        // The next theme in the order of names. After the last theme follows the first.
        let next =
            names.range::<str, _>((Bound::Excluded(current.as_str()), Bound::Unbounded)).next();
        if let Some(next) = next.or_else(|| names.first()) {
            self.set_theme(next);
        }
    }
}
