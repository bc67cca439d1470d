//! What overlays draw on.

use unterm_mux::{PaneId, Rect};
use unterm_renderer::{PixelRect, Preedit, Renderer, Scene};
use unterm_term::TextRange;

use crate::window::{
    overlays::taker::Taker,
    ui::{colors::Colors, geometry::Geometry},
    workspace::view::Views,
};

/// The drawing target of the overlays, and the state they share.
pub(crate) struct Canvas<'a, 'scene> {
    pub(crate) geometry: &'a Geometry,
    pub(crate) colors: &'a Colors,
    /// The visible panes.
    pub(crate) placed: &'a [(PaneId, Rect)],
    pub(crate) views: &'a Views,
    pub(crate) pointer: Option<(f64, f64)>,
    pub(crate) renderer: &'a mut Renderer,
    pub(crate) scene: &'a mut Scene<'scene>,
    /// The composed text, and its receiver.
    pub(crate) preedit: Option<(Taker, &'a Preedit)>,
    /// The text cursor of the highest overlay that takes text.
    pub(crate) caret: Option<PixelRect>,
}

impl<'a> Canvas<'a, '_> {
    pub(crate) fn preedit_of(&self, taker: Taker) -> Option<&'a Preedit> {
        self.preedit.filter(|(of, _)| *of == taker).map(|(_, preedit)| preedit)
    }

    pub(crate) fn area(&self, pane: PaneId) -> Option<Rect> {
        self.placed.iter().find(|(id, _)| *id == pane).map(|(_, area)| *area)
    }

    /// The cells that the user looks at in a pane: the current match and copy mode's cursor.
    pub(crate) fn seen(
        &self,
        pane: PaneId,
        area: Rect,
        found: Option<TextRange>,
    ) -> Vec<PixelRect> {
        let Some(view) = self.views.get(&pane) else { return Vec::new() };
        let copy = view.copy.as_ref().map(|copy| copy.cursor);
        let cursor = copy.map(|at| TextRange { start: at, end: at, block: false });
        let origin = self.geometry.origin(area);
        let ranges = found.iter().chain(&cursor);
        ranges.flat_map(|range| view.cells_of(range, origin, self.geometry)).collect()
    }
}
