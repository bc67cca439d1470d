//! One row of a snapshot into one row of a frame.

use std::ops::Range;
use std::sync::Arc;

use unterm_term::{
    Attrs, Content, CursorShape, Link, Rgb, SnapshotRow, Style, StyleRun, Underline, Width,
};

use crate::CellMetrics;
use crate::color::{FAINT, PaneColors};
use crate::fonts::{FaceStyle, Fonts};
use crate::frame::{Fill, FrameRow, GlyphInstance};
use crate::glyph::{GlyphCache, GlyphKey};
use crate::preedit::PreeditCells;
use crate::shape::{PlacedGlyph, Shaper};
use crate::sprite::Sprite;

/// How the cursor is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CursorLook {
    Block,
    Hollow,
    Bar,
    Underline,
}

impl CursorLook {
    pub(crate) fn new(shape: CursorShape, focused: bool) -> Self {
        match shape {
            _ if !focused => Self::Hollow,
            CursorShape::Default | CursorShape::Block => Self::Block,
            CursorShape::Bar => Self::Bar,
            CursorShape::Underline => Self::Underline,
        }
    }
}

/// What a row shows beside its own content; a row is kept while its content and this stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowState {
    /// Selected columns.
    pub(crate) selected: Option<Range<u16>>,
    /// Columns that a search found, and whether they are those looked at.
    pub(crate) highlights: Vec<(Range<u16>, bool)>,
    /// Column and form of the cursor.
    pub(crate) cursor: Option<(u16, CursorLook)>,
    /// The link under the pointer, if this row has cells of it.
    pub(crate) hovered: Option<Link>,
    /// Text being composed over this row's cells.
    pub(crate) preedit: Option<Arc<PreeditCells>>,
}

/// What rows are built with.
pub(crate) struct RowBuilder<'a> {
    pub(crate) fonts: &'a mut Fonts,
    pub(crate) glyphs: &'a mut GlyphCache,
    pub(crate) shaper: &'a mut Shaper,
    pub(crate) colors: PaneColors<'a>,
    /// Blinking text is in its visible half.
    pub(crate) blink_on: bool,
}

/// Colours and looks of one cell after everything has been applied.
#[derive(Clone, Copy)]
struct Look {
    foreground: Rgb,
    background: Rgb,
    underline: Rgb,
}

