//! Selects text with the mouse.

use unterm_mux::{PaneId, input::Modifiers};

use crate::window::{
    app::App,
    input::pointer::{DOUBLE_CLICK, Target},
    overlays::copy_mode,
    workspace::selection::{Selection, Unit},
};

impl App {
    pub(crate) fn begin_selection(&mut self, target: &Target, modifiers: Modifiers) {
        let cell = self.surface.cell();
        let Some(pane) = self.mux.pane(target.id) else { return };
        // The mouse replaces the selection of copy mode. The scroll position does not change.
        copy_mode::end(target.id, &mut self.workspace.views, &mut self.overlays.search);
        let Some(view) = self.workspace.views.get_mut(&target.id) else { return };
        let Some(spot) = view.spot(target.x, target.y, cell) else { return };
        let (now, separators) = (self.now, &self.prefs.config.mouse.word_separators);
        if modifiers.contains(Modifiers::SHIFT)
            && let Some(selection) = &mut view.selection
        {
            selection.extend(spot, &pane.term(), separators);
        } else {
            let clicks = match self.input.pointer.click {
                Some((time, id, point, count))
                    if id == target.id && point == spot.cell && now - time < DOUBLE_CLICK =>
                {
                    count % 3 + 1
                }
                _ => 1,
            };
            self.input.pointer.deferred = None;
            self.input.pointer.click = Some((now, target.id, spot.cell, clicks));
            let unit = match clicks {
                2 => Unit::Word,
                3 => Unit::Line,
                _ if modifiers.contains(Modifiers::ALT) => Unit::Block,
                _ => Unit::Cell,
            };
            view.selection = Some(Selection::begin(unit, spot, &pane.term(), separators));
        }
        self.input.pointer.selecting = Some(target.id);
        for (id, view) in &mut self.workspace.views {
            if *id != target.id {
                view.selection = None;
            }
        }
    }

    pub(crate) fn extend_selection(&mut self, pane: PaneId) {
        let cell = self.surface.cell();
        let Some(target) = self.target_in(pane) else { return };
        let Some(pane) = self.mux.pane(pane) else { return };
        let Some(view) = self.workspace.views.get_mut(&target.id) else { return };
        let Some(spot) = view.spot(target.x, target.y, cell) else { return };
        if let Some(selection) = &mut view.selection {
            selection.extend(spot, &pane.term(), &self.prefs.config.mouse.word_separators);
        }
    }

    /// Scrolls while the user drags a selection beyond the upper or lower edge of its pane.
    pub(crate) fn drag_scroll(&mut self) {
        let Some(pane) = self.input.pointer.selecting else { return };
        let Some(target) = self.target_in(pane) else { return };
        let (_, height) = self.surface.cell();
        let Some(view) = self.workspace.views.get_mut(&pane) else { return };
        let bottom = f64::from(u32::from(view.snapshot.size.rows) * height);
        let beyond = if target.y < 0.0 { target.y } else { (target.y - bottom).max(0.0) };
        if beyond != 0.0 {
            let lines = (beyond / f64::from(height)).clamp(-10.0, 10.0);
            view.scroll(if lines < 0.0 { lines.floor() as i64 } else { lines.ceil() as i64 });
            if let Some(pane) = self.mux.pane(pane) {
                self.fresh_view(&pane);
            }
            self.extend_selection(pane);
        }
    }
}
