//! Opens the menus.

use unterm_mux::TabId;
use unterm_renderer::PixelRect;

use crate::window::{
    app::App,
    chrome::menus,
    input::pointer::Target,
    overlays::{context_menu, hovering::link_under},
};

impl App {
    /// Opens the menu of a pane at the pointer.
    pub(crate) fn open_context_menu(&mut self, target: &Target) {
        let Some((x, y)) = self.input.pointer.position else { return };
        // The press may arrive before a frame has shown new output, so the view may be outdated.
        let Some(pane) = self.mux.pane(target.id) else { return };
        self.fresh_view(&pane);
        let anchor = PixelRect { x: x as i32, y: y as i32, width: 0, height: 0 };
        self.with_parts(|parts, cx| {
            let link = link_under(target.id, target.x, target.y, true, cx);
            let rows = context_menu::rows(target, link, cx);
            parts.overlays.open_menu((anchor, rows), None, &mut parts.surface.renderer, cx);
        });
    }

    /// Opens the main menu below its button.
    pub(crate) fn open_main_menu(&mut self) {
        let can_reopen = self.workspace.reopens.is_some();
        self.with_parts(|parts, cx| {
            let Some(opening) = menus::main(&parts.chrome.tabs, can_reopen, cx) else { return };
            parts.overlays.open_menu(opening, None, &mut parts.surface.renderer, cx);
        });
    }

    /// Opens the menu of a tab, at a point of the tab bar or below the tab.
    pub(crate) fn open_tab_menu(&mut self, tab: TabId, at: Option<(f64, f64)>) {
        self.with_parts(|parts, cx| {
            let broadcast = *parts.broadcast;
            let opening = menus::of_tab(&parts.chrome.tabs, tab, at, broadcast, cx);
            let Some(opening) = opening else { return };
            parts.overlays.open_menu(opening, Some(tab), &mut parts.surface.renderer, cx);
        });
    }
}
