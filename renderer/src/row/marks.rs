//! Everything a row shows besides its characters: backgrounds, lines under, over and through text, the cursor, and
//! composed text.

use unterm_term::{Attrs, Rgb, SnapshotRow, Style, Underline};

use super::cursor::bar_width;
use super::{CursorColors, Line, ResolvedColors, RowBuilder};
use crate::frame::Fill;
use crate::glyph_cache::GlyphKey;
use crate::preedit::PreeditCells;
use crate::shape::{Form, PlacedGlyph};
use crate::sprite::Sprite;

impl RowBuilder<'_> {
    /// Fills a cell's background if its color differs from the pane's background, or if the cell is `marked`. Widens
    /// the previous fill if that fill is adjacent and of the same color.
    pub(super) fn background(
        &self,
        col: u16,
        cells: u8,
        color: Rgb,
        marked: bool,
        line: &mut Line<'_>,
    ) {
        if !marked && color == self.colors.background() {
            return;
        }
        let height = line.metrics.height;
        let (x, width) = (line.x(col), line.width(u16::from(cells)));
        // Draw a mark (selection or search match) over images, so that it stays visible. Other backgrounds lie under
        // images.
        let fills = if marked { &mut line.out.under } else { &mut line.out.backgrounds };
        if let Some(last) = fills.last_mut()
            && last.height == height
            && last.color == color
            && last.x + last.width as i32 == x
        {
            last.width += width;
            return;
        }
        fills.push(Fill { x, y: 0, width, height, color });
    }

    pub(super) fn decorate(
        &mut self,
        col: u16,
        cells: u8,
        underline: Underline,
        style: &Style,
        look: ResolvedColors,
        line: &mut Line<'_>,
    ) {
        let metrics = line.metrics;
        let (x, width) = (line.x(col), line.width(u16::from(cells)));
        let stroke = |y: u32, color: Rgb| Fill {
            x,
            y: y as i32,
            width,
            height: metrics.thickness.min(metrics.height - y.min(metrics.height)),
            color,
        };
        let mut sprite = None;
        match underline {
            Underline::None => {}
            Underline::Single => line.out.under.push(stroke(metrics.underline, look.underline)),
            Underline::Double => {
                // A double underline: two lines, one thickness apart, moved up if they would leave the cell.
                let lowest = metrics.height.saturating_sub(metrics.thickness);
                let second = (metrics.underline + 2 * metrics.thickness).min(lowest);
                let first = second.saturating_sub(2 * metrics.thickness);
                line.out.under.push(stroke(first, look.underline));
                line.out.under.push(stroke(second, look.underline));
            }
            Underline::Curly => sprite = Some(Sprite::Curly),
            Underline::Dotted => sprite = Some(Sprite::Dotted),
            Underline::Dashed => sprite = Some(Sprite::Dashed),
        }
        if let Some(sprite) = sprite {
            let key = GlyphKey::Sprite { sprite, cells, stretch: line.stretch };
            let glyph = self.glyphs.id(key, self.fonts);
            let placed = PlacedGlyph { glyph, cluster: 0, dx: 0, dy: 0 };
            self.place(&[placed], col, (look.underline, look.background), 255, line);
        }
        if style.attrs.contains(Attrs::STRIKE) {
            line.out.over.push(stroke(metrics.strike, look.foreground));
        }
        if style.attrs.contains(Attrs::OVERLINE) {
            line.out.over.push(stroke(0, look.foreground));
        }
    }

    /// The look of a cell under a block cursor.
    pub(super) fn block_look(
        &self,
        cursor: CursorColors,
        colors: crate::color::CellColors,
    ) -> ResolvedColors {
        let background = self.colors.dimmed(cursor.cursor.unwrap_or(colors.foreground));
        let foreground = self.colors.dimmed(cursor.text.unwrap_or(colors.background));
        // A program can set cursor and text to the same color, but the text must stay visible.
        let foreground =
            if foreground == background { self.colors.background() } else { foreground };
        ResolvedColors { foreground, exact: foreground, background, underline: foreground }
    }

    /// The color of a cursor that doesn't cover its cell: a bar, an underline or an outline.
    pub(super) fn cursor_color(&self, cursor: CursorColors, row: &SnapshotRow, col: u16) -> Rgb {
        let color = cursor.cursor.unwrap_or_else(|| {
            let run = row.styles.iter().find(|run| run.start <= col && col < run.end);
            run.map_or(self.colors.foreground(), |run| self.colors.cell(&run.style).foreground)
        });
        self.colors.dimmed(color)
    }

    /// Draws composed text in the pane's default colors, underlined, with the input method's cursor as a bar.
    pub(super) fn preedit(&mut self, preedit: &PreeditCells, line: &mut Line<'_>) {
        let foreground = self.colors.dimmed(self.colors.foreground());
        let metrics = line.metrics;
        let form = Form { stretch: line.stretch, ..Form::default() };
        let ink = (foreground, self.colors.background());
        for piece in &preedit.pieces {
            let placed =
                self.shaper.cluster(&piece.text, form, piece.cells, self.fonts, self.glyphs);
            self.place(&placed, piece.col, ink, 255, line);
        }
        let columns = &preedit.columns;
        let stroke = Fill {
            x: line.x(columns.start),
            y: metrics.underline as i32,
            width: line.width(columns.end - columns.start),
            height: metrics.thickness,
            color: foreground,
        };
        line.out.under.push(stroke);
        if let Some(marked) = &preedit.cursor {
            let color = self.colors.dimmed(self.colors.palette.cursor.unwrap_or(foreground));
            let x = line.x(marked.start);
            if marked.is_empty() {
                let (width, height) = (bar_width(&metrics), metrics.height);
                line.out.over.push(Fill { x, y: 0, width, height, color });
            } else {
                // The part of the text that the input method is converting has a thicker underline.
                let height = (2 * metrics.thickness).min(metrics.height);
                let y = (metrics.underline).min(metrics.height - height) as i32;
                let width = line.width(marked.end - marked.start);
                line.out.under.push(Fill { x, y, width, height, color });
            }
        }
    }
}
