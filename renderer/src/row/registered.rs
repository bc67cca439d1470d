//! Glyphs that programs registered for code points of private use areas (the Glyph Protocol).

use std::sync::Arc;

use unterm_term::RegisteredGlyph;

use super::{Ink, Line, RowBuilder, whole};
use crate::chars::is_private;
use crate::frame::GlyphInstance;

impl RowBuilder<'_> {
    /// The glyph that a program registered for this character.
    pub(super) fn registered_glyph(&mut self, c: char) -> Option<Arc<RegisteredGlyph>> {
        if !is_private(c) {
            return None;
        }
        self.has_private = true;
        self.registered.get(c).cloned()
    }

    /// Draws a registered glyph at a column of `cells` cells. It may extend over blank cells on both sides, but never over
    /// other text: a program must not change how that looks.
    pub(super) fn registered(
        &mut self,
        glyph: &RegisteredGlyph,
        col: u16,
        cells: u8,
        ink: Ink,
        alpha: u8,
        line: &mut Line<'_>,
    ) {
        let id = self.glyphs.registered(glyph, cells, line.stretch, ink.0, self.fonts);
        let Some(id) = id else {
            self.is_unfinished = true;
            return;
        };
        let picture = self.glyphs.get(id);
        let alpha = self.opacity(picture.color, alpha);
        let span = u16::from(cells.max(glyph.placement().cells));
        let before = (1..=span).take_while(|n| *n <= col && line.is_blank(col - n)).count();
        let next = col + u16::from(cells);
        let after = (next..col + 2 * span).take_while(|col| line.is_blank(*col)).count();
        let (first, last) = (line.x(col - before as u16), line.x(next + after as u16));
        let x = line.x(col) + picture.left;
        let (from, to) = (x.max(first), (x + picture.width as i32).min(last));
        if from < to {
            let glyph = whole(id, (to - from) as u16, (from, picture.top), ink, alpha);
            let glyph = GlyphInstance { left: (from - x) as u16, ..glyph };
            let glyphs = if picture.color { &mut line.pictures } else { &mut line.out.glyphs };
            glyphs.push(glyph);
        }
    }
}
