//! The CPU painter: draws a frame into memory.

use std::collections::VecDeque;
use std::sync::Arc;

use cosmic_text::{FontSystem, SwashCache, SwashContent};
use unterm_term::Rgb;

use crate::blend::{
    Blending, Corrections, Coverage, PLAIN, WHOLE, blend_light, blend_pixel, pack, premultiplied,
};
use crate::damage::{Scroll, scrolls};
use crate::encode::encode_png;
use crate::frame::{FrameLabel, FramePane, FrameRow, ImageLayer};
use crate::glyph::Glyph;
use crate::glyph_cache::GlyphCache;
use crate::{Damage, Frame, PixelRect, Quad, Renderer};

/// Paints frames into a buffer of `0xAARRGGBB` pixels, row by row, with channels multiplied by their opacity. Repaints
/// only the parts of a frame that changed.
#[derive(Default)]
pub struct CpuPainter {
    corrections: Corrections,
    /// The frame painted last.
    last: Option<Arc<Frame>>,
    /// The rectangles that each of the last frames changed, newest first.
    history: VecDeque<Vec<PixelRect>>,
}

/// The maximum age of a buffer, in frames, that is updated from damage alone. Older buffers are repainted whole.
const MAX_AGE: usize = 4;

impl CpuPainter {
    /// A painter that paints its first frame whole.
    pub fn new() -> Self {
        Self::default()
    }

    /// Paints the renderer's last frame and returns what changed since the frame painted before it.
    ///
    /// `buffer` has room for the frame's `width * height` pixels. `age` describes its contents: 0 is unknown, so
    /// everything is painted; 1 is the last painted frame, 2 the frame before it, and so on, as with swapped buffers.
    pub fn paint(
        &mut self,
        renderer: &mut Renderer,
        buffer: &mut [u32],
        age: u8,
    ) -> Vec<PixelRect> {
        let frame = renderer.last_frame();
        let changed = self.damage(frame).unwrap_or_else(|| Damage::whole(frame));
        self.paint_changed(renderer, buffer, age, changed)
    }

    /// Like [`CpuPainter::paint`], but with damage that the caller already got from [`CpuPainter::damage`].
    pub(crate) fn paint_changed(
        &mut self,
        renderer: &mut Renderer,
        buffer: &mut [u32],
        age: u8,
        changed: Damage,
    ) -> Vec<PixelRect> {
        let frame = renderer.last_frame().clone();
        let age = usize::from(age);
        let mut stale = changed.clone();
        if age == 0 || age > self.history.len() + 1 || self.last.is_none() {
            stale = Damage::whole(&frame);
        } else {
            for older in self.history.iter().take(age - 1) {
                for rect in older {
                    stale.add(*rect);
                }
            }
            stale.clip(frame.rect());
        }
        let mut target = Target::new(buffer, &frame, &mut self.corrections);
        if let (1, Some(last)) = (age, &self.last)
            && !changed.covers(frame.rect())
        {
            // Move the pixels of text that only scrolled, because copying pixels is faster than painting them.
            let scrolls = scrolls(last, &frame);
            for scroll in &scrolls {
                target.scroll(scroll);
            }
            if !scrolls.is_empty() {
                stale = Damage::after_scrolls(last, &frame, &scrolls);
            }
        }
        for rect in &stale.rects {
            target.paint(&frame, renderer, *rect);
        }
        self.history.push_front(changed.rects.clone());
        self.history.truncate(MAX_AGE);
        self.last = Some(frame);
        changed.rects
    }

    /// The difference between the last painted frame and `frame`. `None` before the first painted frame.
    pub fn damage(&self, frame: &Frame) -> Option<Damage> {
        self.last.as_ref().map(|last| Damage::between(last, frame))
    }

    /// Forgets the last frame, so that the next frame is painted and reported whole.
    pub fn reset(&mut self) {
        self.last = None;
        self.history.clear();
    }

    /// The renderer's last frame as `0xAARRGGBB` pixels, row by row.
    pub fn picture(renderer: &mut Renderer) -> Vec<u32> {
        let frame = renderer.last_frame().clone();
        let mut buffer = vec![0; frame.width as usize * frame.height as usize];
        let mut corrections = Corrections::default();
        Target::new(&mut buffer, &frame, &mut corrections).paint(&frame, renderer, frame.rect());
        buffer
    }

    /// The renderer's last frame as PNG. Needs no window: for a picture of one pane, build a frame from a scene with
    /// only that pane.
    pub fn png(renderer: &mut Renderer) -> Result<Vec<u8>, png::EncodingError> {
        let pixels = Self::picture(renderer);
        let frame = renderer.last_frame();
        encode_png(&pixels, frame.width, frame.height)
    }
}

