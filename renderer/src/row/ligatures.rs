//! Ligatures of a row. Finds the cells that are drawn together, and draws each part of a ligature in its cell's color.

use unterm_term::{Attrs, Content, Width};

use super::{Ink, Ligature, Line, RowBuilder};
use crate::fonts::FaceStyle;
use crate::frame::GlyphInstance;
use crate::shape::{Form, MAX_CELLS};

impl RowBuilder<'_> {
    /// Finds adjacent cells of one face whose characters are drawn together, whatever their colors.
    pub(super) fn find_ligatures(&mut self, line: &mut Line<'_>) {
        let mut text = String::new();
        let mut start = 0u16;
        let mut form = Form { stretch: line.stretch, ..Form::default() };
        let mut next = 0u16;
        for run in &line.row.styles {
            let attrs = run.style.attrs;
            let face = FaceStyle::new(attrs.contains(Attrs::BOLD), attrs.contains(Attrs::ITALIC));
            let shown = self.is_shown(&run.style);
            let end = run.end.min(line.cols).min(line.end);
            for col in run.start..end {
                let cell = line.row.cells[usize::from(col)];
                let c = match cell.content() {
                    _ if cell.is_multicell() => ' ',
                    Content::Char(c) if cell.width() == Width::Narrow => c,
                    _ => ' ',
                };
                let part = c != ' '
                    && shown
                    && !line.hidden.contains(&col)
                    && self.registered_glyph(c).is_none()
                    && self.fonts.takes_part(c, face);
                let is_long = text.len() >= MAX_CELLS;
                if !part || face != form.face || col != next || is_long {
                    self.add_ligatures(&mut text, start, form, line);
                }
                if part {
                    if text.is_empty() {
                        (start, form.face) = (col, face);
                    }
                    text.push(c);
                    next = col + 1;
                }
            }
        }
        self.add_ligatures(&mut text, start, form, line);
    }

    /// Adds the ligatures of a text that begins in column `start`, and clears the text.
    pub(super) fn add_ligatures(
        &mut self,
        text: &mut String,
        start: u16,
        form: Form,
        line: &mut Line<'_>,
    ) {
        // A single character forms no ligature.
        if text.len() > 1 {
            let found = self.shaper.groups(text, form, self.fonts, self.glyphs);
            let apart = line.state.apart;
            for (index, group) in found.iter().enumerate() {
                let first = start + group.start;
                let columns = first..first + group.cells;
                if apart.is_none_or(|col| !columns.contains(&col)) {
                    let (text, inks) = (found.clone(), Vec::with_capacity(columns.len()));
                    line.ligatures.push(Ligature { columns, start, text, group: index, inks });
                }
            }
        }
        text.clear();
    }

    /// Draws the ligatures of a line. The part of a ligature in each cell is drawn in the cell's color.
    pub(super) fn draw_ligatures(&mut self, line: &mut Line<'_>) {
        for found in std::mem::take(&mut line.ligatures) {
            let origin = line.x(found.start);
            // Adjacent cells with the same colors form one part. The outer parts include what the glyph draws beyond
            // its cells.
            let mut parts: Vec<(i32, i32, Ink)> = Vec::new();
            for (col, ink) in found.columns.clone().zip(&found.inks) {
                match parts.last_mut() {
                    Some((_, to, last)) if last == ink => *to = line.x(col + 1),
                    _ => parts.push((line.x(col), line.x(col + 1), *ink)),
                }
            }
            let Some(last) = parts.len().checked_sub(1) else { continue };
            (parts[0].0, parts[last].1) = (i32::MIN, i32::MAX);
            for placed in &found.text[found.group].glyphs {
                let picture = self.glyphs.get(placed.glyph);
                let left = origin + i32::from(placed.dx) + picture.left;
                let y = picture.top + i32::from(placed.dy);
                let right = left + picture.width as i32;
                for (from, to, (color, background)) in &parts {
                    let (x, end) = (left.max(*from), right.min(*to));
                    if x < end {
                        line.out.glyphs.push(GlyphInstance {
                            glyph: placed.glyph,
                            x,
                            y,
                            left: (x - left) as u16,
                            width: (end - x) as u16,
                            color: *color,
                            background: *background,
                            alpha: 255,
                        });
                    }
                }
            }
        }
    }
}
