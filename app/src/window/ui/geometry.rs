//! The layout of the window in physical pixels: the bars, the panes and the grids of cells in the panes.

use unicode_width::UnicodeWidthStr;
use unterm_mux::{Layout, PaneId, Rect, Spacing};
use unterm_renderer::{CellMetrics, PixelRect, Renderer};
use unterm_term::Size;

/// The font size of bars and overlays, in logical pixels.
const UI_FONT: f32 = 12.0;
/// Thickness of the dividers between panes, in physical pixels.
pub(crate) const DIVIDER: u32 = 1;

/// The measures of a window, from which its layout is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Geometry {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) scale: f32,
    pub(crate) cell: CellMetrics,
    /// The width of a column of text in bars and overlays, as measured by the renderer.
    pub(crate) ui_column: f32,
    /// The space around a pane's grid, in logical pixels.
    pub(crate) padding: f32,
    pub(crate) has_tab_bar: bool,
    /// Whether the tab bar is at the bottom, above the status bar.
    pub(crate) tab_bar_at_foot: bool,
    pub(crate) has_status_bar: bool,
}

impl Geometry {
    /// The font size of bars and overlays, in physical pixels.
    pub(crate) fn ui_font(&self) -> f32 {
        UI_FONT * self.scale
    }

    /// Measures the text of bars and overlays again after a change of scale.
    pub(crate) fn measure(&mut self, renderer: &mut Renderer) {
        self.ui_column = renderer.label_width("0", self.ui_font(), false).max(1.0);
    }

    /// The width of a text in bars or overlays, estimated from its number of columns.
    pub(crate) fn ui_width(&self, text: &str) -> u32 {
        (text.width() as f32 * self.ui_column).ceil() as u32
    }

    /// The number of columns of text that fit in `width`, but at least 8. For text in bars and overlays.
    pub(crate) fn ui_columns(&self, width: u32) -> usize {
        (width as f32 / self.ui_column).max(8.0) as usize
    }

    /// The width and height of a cell, in pixels, at least 1.
    pub(crate) fn cell_size(&self) -> (u32, u32) {
        (self.cell.width.max(1), self.cell.height.max(1))
    }

    /// Converts logical pixels to physical pixels.
    pub(crate) fn px(&self, logical: f32) -> u32 {
        (logical * self.scale).round() as u32
    }

    /// The height of a line of text in bars and overlays.
    pub(crate) fn ui_line(&self) -> u32 {
        (self.ui_font() * 1.3).ceil() as u32
    }

    /// The rectangle of the tab bar. A hidden bar has height 0.
    pub(crate) fn tab_bar(&self) -> PixelRect {
        let height = if self.has_tab_bar { self.ui_line() + self.px(12.0) } else { 0 };
        let y = match self.tab_bar_at_foot {
            true => self.status_bar().y - height as i32,
            false => 0,
        };
        PixelRect { x: 0, y, width: self.width, height }
    }

    /// The rectangle of the status bar, at the bottom of the window. A hidden bar has height 0.
    pub(crate) fn status_bar(&self) -> PixelRect {
        let height = if self.has_status_bar { self.ui_line() + self.px(12.0) } else { 0 };
        PixelRect { x: 0, y: self.height as i32 - height as i32, width: self.width, height }
    }

    /// The area for the panes of the active tab.
    pub(crate) fn content(&self) -> Rect {
        let bar = self.tab_bar().height;
        let bars = bar + self.status_bar().height;
        let y = if self.tab_bar_at_foot { 0 } else { bar };
        Rect { x: 0, y, width: self.width, height: self.height.saturating_sub(bars) }
    }

    fn padding(&self) -> u32 {
        self.px(self.padding)
    }

    /// The sizes that the layout of splits depends on: divider, cell and padding.
    pub(crate) fn spacing(&self) -> Spacing {
        let cell = (self.cell.width, self.cell.height);
        Spacing { divider: DIVIDER, cell, padding: self.padding() }
    }

    /// The visible panes and their areas. A pane covers earlier panes of the list.
    pub(crate) fn placed(&self, layout: &Layout) -> Vec<(PaneId, Rect)> {
        let tab = layout.active_tab();
        tab.map_or_else(Vec::new, |tab| tab.place(self.content(), &self.spacing()))
    }

    /// The size of the largest grid that fits in a pane's area, at least one cell.
    pub(crate) fn grid(&self, area: Rect) -> Size {
        self.spacing().grid(area)
    }

