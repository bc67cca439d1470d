//! Multicell characters (OSC 66). Each row draws its part of a character, with glyphs rasterized at their final size.

use unterm_term::{Align, Attrs, MulticellPart, Style, Underline, text_clusters};

use super::{Line, ResolvedColors, RowBuilder, whole};
use crate::CellMetrics;
use crate::font::{Factor, Stretch};
use crate::fonts::FaceStyle;
use crate::frame::{Fill, FrameRow, GlyphInstance};
use crate::glyph::GlyphId;
use crate::glyph_cache::GlyphKey;
use crate::shape::Form;
use crate::sprite::Sprite;

/// The part of a multicell character that a row shows, in pixels, and the text's position relative to the row's top
/// left corner.
struct Area {
    left: i32,
    width: u32,
    height: u32,
    text: (i32, i32),
}

impl Area {
    /// Adds the part of a glyph that lies inside the area.
    fn glyph(&self, glyph: GlyphInstance, height: u32, out: &mut Vec<GlyphInstance>) {
        let left = glyph.x.max(self.left);
        let right = (glyph.x + i32::from(glyph.width)).min(self.left + self.width as i32);
        let is_seen = glyph.y < self.height as i32 && glyph.y + height as i32 > 0;
        if left < right && is_seen {
            let cut = (left - glyph.x) as u16;
            out.push(GlyphInstance { x: left, left: cut, width: (right - left) as u16, ..glyph });
        }
    }

    /// Adds the part of a full-width line that lies inside the area. `y` counts from the text's top.
    fn stroke(&self, y: u32, thickness: u32, color: unterm_term::Rgb, out: &mut Vec<Fill>) {
        let top = self.text.1 + y as i32;
        let bottom = (top + thickness as i32).min(self.height as i32);
        let top = top.max(0);
        if top < bottom {
            let height = (bottom - top) as u32;
            out.push(Fill { x: self.left, y: top, width: self.width, height, color });
        }
    }
}

/// The number of pixels before a text that is `taken` pixels wide, in a space of `room` pixels.
fn before(align: Align, room: u32, taken: u32) -> i32 {
    let left = room as i32 - taken as i32;
    match align {
        Align::Start => 0,
        Align::End => left,
        Align::Center => left / 2,
    }
}

impl RowBuilder<'_> {
    /// Draws a row's part of a multicell character, except its background.
    pub(super) fn multicell(
        &mut self,
        part: &MulticellPart,
        underline: Underline,
        style: &Style,
        look: ResolvedColors,
        alpha: u8,
        line: &mut Line<'_>,
    ) {
        let cell = self.fonts.metrics;
        let size = part.size;
        let clusters: Vec<(&str, usize)> = text_clusters(&part.text).collect();
        let columns: usize = clusters.iter().map(|(_, columns)| columns).sum();
        let fraction = size.fraction();
        let mut factor = f32::from(size.scale());
        if let Some((numerator, denominator)) = fraction {
            factor *= f32::from(numerator) / f32::from(denominator);
        }
        // Shrink text that is too long for its block.
        let is_shrunk = columns as f32 * factor > f32::from(size.columns());
        if is_shrunk {
            factor = f32::from(size.columns()) / columns as f32;
        }
        let factor = Factor::new(factor);
        let metrics = cell.scaled(factor);
        let (width, height) = (line.width(size.columns()), cell.height * u32::from(size.rows()));
        let (vertical, horizontal) = match fraction {
            Some(_) => (size.vertical(), size.horizontal()),
            None if is_shrunk => (Align::Center, Align::Start),
            None => (Align::Start, Align::Start),
        };
        let across = |columns: usize| (columns as f32 * cell.width as f32 * factor.value()).round();
        let left = line.x(part.col);
        let top =
            before(vertical, height, metrics.height) - i32::from(part.row) * cell.height as i32;
        let text = (left + before(horizontal, width, across(columns) as u32), top);
        let area = Area { left, width, height: cell.height, text };
        let form = Form {
            face: FaceStyle::new(
                style.attrs.contains(Attrs::BOLD),
                style.attrs.contains(Attrs::ITALIC),
            ),
            stretch: Stretch::Scaled(factor),
        };
        let mut at = 0;
        for (cluster, columns) in clusters {
            let mut chars = cluster.chars();
            let x = text.0 + across(at) as i32;
            at += columns;
            let placed = match (chars.next(), chars.next()) {
                (Some(c), None) => {
                    if let Some(glyph) = self.registered_glyph(c) {
                        let (cells, color) = (columns as u8, look.foreground);
                        let id =
                            self.glyphs.registered(&glyph, cells, form.stretch, color, self.fonts);
                        match id {
                            Some(id) => {
                                self.draw(id, (x, text.1), (color, look), alpha, &area, line);
                            }
                            None => self.is_unfinished = true,
                        }
                        continue;
                    }
                    self.shaper.char(c, form, columns as u8, self.fonts, self.glyphs)
                }
                _ => {
                    let text = cluster.into();
                    self.shaper.cluster(&text, form, columns as u8, self.fonts, self.glyphs)
                }
            };
            for glyph in placed.iter() {
                let place = (x + i32::from(glyph.dx), text.1 + i32::from(glyph.dy));
                self.draw(glyph.glyph, place, (look.foreground, look), alpha, &area, line);
            }
        }
        self.underline(underline, &metrics, &area, look, factor, line);
        if style.attrs.contains(Attrs::STRIKE) {
            area.stroke(metrics.strike, metrics.thickness, look.foreground, &mut line.out.over);
        }
        if style.attrs.contains(Attrs::OVERLINE) {
            area.stroke(0, metrics.thickness, look.foreground, &mut line.out.over);
        }
    }

    fn draw(
        &mut self,
        glyph: GlyphId,
        at: (i32, i32),
        (color, look): (unterm_term::Rgb, ResolvedColors),
        alpha: u8,
        area: &Area,
        line: &mut Line<'_>,
    ) {
        let picture = self.glyphs.get(glyph);
        let alpha = self.opacity(picture.color, alpha);
        let at = (at.0 + picture.left, at.1 + picture.top);
        let instance = whole(glyph, picture.columns(), at, (color, look.background), alpha);
        let glyphs = if picture.color { &mut line.pictures } else { &mut line.out.glyphs };
        area.glyph(instance, picture.height, glyphs);
    }

    fn underline(
        &mut self,
        underline: Underline,
        metrics: &CellMetrics,
        area: &Area,
        look: ResolvedColors,
        factor: Factor,
        line: &mut Line<'_>,
    ) {
        let FrameRow { under, .. } = &mut line.out;
        let color = look.underline;
        let sprite = match underline {
            Underline::None => return,
            Underline::Single => {
                return area.stroke(metrics.underline, metrics.thickness, color, under);
            }
            Underline::Double => {
                let lowest = metrics.height.saturating_sub(metrics.thickness);
                let second = (metrics.underline + 2 * metrics.thickness).min(lowest);
                let first = second.saturating_sub(2 * metrics.thickness);
                area.stroke(first, metrics.thickness, color, under);
                return area.stroke(second, metrics.thickness, color, under);
            }
            Underline::Curly => Sprite::Curly,
            Underline::Dotted => Sprite::Dotted,
            Underline::Dashed => Sprite::Dashed,
        };
        let key = GlyphKey::Sprite { sprite, cells: 1, stretch: Stretch::Scaled(factor) };
        let glyph = self.glyphs.id(key, self.fonts);
        for x in (0..area.width).step_by(metrics.width as usize) {
            let at = (area.left + x as i32, area.text.1);
            self.draw(glyph, at, (color, look), 255, area, line);
        }
    }
}
