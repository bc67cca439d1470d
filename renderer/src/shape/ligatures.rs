//! Finds the cells of a text that ligatures and other joined glyphs cover.
//!
//! Cells form a group only if they look different together than drawn one by one. All other cells are drawn cell by
//! cell, so that text stays on the grid and plain text needs no shaping.

use std::sync::Arc;

use super::{Form, Group, Shaper};
use crate::fonts::Fonts;
use crate::glyph_cache::GlyphCache;

/// Texts to cache before the cache is cleared.
const MAX_TEXTS: usize = 1 << 12;

impl Shaper {
    /// The groups in a text of narrow characters that occupy one cell each.
    pub(crate) fn groups(
        &mut self,
        text: &str,
        form: Form,
        fonts: &mut Fonts,
        glyphs: &mut GlyphCache,
    ) -> Arc<[Group]> {
        // Multicell characters form no groups.
        let Some(index) = form.index() else { return Arc::new([]) };
        if let Some(known) = self.texts[index].get(text) {
            return known.clone();
        }
        let groups: Arc<[_]> = self.find_groups(text, form, fonts, glyphs).into();
        let texts = &mut self.texts[index];
        if texts.len() >= MAX_TEXTS {
            texts.clear();
        }
        texts.insert(text.into(), groups.clone());
        groups
    }

    fn find_groups(
        &mut self,
        text: &str,
        form: Form,
        fonts: &mut Fonts,
        glyphs: &mut GlyphCache,
    ) -> Vec<Group> {
        let cells: Vec<(&str, u8)> =
            text.char_indices().map(|(at, c)| (&text[at..at + c.len_utf8()], 1)).collect();
        let placed = self.shape(&cells, form, fonts, glyphs);
        let width = fonts.metrics.stretched(form.stretch).width as i32;
        let count = cells.len();
        // For each cell: whether it looks as if drawn alone (`same`), and whether it is joined to the cell before it
        // (`joined`).
        let mut same = vec![false; count];
        let mut joined = vec![false; count + 1];
        let own = |cell: usize| placed.iter().filter(move |p| usize::from(p.cluster) == cell);
        for (cell, c) in text.chars().enumerate() {
            let alone = self.char(c, form, 1, fonts, glyphs);
            let at = (cell as i32 * width) as i16;
            same[cell] = own(cell).count() == alone.len()
                && own(cell)
                    .zip(alone.iter())
                    .all(|(a, b)| (a.glyph, a.dx.wrapping_sub(at), a.dy) == (b.glyph, b.dx, b.dy));
        }
        for cell in (0..count).filter(|cell| !same[*cell]) {
            for glyph in own(cell) {
                let picture = glyphs.get(glyph.glyph);
                let left = i32::from(glyph.dx) + picture.left;
                // A glyph may overhang its cell by this much without joining the next cell.
                let slack = width / 5;
                let last = count as i32 - 1;
                let from = ((left + slack).div_euclid(width)).clamp(0, cell as i32);
                let to = left + picture.width as i32 - 1 - slack;
                let to = to.div_euclid(width).clamp(cell as i32, last);
                for after in from + 1..=to {
                    joined[after as usize] = true;
                }
            }
        }
        // An empty cell exists only to make room for a neighbor's glyph. If no glyph reaches into it, join it with the
        // next cell.
        for cell in 0..count {
            let empty = !same[cell] && own(cell).next().is_none();
            if empty && !joined[cell] && !joined[cell + 1] {
                let after = if cell + 1 < count { cell + 1 } else { cell };
                joined[after] = after > 0;
            }
        }
        joined[count] = false;
        let mut groups = Vec::new();
        let mut start = 0;
        for end in 1..=count {
            if joined[end] {
                continue;
            }
            if same[start..end].contains(&false) {
                let glyphs = (start..end).flat_map(|cell| own(cell).copied()).collect();
                let (start, cells) = (start as u16, (end - start) as u16);
                groups.push(Group { start, cells, glyphs });
            }
            start = end;
        }
        groups
    }
}
