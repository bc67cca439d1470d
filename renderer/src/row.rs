//! Turns one row of a snapshot into one row of a frame.

mod cursor;
mod ligatures;
mod marks;
mod multicell;
mod registered;
mod state;

use std::ops::Range;
use std::sync::Arc;

use unterm_term::{
    Attrs, Cell, Content, LineSize, RegisteredGlyphs, Rgb, SnapshotRow, Style, StyleRun, Underline,
    Width,
};

use cursor::{cursor_columns, outline};
pub(crate) use state::{CursorColors, CursorLook, CursorPart, RowState};

use crate::CellMetrics;
use crate::bidi::ColumnOrder;
use crate::chars::is_icon;
use crate::color::{FAINT, PaneColors, readable};
use crate::font::Ligatures;
use crate::font::Stretch;
use crate::fonts::{FaceStyle, Fonts};
use crate::frame::{FrameRow, GlyphInstance};
use crate::glyph::GlyphId;
use crate::glyph_cache::GlyphCache;
use crate::shape::{CellGlyph, Form, Group, PlacedGlyph, Shaper};
use crate::sprite::Sprite;

/// The shared state that rows are built with.
pub(crate) struct RowBuilder<'a> {
    pub(crate) fonts: &'a mut Fonts,
    pub(crate) glyphs: &'a mut GlyphCache,
    pub(crate) shaper: &'a mut Shaper,
    pub(crate) colors: PaneColors<'a>,
    /// Whether blinking text is in its visible phase.
    pub(crate) blink_on: bool,
    /// Whether right-to-left text is shown in its direction.
    pub(crate) reorders: bool,
    /// The glyphs that the pane's programs registered.
    pub(crate) registered: &'a RegisteredGlyphs,
    /// Whether a row had characters that may have registered glyphs. The caller resets it.
    pub(crate) has_private: bool,
    /// Whether a row lacks pictures of registered glyphs, which a later frame draws. The caller resets it.
    pub(crate) is_unfinished: bool,
}

/// Whether a character is an area drawn in code, such as a block or a powerline separator. Box-drawing lines are not
/// areas: like text, they must stay readable.
fn is_area(c: char) -> bool {
    !matches!(c, '\u{2500}'..='\u{257f}') && Sprite::of_char(c).is_some()
}

/// The colors of one cell, after selection, dimming and contrast are applied.
#[derive(Clone, Copy)]
struct ResolvedColors {
    /// Color of text, possibly stepped away from the background.
    foreground: Rgb,
    /// Color of areas ([`is_area`]), which must match adjacent colors exactly.
    exact: Rgb,
    background: Rgb,
    underline: Rgb,
}

/// The color of a glyph, and the background color behind it.
type Ink = (Rgb, Rgb);

/// Cells of a row whose characters are drawn together.
struct Ligature {
    columns: Range<u16>,
    /// The column where the shaped text begins. Glyph positions are relative to it.
    start: u16,
    text: Arc<[Group]>,
    /// The index of the ligature's group in `text`.
    group: usize,
    /// The ink of each cell of the ligature.
    inks: Vec<Ink>,
}

/// The row being built. For a double-height row, both halves are laid out first, and the last step keeps one half.
struct Line<'a> {
    row: &'a SnapshotRow,
    state: &'a RowState,
    /// Number of visible columns.
    cols: u16,
    /// The column after the last cell that is not blank.
    end: u16,
    stretch: Stretch,
    /// Measures of this row's cells.
    metrics: CellMetrics,
    /// Columns under text that is being composed.
    hidden: Range<u16>,
    /// Columns under block cursors, in the order of [`RowState::cursors`].
    blocks: Vec<(Range<u16>, CursorColors)>,
    /// Groups of cells drawn together, from left to right.
    ligatures: Vec<Ligature>,
    /// Color glyphs, drawn after all others.
    pictures: Vec<GlyphInstance>,
    out: FrameRow,
}

