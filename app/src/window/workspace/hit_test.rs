//! Finds the pane and the cell under the pointer.

use unterm_mux::{PaneId, Rect};

use crate::window::{cx::Cx, input::pointer::Target, ui::geometry::pane_under};

/// The pane under the pointer, and the pointer's position in it.
pub(crate) fn target(cx: &Cx<'_>) -> Option<Target> {
    let (x, y) = cx.pointer.position?;
    let (id, area) = pane_at(x, y, cx)?;
    target_at(id, area, cx)
}

/// The pane at a point of the window, and its area.
pub(crate) fn pane_at(x: f64, y: f64, cx: &Cx<'_>) -> Option<(PaneId, Rect)> {
    pane_under(&cx.placed(), x, y)
}

/// The pane, column and visible row of the cell under the pointer.
pub(crate) fn hovered_cell(cx: &Cx<'_>) -> Option<(PaneId, u16, usize)> {
    let target = target(cx)?;
    let (width, height) = cx.cell();
    let cells = |at: f64, cell: u32| (at >= 0.0).then_some((at / f64::from(cell)) as usize);
    let (col, row) = (cells(target.x, width)?, cells(target.y, height)?);
    let view = cx.views.get(&target.id)?;
    Some((target.id, view.column(row, u16::try_from(col).ok()?), row))
}

/// The pointer's position relative to a visible pane. The position may be outside the pane.
pub(crate) fn target_in(pane: PaneId, cx: &Cx<'_>) -> Option<Target> {
    let (id, area) = cx.placed().into_iter().find(|(id, _)| *id == pane)?;
    target_at(id, area, cx)
}

fn target_at(id: PaneId, area: Rect, cx: &Cx<'_>) -> Option<Target> {
    let (x, y) = cx.pointer.position?;
    let origin = cx.geometry?.origin(area);
    let shift = cx.views.get(&id).map_or(0, |view| view.shift);
    let y = y - f64::from(origin.1) + f64::from(shift);
    Some(Target { id, x: x - f64::from(origin.0), y })
}
