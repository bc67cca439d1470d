//! Draws glyphs of font faces.

use cosmic_text::SwashContent;
use swash::scale::image::Image;
use swash::scale::{Render, ScaleContext, Source, StrikeWith};
use swash::zeno::{Angle, Format, Transform};

use crate::CellMetrics;
use crate::font::Stretch;
use crate::fonts::{FaceId, Fonts};
use crate::glyph::Glyph;

/// Draws a glyph of a face. `size`: the pixels per em before stretching. `fit`: the number of cells that a color picture
/// is scaled to.
pub(crate) fn rasterize(
    context: &mut ScaleContext,
    fonts: &Fonts,
    face: FaceId,
    glyph: u16,
    size: f32,
    fit: u8,
    stretch: Stretch,
) -> Glyph {
    let metrics = &fonts.metrics.stretched(stretch);
    let (across, down) = stretch.factors();
    let size = size * down;
    let face = fonts.face(face);
    let font = face.font.as_swash();
    let weight = face.weight.map(|weight| ("wght", weight));
    let builder = context.builder(font).size(size).hint(!face.slant);
    let mut scaler = builder.variations(weight).build();
    let mut render = Render::new(&[
        Source::ColorOutline(0),
        Source::ColorBitmap(StrikeWith::BestFit),
        Source::Outline,
        Source::Bitmap(StrikeWith::BestFit),
    ]);
    render.format(Format::Alpha);
    if face.embolden {
        render.embolden((size / 28.0).max(0.4));
    }
    let slant = Transform::skew(Angle::from_degrees(14.0), Angle::from_degrees(0.0));
    // Stretch outlines before rasterizing them, so that wide text is as sharp as other text.
    let wide = Transform::scale(across / down, 1.0);
    match (face.slant, stretch == Stretch::Wide) {
        (false, false) => {}
        (true, false) => drop(render.transform(Some(slant))),
        (false, true) => drop(render.transform(Some(wide))),
        (true, true) => drop(render.transform(Some(slant.then(&wide)))),
    }
    let mut image = Image::new();
    if !render.render_into(&mut scaler, glyph, &mut image) {
        image.clear();
    }
    let color = image.content == SwashContent::Color;
    let placement = image.placement;
    let (left, top) = (placement.left, metrics.baseline as i32 - placement.top);
    let mut made = Glyph {
        left,
        top,
        width: placement.width,
        height: placement.height,
        color,
        data: image.data.into_boxed_slice(),
    };
    if color && fit > 0 && made.width > 0 && made.height > 0 {
        made = fit_into(made, metrics, metrics.width * u32::from(fit));
    }
    made
}

/// Scales a color glyph to fit `width` and the cell's height, and centers it.
fn fit_into(glyph: Glyph, metrics: &CellMetrics, width: u32) -> Glyph {
    let ratio =
        (width as f32 / glyph.width as f32).min(metrics.height as f32 / glyph.height as f32);
    let w = ((glyph.width as f32 * ratio).round() as u32).clamp(1, width);
    let h = ((glyph.height as f32 * ratio).round() as u32).clamp(1, metrics.height);
    let data = resample(&glyph.data, (glyph.width, glyph.height), (w, h));
    Glyph {
        left: ((width - w) / 2) as i32,
        top: ((metrics.height - h) / 2) as i32,
        width: w,
        height: h,
        color: true,
        data,
    }
}

/// Resamples a picture: area average to shrink, bilinear to grow. Weighting by alpha preserves the color of edges.
fn resample(data: &[u8], from: (u32, u32), to: (u32, u32)) -> Box<[u8]> {
    if from == to {
        return data.into();
    }
    let taps = |from: u32, to: u32| -> Vec<Vec<(usize, f32)>> {
        let ratio = from as f32 / to as f32;
        let reach = ratio.max(1.0);
        (0..to)
            .map(|i| {
                let center = (i as f32 + 0.5) * ratio;
                let first = (center - reach).floor().max(0.0) as u32;
                let last = ((center + reach).ceil() as u32).min(from);
                let mut taps: Vec<_> = (first..last)
                    .map(|j| (j as usize, 1.0 - ((j as f32 + 0.5 - center) / reach).abs()))
                    .filter(|(_, weight)| *weight > 0.0)
                    .collect();
                let sum: f32 = taps.iter().map(|(_, weight)| weight).sum();
                for (_, weight) in &mut taps {
                    *weight /= sum;
                }
                taps
            })
            .collect()
    };
    let (columns, rows) = (taps(from.0, to.0), taps(from.1, to.1));
    let mut out = Vec::with_capacity((to.0 * to.1 * 4) as usize);
    for row in &rows {
        for column in &columns {
            let mut sum = [0.0f32; 4];
            for (y, wy) in row {
                for (x, wx) in column {
                    let at = (y * from.0 as usize + x) * 4;
                    let alpha = f32::from(data[at + 3]) * wx * wy;
                    for (sum, value) in sum.iter_mut().zip(&data[at..at + 3]) {
                        *sum += f32::from(*value) * alpha;
                    }
                    sum[3] += alpha;
                }
            }
            let alpha = sum[3].max(1e-6);
            for sum in &sum[..3] {
                out.push((sum / alpha).round().clamp(0.0, 255.0) as u8);
            }
            out.push(sum[3].round().clamp(0.0, 255.0) as u8);
        }
    }
    out.into_boxed_slice()
}
