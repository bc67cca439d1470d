//! The cursor of the focused pane in the window.

use unterm_mux::{Layout, PaneId, Rect};
use unterm_renderer::PixelRect;

use crate::window::{ui::geometry::Geometry, workspace::view::Views};

/// The position of the focused pane's cursor in the window.
pub(crate) fn cursor_place(
    layout: &Layout,
    placed: &[(PaneId, Rect)],
    views: &Views,
    geometry: &Geometry,
) -> Option<PixelRect> {
    let focused = layout.active_tab().map(|tab| tab.focused);
    let (id, area) = placed.iter().find(|(id, _)| Some(*id) == focused)?;
    let view = views.get(id)?;
    let (cursor, cell) = (view.snapshot.cursor, geometry.cell);
    let origin = geometry.origin(*area);
    let column = view.column_width(usize::from(cursor.row), (cell.width, cell.height));
    let col = view.shown_column(usize::from(cursor.row), cursor.col);
    Some(PixelRect {
        x: origin.0 + (f64::from(col) * column) as i32,
        y: origin.1 + (u32::from(cursor.row) * cell.height) as i32 - view.shift as i32,
        width: cell.width,
        height: cell.height,
    })
}