impl RowBuilder<'_> {
    pub(crate) fn build(&mut self, row: &SnapshotRow, cols: u16, state: &RowState) -> FrameRow {
        let mut out = FrameRow::default();
        let metrics = self.fonts.metrics;
        let preedit = state.preedit.as_deref();
        let hidden = preedit.map_or(0..0, |preedit| preedit.columns.clone());
        let cursor = state.cursor.map(|(col, look)| (cursor_columns(row, col), look));
        let block = match &cursor {
            Some((columns, CursorLook::Block)) => columns.clone(),
            _ => 0..0,
        };
        for run in &row.styles {
            self.run(row, run, cols, state, &hidden, &block, &mut out);
        }
        if let Some(preedit) = preedit {
            self.preedit(preedit, &metrics, &mut out);
        }
        if let Some((columns, look)) = cursor
            && look != CursorLook::Block
        {
            let color = self.cursor_color(row, columns.start);
            outline(look, columns, color, &metrics, &mut out.over);
        }
        out
    }

    #[allow(clippy::too_many_arguments)] // The pieces of one row; a struct of them would only rename them.
    fn run(
        &mut self,
        row: &SnapshotRow,
        run: &StyleRun,
        cols: u16,
        state: &RowState,
        hidden: &Range<u16>,
        block: &Range<u16>,
        out: &mut FrameRow,
    ) {
        let style = &run.style;
        let plain = self.colors.cell(style);
        let selected = self.colors.selected(style);
        let hovered = state.hovered.is_some() && run.link.as_deref() == state.hovered.as_ref();
        let dim = |colors: crate::color::CellColors, this: &Self| Look {
            foreground: this.colors.dimmed(colors.foreground),
            background: this.colors.dimmed(colors.background),
            underline: this.colors.dimmed(colors.underline),
        };
        let (plain_look, selected_look) = (dim(plain, self), dim(selected, self));
        let face =
            FaceStyle::new(style.attrs.contains(Attrs::BOLD), style.attrs.contains(Attrs::ITALIC));
        let shown = !style.attrs.contains(Attrs::HIDDEN)
            && (self.blink_on || !style.attrs.contains(Attrs::BLINK));
        let alpha = if style.attrs.contains(Attrs::DIM) { 255 - FAINT } else { 255 };
        let underline = match style.underline {
            Underline::None if hovered => Underline::Single,
            underline => underline,
        };
        let decorated = shown
            && (underline != Underline::None
                || style.attrs.intersects(Attrs::STRIKE | Attrs::OVERLINE));
        let mut col = run.start;
        let end = run.end.min(cols).min(row.cells.len() as u16);
        while col < end {
            let cell = row.cells[usize::from(col)];
            let wide = cell.width() == Width::Wide && col + 1 < cols;
            let cells: u8 = if wide { 2 } else { 1 };
            let next = col + u16::from(cells);
            if hidden.contains(&col) {
                col = next;
                continue;
            }
            let is_selected =
                state.selected.as_ref().is_some_and(|range| range.start < next && col < range.end);
            let mut is_marked = is_selected;
            let mut look = if is_selected { selected_look } else { plain_look };
            let highlight =
                state.highlights.iter().find(|(range, _)| range.start < next && col < range.end);
            if let Some((_, current)) = highlight.filter(|_| !is_selected) {
                look = dim(self.colors.highlighted(style, *current), self);
                is_marked = true;
            }
            if block.contains(&col) {
                look = self.block_look(if is_selected { selected } else { plain });
                is_marked = true;
            }
            // What is marked is so also where an image covers the cell's own background.
            let fills = if is_marked { &mut out.under } else { &mut out.backgrounds };
            self.background(col, cells, look.background, is_marked, fills);
            if decorated {
                self.decorate(col, cells, underline, style, look, out);
            }
            if shown {
                match cell.content() {
                    Content::Empty | Content::Char(' ') => {}
                    Content::Char(c) if c.is_ascii() && cells == 1 => {
                        let glyph = self.shaper.ascii(c, face, self.fonts, self.glyphs);
                        match glyph {
                            Some(glyph) => {
                                let picture = self.glyphs.get(glyph);
                                out.glyphs.push(GlyphInstance {
                                    glyph,
                                    x: i32::from(col) * self.fonts.metrics.width as i32
                                        + picture.left,
                                    y: picture.top,
                                    color: look.foreground,
                                    alpha: 255,
                                });
                            }
                            None => self.char(c, col, cells, face, look, alpha, out),
                        }
                    }
                    Content::Char(c) => self.char(c, col, cells, face, look, alpha, out),
                    Content::Cluster(_) => {
                        if let Ok(i) = row.clusters.binary_search_by_key(&col, |(c, _)| *c) {
                            let text = &row.clusters[i].1;
                            let placed =
                                self.shaper.cluster(text, face, cells, self.fonts, self.glyphs);
                            self.place(&placed, col, look.foreground, alpha, out);
                        }
                    }
                }
            }
            col = next;
        }
    }

    #[allow(clippy::too_many_arguments)] // As above.
    fn char(
        &mut self,
        c: char,
        col: u16,
        cells: u8,
        face: FaceStyle,
        look: Look,
        alpha: u8,
        out: &mut FrameRow,
    ) {
        let placed = self.shaper.char(c, face, cells, self.fonts, self.glyphs);
        self.place(&placed, col, look.foreground, alpha, out);
    }

    fn place(
        &mut self,
        placed: &[PlacedGlyph],
        col: u16,
        color: Rgb,
        alpha: u8,
        out: &mut FrameRow,
    ) {
        let x = i32::from(col) * self.fonts.metrics.width as i32;
        for placed in placed {
            let picture = self.glyphs.get(placed.glyph);
            let alpha = if picture.color {
                (u32::from(alpha) * u32::from(255 - self.colors.dim) / 255) as u8
            } else {
                255
            };
            out.glyphs.push(GlyphInstance {
                glyph: placed.glyph,
                x: x + picture.left + i32::from(placed.dx),
                y: picture.top + i32::from(placed.dy),
                color,
                alpha,
            });
        }
    }

    /// Paints a cell's background where it differs from the pane's, or is `marked` whatever its colour, joined with its
    /// neighbour's of the same colour.
    fn background(&self, col: u16, cells: u8, color: Rgb, marked: bool, fills: &mut Vec<Fill>) {
        if !marked && color == self.colors.background() {
            return;
        }
        let metrics = &self.fonts.metrics;
        let x = i32::from(col) * metrics.width as i32;
        let width = metrics.width * u32::from(cells);
        if let Some(last) = fills.last_mut()
            && last.height == metrics.height
            && last.color == color
            && last.x + last.width as i32 == x
        {
            last.width += width;
            return;
        }
        fills.push(Fill { x, y: 0, width, height: metrics.height, color });
    }

    fn decorate(
        &mut self,
        col: u16,
        cells: u8,
        underline: Underline,
        style: &Style,
        look: Look,
        out: &mut FrameRow,
    ) {
        let metrics = self.fonts.metrics;
        let line = |y: u32, color: Rgb| Fill {
            x: i32::from(col) * metrics.width as i32,
            y: y as i32,
            width: metrics.width * u32::from(cells),
            height: metrics.thickness.min(metrics.height - y.min(metrics.height)),
            color,
        };
        let mut sprite = None;
        match underline {
            Underline::None => {}
            Underline::Single => out.under.push(line(metrics.underline, look.underline)),
            Underline::Double => {
                // Two lines with a line's thickness between them, moved up where the cell ends.
                let lowest = metrics.height.saturating_sub(metrics.thickness);
                let second = (metrics.underline + 2 * metrics.thickness).min(lowest);
                let first = second.saturating_sub(2 * metrics.thickness);
                out.under.push(line(first, look.underline));
                out.under.push(line(second, look.underline));
            }
            Underline::Curly => sprite = Some(Sprite::Curly),
            Underline::Dotted => sprite = Some(Sprite::Dotted),
            Underline::Dashed => sprite = Some(Sprite::Dashed),
        }
        if let Some(sprite) = sprite {
            let glyph = self.glyphs.id(GlyphKey::Sprite { sprite, cells }, self.fonts);
            let placed = PlacedGlyph { glyph, cluster: 0, dx: 0, dy: 0 };
            self.place(&[placed], col, look.underline, 255, out);
        }
        if style.attrs.contains(Attrs::STRIKE) {
            out.over.push(line(metrics.strike, look.foreground));
        }
        if style.attrs.contains(Attrs::OVERLINE) {
            out.over.push(line(0, look.foreground));
        }
    }

    /// A cell under a block cursor.
    fn block_look(&self, colors: crate::color::CellColors) -> Look {
        let palette = self.colors.palette;
        let background = self.colors.dimmed(palette.cursor.unwrap_or(colors.foreground));
        let foreground = self.colors.dimmed(palette.cursor_text.unwrap_or(colors.background));
        // A program can make cursor and text the same colour; the text under it must still be seen.
        let foreground =
            if foreground == background { self.colors.background() } else { foreground };
        Look { foreground, background, underline: foreground }
    }

    /// Colour of a cursor that doesn't cover its cell.
    fn cursor_color(&self, row: &SnapshotRow, col: u16) -> Rgb {
        let color = self.colors.palette.cursor.unwrap_or_else(|| {
            let run = row.styles.iter().find(|run| run.start <= col && col < run.end);
            run.map_or(self.colors.foreground(), |run| self.colors.cell(&run.style).foreground)
        });
        self.colors.dimmed(color)
    }

    /// The text an input method is composing: the pane's own colours, underlined, its cursor a bar.
    fn preedit(&mut self, preedit: &PreeditCells, metrics: &CellMetrics, out: &mut FrameRow) {
        let foreground = self.colors.dimmed(self.colors.foreground());
        for piece in &preedit.pieces {
            let placed = self.shaper.cluster(
                &piece.text,
                FaceStyle::default(),
                piece.cells,
                self.fonts,
                self.glyphs,
            );
            self.place(&placed, piece.col, foreground, 255, out);
        }
        let x = |col: u16| i32::from(col) * metrics.width as i32;
        let columns = &preedit.columns;
        let width = |range: &Range<u16>| metrics.width * u32::from(range.end - range.start);
        out.under.push(Fill {
            x: x(columns.start),
            y: metrics.underline as i32,
            width: width(columns),
            height: metrics.thickness,
            color: foreground,
        });
        if let Some(marked) = &preedit.cursor {
            let color = self.colors.dimmed(self.colors.palette.cursor.unwrap_or(foreground));
            if marked.is_empty() {
                let width = bar_width(metrics);
                out.over.push(Fill {
                    x: x(marked.start),
                    y: 0,
                    width,
                    height: metrics.height,
                    color,
                });
            } else {
                // The part being converted: a thicker line.
                let height = (2 * metrics.thickness).min(metrics.height);
                let y = (metrics.underline).min(metrics.height - height) as i32;
                let x = x(marked.start);
                out.under.push(Fill { x, y, width: width(marked), height, color });
            }
        }
    }
}

