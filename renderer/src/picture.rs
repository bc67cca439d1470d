//! A terminal's images, scaled to the pixels that they cover, and cached while they are shown.
//!
//! Scaling happens once, in this module, so that painters only copy pixels and both painters produce the same result.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use unterm_term::{CellRect, LineSize, Pixels, SnapshotImage, SnapshotRow};

use crate::frame::{FrameImage, ImageLayer};
use crate::{CellMetrics, PaneScene, PixelRect};

/// The maximum side and area, in pixels, of an image that is scaled whole. Of a larger image, only the visible part is
/// scaled.
const WHOLE_SIDE: u32 = 4096;
const WHOLE_AREA: u64 = 1 << 23;
/// Images with a z-index below this also lie under cell backgrounds (kitty graphics protocol).
const GROUND: i32 = i32::MIN / 2;

/// The parameters that determine a scaled image.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct ScaledImageKey {
    image: u64,
    /// Bits of the source rectangle's four numbers.
    source: [u32; 4],
    size: (u32, u32),
}

/// The scaled images, each with a flag that is set if the current frame shows the image.
#[derive(Default)]
pub(crate) struct Pictures {
    kept: FxHashMap<ScaledImageKey, (Arc<Pixels>, bool)>,
}

/// A part of an image, in the image's pixels: left, top, width, height.
type Source = [f32; 4];

impl Pictures {
    /// Drops images that the last frame did not show.
    pub fn sweep(&mut self) {
        self.kept.retain(|_, (_, used)| std::mem::take(used));
    }

    /// The images of a pane at their positions.
    pub fn place(
        &mut self,
        pane: &PaneScene<'_>,
        metrics: CellMetrics,
        dim: u8,
    ) -> Vec<FrameImage> {
        let images = pane.snapshot.images.iter();
        images.filter_map(|image| self.one(image, pane, metrics, dim)).collect()
    }

    fn one(
        &mut self,
        image: &SnapshotImage,
        pane: &PaneScene<'_>,
        metrics: CellMetrics,
        dim: u8,
    ) -> Option<FrameImage> {
        let area = image.area;
        let edge =
            |origin: i32, cells: f32, cell: u32| origin + (cells * cell as f32).round() as i32;
        let (x, y) = (pane.origin.0, pane.origin.1 - pane.shift as i32);
        let start = start(area, &pane.snapshot.rows);
        let (left, right) =
            (edge(x, start, metrics.width), edge(x, start + area.width, metrics.width));
        let (top, bottom) =
            (edge(y, area.top, metrics.height), edge(y, area.top + area.height, metrics.height));
        let mut rect = PixelRect {
            x: left,
            y: top,
            width: right.saturating_sub(left).max(1) as u32,
            height: bottom.saturating_sub(top).max(1) as u32,
        };
        let seen = rect.intersection(&pane.area);
        if seen.width == 0 || seen.height == 0 {
            return None;
        }
        let s = image.source;
        let mut source: Source = [s.x, s.y, s.width, s.height];
        let large = u64::from(rect.width) * u64::from(rect.height) > WHOLE_AREA;
        if large || rect.width > WHOLE_SIDE || rect.height > WHOLE_SIDE {
            let (across, down) = (s.width / rect.width as f32, s.height / rect.height as f32);
            source = [
                s.x + (seen.x - rect.x) as f32 * across,
                s.y + (seen.y - rect.y) as f32 * down,
                seen.width as f32 * across,
                seen.height as f32 * down,
            ];
            rect = seen;
        }
        let layer = match image.z {
            z if z < GROUND => ImageLayer::Ground,
            z if z < 0 => ImageLayer::Under,
            _ => ImageLayer::Over,
        };
        let pixels = self.scaled(&image.pixels, source, (rect.width, rect.height))?;
        Some(FrameImage { rect, pixels, layer, alpha: 255 - dim })
    }

    fn scaled(
        &mut self,
        image: &Arc<Pixels>,
        source: Source,
        size: (u32, u32),
    ) -> Option<Arc<Pixels>> {
        let whole = [0.0, 0.0, image.width() as f32, image.height() as f32];
        if source == whole && size == (image.width(), image.height()) {
            return Some(Arc::clone(image));
        }
        let key = ScaledImageKey { image: image.id(), source: source.map(f32::to_bits), size };
        if let Some((pixels, used)) = self.kept.get_mut(&key) {
            *used = true;
            return Some(Arc::clone(pixels));
        }
        let pixels = Pixels::new(size.0, size.1, scale(image, source, size))?;
        self.kept.insert(key, (Arc::clone(&pixels), true));
        Some(pixels)
    }
}

/// The column of the grid where an image begins: the column in which its first cell is drawn. In a double-width row,
/// that is twice the image's column. The image's size is not doubled.
fn start(area: CellRect, rows: &[SnapshotRow]) -> f32 {
    let row = (area.top >= 0.0).then(|| rows.get(area.top as usize)).flatten();
    match row {
        Some(row) if row.size != LineSize::Single => area.left + area.left.floor(),
        _ => area.left,
    }
}

/// The image pixels that one output pixel mixes: the first image pixel, and the weight of each.
struct Taps {
    first: usize,
    weights: Vec<f32>,
}

