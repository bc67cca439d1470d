//! The layout of the window in physical pixels: the bars, the panes and the grids of cells in the panes.

use unicode_width::UnicodeWidthStr;
use unterm_mux::{Layout, PaneId, Rect, Spacing};
use unterm_renderer::{CellMetrics, PixelRect, Renderer};
use unterm_term::Size;

/// The font size of bars and overlays, in logical pixels.
const UI_FONT: f32 = 12.0;
/// The width of the folded sidebar, and the space beside the text of the unfolded sidebar, in logical pixels.
const FOLDED: f32 = 44.0;
const SIDEBAR_SPACE: f32 = 24.0;
/// The columns of cells that the unfolded sidebar leaves to the panes. In a narrower window, the sidebar is folded.
const LEAST_BESIDE: u32 = 20;
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
    pub(crate) tabs_at: TabsAt,
    pub(crate) has_status_bar: bool,
}

/// The place of the tabs, if they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TabsAt {
    /// In a bar at the top of the window.
    Top,
    /// In a bar at the bottom, above the status bar.
    Foot,
    /// In a sidebar that has room for this many characters.
    Left { columns: u16, is_folded: bool },
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
        let is_bar = self.has_tab_bar && !matches!(self.tabs_at, TabsAt::Left { .. });
        let height = if is_bar { self.bar_height() } else { 0 };
        let y = match self.tabs_at {
            TabsAt::Foot => self.status_bar().y - height as i32,
            TabsAt::Top | TabsAt::Left { .. } => 0,
        };
        PixelRect { x: 0, y, width: self.width, height }
    }

    /// The height of a bar with one line of text.
    pub(crate) fn bar_height(&self) -> u32 {
        self.ui_line() + self.px(12.0)
    }

    /// The rectangle of the sidebar. A hidden sidebar has width 0.
    pub(crate) fn sidebar(&self) -> PixelRect {
        let panes = |sidebar| self.width.saturating_sub(sidebar);
        let width = self.sidebar_width(|sidebar| panes(sidebar) >= self.least_beside());
        let height = self.height.saturating_sub(self.status_bar().height);
        PixelRect { x: 0, y: 0, width, height }
    }

    /// Whether a point is in the tab bar or in the sidebar.
    pub(crate) fn has_tabs_at(&self, x: f64, y: f64) -> bool {
        contains(self.tab_bar(), x, y) || contains(self.sidebar(), x, y)
    }

    /// Whether the sidebar shows only icons.
    pub(crate) fn is_sidebar_folded(&self) -> bool {
        self.sidebar().width == self.px(FOLDED)
    }

    /// The number of characters for which a sidebar of this width has room.
    pub(crate) fn sidebar_columns(&self, width: u32) -> u16 {
        (width.saturating_sub(self.px(SIDEBAR_SPACE)) as f32 / self.ui_column).round() as u16
    }

    /// The width of the sidebar, 0 if it is hidden. `leaves_room` returns whether a sidebar of a width leaves enough room
    /// for the panes.
    fn sidebar_width(&self, leaves_room: impl Fn(u32) -> bool) -> u32 {
        let TabsAt::Left { columns, is_folded } = self.tabs_at else { return 0 };
        if !self.has_tab_bar {
            return 0;
        }
        let text = f32::from(columns) * self.ui_column;
        let width = text.ceil() as u32 + self.px(SIDEBAR_SPACE);
        if is_folded || !leaves_room(width) { self.px(FOLDED) } else { width }
    }

    /// The width that the unfolded sidebar leaves to the panes.
    fn least_beside(&self) -> u32 {
        LEAST_BESIDE * self.cell_size().0 + 2 * self.padding()
    }

    /// The rectangle of the status bar, at the bottom of the window. A hidden bar has height 0.
    pub(crate) fn status_bar(&self) -> PixelRect {
        let height = if self.has_status_bar { self.bar_height() } else { 0 };
        PixelRect { x: 0, y: self.height as i32 - height as i32, width: self.width, height }
    }

    /// The area for the panes of the active tab.
    pub(crate) fn content(&self) -> Rect {
        let bar = self.tab_bar().height;
        let bars = bar + self.status_bar().height;
        let y = if self.tabs_at == TabsAt::Foot { 0 } else { bar };
        let x = self.sidebar().width.min(self.width);
        Rect { x, y, width: self.width - x, height: self.height.saturating_sub(bars) }
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
        let sidebar = self.sidebar_width(|_| width >= self.least_beside());
        (width + sidebar, height + self.tab_bar().height + self.status_bar().height)
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
        tabs_at: TabsAt::Top,
        has_status_bar: false,
    };
}

/// The configured size of the sidebar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SidebarSize {
    /// The width in characters.
    pub(crate) columns: u16,
    pub(crate) is_folded: bool,
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
    fn a_sidebar_leaves_the_wanted_grid_to_the_panes() {
        for (columns, is_folded) in [(12, false), (30, false), (100, false), (30, true)] {
            for (scale, cols) in [(1.0, 10), (1.25, 19), (1.5, 20), (2.0, 120)] {
                let tabs_at = TabsAt::Left { columns, is_folded };
                let mut geometry = Geometry { scale, tabs_at, ..Geometry::TEST };
                (geometry.width, geometry.height) = geometry.window_for(cols, 30);
                let (content, sidebar) = (geometry.content(), geometry.sidebar());
                let size = geometry.grid(content);
                assert_eq!((size.cols, size.rows), (cols, 30), "{columns} at scale {scale}");
                assert_eq!((content.x, content.y), (sidebar.width, 0));
                let folds = is_folded || cols < 20;
                assert_eq!(geometry.is_sidebar_folded(), folds, "{columns} beside {cols}");
            }
        }
        let hidden = Geometry {
            has_tab_bar: false,
            tabs_at: TabsAt::Left { columns: 30, is_folded: false },
            width: 500,
            ..Geometry::TEST
        };
        assert_eq!((hidden.sidebar().width, hidden.content().x), (0, 0));
    }

    #[test]
    fn a_sidebar_has_room_for_the_characters_it_was_dragged_to() {
        for columns in [12, 30, 77] {
            let tabs_at = TabsAt::Left { columns, is_folded: false };
            let geometry = Geometry { width: 2000, height: 900, tabs_at, ..Geometry::TEST };
            assert_eq!(geometry.sidebar_columns(geometry.sidebar().width), columns);
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