    /// The position of the first cell of a pane's grid. The area is given in the renderer's type.
    pub(crate) fn inside(&self, area: PixelRect) -> (i32, i32) {
        (area.x + self.padding() as i32, area.y + self.padding() as i32)
    }

    /// The position of the first cell of a pane's grid. The area is given in the mux's type.
    pub(crate) fn origin(&self, area: Rect) -> (i32, i32) {
        ((area.x + self.padding()) as i32, (area.y + self.padding()) as i32)
    }

    /// Places a box of the given size in the top right corner of a pane. If the box would cover one of the rectangles
    /// in `seen`, which the user needs to see, the box is placed in the bottom right corner.
    pub(crate) fn corner(
        &self,
        area: PixelRect,
        (width, height): (u32, u32),
        seen: &[PixelRect],
    ) -> PixelRect {
        let padding = self.px(8.0);
        let x = area.x + area.width.saturating_sub(width + padding) as i32;
        let top = PixelRect { x, y: area.y + padding as i32, width, height };
        let foot = area.y + area.height.saturating_sub(height + padding) as i32;
        match seen.iter().all(|one| one.intersection(&top).is_empty()) {
            true => top,
            false => PixelRect { y: foot, ..top },
        }
    }

    /// The window size at which a single pane has a grid of this many cells.
    pub(crate) fn window_for(&self, cols: u16, rows: u16) -> (u32, u32) {
        let width = u32::from(cols) * self.cell.width + 2 * self.padding();
        let height = u32::from(rows) * self.cell.height + 2 * self.padding();
        (width, height + self.tab_bar().height + self.status_bar().height)
    }
}

/// Converts a rectangle of the mux to the renderer's type.
pub(crate) fn pixels(rect: Rect) -> PixelRect {
    PixelRect { x: rect.x as i32, y: rect.y as i32, width: rect.width, height: rect.height }
}

pub(crate) fn contains(rect: PixelRect, x: f64, y: f64) -> bool {
    let (x, y) = (x.floor() as i32, y.floor() as i32);
    (rect.x..rect.x + rect.width as i32).contains(&x)
        && (rect.y..rect.y + rect.height as i32).contains(&y)
}

/// The topmost pane at a point of the window, and the pane's area.
pub(crate) fn pane_under(placed: &[(PaneId, Rect)], x: f64, y: f64) -> Option<(PaneId, Rect)> {
    placed.iter().rev().copied().find(|(_, area)| contains(pixels(*area), x, y))
}

#[cfg(test)]
impl Geometry {
    /// A window of size 0 for tests.
    pub(crate) const TEST: Self = Self {
        width: 0,
        height: 0,
        ui_column: 7.2,
        scale: 1.0,
        cell: CellMetrics {
            width: 9,
            height: 19,
            baseline: 15,
            underline: 16,
            strike: 10,
            thickness: 1,
        },
        padding: 8.0,
        has_tab_bar: true,
        tab_bar_at_foot: false,
        has_status_bar: false,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_made_for_a_grid_holds_exactly_that_grid() {
        for scale in [1.0, 1.25, 2.0] {
            let mut geometry = Geometry { scale, has_status_bar: true, ..Geometry::TEST };
            (geometry.width, geometry.height) = geometry.window_for(120, 30);
            let size = geometry.grid(geometry.content());
            assert_eq!((size.cols, size.rows), (120, 30), "at scale {scale}");
        }
    }

    #[test]
    fn a_corner_box_moves_off_rectangles_that_the_user_reads() {
        let area = PixelRect { x: 100, y: 50, width: 400, height: 300 };
        let at = |x, y| PixelRect { x, y, width: 9, height: 19 };
        let corner = |seen: &[PixelRect]| {
            let rect = Geometry::TEST.corner(area, (120, 30), seen);
            assert!(area.contains(&rect), "{rect:?}");
            (rect.x, rect.y)
        };
        assert_eq!(corner(&[]), (372, 58));
        assert_eq!(corner(&[at(108, 58), at(372, 88)]), (372, 58), "beside and below it");
        assert_eq!(corner(&[at(108, 200), at(364, 58)]), (372, 312), "one reaches under it");
    }

    #[test]
    fn a_window_too_small_for_anything_still_has_a_cell() {
        let geometry = Geometry { width: 3, height: 3, ..Geometry::TEST };
        let size = geometry.grid(geometry.content());
        assert_eq!((size.cols, size.rows), (1, 1));
    }
}
