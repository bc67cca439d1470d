//! Finds the link under the pointer.

use unterm_mux::PaneId;
use unterm_term::MouseTracking;

use crate::window::{
    cx::Cx,
    hovered_link::HoveredLink,
    overlays::{Overlays, targets},
    redraw::Redraw,
    workspace::blocks::mouse::keys_to_click,
};

impl Overlays {
    /// Updates the link at pixel `x`, `y` of a pane's grid. Returns whether a click opens it, and the frame that is due.
    pub(crate) fn hover(
        &mut self,
        pane: PaneId,
        x: f64,
        y: f64,
        cx: &mut Cx<'_>,
    ) -> (bool, Redraw) {
        let ctrl = cx.modifiers.control_key();
        let link = link_under(pane, x, y, ctrl, cx);
        let (is_link, is_new) = (link.is_some(), self.hovered != link);
        if is_new {
            if let Some(old) = self.hovered.as_ref().and_then(|old| cx.views.get_mut(&old.pane)) {
                old.hovered_link = None;
            }
            let cell = cx.cell();
            if let Some(view) = cx.views.get_mut(&pane).filter(|_| is_link) {
                view.hovered_link = view.link_at(x, y, cell);
            }
            self.hovered = link;
        }
        let opens = is_link && (ctrl || cx.prefs.opens_by_click());
        (opens, Redraw::if_changed(is_new))
    }

    /// Clears the hovered link. Returns the frame that is due.
    pub(crate) fn end_hover(&mut self, cx: &mut Cx<'_>) -> Redraw {
        let Some(old) = self.hovered.take() else { return Redraw::No };
        if let Some(view) = cx.views.get_mut(&old.pane) {
            view.hovered_link = None;
        }
        Redraw::Whole
    }
}

/// The link at a pixel. This is a hyperlink (OSC 8), or else a URL in the text that a click opens. If `ctrl` is set, it
/// may also be a file name.
pub(crate) fn link_under(
    pane: PaneId,
    x: f64,
    y: f64,
    ctrl: bool,
    cx: &Cx<'_>,
) -> Option<HoveredLink> {
    let cell = cx.cell();
    let view = cx.views.get(&pane)?;
    let inside = x >= 0.0 && x < f64::from(u32::from(view.snapshot.size.cols) * cell.0) && y >= 0.0;
    // If a program tracks the mouse, clicks go to the program, unless Shift is held.
    let is_ours = view.snapshot.mouse_tracking == MouseTracking::Off || cx.modifiers.shift_key();
    if !inside || !is_ours {
        return None;
    }
    if let Some(link) = view.link_at(x, y, cell) {
        return Some(HoveredLink { pane, uri: link.uri, range: None, is_file: false });
    }
    if !ctrl && !cx.prefs.opens_by_click() {
        return None;
    }
    let at = view.spot(x, y, cell)?.cell;
    let term = cx.mux.pane(pane)?;
    let target = targets::clicked(&view.snapshot.rows, &term.term(), at, ctrl)?;
    let is_file = target.kind == targets::TargetKind::Path;
    Some(HoveredLink { pane, uri: target.text, range: Some(target.range), is_file })
}

/// The link at a pixel, if a plain click opens it. A click on a URL in the shell's command line moves the cursor
/// instead.
pub(crate) fn clicked_link(pane: PaneId, x: f64, y: f64, cx: &Cx<'_>) -> Option<HoveredLink> {
    let link = link_under(pane, x, y, false, cx).filter(|_| cx.prefs.opens_by_click())?;
    let pane = cx.mux.pane(pane)?;
    let is_typed = link.range.is_some() && keys_to_click(&pane, x, y, cx).is_some();
    (!is_typed).then_some(link)
}
