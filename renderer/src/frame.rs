//! What to draw: plain data that both painters take. Colours are final, glyphs are rasterised, text is shaped.

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
    /// Its colour.
    pub color: Rgb,
}

/// A glyph of a row in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlyphInstance {
    /// Which glyph.
    pub glyph: GlyphId,
    /// Left edge of what is drawn, in pixels from the grid's left edge.
    pub x: i32,
    /// Top edge of its picture, in pixels from the row's top; what lies outside the row is not drawn.
    pub y: i32,
    /// First column of its picture that is drawn: a ligature whose cells differ in colour is drawn in parts.
    pub left: u16,
    /// Number of columns that are drawn.
    pub width: u16,
    /// Colour of a glyph that is coverage only.
    pub color: Rgb,
    /// What it stands on: [`Blending::Linear`] corrects its coverage by this.
    pub background: Rgb,
    /// Opacity; 255 but for colour glyphs in faint text or a dimmed pane.
    pub alpha: u8,
}

/// One row of cells, drawn in this order: backgrounds, fills below, glyphs, fills above. Nothing reaches beyond the row's
/// height.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameRow {
    /// Differs between rows that look different; the same number is the same picture.
    pub version: u64,
    /// Backgrounds that cells have of their own and that differ from the pane's. Images under text lie over these.
    pub backgrounds: Vec<Fill>,
    /// Selection, what a search found, the cursor's block, straight underlines.
    pub under: Vec<Fill>,
    /// Text, and underlines that are not straight; colour glyphs come last.
    pub glyphs: Vec<GlyphInstance>,
    /// Strike-through, overline, and the cursor's outline, bar or line.
    pub over: Vec<Fill>,
}

/// Between which parts of a pane an image is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImageLayer {
    /// Over the pane's background, under all fills.
    Ground,
    /// Over cells' backgrounds; under selection, cursor and text.
    Under,
    /// Over everything else of the pane.
    Over,
}

/// An image in its place, already scaled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameImage {
    /// Where, in pixels of the surface; as large as `pixels`. What lies outside the pane is not drawn.
    pub rect: PixelRect,
    /// What is drawn, pixel by pixel; the same `Arc` while it stays the same picture.
    pub pixels: Arc<Pixels>,
    /// In which order.
    pub layer: ImageLayer,
    /// Opacity; 255 but in a dimmed pane.
    pub alpha: u8,
}

/// One pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramePane {
    /// Names the pane from frame to frame.
    pub id: u64,
    /// The whole pane; nothing of it is drawn outside.
    pub area: PixelRect,
    /// Where the first cell begins.
    pub origin: (i32, i32),
    /// Where rows are seen: the pane, or the grid while the first row is seen in part.
    pub seen: PixelRect,
    /// The cells: no image is seen outside.
    pub grid: PixelRect,
    /// Height of a row in pixels.
    pub row_height: u32,
    /// Colour where nothing else is.
    pub background: Rgb,
    /// Opacity of that colour.
    pub opacity: u8,
    /// Its rows, top to bottom.
    pub rows: Vec<Arc<FrameRow>>,
    /// Its images; within a layer in the order they are drawn in.
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
    /// Nothing of it is drawn outside.
    pub clip: PixelRect,
    /// Left edge of the shaped text in pixels.
    pub left: f32,
    /// Top edge of the shaped text in pixels.
    pub top: f32,
    /// Its colour.
    pub color: Rgb,
    /// The shaped text; the same `Arc` while text and size stay.
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

/// One picture as plain data. A painter finds out what changed since the last one it painted by
/// [`crate::Damage::between`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Width in physical pixels.
    pub width: u32,
    /// Height in physical pixels.
    pub height: u32,
    /// Colour where nothing else is.
    pub background: Rgb,
    /// How colours are blended.
    pub blending: Blending,
    /// Generation of the [`crate::GlyphCache`] its glyphs are from.
    pub glyphs: u64,
    /// The panes.
    pub panes: Vec<FramePane>,
    /// What lies around and over the panes; the same `Arc` where only panes are new.
    pub chrome: Arc<FrameChrome>,
}

/// What lies around and over the panes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameChrome {
    /// Rectangles, in order.
    pub quads: Vec<Quad>,
    /// Text, in order; that of a layer lies over its rectangles.
    pub labels: Vec<FrameLabel>,
    /// Where layers above the first begin: how many quads and how many labels lie below.
    pub raised: Vec<(usize, usize)>,
}

impl FrameChrome {
    /// Its layers, lowest first: which quads and which labels are in each.
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