/// The taps of `count` output pixels that show `start..start + length` of an image `side` pixels long. Each output
/// pixel mixes the image pixels around its center. Their weights form a triangle that is as wide as a pixel of the
/// coarser side.
fn taps(start: f32, length: f32, side: u32, count: u32) -> Vec<Taps> {
    let step = length / count as f32;
    let reach = step.max(1.0);
    // Image pixels outside the shown part must not bleed in.
    let low = (start.floor().max(0.0) as usize).min(side as usize - 1);
    let high = ((start + length).ceil() as usize).clamp(low + 1, side as usize);
    let tap = |i: u32| {
        let middle = start + (i as f32 + 0.5) * step;
        let first = ((middle - reach).floor().max(low as f32) as usize).min(high - 1);
        let end = ((middle + reach).ceil() as usize).clamp(first + 1, high);
        let weight = |at: usize| (1.0 - (at as f32 + 0.5 - middle).abs() / reach).max(0.0);
        let mut weights: Vec<f32> = (first..end).map(weight).collect();
        let sum: f32 = weights.iter().sum();
        if sum <= f32::EPSILON {
            weights.fill(1.0 / (end - first) as f32);
        } else {
            weights.iter_mut().for_each(|weight| *weight /= sum);
        }
        Taps { first, weights }
    };
    (0..count).map(tap).collect()
}

/// Whether each output pixel shows exactly one image pixel, in order.
fn is_copy(taps: &[Taps]) -> bool {
    let one =
        |t: &Taps| t.weights.iter().position(|w| (w - 1.0).abs() < 1e-3).map(|at| t.first + at);
    let Some(first) = taps.first().and_then(one) else { return false };
    taps.iter().enumerate().all(|(i, t)| one(t) == Some(first + i))
}

/// Scales the part `source` of an image to `size` pixels.
fn scale(image: &Pixels, source: Source, size: (u32, u32)) -> Vec<u8> {
    let [x, y, width, height] = source;
    let columns = taps(x, width, image.width(), size.0);
    let rows = taps(y, height, image.height(), size.1);
    let stride = image.width() as usize * 4;
    let mut out = Vec::with_capacity(size.0 as usize * size.1 as usize * 4);
    if is_copy(&columns) && is_copy(&rows) {
        let at = |t: &Taps| t.first + t.weights.iter().position(|w| *w > 0.5).unwrap_or(0);
        let left = columns.first().map_or(0, at) * 4;
        for row in &rows {
            let start = at(row) * stride + left;
            out.extend_from_slice(&image.rgba()[start..start + size.0 as usize * 4]);
        }
        return out;
    }
    // Mix rows first, then columns, because each output row mixes few image rows. Weight colors by opacity.
    let mut line = vec![[0f32; 4]; image.width() as usize];
    let left = columns.iter().map(|t| t.first).min().unwrap_or(0);
    let right = columns.iter().map(|t| t.first + t.weights.len()).max().unwrap_or(0);
    for row in &rows {
        line[left..right].fill([0.0; 4]);
        for (i, weight) in row.weights.iter().enumerate() {
            let start = (row.first + i) * stride;
            let pixels = &image.rgba()[start + left * 4..start + right * 4];
            for (sum, pixel) in line[left..right].iter_mut().zip(pixels.chunks_exact(4)) {
                let alpha = f32::from(pixel[3]) * weight;
                sum[3] += alpha;
                for c in 0..3 {
                    sum[c] += f32::from(pixel[c]) * alpha;
                }
            }
        }
        for column in &columns {
            let mut sum = [0f32; 4];
            for (pixel, weight) in line[column.first..].iter().zip(&column.weights) {
                for c in 0..4 {
                    sum[c] += pixel[c] * weight;
                }
            }
            let alpha = sum[3];
            let channel = |c: usize| if alpha > 0.0 { (sum[c] / alpha + 0.5) as u8 } else { 0 };
            out.extend_from_slice(&[channel(0), channel(1), channel(2), (alpha + 0.5) as u8]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: u32, height: u32, rgba: &[u8]) -> Arc<Pixels> {
        Pixels::new(width, height, rgba.to_vec()).expect("as many bytes as pixels")
    }

    #[test]
    fn unscaled_images_are_copied() {
        let rgba: Vec<u8> = (0..4 * 4 * 4).collect();
        let part = scale(&image(4, 4, &rgba), [1.0, 2.0, 2.0, 1.0], (2, 1));
        assert_eq!(part, rgba[4 * 4 * 2 + 4..4 * 4 * 2 + 12]);
    }

    #[test]
    fn shrinking_averages_and_enlarging_keeps_flat_colors() {
        let two = image(2, 1, &[0, 0, 0, 255, 255, 255, 255, 255]);
        assert_eq!(scale(&two, [0.0, 0.0, 2.0, 1.0], (1, 1)), [128, 128, 128, 255]);
        // A transparent pixel's color does not mix into its neighbors.
        let half = image(2, 1, &[9, 9, 9, 0, 200, 100, 50, 255]);
        assert_eq!(scale(&half, [0.0, 0.0, 2.0, 1.0], (1, 1)), [200, 100, 50, 128]);
        let red = image(1, 1, &[255, 0, 0, 255]);
        assert_eq!(scale(&red, [0.0, 0.0, 1.0, 1.0], (3, 2)), [255, 0, 0, 255].repeat(6));
        // Pixels beside the shown part don't bleed in.
        let pair = image(2, 1, &[255, 0, 0, 255, 0, 0, 255, 255]);
        assert_eq!(scale(&pair, [0.0, 0.0, 1.0, 1.0], (4, 1)), [255, 0, 0, 255].repeat(4));
    }
}