/// Coverage of a glyph.
struct Mask<'a> {
    /// One byte per pixel, row by row.
    data: &'a [u8],
    size: (u32, u32),
    /// Maps each byte to a coverage; `None` if colors are blended as coded values.
    coverage: Option<&'a Coverage>,
}

/// A picture being painted.
struct Target<'a> {
    pixels: &'a mut [u32],
    width: usize,
    blending: Blending,
    corrections: &'a mut Corrections,
}

impl<'a> Target<'a> {
    fn new(pixels: &'a mut [u32], frame: &Frame, corrections: &'a mut Corrections) -> Self {
        let size = frame.width as usize * frame.height as usize;
        assert!(
            pixels.len() >= size,
            "a frame of {}×{} needs {size} pixels, the buffer has {}",
            frame.width,
            frame.height,
            pixels.len()
        );
        Self { pixels, width: frame.width as usize, blending: frame.blending, corrections }
    }

    /// Paints everything inside `clip`, which must lie within the frame.
    fn paint(&mut self, frame: &Frame, renderer: &mut Renderer, clip: PixelRect) {
        // A pane that covers the whole clip hides the background.
        if !frame.panes.iter().any(|pane| pane.area.contains(&clip)) {
            self.fill(clip, frame.background);
        }
        for pane in &frame.panes {
            self.pane(pane, &renderer.glyphs, clip.intersection(&pane.area));
        }
        let chrome = &*frame.chrome;
        for (quads, labels) in chrome.layers() {
            for quad in &chrome.quads[quads] {
                self.quad(quad, clip.intersection(&quad.rect));
            }
            for label in &chrome.labels[labels] {
                let clip = clip.intersection(&label.clip);
                if !clip.is_empty() {
                    self.label(label, &mut renderer.fonts.system, &mut renderer.swash, clip);
                }
            }
        }
    }

    /// Moves the pixels of a pane's rows up or down.
    fn scroll(&mut self, scroll: &Scroll) {
        let rect = scroll.rows;
        let by = scroll.pixels;
        let line = |y: i32| {
            let start = y as usize * self.width + rect.x as usize;
            start..start + rect.width as usize
        };
        let (top, bottom) = (rect.y, rect.y + rect.height as i32);
        if rect.x == 0 && rect.width as usize == self.width {
            let lines = |from: i32, to: i32| from as usize * self.width..to as usize * self.width;
            let (from, to) = if by > 0 {
                (lines(top + by, bottom), top)
            } else {
                (lines(top, bottom + by), top - by)
            };
            self.pixels.copy_within(from, to as usize * self.width);
        } else if by > 0 {
            for y in top..bottom - by {
                self.pixels.copy_within(line(y + by), line(y).start);
            }
        } else {
            for y in (top - by..bottom).rev() {
                self.pixels.copy_within(line(y + by), line(y).start);
            }
        }
    }

    fn pane(&mut self, pane: &FramePane, glyphs: &GlyphCache, clip: PixelRect) {
        if clip.is_empty() {
            return;
        }
        self.store(clip, premultiplied(pane.background, pane.opacity));
        if !pane.images.is_empty() {
            return self.layers(pane, glyphs, clip);
        }
        let height = pane.row_height as i32;
        let first = ((clip.y - pane.origin.1) / height).max(0) as usize;
        for (i, row) in pane.rows.iter().enumerate().skip(first) {
            let rect = pane.row_rect(i);
            if rect.y >= clip.y + clip.height as i32 {
                break;
            }
            let clip = rect.intersection(&clip);
            if !clip.is_empty() {
                let y = pane.origin.1 + i as i32 * height;
                self.row(row, glyphs, (pane.origin.0, y), clip);
            }
        }
    }

    /// Paints a pane with images, which lie between the parts of all its rows.
    fn layers(&mut self, pane: &FramePane, glyphs: &GlyphCache, clip: PixelRect) {
        let rows = || {
            pane.rows.iter().enumerate().filter_map(|(i, row)| {
                let clip = pane.row_rect(i).intersection(&clip);
                let y = pane.origin.1 + i as i32 * pane.row_height as i32;
                (!clip.is_empty()).then_some((row, (pane.origin.0, y), clip))
            })
        };
        let clip = clip.intersection(&pane.seen);
        self.images(pane, ImageLayer::Ground, clip);
        for (row, at, clip) in rows() {
            self.fills(&row.backgrounds, at, clip);
        }
        self.images(pane, ImageLayer::Under, clip);
        for (row, at, clip) in rows() {
            self.text(row, glyphs, at, clip);
        }
        self.images(pane, ImageLayer::Over, clip);
    }

