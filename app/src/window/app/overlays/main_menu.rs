//! The rows of the main menu, which opens from the right end of the tab bar. `menu.rs` implements menus in general.

use unterm_renderer::PixelRect;

use crate::action::Action;
use crate::window::{app::App, overlays::menu::Row};

impl App {
    /// Opens the main menu below its button. If there is no tab bar, opens it in the window's top right corner.
    pub(crate) fn open_main_menu(&mut self) {
        let Some(geometry) = self.surface.geometry else {
            return;
        };
        let corner = PixelRect { x: geometry.width as i32, ..PixelRect::default() };
        let has_bar = geometry.tab_bar().height > 0;
        let button = self.tab_bar().filter(|_| has_bar).map(|bar| bar.menu_button());
        let focused = self.focused_pane();
        let has_selection = focused.is_some_and(|pane| self.workspace.has_selection(pane.id()));
        let recording = if self.is_recording() { "Stop recording" } else { "Start recording" };
        let rows: Vec<Row> = vec![
            self.menu_item(Action::NewTab(None)).into(),
            self.menu_item(Action::NewWindow).into(),
            self.menu_item(Action::SplitRight).into(),
            self.menu_item(Action::SplitDown).into(),
            self.menu_item(Action::UndoClose).enabled(self.can_undo_close()).into(),
            self.menu_item(Action::ReopenLastWindow)
                .enabled(self.workspace.reopens.is_some())
                .into(),
            self.menu_item(Action::OpenLayout(None)).titled("Open layout…").into(),
            Row::Line,
            self.menu_item(Action::Copy).enabled(has_selection).into(),
            self.menu_item(Action::Paste).into(),
            self.menu_item(Action::Search).titled("Find…").into(),
            Row::Line,
            self.menu_item(Action::ChangeDirectory).titled("Change working directory…").into(),
            self.menu_item(Action::OpenFolder).titled("Open folder in new tab…").into(),
            self.menu_item(Action::ToggleRecording).titled(recording).into(),
            self.menu_item(Action::ExportSession).into(),
            Row::Line,
            self.menu_item(Action::Inbox).enabled(self.server.is_some()).into(),
            self.menu_item(Action::CommandPalette).into(),
            self.menu_item(Action::Settings).into(),
            self.menu_item(Action::OpenConfig).into(),
            self.menu_item(Action::About).into(),
            Row::Line,
            self.menu_item(Action::CloseWindow).titled("Quit").into(),
        ];
        self.open_menu(button.unwrap_or(corner), rows, None);
    }
}
