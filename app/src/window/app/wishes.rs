//! Carries out the requests of the window's parts.

use crate::window::{app::App, wish::Wish};

impl App {
    /// Carries out the request of a part.
    pub(crate) fn grant(&mut self, wish: Wish) {
        match wish {
            Wish::Act(tab, action) => self.act_by_choice(tab, action),
            Wish::OpenLink(link) => self.open_hovered(&link),
            Wish::Command(pane, command, part) => {
                if let Some(pane) = self.mux.pane(pane) {
                    self.do_with(&pane, command, part);
                }
            }
        }
    }
}
