//! A glyph as a picture, and the small number that identifies it in frames.

/// Identifies a glyph of a [`crate::GlyphCache`] within one [`crate::GlyphCache::generation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GlyphId(pub u32);

/// A rasterized glyph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glyph {
    /// Distance from the left edge of the first cell to the picture, in pixels.
    pub left: i32,
    /// Distance from the top of the cell to the picture, in pixels.
    pub top: i32,
    /// Width of the picture in pixels.
    pub width: u32,
    /// Height of the picture in pixels.
    pub height: u32,
    /// Whether `data` has four bytes per pixel (red, green, blue, alpha; not premultiplied) instead of one byte of
    /// coverage.
    pub color: bool,
    /// The pixels, row by row.
    pub data: Box<[u8]>,
}

impl Glyph {
    /// A glyph without pixels.
    pub(crate) fn blank() -> Self {
        Self { left: 0, top: 0, width: 0, height: 0, color: false, data: Box::default() }
    }

    /// The width of the picture in pixels, in the type that rows use.
    pub(crate) fn columns(&self) -> u16 {
        u16::try_from(self.width).unwrap_or(u16::MAX)
    }
}