/// The columns the cursor stands on: both of a wide character.
fn cursor_columns(row: &SnapshotRow, col: u16) -> Range<u16> {
    let width = |col: u16| row.cells.get(usize::from(col)).map(|cell| cell.width());
    match width(col) {
        Some(Width::Wide) => col..col + 2,
        Some(Width::Tail) if col > 0 => col - 1..col + 1,
        _ => col..col + 1,
    }
}

fn bar_width(metrics: &CellMetrics) -> u32 {
    (metrics.width / 6).clamp(metrics.thickness, metrics.width)
}

fn outline(
    look: CursorLook,
    columns: Range<u16>,
    color: Rgb,
    metrics: &CellMetrics,
    out: &mut Vec<Fill>,
) {
    let x = i32::from(columns.start) * metrics.width as i32;
    let width = metrics.width * u32::from(columns.end - columns.start);
    let height = metrics.height;
    let thin = metrics.thickness.min(height / 2).min(width / 2).max(1);
    match look {
        CursorLook::Block => {}
        CursorLook::Bar => {
            out.push(Fill { x, y: 0, width: bar_width(metrics), height, color });
        }
        CursorLook::Underline => {
            let thick = (2 * metrics.thickness).min(height);
            let y = (height - thick) as i32;
            out.push(Fill { x, y, width, height: thick, color });
        }
        CursorLook::Hollow => {
            let inner = height - 2 * thin;
            out.push(Fill { x, y: 0, width, height: thin, color });
            out.push(Fill { x, y: (height - thin) as i32, width, height: thin, color });
            out.push(Fill { x, y: thin as i32, width: thin, height: inner, color });
            let right = x + (width - thin) as i32;
            out.push(Fill { x: right, y: thin as i32, width: thin, height: inner, color });
        }
    }
}
