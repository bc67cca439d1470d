//! Pastes the paths of dropped files into the pane under the drop.

use std::sync::Arc;

use crate::window::{
    app::App,
    errand::ErrandResult,
    input::dropped::{Dropped, receive},
    redraw::Redraw,
    surface::x_server,
    workspace::hit_test::pane_at,
};

impl App {
    /// Starts to receive drops on X11.
    pub(crate) fn receive_drops(&self) {
        let window = self.surface.screen.as_ref().and_then(|screen| x_server::id(&screen.window));
        if let Some(window) = window {
            receive::start(window, &self.inbox);
        }
    }

    /// Treats the files that winit reported since the last call as one drop, and queries its position. Returns the frame
    /// that is due.
    pub(crate) fn take_drop(&mut self) -> Redraw {
        if self.input.dropped.is_empty() {
            return Redraw::No;
        }
        let paths = std::mem::take(&mut self.input.dropped);
        let names = paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let window = self.surface.screen.as_ref().map(|screen| Arc::clone(&screen.window));
        match window.and_then(|window| x_server::id(&window)) {
            Some(id) => self.errand("drop", move || {
                ErrandResult::Dropped(Dropped { names, at: x_server::pointer(id) })
            }),
            None => self.paste_dropped(&Dropped { names, at: self.input.pointer.position }),
        }
        Redraw::Whole
    }

    /// Pastes paths into the pane at the position of the drop, and focuses that pane. Characters that are special in
    /// the shell are quoted, and a blank follows each path. If there is no pane at that position, the focused pane
    /// receives the paths.
    pub(crate) fn paste_dropped(&mut self, dropped: &Dropped) {
        let Some(focused) = self.focused_pane().map(|pane| pane.id()) else { return };
        let under = dropped.at.and_then(|(x, y)| self.with_parts(|_, cx| pane_at(x, y, cx)));
        let pane = under.map_or(focused, |(pane, _)| pane);
        if pane != focused {
            self.report(self.mux.focus(pane));
        }
        // Quote for the shell in the foreground, because it reads the words, even if another shell started it.
        let shell = self.mux.pane(pane).and_then(|pane| pane.foreground());
        let shell = shell.map_or_else(String::new, |program| program.name);
        let shell = shell.rsplit('/').next().unwrap_or_default().trim_start_matches('-');
        self.paste_text(pane, &dropped.words(shell));
    }
}
