//! Glyphs as pictures: rasterized once, cached, and identified by a small number that frames carry.

use std::sync::atomic::{AtomicU64, Ordering};

use cosmic_text::SwashContent;
use rustc_hash::FxHashMap;
use swash::scale::image::Image;
use swash::scale::{Render, ScaleContext, Source, StrikeWith};
use swash::zeno::{Angle, Format, Transform};
use unterm_term::{RegisteredGlyph, Rgb};

use crate::CellMetrics;
use crate::font::Stretch;
use crate::fonts::{FaceId, Fonts};
use crate::registered;
use crate::sprite::{self, Sprite};

/// Identifies a glyph of a [`GlyphCache`] within one [`GlyphCache::generation`].
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

/// What a glyph is rasterized from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum GlyphKey {
    /// A glyph of a face. `size` holds the bits of the pixels per em before stretching. `fit` is the number of cells
    /// that a color picture is scaled to.
    Font { face: FaceId, glyph: u16, size: u32, fit: u8, stretch: Stretch },
    /// A sprite, this many cells wide.
    Sprite { sprite: Sprite, cells: u8, stretch: Stretch },
}

impl GlyphKey {
    /// This key, with a color picture scaled to `cells` cells.
    pub(crate) fn fitting(self, cells: u8) -> Self {
        match self {
            Self::Font { face, glyph, size, stretch, .. } => {
                Self::Font { face, glyph, size, fit: cells, stretch }
            }
            sprite @ Self::Sprite { .. } => sprite,
        }
    }
}

/// What the picture of a registered glyph depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct RegisteredKey {
    /// [`RegisteredGlyph::id`].
    id: u64,
    /// The foreground color, if a color picture contains it.
    foreground: Option<Rgb>,
    cells: u8,
    stretch: Stretch,
}

/// Every glyph rasterized at the current size.
pub struct GlyphCache {
    generation: u64,
    glyphs: Vec<Glyph>,
    ids: FxHashMap<GlyphKey, GlyphId>,
    registered: FxHashMap<RegisteredKey, GlyphId>,
    bytes: usize,
    /// The [work](registered::work) of the pictures of registered glyphs that this frame has drawn.
    frame_work: usize,
    scale: ScaleContext,
}

/// The maximum size of the cached glyphs in bytes; the cache is then cleared. A screen full of large color glyphs uses
/// a tenth of this size.
const MAX_BYTES: usize = 48 << 20;
/// The maximum number of cached glyphs; the cache is then cleared.
const MAX_GLYPHS: usize = 1 << 16;
/// The maximum [work](registered::work) of the pictures of registered glyphs that one frame draws: about 50 ms on a slow
/// processor. Programs choose the pictures and their colors, so a frame could otherwise take minutes.
const MAX_FRAME_WORK: usize = 6_000_000;

/// Numbers generations across all caches, so that ids of different caches can't be confused.
fn next_generation() -> u64 {
    static GENERATIONS: AtomicU64 = AtomicU64::new(1);
    GENERATIONS.fetch_add(1, Ordering::Relaxed)
}

impl Default for GlyphCache {
    fn default() -> Self {
        Self {
            generation: next_generation(),
            glyphs: Vec::new(),
            ids: FxHashMap::default(),
            registered: FxHashMap::default(),
            bytes: 0,
            frame_work: 0,
            scale: ScaleContext::new(),
        }
    }
}

impl Glyph {
    /// A glyph without pixels.
    fn blank() -> Self {
        Self { left: 0, top: 0, width: 0, height: 0, color: false, data: Box::default() }
    }

    /// The width of the picture in pixels, in the type that rows use.
    pub(crate) fn columns(&self) -> u16 {
        u16::try_from(self.width).unwrap_or(u16::MAX)
    }
}

impl GlyphCache {
    /// The current generation. It changes when the cache is cleared, which makes all earlier ids invalid.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The glyph with this id.
    pub fn get(&self, id: GlyphId) -> &Glyph {
        &self.glyphs[id.0 as usize]
    }

    /// The number of glyphs. Ids count up from 0.
    pub fn len(&self) -> usize {
        self.glyphs.len()
    }

    /// Whether the cache holds no glyphs.
    pub fn is_empty(&self) -> bool {
        self.glyphs.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.generation = next_generation();
        self.glyphs.clear();
        self.ids.clear();
        self.registered.clear();
        self.bytes = 0;
    }

    pub(crate) fn is_full(&self) -> bool {
        self.bytes > MAX_BYTES || self.glyphs.len() > MAX_GLYPHS
    }

    pub(crate) fn id(&mut self, key: GlyphKey, fonts: &Fonts) -> GlyphId {
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let glyph = match key {
            GlyphKey::Font { face, glyph, size, fit, stretch } => {
                rasterise(&mut self.scale, fonts, face, glyph, f32::from_bits(size), fit, stretch)
            }
            GlyphKey::Sprite { sprite, cells, stretch } => {
                let metrics = fonts.metrics.stretched(stretch);
                let width = metrics.width * u32::from(cells);
                let data = sprite::draw(sprite, width, &metrics).into_boxed_slice();
                let height = metrics.height;
                Glyph { left: 0, top: 0, width, height, color: false, data }
            }
        };
        let id = self.add(glyph);
        self.ids.insert(key, id);
        id
    }

    /// Starts a frame, which may again draw pictures of registered glyphs.
    pub(crate) fn start_frame(&mut self) {
        self.frame_work = 0;
    }

    /// A glyph that a program registered, in a span of at least `cells` cells. `None` if its picture is left to a later
    /// frame, because this one has drawn enough. A picture that no frame could draw is blank.
    pub(crate) fn registered(
        &mut self,
        glyph: &RegisteredGlyph,
        cells: u8,
        stretch: Stretch,
        foreground: Rgb,
        fonts: &Fonts,
    ) -> Option<GlyphId> {
        let cells = cells.max(glyph.placement().cells);
        let own = (glyph.has_colors() && glyph.uses_foreground()).then_some(foreground);
        let key = RegisteredKey { id: glyph.id(), foreground: own, cells, stretch };
        if let Some(id) = self.registered.get(&key) {
            return Some(*id);
        }
        let metrics = fonts.metrics.stretched(stretch);
        let work = registered::work(glyph, cells, &metrics);
        if work > MAX_FRAME_WORK {
            let key = RegisteredKey { foreground: None, ..key };
            if let Some(id) = self.registered.get(&key) {
                return Some(*id);
            }
            tracing::debug!(work, "registered glyph too large to draw: left blank");
            let id = self.add(Glyph::blank());
            self.registered.insert(key, id);
            return Some(id);
        }
        if self.frame_work + work > MAX_FRAME_WORK {
            return None;
        }
        self.frame_work += work;
        let id = self.add(registered::draw(glyph, cells, foreground, &metrics));
        self.registered.insert(key, id);
        Some(id)
    }

    fn add(&mut self, glyph: Glyph) -> GlyphId {
        let id = GlyphId(self.glyphs.len() as u32);
        self.bytes += glyph.data.len();
        self.glyphs.push(glyph);
        id
    }
}

fn rasterise(
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
