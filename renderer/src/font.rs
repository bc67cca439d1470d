//! Finding fonts, measuring the cell, and turning text into glyphs.

/// Which fonts to use, and how large.
#[derive(Clone, Debug, PartialEq)]
pub struct FontOptions {
    /// Families for cells, first choice first; the bundled font and the system's fallbacks follow by themselves.
    pub families: Vec<String>,
    /// Size of the cells' font in points (1/72 inch at scale 1 with 96 dots an inch).
    pub size: f32,
    /// Physical pixels a logical pixel (HiDPI).
    pub scale: f32,
}

impl Default for FontOptions {
    fn default() -> Self {
        Self { families: Vec::new(), size: 12.0, scale: 1.0 }
    }
}

/// Measures of one cell, in whole physical pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellMetrics {
    /// Width.
    pub width: u32,
    /// Height.
    pub height: u32,
    /// From the cell's top to the baseline.
    pub baseline: u32,
    /// From the cell's top to the top of an underline.
    pub underline: u32,
    /// From the cell's top to the top of a strike-through.
    pub strike: u32,
    /// Thickness of lines.
    pub thickness: u32,
}
