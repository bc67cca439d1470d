//! Turns the text of cells into glyphs. Runs are shaped whole, and each cluster's glyphs are then snapped to its cell.

mod ligatures;

use std::sync::Arc;

use cosmic_text::harfrust::{Direction, UnicodeBuffer};
use rustc_hash::FxHashMap;

use crate::chars::{JOINER, is_combining, is_icon, wants_emoji};
use crate::font::Stretch;
use crate::fonts::{FaceStyle, Fonts};
use crate::glyph::GlyphId;
use crate::glyph_cache::{GlyphCache, GlyphKey};
use crate::sprite::Sprite;

/// A glyph at its position, relative to the top left corner of the first cell of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlacedGlyph {
    pub(crate) glyph: GlyphId,
    /// The index of the cluster in whose cell the glyph is drawn.
    pub(crate) cluster: u16,
    pub(crate) dx: i16,
    pub(crate) dy: i16,
}

/// The glyph of a character at its cell's origin, and the position of its picture relative to that origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellGlyph {
    pub(crate) glyph: GlyphId,
    pub(crate) left: i32,
    pub(crate) top: i32,
    pub(crate) width: u16,
}

/// How a row's text is shaped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Form {
    pub(crate) face: FaceStyle,
    pub(crate) stretch: Stretch,
}

impl Form {
    /// Index into the tables for whole rows; `None` for a multicell character.
    fn index(self) -> Option<usize> {
        let stretch = match self.stretch {
            Stretch::None => 0,
            Stretch::Wide => 1,
            Stretch::Tall => 2,
            Stretch::Scaled(_) => return None,
        };
        Some(self.face.index() + 4 * stretch)
    }
}

/// Cells that are drawn together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// First cell, from the start of the text.
    pub(crate) start: u16,
    /// Number of cells.
    pub(crate) cells: u16,
    /// The glyphs, positioned relative to the start of the text.
    pub(crate) glyphs: Box<[PlacedGlyph]>,
}

/// The maximum number of cells to shape together. A longer text, such as a line of thousands of equal characters, is
/// not a ligature.
pub(crate) const MAX_CELLS: usize = 256;

/// Shapes text. Caches the glyphs of single characters and clusters, so that plain rows need no shaping.
#[derive(Default)]
pub(crate) struct Shaper {
    ascii: [Vec<Option<CellGlyph>>; 12],
    chars: FxHashMap<(char, Form, u8), Arc<[PlacedGlyph]>>,
    clusters: FxHashMap<(Arc<str>, Form, u8), Arc<[PlacedGlyph]>>,
    /// Ligatures of texts, by [`Form::index`].
    texts: [FxHashMap<Box<str>, Arc<[Group]>>; 12],
    buffer: Option<UnicodeBuffer>,
}

/// The maximum number of clusters to cache before the cache is cleared. Without a limit, a hostile program could fill
/// memory.
const MAX_CLUSTERS: usize = 1 << 12;
/// The maximum number of single characters to cache before the cache is cleared.
const MAX_CHARS: usize = 1 << 15;

impl Shaper {
    pub(crate) fn clear(&mut self) {
        self.ascii = Default::default();
        self.chars.clear();
        self.clusters.clear();
        self.texts.iter_mut().for_each(FxHashMap::clear);
    }

    /// The glyph of a printable ASCII character, if it is a single glyph at its cell's origin.
    pub(crate) fn ascii(
        &mut self,
        c: char,
        form: Form,
        fonts: &mut Fonts,
        glyphs: &mut GlyphCache,
    ) -> Option<CellGlyph> {
        let index = form.index()?;
        let table = &mut self.ascii[index];
        if table.is_empty() {
            table.resize(128, None);
        }
        if let Some(known) = table.get(c as usize)? {
            return Some(*known);
        }
        let placed = self.char(c, form, 1, fonts, glyphs);
        match *placed {
            [PlacedGlyph { glyph, dx: 0, dy: 0, .. }] => {
                let picture = glyphs.get(glyph);
                let (left, top, width) = (picture.left, picture.top, picture.columns());
                let placed = Some(CellGlyph { glyph, left, top, width });
                self.ascii[index][c as usize] = placed;
                placed
            }
            _ => None,
        }
    }