impl Line<'_> {
    fn x(&self, col: u16) -> i32 {
        i32::from(col) * self.metrics.width as i32
    }

    fn width(&self, cells: u16) -> u32 {
        self.metrics.width * u32::from(cells)
    }

    /// Whether a visible column is blank.
    fn is_blank(&self, col: u16) -> bool {
        let cell = self.row.cells.get(usize::from(col)).filter(|_| col < self.cols);
        cell.is_some_and(|cell| is_blank(*cell))
    }
}

impl RowBuilder<'_> {
    /// Builds a row. If text is being composed in the row, the row is not reordered: composed text is positioned by
    /// columns of the grid.
    pub(crate) fn build(&mut self, row: &SnapshotRow, cols: u16, state: &RowState) -> FrameRow {
        let orders = self.reorders && state.preedit.is_none();
        match orders.then(|| ColumnOrder::of(row)).flatten() {
            Some(order) => self.build_shown(&order.apply(row), cols, &state.reordered(&order)),
            None => self.build_shown(row, cols, state),
        }
    }

    /// Builds a row whose cells are already in display order.
    fn build_shown(&mut self, row: &SnapshotRow, cols: u16, state: &RowState) -> FrameRow {
        let stretch = Stretch::of(row.size);
        let cursors: Vec<_> =
            state.cursors.iter().map(|cursor| (cursor_columns(row, cursor.col), cursor)).collect();
        let is_block = |cursor: &CursorPart| cursor.look == CursorLook::Block;
        let blocks = cursors.iter().filter(|(_, cursor)| is_block(cursor));
        let end = row.cells.iter().rposition(|cell| !is_blank(*cell)).map_or(0, |last| last + 1);
        let mut line = Line {
            row,
            state,
            cols: cols.div_ceil(stretch.across() as u16),
            end: end as u16,
            stretch,
            metrics: self.fonts.metrics.stretched(stretch),
            hidden: state.preedit.as_deref().map_or(0..0, |preedit| preedit.columns.clone()),
            blocks: blocks.map(|(columns, cursor)| (columns.clone(), cursor.colors)).collect(),
            ligatures: Vec::new(),
            pictures: Vec::new(),
            out: FrameRow { glyphs: Vec::with_capacity(end), ..FrameRow::default() },
        };
        if self.fonts.ligatures != Ligatures::Never {
            self.find_ligatures(&mut line);
        }
        for run in &row.styles {
            self.run(run, &mut line);
        }
        self.draw_ligatures(&mut line);
        if let Some(preedit) = state.preedit.as_deref() {
            self.preedit(preedit, &mut line);
        }
        let mut out = line.out;
        out.glyphs.append(&mut line.pictures);
        match row.size {
            LineSize::Single | LineSize::DoubleWidth => {}
            LineSize::DoubleTop => half(&mut out, 0, self.fonts.metrics.height),
            LineSize::DoubleBottom => {
                half(&mut out, self.fonts.metrics.height as i32, self.fonts.metrics.height);
            }
        }
        for (columns, cursor) in cursors.into_iter().filter(|(_, cursor)| !is_block(cursor)) {
            let color = self.cursor_color(cursor.colors, row, columns.start);
            // Draw the whole cursor, even if the row shows only one half of its characters.
            let width = self.fonts.metrics.width * stretch.across();
            let metrics = CellMetrics { width, ..self.fonts.metrics };
            let rows = (cursor.row, cursor.rows);
            outline(cursor.look, columns, rows, color, &metrics, &mut out.over);
        }
        out
    }

    fn run(&mut self, run: &StyleRun, line: &mut Line<'_>) {
        let style = &run.style;
        let state = line.state;
        let plain = self.colors.cell(style);
        let has_selection = !state.selected.is_empty();
        let selected = if has_selection { self.colors.selected(style) } else { plain };
        let hovered = state.hovered.is_some() && run.link.as_deref() == state.hovered.as_ref();
        let least = self.colors.least_contrast(style);
        let least_marked = self.colors.least_contrast_marked();
        let dim = |colors: crate::color::CellColors, least: f32, this: &Self| {
            let text = readable(colors.foreground, colors.background, least);
            let own = colors.underline != colors.foreground;
            ResolvedColors {
                foreground: this.colors.dimmed(text),
                exact: this.colors.dimmed(colors.foreground),
                background: this.colors.dimmed(colors.background),
                underline: this.colors.dimmed(if own { colors.underline } else { text }),
            }
        };
        let plain_look = dim(plain, least, self);
        let selected_look =
            if has_selection { dim(selected, least_marked, self) } else { plain_look };
        let face =
            FaceStyle::new(style.attrs.contains(Attrs::BOLD), style.attrs.contains(Attrs::ITALIC));
        let form = Form { face, stretch: line.stretch };
        let shown = self.is_shown(style);
        let alpha = if style.attrs.contains(Attrs::DIM) { 255 - FAINT } else { 255 };
        let underline = match style.underline {
            Underline::None if hovered => Underline::Single,
            underline => underline,
        };
        let decorated = shown
            && (underline != Underline::None
                || style.attrs.intersects(Attrs::STRIKE | Attrs::OVERLINE));
        let mut together = line.ligatures.partition_point(|group| group.columns.end <= run.start);
        let mut col = run.start;
        let mut end = run.end.min(line.cols).min(line.row.cells.len() as u16);
        let shows_blanks = decorated
            || has_selection
            || !state.highlights.is_empty()
            || plain_look.background != self.colors.background();
        if !shows_blanks {
            let block = line.blocks.iter().map(|(columns, _)| columns.end).max().unwrap_or(0);
            end = end.min(line.end.max(block));
        }
        while col < end {
            let cell = line.row.cells[usize::from(col)];
            let multicell = if cell.is_multicell() { line.row.multicell(col) } else { None };
            let cells: u8 = match multicell {
                Some(part) => (part.columns().end.min(end) - col) as u8,
                None if cell.is_multicell() => 1,
                None if cell.width() == Width::Wide && col + 1 < line.cols => 2,
                None => 1,
            };
            let next = col + u16::from(cells);
            if line.hidden.contains(&col) {
                col = next;
                continue;
            }
            let is_selected =
                state.selected.iter().any(|range| range.start < next && col < range.end);
            let mut is_marked = is_selected;
            let mut look = if is_selected { selected_look } else { plain_look };
            let highlight =
                state.highlights.iter().find(|(range, _)| range.start < next && col < range.end);
            if let Some((_, current)) = highlight {
                look = dim(self.colors.highlighted(style, *current), least_marked, self);
                is_marked = true;
            }
            let block = line.blocks.iter().rfind(|(columns, _)| columns.contains(&col));
            if let Some((_, cursor)) = block {
                look = self.block_look(*cursor, if is_selected { selected } else { plain });
                is_marked = true;
            }
            self.background(col, cells, look.background, is_marked, line);
            if cell.is_multicell() {
                if let Some(part) = multicell.filter(|part| part.col == col && shown) {
                    let underline = if decorated { underline } else { Underline::None };
                    self.multicell(part, underline, style, look, alpha, line);
                }
                col = next;
                continue;
            }
            if decorated {
                self.decorate(col, cells, underline, style, look, line);
            }
            while line.ligatures.get(together).is_some_and(|group| group.columns.end <= col) {
                together += 1;
            }
            let group = line.ligatures.get_mut(together);
            let ink = (look.foreground, look.background);
            if let Some(group) = group.filter(|group| group.columns.contains(&col)) {
                group.inks.push(ink);
            } else if shown {
                match cell.content() {
                    Content::Empty | Content::Char(' ') => {}
                    Content::Char(c) if c.is_ascii() && cells == 1 => {
                        let glyph = self.shaper.ascii(c, form, self.fonts, self.glyphs);
                        match glyph {
                            Some(CellGlyph { glyph, left, top, width }) => {
                                let at = (line.x(col) + left, top);
                                line.out.glyphs.push(whole(glyph, width, at, ink, 255));
                            }
                            None => self.char(c, col, cells, form, ink, alpha, line),
                        }
                    }
                    Content::Char(c) => self.other_char(c, col, cells, form, look, alpha, line),
                    Content::Cluster(_) => {
                        if let Ok(i) = line.row.clusters.binary_search_by_key(&col, |(c, _)| *c) {
                            let text = &line.row.clusters[i].1;
                            let placed =
                                self.shaper.cluster(text, form, cells, self.fonts, self.glyphs);
                            self.place(&placed, col, ink, alpha, line);
                        }
                    }
                }
            }
            col = next;
        }
    }

    /// Draws a character that a registered glyph, a sprite or an icon may stand for.
    #[allow(clippy::too_many_arguments, reason = "a character, its place and its look")]
    fn other_char(
        &mut self,
        c: char,
        col: u16,
        cells: u8,
        form: Form,
        look: ResolvedColors,
        alpha: u8,
        line: &mut Line<'_>,
    ) {
        let ink = (look.foreground, look.background);
        if let Some(glyph) = self.registered_glyph(c) {
            return self.registered(&glyph, col, cells, ink, alpha, line);
        }
        let ink = if is_area(c) { (look.exact, look.background) } else { ink };
        let next = col + u16::from(cells);
        let room = if is_icon(c) && cells == 1 && line.is_blank(next) { 2 } else { cells };
        self.char(c, col, room, form, ink, alpha, line);
    }

    #[allow(clippy::too_many_arguments, reason = "a character, its place and its look")]
    fn char(
        &mut self,
        c: char,
        col: u16,
        cells: u8,
        form: Form,
        ink: Ink,
        alpha: u8,
        line: &mut Line<'_>,
    ) {
        let placed = self.shaper.char(c, form, cells, self.fonts, self.glyphs);
        self.place(&placed, col, ink, alpha, line);
    }

    fn place(
        &mut self,
        placed: &[PlacedGlyph],
        col: u16,
        ink: Ink,
        alpha: u8,
        line: &mut Line<'_>,
    ) {
        let x = line.x(col);
        for placed in placed {
            let picture = self.glyphs.get(placed.glyph);
            let alpha = self.opacity(picture.color, alpha);
            let x = x + picture.left + i32::from(placed.dx);
            let y = picture.top + i32::from(placed.dy);
            let glyphs = if picture.color { &mut line.pictures } else { &mut line.out.glyphs };
            glyphs.push(whole(placed.glyph, picture.columns(), (x, y), ink, alpha));
        }
    }

    /// The opacity of a glyph in a text with this opacity. Only pictures in color need it: other glyphs have the color of
    /// faint or dimmed text.
    fn opacity(&self, has_colors: bool, alpha: u8) -> u8 {
        match has_colors {
            true => (u32::from(alpha) * u32::from(255 - self.colors.dim) / 255) as u8,
            false => 255,
        }
    }

    /// Whether text in this style is currently visible.
    fn is_shown(&self, style: &Style) -> bool {
        !style.attrs.contains(Attrs::HIDDEN)
            && (self.blink_on || !style.attrs.contains(Attrs::BLINK))
    }
}

fn is_blank(cell: Cell) -> bool {
    !cell.is_multicell() && matches!(cell.content(), Content::Empty | Content::Char(' '))
}

/// A glyph's whole picture, `width` pixels wide, with its top left corner at `at`.
fn whole(glyph: GlyphId, width: u16, at: (i32, i32), ink: Ink, alpha: u8) -> GlyphInstance {
    let (color, background) = ink;
    GlyphInstance { glyph, x: at.0, y: at.1, left: 0, width, color, background, alpha }
}

/// Keeps only the part of a double-height row from `top` on, `height` pixels high.
fn half(row: &mut FrameRow, top: i32, height: u32) {
    for fills in [&mut row.backgrounds, &mut row.under, &mut row.over] {
        fills.retain_mut(|fill| {
            let from = (fill.y - top).max(0);
            let to = (fill.y - top + fill.height as i32).min(height as i32);
            (fill.y, fill.height) = (from, (to - from).max(0) as u32);
            fill.height > 0
        });
    }
    // Painters clip glyphs to the row.
    row.glyphs.iter_mut().for_each(|glyph| glyph.y -= top);
}