    fn images(&mut self, pane: &FramePane, layer: ImageLayer, clip: PixelRect) {
        let clip = clip.intersection(&pane.grid);
        for image in pane.images.iter().filter(|image| image.layer == layer) {
            if !image.rect.intersection(&clip).is_empty() {
                self.rgba(image.pixels.rgba(), image.rect, image.alpha, clip);
            }
        }
    }

    fn row(&mut self, row: &FrameRow, glyphs: &GlyphCache, at: (i32, i32), clip: PixelRect) {
        self.fills(&row.backgrounds, at, clip);
        self.text(row, glyphs, at, clip);
    }

    fn fills(&mut self, fills: &[crate::Fill], at: (i32, i32), clip: PixelRect) {
        let place = |fill: &crate::Fill| PixelRect {
            x: at.0 + fill.x,
            y: at.1 + fill.y,
            width: fill.width,
            height: fill.height,
        };
        for fill in fills {
            self.fill(place(fill).intersection(&clip), fill.color);
        }
    }

    /// Paints the part of a row that lies over its backgrounds.
    fn text(&mut self, row: &FrameRow, glyphs: &GlyphCache, at: (i32, i32), clip: PixelRect) {
        self.fills(&row.under, at, clip);
        let seen = clip.x - at.0..clip.x - at.0 + clip.width as i32;
        for instance in &row.glyphs {
            if instance.x >= seen.end || instance.x + i32::from(instance.width) <= seen.start {
                continue;
            }
            let glyph = glyphs.get(instance.glyph);
            let (x, y) = (at.0 + instance.x, at.1 + instance.y);
            let (width, height) = (u32::from(instance.width), glyph.height);
            let seen = PixelRect { x, y, width, height }.intersection(&clip);
            let x = x - i32::from(instance.left);
            if glyph.color {
                self.color_glyph(glyph, x, y, instance.alpha, seen);
            } else {
                let coverage = match self.blending {
                    Blending::Native => None,
                    Blending::Linear => {
                        Some(self.corrections.get(instance.color, instance.background))
                    }
                };
                let size = (glyph.width, glyph.height);
                let mask = Mask { data: &glyph.data, size, coverage: coverage.as_deref() };
                self.mask(mask, x, y, instance.color, seen);
            }
        }
        self.fills(&row.over, at, clip);
    }

    fn fill(&mut self, rect: PixelRect, color: Rgb) {
        self.store(rect, pack(color));
    }

    fn store(&mut self, rect: PixelRect, pixel: u32) {
        for y in rect.y..rect.y + rect.height as i32 {
            let start = y as usize * self.width + rect.x as usize;
            self.pixels[start..start + rect.width as usize].fill(pixel);
        }
    }

    /// Blends a color through a mask.
    fn mask(&mut self, mask: Mask<'_>, x: i32, y: i32, color: Rgb, clip: PixelRect) {
        let (width, height) = mask.size;
        let rect = PixelRect { x, y, width, height }.intersection(&clip);
        let pixel = pack(color);
        let (left, top) = ((rect.x - x) as usize, (rect.y - y) as usize);
        for row in 0..rect.height as usize {
            let source = (top + row) * width as usize + left;
            let target = (rect.y as usize + row) * self.width + rect.x as usize;
            let n = rect.width as usize;
            let pixels = &mut self.pixels[target..target + n];
            let coverage = &mask.data[source..source + n];
            match mask.coverage {
                None => cover(pixels, coverage, pixel, |below, coverage| {
                    blend_pixel(below, pixel, u32::from(coverage))
                }),
                Some(table) => cover(pixels, coverage, pixel, |below, coverage| {
                    blend_light(below, pixel, u32::from(table[usize::from(coverage)]))
                }),
            }
        }
    }

    fn color_glyph(&mut self, glyph: &Glyph, x: i32, y: i32, alpha: u8, clip: PixelRect) {
        let rect = PixelRect { x, y, width: glyph.width, height: glyph.height };
        self.rgba(&glyph.data, rect, alpha, clip);
    }

    /// Blends a picture of four bytes per pixel, not premultiplied.
    fn rgba(&mut self, data: &[u8], place: PixelRect, alpha: u8, clip: PixelRect) {
        let rect = place.intersection(&clip);
        let (left, top) = ((rect.x - place.x) as usize, (rect.y - place.y) as usize);
        for row in 0..rect.height as usize {
            let source = ((top + row) * place.width as usize + left) * 4;
            let target = (rect.y as usize + row) * self.width + rect.x as usize;
            let n = rect.width as usize;
            for (at, rgba) in (target..target + n).zip(data[source..].chunks_exact(4)) {
                let above = pack(Rgb { r: rgba[0], g: rgba[1], b: rgba[2] });
                let coverage = u32::from(rgba[3]) * u32::from(alpha);
                let below = self.pixels[at];
                self.pixels[at] = match self.blending {
                    Blending::Native => blend_pixel(below, above, (coverage + 127) / 255),
                    // In linear light, dark colors lie so close together that rounding the coverage to 8 bits would be
                    // visible.
                    Blending::Linear => blend_light(below, above, (coverage * 257 + 127) / 255),
                };
            }
        }
    }

