//! Pictures of the glyphs that programs registered (the Glyph Protocol), at the size of a cell.
//!
//! An outline becomes coverage, and a color picture becomes colors. A picture may extend beyond its span of cells; whoever
//! draws it decides which of its columns are visible.

mod composite;
mod coverage;
mod gradient;
mod matrix;

use unterm_term::{
    ColorPicture, GlyphAlign, GlyphFill, GlyphOutline, GlyphPaint, GlyphPicture, GlyphPlacement,
    GlyphScale, RegisteredGlyph, Rgb,
};

use crate::CellMetrics;
use crate::glyph::Glyph;
use composite::{Pixel, over};
use coverage::Mask;
use gradient::Shade;
use matrix::{Matrix, after, inverse, map};

/// Maximum width of a picture in pixels: the width of the GPU painter's texture.
const MAX_WIDTH: u32 = 2048;

/// The area in which a glyph is drawn, in pixels.
#[derive(Clone, Copy)]
struct Canvas {
    width: usize,
    height: usize,
}

impl Canvas {
    /// The canvas of a glyph whose span is `span` pixels wide, and the number of the canvas's pixels before the span.
    fn new(span: u32, metrics: &CellMetrics) -> (Self, u32) {
        // A glyph may extend by the width of its span on both sides.
        let margin = span.min(MAX_WIDTH.saturating_sub(span) / 2);
        let width = (span + 2 * margin).min(MAX_WIDTH);
        (Self { width: width as usize, height: metrics.height as usize }, margin)
    }
}

/// The approximate number of steps of [`draw`]: it decodes each byte, visits each pixel for each node of a paint graph, and
/// follows each edge across the canvas.
pub(crate) fn work(glyph: &RegisteredGlyph, cells: u8, metrics: &CellMetrics) -> usize {
    let (canvas, _) = Canvas::new(metrics.width * u32::from(cells), metrics);
    let visits = canvas.width * canvas.height * (1 + glyph.paint_count());
    let edges = (canvas.width + canvas.height) * glyph.point_count();
    glyph.payload_len() + visits + edges
}

/// Draws a glyph for cells with these measures. `cells` is the width of its span, and `foreground` the color of its
/// text. The picture's `left` counts from the span's left edge and may be negative.
pub(crate) fn draw(
    glyph: &RegisteredGlyph,
    cells: u8,
    foreground: Rgb,
    metrics: &CellMetrics,
) -> Glyph {
    let span = metrics.width * u32::from(cells);
    let (canvas, margin) = Canvas::new(span, metrics);
    let mut matrix = placed(glyph.placement(), span as f32, metrics);
    matrix[4] += margin as f32;
    let left = -(margin as i32);
    match glyph.picture() {
        GlyphPicture::Outline(outline) => {
            let mut mask = Mask::new(canvas.width, canvas.height);
            mask.add(&outline, &matrix);
            let data: Vec<u8> = mask.coverage().iter().map(|c| to_byte(*c)).collect();
            trimmed(&data, 1, canvas, left)
        }
        GlyphPicture::Color(picture) => {
            let mut layer = vec![[0.0; 4]; canvas.width * canvas.height];
            let foreground =
                [foreground.r, foreground.g, foreground.b].map(|v| f32::from(v) / 255.0);
            Painter { picture: &picture, canvas, foreground }.paint(
                &picture.paint,
                &matrix,
                &mut layer,
            );
            let data: Vec<u8> = layer.iter().flat_map(to_rgba).collect();
            trimmed(&data, 4, canvas, left)
        }
    }
}

/// The matrix from a glyph's units to pixels from the top left corner of its span (the protocol's section 8.5).
fn placed(placement: &GlyphPlacement, width: f32, metrics: &CellMetrics) -> Matrix {
    let height = metrics.height as f32;
    let [top, right, bottom, left] = placement.padding;
    let (room_x, room_y) = (width * (1.0 - left - right), height * (1.0 - top - bottom));
    let (advance, line) = (placement.advance as f32, placement.line_height as f32);
    let (wide, high) = (room_x / advance, room_y / line);
    let (across, up) = match placement.scale {
        GlyphScale::Height => (high, high),
        GlyphScale::Advance => (wide, wide),
        GlyphScale::Contain => (wide.min(high), wide.min(high)),
        GlyphScale::Cover => (wide.max(high), wide.max(high)),
        GlyphScale::Stretch => (wide, high),
    };
    let before = |align, room: f32, taken: f32| match align {
        GlyphAlign::Start => 0.0,
        GlyphAlign::Center => (room - taken) / 2.0,
        GlyphAlign::End => room - taken,
    };
    let x = width * left + before(placement.horizontal, room_x, advance * across);
    let y = match placement.vertical {
        Some(align) => height * (1.0 - bottom) - before(align, room_y, line * up),
        None => metrics.baseline as f32,
    };
    [across, 0.0, 0.0, -up, x, y]
}

fn to_byte(value: f32) -> u8 {
    (value * 255.0).round().clamp(0.0, 255.0) as u8
}

/// Red, green, blue and alpha, not premultiplied.
fn to_rgba(pixel: &Pixel) -> [u8; 4] {
    let [r, g, b, alpha] = *pixel;
    let scale = if alpha > 0.0 { 1.0 / alpha } else { 0.0 };
    [r * scale, g * scale, b * scale, alpha].map(to_byte)
}

