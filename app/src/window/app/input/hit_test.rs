//! Finds the pane and the cell under the pointer.

use unterm_mux::{PaneId, Rect};

use crate::window::{app::App, input::pointer::Target, surface::pane_under};

impl App {
    /// The pane under the pointer, and the pointer's position in it.
    pub(crate) fn target(&self) -> Option<Target> {
        let (x, y) = self.input.pointer.position?;
        let (id, area) = self.pane_at(x, y)?;
        self.target_at(id, area)
    }

    /// The pane at a point of the window, and its area.
    pub(crate) fn pane_at(&self, x: f64, y: f64) -> Option<(PaneId, Rect)> {
        let placed = self.surface.placed(&self.mux.layout());
        pane_under(&placed, x, y)
    }

    /// The pane, column and visible row of the cell under the pointer.
    pub(crate) fn hovered_cell(&self) -> Option<(PaneId, u16, usize)> {
        let target = self.target()?;
        let (width, height) = self.surface.cell();
        let cells = |at: f64, cell: u32| (at >= 0.0).then_some((at / f64::from(cell)) as usize);
        let (col, row) = (cells(target.x, width)?, cells(target.y, height)?);
        let view = self.workspace.views.get(&target.id)?;
        Some((target.id, view.column(row, u16::try_from(col).ok()?), row))
    }

    /// The pointer's position relative to a visible pane. The position may be outside the pane.
    pub(crate) fn target_in(&self, pane: PaneId) -> Option<Target> {
        let layout = self.mux.layout();
        let (id, area) = self.surface.placed(&layout).into_iter().find(|(id, _)| *id == pane)?;
        self.target_at(id, area)
    }

    fn target_at(&self, id: PaneId, area: Rect) -> Option<Target> {
        let (x, y) = self.input.pointer.position?;
        let origin = self.surface.geometry?.origin(area);
        let shift = self.workspace.views.get(&id).map_or(0, |view| view.shift);
        let y = y - f64::from(origin.1) + f64::from(shift);
        Some(Target { id, x: x - f64::from(origin.0), y })
    }
}
