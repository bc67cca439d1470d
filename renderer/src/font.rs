//! Which fonts are wanted, and the measures of a cell that follow from them. Finding faces is `fonts.rs`.

use cosmic_text::Font;

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

impl FontOptions {
    /// The font's size in physical pixels an em, between 4 and 400 whatever was asked for.
    pub fn pixels(&self) -> f32 {
        let size = if self.size.is_finite() { self.size } else { 12.0 };
        let scale = if self.scale.is_finite() && self.scale > 0.0 { self.scale } else { 1.0 };
        (size * scale * 96.0 / 72.0).clamp(4.0, 400.0)
    }
}

/// Measures of one cell, in whole physical pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

impl CellMetrics {
    /// The cell of a monospace `font` at `pixels` an em: its advance and line height, each rounded to whole pixels,
    /// with the leading shared between above and below.
    pub(crate) fn of(font: &Font, pixels: f32) -> Self {
        let face = font.as_swash();
        let metrics = face.metrics(&[]).scale(pixels);
        let advance = ['0', 'M', ' ']
            .into_iter()
            .map(|c| face.charmap().map(c))
            .filter(|glyph| *glyph != 0)
            .map(|glyph| face.glyph_metrics(&[]).scale(pixels).advance_width(glyph))
            .find(|advance| *advance > 0.0)
            .unwrap_or(pixels * 0.6);
        let (ascent, descent) = (metrics.ascent.max(1.0), metrics.descent.abs());
        let natural = ascent + descent + metrics.leading.max(0.0);
        let width = (advance.round() as u32).max(1);
        let height = (natural.round() as u32).max(2);
        let baseline =
            ((ascent + metrics.leading.max(0.0) / 2.0).round() as u32).clamp(1, height - 1);
        let stroke = if metrics.stroke_size > 0.0 { metrics.stroke_size } else { pixels / 16.0 };
        let thickness = (stroke.round() as u32).clamp(1, (height / 4).max(1));
        let line = |offset: f32, default: f32| {
            let offset = if offset == 0.0 { default } else { offset };
            let top = baseline as f32 - offset - thickness as f32 / 2.0;
            (top.round().max(0.0) as u32).min(height - thickness)
        };
        Self {
            width,
            height,
            baseline,
            underline: line(metrics.underline_offset, -pixels * 0.15),
            strike: line(metrics.strikeout_offset, pixels * 0.3),
            thickness,
        }
    }
}
