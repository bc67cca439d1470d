//! What to draw, as plain data for both painters. Colors are final, glyphs are rasterized, text is shaped.

use std::{ops::Range, sync::Arc};

use cosmic_text::Buffer;
use unterm_term::{Pixels, Rgb};

use crate::{Blending, GlyphId, PixelRect, Quad};

/// A filled rectangle of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Left edge, in pixels from the grid's left edge.
    pub x: i32,
    /// Top edge, in pixels from the row's top.
    pub y: i32,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// The rectangle's color.
    pub color: Rgb,
}

/// A glyph at its position in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlyphInstance {
    /// The glyph.
    pub glyph: GlyphId,
    /// Left edge of the drawn part, in pixels from the grid's left edge.
    pub x: i32,
    /// Top edge of the glyph's picture, in pixels from the row's top. Parts outside the row are not drawn.
    pub y: i32,
    /// First drawn column of the glyph's picture. A ligature whose cells differ in color is drawn in parts.
    pub left: u16,
    /// Number of drawn columns.
    pub width: u16,
    /// Color of a glyph that has coverage only.
    pub color: Rgb,
    /// The color behind the glyph. [`Blending::Linear`] corrects the coverage for it.
    pub background: Rgb,
    /// Opacity; 255 except for color glyphs in faint text or a dimmed pane.
    pub alpha: u8,
}

/// One row of cells, drawn in this order: backgrounds, fills below, glyphs, fills above. Everything stays within the
/// row's height.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameRow {
    /// Two rows with the same version look the same.
    pub version: u64,
    /// Backgrounds of cells that differ from the pane's. Images under text lie over them.
    pub backgrounds: Vec<Fill>,
    /// Selection, search matches, the cursor's block, and straight underlines.
    pub under: Vec<Fill>,
    /// Text, and underlines that are not straight. Color glyphs come last.
    pub glyphs: Vec<GlyphInstance>,
    /// Strike-through, overline, and the cursor's outline, bar or line.
    pub over: Vec<Fill>,
}

/// The layer of a pane in which an image is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImageLayer {
    /// Under the rows' fills and text, over the pane's background.
    Ground,
    /// Over the cells' backgrounds, under selection, cursor and text.
    Under,
    /// Over everything else in the pane.
    Over,
}

/// An image at its position, already scaled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameImage {
    /// The rectangle in pixels of the surface, as large as `pixels`. Parts outside the pane are not drawn.
    pub rect: PixelRect,
    /// The scaled pixels. Successive frames share this `Arc` while the picture does not change.
    pub pixels: Arc<Pixels>,
    /// The layer.
    pub layer: ImageLayer,
    /// Opacity; 255 except in a dimmed pane.
    pub alpha: u8,
}

/// One pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramePane {
    /// Identifies the pane from frame to frame.
    pub id: u64,
    /// The whole pane. Nothing is drawn outside.
    pub area: PixelRect,
    /// The top left corner of the first cell.
    pub origin: (i32, i32),
    /// The area in which rows are visible: the pane, or the grid while the first row is partly scrolled out of view.
    pub seen: PixelRect,
    /// The area of the cells. Images are not visible outside it.
    pub grid: PixelRect,
    /// Height of a row in pixels.
    pub row_height: u32,
    /// Background color.
    pub background: Rgb,
    /// Opacity of the background color.
    pub opacity: u8,
    /// The pane's rows, top to bottom.
    pub rows: Vec<Arc<FrameRow>>,
    /// The pane's images; within a layer, in drawing order.
    pub images: Vec<FrameImage>,
}

impl FramePane {
    /// The rectangle of a row, from edge to edge of the pane.
    pub fn row_rect(&self, row: usize) -> PixelRect {
        let y = self.origin.1 + row as i32 * self.row_height as i32;
        let rect = PixelRect { x: self.area.x, y, width: self.area.width, height: self.row_height };
        rect.intersection(&self.seen)
    }

    /// The rectangle of some columns of a row, given in pixels from the grid's left edge.
    pub(crate) fn part_of_row(&self, row: usize, columns: Range<i32>) -> PixelRect {
        let whole = self.row_rect(row);
        let x = self.origin.0.saturating_add(columns.start);
        let width = columns.end.saturating_sub(columns.start).max(0);
        PixelRect { x, width: width.unsigned_abs(), ..whole }.intersection(&whole)
    }
}

/// A line of chrome text, shaped and placed.
#[derive(Clone, Debug)]
pub struct FrameLabel {
    /// The area to which the text is clipped.
    pub clip: PixelRect,
    /// Left edge of the shaped text in pixels.
    pub left: f32,
    /// Top edge of the shaped text in pixels.
    pub top: f32,
    /// The text's color.
    pub color: Rgb,
    /// The shaped text. Successive frames share this `Arc` while text and size do not change.
    pub buffer: Arc<Buffer>,
}

impl PartialEq for FrameLabel {
    fn eq(&self, other: &Self) -> bool {
        self.clip == other.clip
            && self.left == other.left
            && self.top == other.top
            && self.color == other.color
            && Arc::ptr_eq(&self.buffer, &other.buffer)
    }
}

/// One picture as plain data. A painter compares it with the last one it painted by calling [`crate::Damage::between`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Width in physical pixels.
    pub width: u32,
    /// Height in physical pixels.
    pub height: u32,
    /// Background color.
    pub background: Rgb,
    /// How colors are blended.
    pub blending: Blending,
    /// The generation of the [`crate::GlyphCache`] that the glyph ids belong to.
    pub glyphs: u64,
    /// The panes.
    pub panes: Vec<FramePane>,
    /// The tab bar, dividers, menus and other parts of the window around and over the panes. If only
    /// panes changed, this is the last frame's `Arc`.
    pub chrome: Arc<FrameChrome>,
}

/// The tab bar, dividers, menus and other parts of the window around and over the panes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameChrome {
    /// Rectangles, in drawing order.
    pub quads: Vec<Quad>,
    /// Text, in drawing order. Within a layer, text lies over the rectangles.
    pub labels: Vec<FrameLabel>,
    /// Where each layer above the first begins: how many quads and how many labels lie below.
    pub raised: Vec<(usize, usize)>,
}

impl FrameChrome {
    /// The layers, lowest first, each with its quads and its labels.
    pub fn layers(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
        let (quads, labels) = (self.quads.len(), self.labels.len());
        let ends = self.raised.iter().copied().chain([(quads, labels)]);
        let mut start = (0, 0);
        ends.map(move |end| {
            let end = (end.0.clamp(start.0, quads), end.1.clamp(start.1, labels));
            let layer = (start.0..end.0, start.1..end.1);
            start = end;
            layer
        })
    }
}
