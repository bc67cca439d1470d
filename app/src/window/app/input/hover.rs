//! Finds the link under the pointer, and opens it.

use unterm_mux::PaneId;
use unterm_term::MouseTracking;

use crate::links;
use crate::window::{
    app::App,
    errand::ErrandResult,
    hovered_link::HoveredLink,
    overlays::{hover::shown_lines, targets},
    redraw::Redraw,
    system::editing::edit_file,
};

impl App {
    /// Updates the link at pixel `x`, `y` of a pane's grid. Returns whether a click opens it, and the frame that is due.
    pub(crate) fn hover(&mut self, pane: PaneId, x: f64, y: f64) -> (bool, Redraw) {
        let ctrl = self.input.modifiers.control_key();
        let link = self.link_under(pane, x, y, ctrl);
        let (is_link, is_new) = (link.is_some(), self.overlays.hovered != link);
        if is_new {
            if let Some(old) = self
                .overlays
                .hovered
                .as_ref()
                .and_then(|old| self.workspace.views.get_mut(&old.pane))
            {
                old.hovered_link = None;
            }
            let cell = self.surface.cell();
            if let Some(view) = self.workspace.views.get_mut(&pane).filter(|_| is_link) {
                view.hovered_link = view.link_at(x, y, cell);
            }
            self.overlays.hovered = link;
        }
        let opens = is_link && (ctrl || self.prefs.opens_by_click());
        (opens, Redraw::if_changed(is_new))
    }

    /// Clears the hovered link. Returns the frame that is due.
    pub(crate) fn end_hover(&mut self) -> Redraw {
        let Some(old) = self.overlays.hovered.take() else { return Redraw::No };
        if let Some(view) = self.workspace.views.get_mut(&old.pane) {
            view.hovered_link = None;
        }
        Redraw::Whole
    }

    /// The link at a pixel. This is a hyperlink (OSC 8), or else a URL in the text that a click opens. If `ctrl` is
    /// set, it may also be a file name.
    pub(crate) fn link_under(
        &self,
        pane: PaneId,
        x: f64,
        y: f64,
        ctrl: bool,
    ) -> Option<HoveredLink> {
        let cell = self.surface.cell();
        let view = self.workspace.views.get(&pane)?;
        let inside =
            x >= 0.0 && x < f64::from(u32::from(view.snapshot.size.cols) * cell.0) && y >= 0.0;
        // If a program tracks the mouse, clicks go to the program, unless Shift is held.
        let is_ours =
            view.snapshot.mouse_tracking == MouseTracking::Off || self.input.modifiers.shift_key();
        if !inside || !is_ours {
            return None;
        }
        if let Some(link) = view.link_at(x, y, cell) {
            return Some(HoveredLink { pane, uri: link.uri, range: None, is_file: false });
        }
        if !ctrl && !self.prefs.opens_by_click() {
            return None;
        }
        let at = view.spot(x, y, cell)?.cell;
        let term = self.mux.pane(pane)?;
        let target = targets::clicked(&view.snapshot.rows, &term.term(), at, ctrl)?;
        let is_file = target.kind == targets::TargetKind::Path;
        Some(HoveredLink { pane, uri: target.text, range: Some(target.range), is_file })
    }

    /// Opens the link at a pixel, as a Ctrl+click does. Returns false if there is no link.
    pub(crate) fn open_link(&mut self, pane: PaneId, x: f64, y: f64) -> bool {
        let Some(link) = self.link_under(pane, x, y, true) else { return false };
        self.open_hovered(&link);
        true
    }

    /// The link at a pixel, if a plain click opens it. A click on a URL in the shell's command line moves the cursor
    /// instead.
    pub(crate) fn clicked_link(&self, pane: PaneId, x: f64, y: f64) -> Option<HoveredLink> {
        let link = self.link_under(pane, x, y, false).filter(|_| self.prefs.opens_by_click())?;
        let pane = self.mux.pane(pane)?;
        let is_typed = link.range.is_some() && self.keys_to_click(&pane, x, y).is_some();
        (!is_typed).then_some(link)
    }

    /// Opens a link. If the link names a file, opens the file in the editor.
    pub(crate) fn open_hovered(&mut self, link: &HoveredLink) {
        match link.is_file {
            true => {
                self.with_parts(|_, cx| edit_file(link.pane, &link.uri, cx));
            }
            false => self.open_target(&link.uri),
        }
    }

    /// Opens a link with the desktop's default program, or shows why the link may not be opened.
    pub(crate) fn open_target(&mut self, uri: &str) {
        let (uri, schemes) = (uri.to_owned(), self.prefs.config.links.schemes.clone());
        self.errand("link", move || match links::open(&uri, &schemes) {
            Ok(()) => ErrandResult::Nothing,
            Err(why) => ErrandResult::Failed("link", shown_lines(&why)),
        });
    }
}
