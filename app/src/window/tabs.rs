//! What is done with tabs beside opening and closing them: the mouse in the tab bar, a tab's menu and its title.

use unterm_mux::{OnExit, Spawn, Tab, TabId};
use unterm_renderer::PixelRect;
use winit::event::MouseButton;

use super::{App, chrome::TabBar, chrome::TabBarPart, menu::Row};
use crate::action::Action;

impl App {
    /// A button went down in the tab bar.
    pub(super) fn tab_bar_pressed(&mut self, part: TabBarPart, button: MouseButton) {
        match (part, button) {
            (TabBarPart::Tab(tab) | TabBarPart::Close(tab), MouseButton::Middle)
            | (TabBarPart::Close(tab), MouseButton::Left) => self.report(self.mux.close_tab(tab)),
            (TabBarPart::Tab(tab), MouseButton::Left) => self.report(self.mux.activate_tab(tab)),
            (TabBarPart::Tab(tab) | TabBarPart::Close(tab), MouseButton::Right) => {
                self.open_tab_menu(tab, self.pointer.position);
            }
            (TabBarPart::New, MouseButton::Left) => self.open_tab(),
            _ => {}
        }
    }

    /// Opens a tab's menu at a point of the tab bar, or below the tab.
    pub(super) fn open_tab_menu(&mut self, tab: TabId, at: Option<(f64, f64)>) {
        let layout = self.mux.layout();
        let Some(index) = layout.tabs.iter().position(|one| one.id == tab) else { return };
        let Some(geometry) = self.screen.as_ref().map(|screen| screen.geometry) else { return };
        let bar = geometry.tab_bar();
        let x = match at {
            Some((x, _)) => x as i32,
            None => TabBar::new(geometry, &self.tabs, layout.active)
                .place_of(tab)
                .map_or(0, |place| place.x),
        };
        let anchor = PixelRect { x, width: 0, ..bar };
        let last = layout.tabs.len() - 1;
        let rows: Vec<Row> = vec![
            self.menu_item(Action::NewTab).into(),
            self.menu_item(Action::DuplicateTab).into(),
            Row::Line,
            self.menu_item(Action::Split(unterm_mux::Axis::Horizontal)).into(),
            self.menu_item(Action::Split(unterm_mux::Axis::Vertical)).into(),
            Row::Line,
            self.menu_item(Action::MoveTab(-1)).enabled(index > 0).into(),
            self.menu_item(Action::MoveTab(1)).enabled(index < last).into(),
            self.menu_item(Action::RenameTab).titled("Rename tab…").into(),
            Row::Line,
            self.menu_item(Action::CloseTab).into(),
        ];
        self.open_menu(anchor, rows, Some(tab));
    }

    /// Opens a tab with what a tab's focused pane was started with, in the directory that it is in.
    pub(super) fn duplicate_tab(&mut self, tab: &Tab) {
        let Some(pane) = self.mux.pane(tab.focused) else { return };
        let (program, args) = match pane.command() {
            Some((program, args)) => (Some(program.to_owned()), args.to_vec()),
            None => (None, Vec::new()),
        };
        let spawn = Spawn { program, args, ..self.spawn_beside() };
        self.report(self.mux.open_tab(spawn, None, OnExit::Close));
    }

    /// Asks for a tab's title, which is there to be changed.
    pub(super) fn ask_tab_title(&mut self, tab: &Tab) {
        let label = self.tabs.iter().find(|label| label.id == tab.id);
        let title = label.map_or_else(String::new, |label| label.title.clone());
        self.pick_argument(
            "set_tab_title",
            "Title of the tab; empty: as its program says",
            &title,
            tab.id,
        );
    }
}