    fn quad(&mut self, quad: &Quad, clip: PixelRect) {
        if clip.is_empty() {
            return;
        }
        let opacity = quad.alpha.clamp(0.0, 1.0);
        let pixel = pack(quad.color);
        if quad.radius <= 0.0 && opacity >= 1.0 {
            return self.fill(clip, quad.color);
        }
        for y in clip.y..clip.y + clip.height as i32 {
            for x in clip.x..clip.x + clip.width as i32 {
                let coverage = quad.coverage(x, y) * opacity;
                let at = y as usize * self.width + x as usize;
                let rounded = |whole: u32| (coverage * whole as f32).round() as u32;
                let below = self.pixels[at];
                self.pixels[at] = match self.blending {
                    Blending::Native => blend_pixel(below, pixel, rounded(255)),
                    // In linear light, dark colors lie so close together that rounding the coverage to 8 bits would be
                    // visible.
                    Blending::Linear => blend_light(below, pixel, rounded(WHOLE)),
                };
            }
        }
    }

    fn label(
        &mut self,
        label: &FrameLabel,
        system: &mut FontSystem,
        swash: &mut SwashCache,
        clip: PixelRect,
    ) {
        for run in label.buffer.layout_runs() {
            for glyph in run.glyphs {
                // Round positions as glyphon does, so that both painters agree.
                let physical = glyph.physical((label.left, label.top), 1.0);
                let Some(image) = swash.get_image(system, physical.cache_key) else { continue };
                let placement = image.placement;
                let x = physical.x + placement.left;
                let y = run.line_y.round() as i32 + physical.y - placement.top;
                let (width, height) = (placement.width, placement.height);
                match image.content {
                    SwashContent::Mask => {
                        let accent = glyph.color_opt.map(|c| Rgb { r: c.r(), g: c.g(), b: c.b() });
                        let color = accent.unwrap_or(label.color);
                        let coverage = (self.blending == Blending::Linear).then_some(&PLAIN);
                        let size = (width, height);
                        let mask = Mask { data: &image.data, size, coverage };
                        self.mask(mask, x, y, color, clip);
                    }
                    SwashContent::Color | SwashContent::SubpixelMask => {
                        self.rgba(&image.data, PixelRect { x, y, width, height }, 255, clip);
                    }
                }
            }
        }
    }
}

/// Covers a line of pixels with a color, using `blend` for pixels that are partly covered. Most pixels of a glyph are
/// not covered at all, so the loop checks four at a time.
#[inline]
fn cover(pixels: &mut [u32], coverage: &[u8], color: u32, blend: impl Fn(u32, u8) -> u32) {
    let one = |below: &mut u32, coverage: u8| match coverage {
        0 => {}
        255 => *below = color,
        coverage => *below = blend(*below, coverage),
    };
    let (whole, rest) = coverage.as_chunks::<4>();
    let (fours, last) = pixels.split_at_mut(whole.len() * 4);
    for (pixels, coverage) in fours.as_chunks_mut::<4>().0.iter_mut().zip(whole) {
        if *coverage != [0; 4] {
            pixels.iter_mut().zip(coverage).for_each(|(below, coverage)| one(below, *coverage));
        }
    }
    last.iter_mut().zip(rest).for_each(|(below, coverage)| one(below, *coverage));
}

impl Quad {
    /// How much of the pixel at `(x, y)` lies inside the rounded rectangle, 0 to 1. Like the shader, it uses the
    /// distance from the pixel's center to the edge.
    fn coverage(&self, x: i32, y: i32) -> f32 {
        let half = (self.rect.width as f32 / 2.0, self.rect.height as f32 / 2.0);
        let radius = self.radius.clamp(0.0, half.0.min(half.1));
        if radius == 0.0 {
            return 1.0;
        }
        let px = (x - self.rect.x) as f32 + 0.5 - half.0;
        let py = (y - self.rect.y) as f32 + 0.5 - half.1;
        let (qx, qy) = (px.abs() - half.0 + radius, py.abs() - half.1 + radius);
        let outside = (qx.max(0.0).powi(2) + qy.max(0.0).powi(2)).sqrt();
        let distance = outside + qx.max(qy).min(0.0) - radius;
        (0.5 - distance).clamp(0.0, 1.0)
    }
}
