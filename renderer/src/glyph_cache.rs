//! The pictures of all glyphs, drawn once each.

use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::FxHashMap;
use swash::scale::ScaleContext;
use unterm_term::{RegisteredGlyph, Rgb};

use crate::font::Stretch;
use crate::fonts::{FaceId, Fonts};
use crate::glyph::{Glyph, GlyphId};
use crate::raster::rasterize;
use crate::registered;
use crate::sprite::{self, Sprite};

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
                rasterize(&mut self.scale, fonts, face, glyph, f32::from_bits(size), fit, stretch)
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