    /// The glyphs of one character that covers `cells` columns.
    pub(crate) fn char(
        &mut self,
        c: char,
        form: Form,
        cells: u8,
        fonts: &mut Fonts,
        glyphs: &mut GlyphCache,
    ) -> Arc<[PlacedGlyph]> {
        let key = (c, form, cells);
        if let Some(placed) = self.chars.get(&key) {
            return placed.clone();
        }
        let drawn = Sprite::of_char(c).filter(|_| !fonts.is_mapped(c));
        let placed: Arc<[_]> = match drawn {
            Some(sprite) => {
                let glyph =
                    glyphs.id(GlyphKey::Sprite { sprite, cells, stretch: form.stretch }, fonts);
                Arc::new([PlacedGlyph { glyph, cluster: 0, dx: 0, dy: 0 }])
            }
            None => {
                let mut bytes = [0; 4];
                let text: &str = c.encode_utf8(&mut bytes);
                self.shape(&[(text, cells)], form, fonts, glyphs).into()
            }
        };
        if self.chars.len() >= MAX_CHARS {
            self.chars.clear();
        }
        self.chars.insert(key, placed.clone());
        placed
    }

    /// The glyphs of one cluster of several code points.
    pub(crate) fn cluster(
        &mut self,
        text: &Arc<str>,
        form: Form,
        cells: u8,
        fonts: &mut Fonts,
        glyphs: &mut GlyphCache,
    ) -> Arc<[PlacedGlyph]> {
        let key = (text.clone(), form, cells);
        if let Some(placed) = self.clusters.get(&key) {
            return placed.clone();
        }
        if self.clusters.len() >= MAX_CLUSTERS {
            self.clusters.clear();
        }
        let placed: Arc<[_]> = self.shape(&[(text, cells)], form, fonts, glyphs).into();
        self.clusters.insert(key, placed.clone());
        placed
    }