/// The part of a picture that is not empty. A pixel has `bytes` bytes, of which the last is its coverage.
fn trimmed(data: &[u8], bytes: usize, canvas: Canvas, left: i32) -> Glyph {
    let row_bytes = canvas.width * bytes;
    let is_set = |pixel: &[u8]| pixel[bytes - 1] != 0;
    let (mut first, mut last) = (canvas.width, 0);
    let (mut top, mut bottom) = (canvas.height, 0);
    for (y, row) in data.chunks_exact(row_bytes).enumerate() {
        let mut pixels = row.chunks_exact(bytes);
        let Some(start) = pixels.position(is_set) else { continue };
        let end = row.chunks_exact(bytes).rposition(is_set).unwrap_or(start) + 1;
        (first, last) = (first.min(start), last.max(end));
        (top, bottom) = (top.min(y), y + 1);
    }
    let (width, height) = (last.saturating_sub(first), bottom.saturating_sub(top));
    let rows = data.chunks_exact(row_bytes).skip(top).take(height);
    let seen = rows.flat_map(|row| &row[first * bytes..(first + width) * bytes]);
    Glyph {
        left: if width > 0 { left + first as i32 } else { 0 },
        top: if width > 0 { top as i32 } else { 0 },
        width: width as u32,
        height: height as u32,
        color: bytes > 1,
        data: seen.copied().collect(),
    }
}

/// Paints a paint graph.
struct Painter<'a> {
    picture: &'a ColorPicture,
    canvas: Canvas,
    foreground: [f32; 3],
}

impl Painter<'_> {
    /// Draws over a layer. `matrix` maps the graph's units to pixels.
    fn paint(&self, paint: &GlyphPaint, matrix: &Matrix, layer: &mut [Pixel]) {
        match paint {
            GlyphPaint::Layers(paints) => {
                paints.iter().for_each(|paint| self.paint(paint, matrix, layer));
            }
            GlyphPaint::Fill(fill) => self.fill(fill, matrix, None, layer),
            GlyphPaint::Outline { outline, paint } => {
                let empty = GlyphOutline::default();
                let outline = self.picture.outlines.get(*outline).unwrap_or(&empty);
                let mut mask = Mask::new(self.canvas.width, self.canvas.height);
                mask.add(outline, matrix);
                self.inside(&mask.coverage(), paint, matrix, layer);
            }
            GlyphPaint::Clip { bounds, paint } => {
                let [left, bottom, right, top] = bounds.map(f32::from);
                let corners = [(left, bottom), (left, top), (right, top), (right, bottom)];
                let mut mask = Mask::new(self.canvas.width, self.canvas.height);
                mask.polygon(&corners.map(|corner| map(matrix, corner)));
                self.inside(&mask.coverage(), paint, matrix, layer);
            }
            GlyphPaint::Transform { matrix: inner, paint } => {
                self.paint(paint, &after(matrix, inner), layer);
            }
            GlyphPaint::Composite { mode, source, backdrop } => {
                let (mut above, mut below) = (self.layer(), self.layer());
                self.paint(source, matrix, &mut above);
                self.paint(backdrop, matrix, &mut below);
                for ((pixel, above), below) in layer.iter_mut().zip(above).zip(below) {
                    *pixel = over(composite::combine(*mode, above, below), *pixel);
                }
            }
        }
    }

    fn layer(&self) -> Vec<Pixel> {
        vec![[0.0; 4]; self.canvas.width * self.canvas.height]
    }

    /// Draws a paint inside a mask.
    fn inside(&self, mask: &[f32], paint: &GlyphPaint, matrix: &Matrix, layer: &mut [Pixel]) {
        let (mut paint, mut matrix) = (paint, *matrix);
        while let GlyphPaint::Transform { matrix: inner, paint: child } = paint {
            (paint, matrix) = (child, after(&matrix, inner));
        }
        if let GlyphPaint::Fill(fill) = paint {
            return self.fill(fill, &matrix, Some(mask), layer);
        }
        let mut own = self.layer();
        self.paint(paint, &matrix, &mut own);
        for ((pixel, above), coverage) in layer.iter_mut().zip(own).zip(mask) {
            *pixel = over(above.map(|value| value * coverage), *pixel);
        }
    }

    fn fill(&self, fill: &GlyphFill, matrix: &Matrix, mask: Option<&[f32]>, layer: &mut [Pixel]) {
        let Some(shade) = Shade::new(fill, self.foreground) else { return };
        let back = inverse(matrix);
        for (at, pixel) in layer.iter_mut().enumerate() {
            let coverage = mask.map_or(1.0, |mask| mask[at]);
            if coverage <= 0.0 {
                continue;
            }
            let (x, y) = (at % self.canvas.width, at / self.canvas.width);
            let center = (x as f32 + 0.5, y as f32 + 0.5);
            if let Some(color) = shade.at(back.as_ref().map(|back| map(back, center))) {
                *pixel = over(color.map(|value| value * coverage), *pixel);
            }
        }
    }
}

#[cfg(test)]
mod tests;
