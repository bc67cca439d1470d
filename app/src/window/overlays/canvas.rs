//! The drawing target of overlays.

use unterm_mux::{Layout, PaneId, Rect};
use unterm_renderer::{PixelRect, Preedit, Renderer, Scene};
use unterm_term::TextRange;

use crate::window::{
    overlays::{search::SearchBar, text_target::TextTarget},
    ui::{colors::Colors, geometry::Geometry},
    workspace::view::Views,
};

/// Values that only the debug overlay shows.
pub(crate) struct Debugged {
    pub(crate) painter: String,
    /// The pane, column and visible row of the cell under the pointer.
    pub(crate) cell: Option<(PaneId, u16, usize)>,
}

/// The drawing target of the overlays, and the state that all overlays use for drawing.
pub(crate) struct Canvas<'a, 'scene> {
    pub(crate) geometry: &'a Geometry,
    pub(crate) colors: &'a Colors,
    /// The visible panes.
    pub(crate) placed: &'a [(PaneId, Rect)],
    pub(crate) views: &'a Views,
    pub(crate) layout: &'a Layout,
    /// The open search.
    pub(crate) search: Option<&'a SearchBar>,
    /// The values for the debug overlay, if it is open.
    pub(crate) debug: Option<&'a Debugged>,
    pub(crate) pointer: Option<(f64, f64)>,
    pub(crate) renderer: &'a mut Renderer,
    pub(crate) scene: &'a mut Scene<'scene>,
    /// The text that an input method is composing, and the receiver of this text.
    pub(crate) preedit: Option<(TextTarget, &'a Preedit)>,
    /// The rectangle of the text cursor in the topmost overlay that receives text.
    pub(crate) caret: Option<PixelRect>,
}

impl<'a> Canvas<'a, '_> {
    pub(crate) fn preedit_of(&self, text_target: TextTarget) -> Option<&'a Preedit> {
        self.preedit.filter(|(of, _)| *of == text_target).map(|(_, preedit)| preedit)
    }

    pub(crate) fn area(&self, pane: PaneId) -> Option<Rect> {
        self.placed.iter().find(|(id, _)| *id == pane).map(|(_, area)| *area)
    }

    /// The rectangles of a pane's cells that the user looks at: the current match, and the cursor of copy mode.
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
