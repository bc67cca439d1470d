//! Starts and ends copy mode.

use unterm_mux::{Pane, PaneId};
use unterm_term::Point;

use crate::window::{
    app::App,
    workspace::{copy_mode::CopyMode, view::View},
};

impl App {
    /// Turns copy mode in the focused pane on or off. Copy mode starts at the current match if a search is open,
    /// otherwise with the current selection, otherwise at the program's cursor.
    pub(crate) fn toggle_copy_mode(&mut self) {
        let Some(pane) = self.focused_pane() else { return };
        let found = self.overlays.search.of(pane.id()).and_then(|search| search.range());
        let Some(view) = self.fresh_view(&pane) else { return };
        if view.copy.is_some() && found.is_none() {
            return self.leave_copy_mode(&pane);
        }
        let snapshot = &view.snapshot;
        let (Some(first), Some(last)) = (snapshot.rows.first(), snapshot.rows.last()) else {
            return;
        };
        let selected = view.selection.and_then(|selection| selection.range);
        let shown = snapshot.rows.get(usize::from(snapshot.cursor.row));
        let here = shown.map_or(Point { line: last.line, col: 0 }, |row| Point {
            line: row.line,
            col: snapshot.cursor.col.min(snapshot.size.cols - 1),
        });
        let top = first.line;
        let mode = match (found, selected) {
            (Some(range), _) => CopyMode::with(range, false),
            (None, Some(range)) => CopyMode::with(range, true),
            (None, None) => CopyMode::new(here),
        };
        view.begin_copy_mode(mode, top);
        if let Some(search) = self.overlays.search.bar_mut().filter(|_| found.is_some()) {
            search.accept();
        }
    }

    /// Leaves copy mode and shows the live screen.
    pub(crate) fn leave_copy_mode(&mut self, pane: &Pane) {
        if self.end_copy_mode(pane.id())
            && let Some(view) = self.workspace.views.get_mut(&pane.id())
        {
            view.scroll_to_live();
            view.selection = None;
        }
    }

    /// Leaves copy mode without scrolling. Returns false if copy mode was off.
    pub(crate) fn end_copy_mode(&mut self, pane: PaneId) -> bool {
        let view = self.workspace.views.get_mut(&pane);
        if !view.is_some_and(View::end_copy_mode) {
            return false;
        }
        self.overlays.search.close_of_copy_mode();
        true
    }
}