    /// Shapes a run of adjacent clusters (text and columns of each) in one style, with the face of the first cluster.
    /// Glyphs are snapped to the cell of their cluster.
    pub(crate) fn shape(
        &mut self,
        run: &[(&str, u8)],
        form: Form,
        fonts: &mut Fonts,
        glyphs: &mut GlyphCache,
    ) -> Vec<PlacedGlyph> {
        let Some((first, cells)) = run.first() else { return Vec::new() };
        if first.is_empty() {
            return Vec::new();
        }
        let id = fonts.face_for_text(first, form.face, wants_emoji(first, *cells));
        let face = fonts.face(id);
        let mut buffer = self.buffer.take().unwrap_or_default();
        for (cluster, (text, _)) in run.iter().enumerate() {
            for c in text.chars() {
                buffer.add(c, cluster as u32);
            }
        }
        // Cells are laid out from left to right for every script. Only within one cell, glyphs follow the direction of
        // their script. For a single cell, set no direction, so that `guess_segment_properties` chooses it.
        if run.len() > 1 {
            buffer.set_direction(Direction::LeftToRight);
        }
        buffer.guess_segment_properties();
        let is_rtl = buffer.direction() == Direction::RightToLeft;
        if !is_rtl {
            buffer.set_direction(Direction::LeftToRight);
        }
        let shaped = face.font.shaper().shape(buffer, &fonts.features);
        let upem = f32::from(face.font.metrics().units_per_em).max(1.0);
        let mut size = fonts.pixels;
        let primary = face.primary;
        let only_marks: Vec<bool> =
            run.iter().map(|(text, _)| text.chars().skip(1).all(is_combining)).collect();
        let is_mark = |i: usize| {
            let cluster = shaped.glyph_infos()[i].cluster;
            i > 0 && shaped.glyph_infos()[i - 1].cluster == cluster && only_marks[cluster as usize]
        };
        // The number of pixels before the glyphs of right-to-left text, before stretching.
        let mut indent = 0.0;
        if !primary {
            // The face was made for other cell sizes, so shrink text that would overlap its neighbors.
            let advance: i32 = (0..shaped.len())
                .filter(|i| !is_mark(*i))
                .map(|i| shaped.glyph_positions()[i].x_advance)
                .sum();
            let room = fonts.metrics.width * run.iter().map(|(_, n)| u32::from(*n)).sum::<u32>();
            let width = advance as f32 * size / upem;
            if width > room as f32 * 1.05 {
                size = (size * room as f32 / width).max(4.0);
            } else if is_rtl {
                // A letter that joins one neighbor touches it. A letter that joins both neighbors is centered.
                let share = match (first.starts_with(JOINER), first.ends_with(JOINER)) {
                    (true, false) => 1.0,
                    (false, true) => 0.0,
                    _ => 0.5,
                };
                indent = (room as f32 - width).max(0.0) * share;
            }
        }
        // Lay everything out in unstretched cells. Stretch each glyph when it is placed.
        let (across, down) = form.stretch.factors();
        let scale = size / upem;
        let (scale_x, scale_y) = (scale * across, scale * down);
        let cell = fonts.metrics.stretched(form.stretch).width as i32;
        let mut starts = Vec::with_capacity(run.len());
        let mut column = 0i32;
        for (_, cells) in run {
            starts.push(column * cell);
            column += i32::from(*cells);
        }
        let mut placed = Vec::with_capacity(shaped.len());
        // The pictures of one cluster. There are several if the font has no single picture for an emoji sequence.
        let mut pictures: Vec<(usize, GlyphKey)> = Vec::new();
        // The pen position from the start of the current cluster. All glyphs of a ligature belong to its first cell.
        let (mut pen, mut current) = (0i32, u32::MAX);
        for (i, (info, position)) in
            shaped.glyph_infos().iter().zip(shaped.glyph_positions()).enumerate()
        {
            if info.cluster != current {
                current = info.cluster;
                pen = 0;
            } else if info.glyph_id == 0 && !is_rtl {
                // The face lacks this mark. The base alone is clearer than a box over the neighbors.
                continue;
            }
            if is_rtl && info.glyph_id == 0 && i + 1 < shaped.len() {
                // The face lacks this mark. In right-to-left text, marks precede their base. The base alone is clearer
                // than a box over the neighbors.
                continue;
            }
            let cluster = info.cluster as usize;
            let cells = run[cluster].1;
            let key = GlyphKey::Font {
                face: id,
                glyph: info.glyph_id as u16,
                size: size.to_bits(),
                fit: cells,
                stretch: form.stretch,
            };
            let offset = (pen + position.x_offset) as f32 * scale_x;
            let mut dx = (offset + indent * across).round() as i32;
            let dy = -(position.y_offset as f32 * scale_y).round() as i32;
            let icon = run[cluster].0.chars().next().is_some_and(is_icon);
            if !primary && cells == 2 && shaped.len() == 1 && !icon {
                // Center a wide character in its two cells if it comes from a fallback font.
                let room = 2 * cell;
                let advance = (position.x_advance as f32 * scale_x).round() as i32;
                if advance > 0 && advance < room {
                    dx += (room - advance) / 2;
                }
            }
            let glyph = glyphs.id(key, fonts);
            let picture = glyphs.get(glyph);
            let room = i32::from(run[cluster].1) * cell;
            if is_mark(i) && dx + picture.left + picture.width as i32 / 2 >= room {
                // Monospace fonts draw marks where the next character would be. Move the mark back over its base.
                dx -= (pen as f32 * scale_x).round() as i32;
            }
            pen += position.x_advance;
            if picture.width > 0 && picture.height > 0 {
                let dx = if picture.color { 0 } else { dx };
                if picture.color {
                    pictures.push((placed.len(), key));
                }
                placed.push(PlacedGlyph {
                    glyph,
                    cluster: info.cluster as u16,
                    dx: (starts[cluster] + dx) as i16,
                    dy: dy as i16,
                });
            }
        }
        self.buffer = Some(shaped.clear());
        if run.len() == 1 && pictures.len() > 1 && *cells == 2 {
            // Show the first two pictures side by side, one column each.
            for (column, (at, key)) in pictures.iter().take(2).enumerate() {
                let glyph = glyphs.id(key.fitting(1), fonts);
                placed[*at] = PlacedGlyph { glyph, dx: column as i16 * cell as i16, ..placed[*at] };
            }
            let first: Vec<_> = pictures.iter().map(|(at, _)| *at).collect();
            let mut at = 0;
            placed.retain(|_| {
                at += 1;
                !first[2..].contains(&(at - 1))
            });
        }
        placed
    }
}
