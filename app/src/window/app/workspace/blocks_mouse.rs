//! The mouse on commands: shows and presses the commands' buttons, and handles clicks at the prompt.

use unterm_mux::{Pane, PaneId};
use unterm_term::LineId;

use crate::window::{
    app::App,
    redraw::Redraw,
    ui::geometry::{contains, pixels},
    workspace::{blocks::layout::BlockLayout, selection::Selection},
};

impl App {
    /// Shows or hides the buttons of a command, after the pointer moved to a point of the window. Returns the frame that
    /// is due.
    pub(crate) fn hover_blocks(&mut self, x: f64, y: f64) -> Redraw {
        let before = self.overlays.block_hover;
        self.overlays.block_hover = None;
        let geometry = self.surface.geometry;
        if let Some(geometry) = geometry.filter(|_| self.prefs.config.commands.marks) {
            for (pane, area) in self.surface.placed(&self.mux.layout()) {
                let Some(view) = self.workspace.views.get(&pane) else { continue };
                let area = pixels(area);
                self.overlays.block_hover = self.overlays.block_hover.or_else(|| {
                    view.blocks_in_rows().find_map(|(row, block)| {
                        let place = BlockLayout::new(view, (row, block), area, &geometry);
                        let known = before == Some((pane, block.id));
                        let over = contains(place.edge(&geometry), x, y)
                            || known && (contains(place.row, x, y) || contains(place.bar, x, y));
                        over.then_some((pane, block.id))
                    })
                });
            }
        }
        Redraw::if_changed(before.is_some() || self.overlays.block_hover.is_some())
    }

    /// Handles a left press at a point of the window. Returns true if the press hit the mark, the buttons or the
    /// header of a command.
    pub(crate) fn press_block(&mut self, x: f64, y: f64) -> bool {
        let Some(geometry) = self.surface.geometry else {
            return false;
        };
        let (searched, matches) = self.highlights();
        for (id, area) in self.surface.placed(&self.mux.layout()) {
            let area = pixels(area);
            let Some(view) = self.workspace.views.get_mut(&id) else { continue };
            let matches = if searched == Some(id) { &matches[..] } else { &[] };
            if self.prefs.config.commands.sticky_header
                && let Some((header, rect)) = view.kept_header(area, &geometry, matches)
                && contains(rect, x, y)
            {
                let line = header.line;
                view.show_at_top(line);
                return true;
            }
            let marks = view.folded_marks(area, &geometry);
            if let Some(at) = marks.iter().position(|(rect, _)| contains(*rect, x, y)) {
                let (rect, _) = marks[at];
                let row = (rect.y - geometry.inside(area).1 + view.shift as i32)
                    / geometry.cell.height.max(1) as i32;
                let above = view.snapshot.rows.get(row as usize).map(|row| row.line.0);
                let line = LineId(above.unwrap_or_default() + 1);
                view.change_folds(|folds| folds.reveal(line));
                return true;
            }
            let Some((pane, block)) = self.overlays.block_hover.filter(|(pane, _)| *pane == id)
            else {
                continue;
            };
            let row = view.blocks_in_rows().find(|(_, one)| one.id == block);
            let Some(place) = row.map(|row| BlockLayout::new(view, row, area, &geometry)) else {
                continue;
            };
            if let Some((part, _)) = place.parts.iter().find(|(_, rect)| contains(*rect, x, y)) {
                if let Some(pane) = self.mux.pane(pane) {
                    self.do_with(&pane, block, *part);
                }
                return true;
            }
            if contains(place.edge(&geometry), x, y) {
                view.blocks.current = Some(block);
                self.select_output_of(id, block);
                return true;
            }
        }
        false
    }

    fn select_output_of(&mut self, pane: PaneId, block: u64) {
        let Some(own) = self.mux.pane(pane) else { return };
        let (range, seq) = {
            let term = own.term();
            (term.output_range(block), term.seq())
        };
        if let (Some(range), Some(view)) = (range, self.workspace.views.get_mut(&pane)) {
            view.selection = Some(Selection::of(range, seq));
        }
    }

    /// Handles a click that selected no text. At a prompt, the click moves the shell's cursor. Returns the frame that is
    /// due.
    pub(crate) fn click_at_prompt(&mut self, pane: &Pane, x: f64, y: f64) -> Redraw {
        let bytes = self.keys_to_click(pane, x, y);
        bytes.map_or(Redraw::No, |bytes| self.type_bytes(pane, &bytes))
    }

    /// The keys that move the shell's cursor to a point of the pane. `None` if a click there does not move the cursor.
    pub(crate) fn keys_to_click(&self, pane: &Pane, x: f64, y: f64) -> Option<Vec<u8>> {
        let view = self.workspace.views.get(&pane.id())?;
        if !self.prefs.config.commands.click_to_move || x < 0.0 || y < 0.0 || view.is_scrolled() {
            return None;
        }
        let spot = view.spot(x, y, self.surface.cell())?;
        pane.term().prompt_click(spot.cell)
    }
}
