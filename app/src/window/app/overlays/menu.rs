//! Opens menus.

use unterm_mux::TabId;
use unterm_renderer::PixelRect;

use crate::action::Action;
use crate::window::{
    app::App,
    overlays::menu::{Item, Menu, Row},
    surface::Surface,
};

impl App {
    /// Opens a menu next to the rectangle `anchor`, which may be a point of size 0. Its actions apply to the tab
    /// `target`, or to the active tab if that is `None`.
    pub(crate) fn open_menu(&mut self, anchor: PixelRect, rows: Vec<Row>, target: Option<TabId>) {
        let Surface { geometry: Some(geometry), renderer, .. } = &mut *self.surface else { return };
        let pointer = self.input.pointer.position;
        let menu = Menu::new(rows, anchor, target, pointer, geometry, renderer);
        self.overlays.menu = Some(menu);
    }

    pub(crate) fn menu_item(&self, action: Action) -> Item {
        Item::new(action, &self.prefs.keymap)
    }
}
