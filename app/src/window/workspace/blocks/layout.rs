//! The layout of commands in a pane: their rows, marks and buttons, the sticky header, and the notes about folded
//! lines.

use unterm_renderer::{Highlight, PixelRect};
use unterm_term::{Cell, Content, LineId, Width};

use crate::window::{
    ui::geometry::Geometry,
    workspace::{
        blocks::{Block, Header, action::BlockAction},
        view::View,
    },
};

/// The layout of a command's row, mark and panel. All of them are inside the pane.
pub(crate) struct BlockLayout {
    pub(crate) mark: PixelRect,
    pub(crate) row: PixelRect,
    /// The rectangle of the panel, which contains the text and the buttons. Empty if too few cells beside the command
    /// are blank.
    pub(crate) bar: PixelRect,
    /// The rectangle of the panel's text. Empty if only the buttons fit.
    pub(crate) about: PixelRect,
    pub(crate) parts: Vec<(BlockAction, PixelRect)>,
}

/// A note about folded lines.
pub(crate) struct FoldNote {
    pub(crate) rect: PixelRect,
    /// The number of lines. `None`: there is no room for text, and the note is a line between two rows.
    pub(crate) text: Option<String>,
    /// The first folded line.
    pub(crate) first: LineId,
}

/// The minimum width of the panel's text, in columns.
const FEWEST: usize = 16;

impl BlockLayout {
    /// The layout of the command in row `index` of a pane.
    pub(crate) fn new(
        view: &View,
        (index, block): (usize, &Block),
        area: PixelRect,
        geometry: &Geometry,
    ) -> Self {
        let height = geometry.cell.height;
        let y = geometry.inside(area).1 + (index as u32 * height) as i32 - view.shift as i32;
        let row = PixelRect { y, height, ..area }.intersection(&area);
        let mark = dot(PixelRect { y, height, ..area }, geometry).intersection(&area);
        let none = Self {
            mark,
            row,
            bar: PixelRect::default(),
            about: PixelRect::default(),
            parts: Vec::new(),
        };
        if block.about.is_empty() {
            return none;
        }
        none.with_panel(view, block, area, geometry)
    }

    /// Adds the panel, on blank cells of the command's row, or of the rows above and below it. If the whole text does
    /// not fit, it is cut off. If not even the minimum fits, there is no panel; then the menu of a right click offers
    /// its actions.
    fn with_panel(self, view: &View, block: &Block, area: PixelRect, geometry: &Geometry) -> Self {
        let padding = geometry.px(8.0);
        let tall = geometry.ui_line().max(geometry.cell.height);
        let widths: Vec<u32> = block
            .parts
            .iter()
            .map(|action| geometry.ui_width(view.button(*action, block.id)) + 2 * padding)
            .collect();
        let buttons: u32 = widths.iter().sum();
        let whole = geometry.ui_width(&block.about) + 2 * padding;
        let least = (FEWEST as f32 * geometry.ui_column) as u32 + 2 * padding;
        // Try the row itself first, then the rows above it and below it.
        let tops = [self.row.y, self.row.y - tall as i32, self.row.y + self.row.height as i32];
        let found = [whole, least.min(whole)].into_iter().find_map(|wanted| {
            tops.into_iter().find_map(|y| {
                let strip = PixelRect { y, height: tall, ..area };
                if strip.intersection(&area).height < tall {
                    return None;
                }
                let left = view.text_end(strip, area, geometry);
                // Leave space for the scrollbar at the right.
                let right = area.x + area.width as i32 - padding as i32;
                let room = (right - left).max(0) as u32;
                (room >= wanted + buttons).then_some((y, right, room))
            })
        });
        let Some((y, right, room)) = found else { return self };
        let width = (whole + buttons).min(room);
        let bar = PixelRect { x: right - width as i32, y, width, height: tall };
        let about = PixelRect { width: width - buttons, ..bar };
        let mut x = about.x + about.width as i32;
        let parts = block.parts.iter().zip(widths).map(|(action, width)| {
            let rect = PixelRect { x, width, ..bar };
            x += width as i32;
            (*action, rect)
        });
        Self { parts: parts.collect(), about, bar, ..self }
    }

    /// The area in which the pointer hits the mark: the padding beside the row.
    pub(crate) fn edge(&self, geometry: &Geometry) -> PixelRect {
        PixelRect { width: geometry.px(8.0), ..self.row }
    }
}

/// The side length of a mark, in logical pixels.
const SIDE: f32 = 6.0;

/// The rectangle of a command's mark: a square in the padding, so that it neither looks like a cursor nor covers text.
/// Empty if the padding is too small.
pub(crate) fn dot(row: PixelRect, geometry: &Geometry) -> PixelRect {
    let padding = geometry.px(geometry.padding.min(8.0));
    let side = geometry.px(SIDE);
    if padding < side + 2 || row.height < side {
        return PixelRect::default();
    }
    PixelRect {
        x: row.x + ((padding - side) / 2) as i32,
        y: row.y + ((row.height - side) / 2) as i32,
        width: side,
        height: side,
    }
}

impl View {
    /// The text of a button in a command's panel.
    pub(crate) fn button(&self, action: BlockAction, id: u64) -> &'static str {
        match action {
            BlockAction::CopyOutput => "Copy output",
            BlockAction::CopyCommand => "Copy command",
            BlockAction::Rerun => "Rerun",
            BlockAction::Fold if self.folds.has(id) => "Unfold",
            BlockAction::Fold => "Fold",
        }
    }

    /// The position from which on all cells are blank up to the right edge, in all rows that a strip covers. The
    /// result is an x in the renderer's pixels. It leaves a gap of one cell after the text.
    fn text_end(&self, strip: PixelRect, area: PixelRect, geometry: &Geometry) -> i32 {
        let origin = geometry.inside(area);
        let cell = geometry.cell;
        let (top, foot) = (strip.y - origin.1, strip.y + strip.height as i32 - origin.1);
        let rows = self.snapshot.rows.iter().enumerate().filter(|(index, _)| {
            let y = (*index as u32 * cell.height) as i32 - self.shift as i32;
            y < foot && top < y + cell.height as i32
        });
        let blank = Cell::default().content();
        let ends = rows.map(|(index, row)| {
            let is_text =
                |cell: &Cell| cell.content() != blank && cell.content() != Content::Char(' ');
            let end = row.cells.iter().rposition(is_text);
            let cursor = self.snapshot.cursor;
            let cursor = (cursor.visible && usize::from(cursor.row) == index)
                .then_some(usize::from(cursor.col));
            let column = self.column_width(index, (cell.width, cell.height)) as usize;
            // A row with right-to-left text may have text in any column.
            let end = if self.order(index).is_some() { Some(row.cells.len()) } else { end };
            end.max(cursor).map_or(0, |end| (end + 2) * column)
        });
        origin.0 + ends.max().unwrap_or(0) as i32
    }

    /// The visible commands, each with the index of its row.
    pub(crate) fn blocks_in_rows(&self) -> impl Iterator<Item = (usize, &Block)> {
        let rows = &self.snapshot.rows;
        self.blocks.list.iter().filter_map(|block| {
            let row = rows.iter().position(|row| row.line == block.line)?;
            Some((row, block))
        })
    }

    /// The notes about folded lines. No note covers text: it appears on blank cells of the row above the fold, else of
    /// the row below. If neither row has room, the note is a line between the two rows.
    pub(crate) fn fold_notes(&self, area: PixelRect, geometry: &Geometry) -> Vec<FoldNote> {
        let rows = &self.snapshot.rows;
        let hidden = self.folds.hidden().iter().filter(|_| !self.is_alternate());
        let notes = hidden.filter_map(|hidden| {
            let above = rows.partition_point(|row| row.line < hidden.first).checked_sub(1)?;
            if rows[above].line.0 + 1 != hidden.first.0 {
                return None;
            }
            let (first, text) = (hidden.first, folded(hidden.count()));
            let width = geometry.ui_width(&text) + geometry.px(12.0);
            let room = |row| self.room_in_row(row, width, area, geometry);
            let rect = room(above).or_else(|| room(above + 1));
            let text = rect.map(|_| text);
            let rect = rect.unwrap_or_else(|| {
                let row = self.row_rect(above, area, geometry);
                let height = geometry.px(4.0);
                let y = row.y + row.height as i32 - height as i32 / 2;
                PixelRect { y, height, ..row }
            });
            // Leave out a note that is partly out of sight.
            area.contains(&rect).then_some(FoldNote { rect, text, first })
        });
        notes.collect()
    }

    /// The rectangle of a row's cells. It leaves the space of the scrollbar free.
    fn row_rect(&self, row: usize, area: PixelRect, geometry: &Geometry) -> PixelRect {
        let origin = geometry.inside(area);
        let right = area.x + area.width as i32 - geometry.px(16.0) as i32;
        PixelRect {
            x: origin.0,
            y: origin.1 + (row as u32 * geometry.cell.height) as i32 - self.shift as i32,
            width: (right - origin.0).max(0) as u32,
            height: geometry.cell.height,
        }
    }

    /// A rectangle of this width on blank cells of a row, with a gap to the text on both sides. `None`: there is no
    /// room. The room after the text is preferred to the room before a prompt on the right.
    fn room_in_row(
        &self,
        row: usize,
        width: u32,
        area: PixelRect,
        geometry: &Geometry,
    ) -> Option<PixelRect> {
        let snapshot = self.snapshot.rows.get(row)?;
        // A row with right-to-left text may have text in any column.
        if self.order(row).is_some() {
            return None;
        }
        let rect = self.row_rect(row, area, geometry);
        let column = self.column_width(row, (geometry.cell.width, geometry.cell.height)) as usize;
        let cursor = self.snapshot.cursor;
        let is_cursor =
            |at| cursor.visible && usize::from(cursor.row) == row && usize::from(cursor.col) == at;
        let taken_column = |(at, cell): (usize, &Cell)| {
            let is_blank = matches!(cell.content(), Content::Empty | Content::Char(' '));
            (!is_blank || cell.width() == Width::Tail || is_cursor(at)).then_some(at)
        };
        let taken: Vec<_> = snapshot.cells.iter().enumerate().filter_map(taken_column).collect();
        let mut end = rect.width as usize;
        for at in taken.into_iter().rev().map(Some).chain([None]) {
            let start = at.map_or(0, |at| (at + 3) * column);
            if start + width as usize <= end {
                return Some(PixelRect { x: rect.x + start as i32, width, ..rect });
            }
            end = at.unwrap_or(0).saturating_sub(1) * column;
        }
        None
    }

    /// The sticky header and its rectangle. `None` if the header would cover the cursor, or the start of the selection
    /// or of a match.
    pub(crate) fn kept_header(
        &self,
        area: PixelRect,
        geometry: &Geometry,
        matches: &[Highlight],
    ) -> Option<(&Header, PixelRect)> {
        let header = self.blocks.header.as_ref()?;
        let rect = header_rect(area, geometry);
        let foot = rect.y + rect.height as i32 + self.shift as i32 - geometry.inside(area).1;
        let rows = (foot.max(0) as u32).div_ceil(geometry.cell.height.max(1)) as usize;
        let rows = &self.snapshot.rows[..rows.min(self.snapshot.rows.len())];
        let holds = |line| rows.iter().any(|row| row.line == line);
        let cursor = self.snapshot.cursor;
        let selected = self.selection.and_then(|selection| selection.range);
        let starts = matches.iter().map(|one| one.range).chain(selected);
        let makes_way = cursor.visible && usize::from(cursor.row) < rows.len()
            || starts.into_iter().any(|range| holds(range.start.line));
        (!makes_way).then_some((header, rect))
    }
}

/// The text of the note about folded lines.
fn folded(count: u64) -> String {
    format!("⋯ {count} {}", if count == 1 { "line" } else { "lines" })
}

/// The rectangle of the sticky header in a pane. It covers whole rows, so that the row below the header is not cut
/// off.
fn header_rect(area: PixelRect, geometry: &Geometry) -> PixelRect {
    let wanted = geometry.ui_line() + geometry.px(8.0);
    let above = (geometry.inside(area).1 - area.y).max(0) as u32;
    let cell = geometry.cell.height.max(1);
    let rows = wanted.saturating_sub(above).div_ceil(cell).max(1);
    PixelRect { height: (above + rows * cell).min(area.height), ..area }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::workspace::blocks::Fare;
    use unterm_term::{Options, Parser, Size, Term};

    fn block(about: &str, parts: &[BlockAction]) -> Block {
        let (about, parts) = (about.to_owned(), parts.to_vec());
        Block { id: 1, line: LineId(0), fare: Fare::Good, about, parts }
    }

    const ALL: [BlockAction; 4] =
        [BlockAction::CopyOutput, BlockAction::CopyCommand, BlockAction::Rerun, BlockAction::Fold];

    /// A view of a terminal that shows these rows.
    fn view(cols: u16, rows: &[String]) -> View {
        let mut term = Term::new(Size::cells(cols, rows.len() as u16), Options::default());
        Parser::new().advance(&mut term, format!("\x1b[?25l{}", rows.join("\r\n")).as_bytes());
        let mut view = View::default();
        term.snapshot(&mut view.snapshot, None);
        view
    }

    #[test]
    fn a_commands_mark_and_panel_stay_inside_its_pane() {
        let geometry = Geometry::TEST;
        let mut view = View::default();
        let block = block("make · exit code 2 · 1.2 s", &ALL);
        for width in (0..500).chain([2000]) {
            let area = PixelRect { x: 300, y: 50, width, height: 8 + 3 * 19 };
            for shift in 0..19 {
                view.shift = shift;
                for row in 0..4 {
                    let place = BlockLayout::new(&view, (row, &block), area, &geometry);
                    let shown = [place.mark, place.row, place.bar, place.about];
                    let parts = place.parts.iter().map(|(_, rect)| *rect);
                    for rect in shown.into_iter().chain(parts).filter(|rect| !rect.is_empty()) {
                        assert!(area.contains(&rect), "{rect:?} in {area:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_panel_covers_no_text_and_touches_its_row() {
        let geometry = Geometry::TEST;
        let block = block("make · exit code 2 · 1.2 s · 14:03:12 · ~/src", &ALL);
        let area = PixelRect { x: 20, y: 30, width: 16 + 120 * 9, height: 16 + 5 * 19 };
        let mut seen = std::collections::HashSet::new();
        for lengths in 0..4_u32.pow(5) {
            // Each row contains 0, 30, 60 or 120 columns of text.
            let length = |row: u32| [0, 30, 60, 120][(lengths / 4_u32.pow(row) % 4) as usize];
            let rows: Vec<_> = (0..5).map(|row| "x".repeat(length(row))).collect();
            let view = view(120, &rows);
            for index in 0..5 {
                let place = BlockLayout::new(&view, (index, &block), area, &geometry);
                let bar = place.bar;
                if bar.is_empty() {
                    assert!(place.parts.is_empty());
                    seen.insert(None);
                    continue;
                }
                seen.insert(Some((bar.y - place.row.y, place.about.width)));
                assert_eq!(place.parts.len(), 4);
                let touches = bar.y <= place.row.y + place.row.height as i32
                    && place.row.y <= bar.y + bar.height as i32;
                assert!(touches, "{bar:?} of {:?}", place.row);
                for row in 0..5 {
                    let text = PixelRect {
                        x: area.x + 8,
                        y: area.y + 8 + row * 19,
                        width: length(row as u32) as u32 * 9,
                        height: 19,
                    };
                    let covered = text.intersection(&bar);
                    assert!(text.is_empty() || covered.is_empty(), "{bar:?} over {text:?}");
                }
            }
        }
        // The cases included a panel beside, above and below the command, with its whole text and with a cut text. In
        // some cases there was no panel.
        assert!(seen.len() > 4 && seen.contains(&None), "{seen:?}");
    }

    #[test]
    fn a_prompt_has_no_panel() {
        let area = PixelRect { x: 0, y: 0, width: 800, height: 400 };
        let place = BlockLayout::new(&View::default(), (0, &block("", &[])), area, &Geometry::TEST);
        assert!(place.bar.is_empty() && place.mark.width >= 6);
    }

    /// A view of a command whose output is folded. `prompt` is the prompt with the command line, and `next` is the next
    /// prompt.
    fn folded_view(cols: u16, prompt: &str, next: &str) -> View {
        let mut term = Term::new(Size::cells(cols, 6), Options::default());
        let bytes = format!(
            "\x1b]133;A\x07{prompt}\x1b]133;B\x07\r\n\x1b]133;C\x071\r\n2\r\n3\r\n\x1b]133;D;0\x07\
             \x1b]133;A\x07{next}\x1b]133;B\x07"
        );
        Parser::new().advance(&mut term, bytes.as_bytes());
        let mut view = View::default();
        view.reorders = true;
        assert!(view.folds.toggle(&term, 1));
        view.folds.snapshot(&term, &mut view.snapshot, None, 0);
        view
    }

    #[test]
    fn the_note_of_a_fold_covers_no_text() {
        let geometry = Geometry::TEST;
        let area = PixelRect { x: 20, y: 30, width: 16 + 80 * 9, height: 16 + 6 * 19 };
        let (left, top) = geometry.inside(area);
        let full = "x".repeat(78);
        let wide = format!("$ {}", "\u{4e00}".repeat(38));
        let right = "$ make\x1b[71Gon main".to_owned();
        let both = format!("$ {}\x1b[71Gon main", "x".repeat(60));
        let hebrew = format!("$ {}", "\u{5d0}".repeat(20));
        let double = format!("\x1b#6$ {}", "x".repeat(36));
        // Each prompt, and whether its row has room for the note.
        let prompts = [
            ("$ make", true),
            (&full, false),
            (&wide, false),
            (&right, true),
            (&both, false),
            (&hebrew, false),
            ("\x1b#6$ make", true),
            (&double, false),
        ];
        for (prompt, has_room) in prompts {
            for (next, next_has_room) in prompts {
                let view = folded_view(80, prompt, next);
                let notes = view.fold_notes(area, &geometry);
                let [note] = &notes[..] else { panic!("{prompt:?} {next:?}: {}", notes.len()) };
                assert_eq!(note.first, LineId(1));
                let at = note.text.is_some().then(|| (note.rect.y - top) / 19);
                let expected = if has_room { Some(0) } else { next_has_room.then_some(1) };
                assert_eq!(at, expected, "{prompt:?} {next:?}");
                let Some(row) = at else {
                    // The line between the rows leaves the text readable.
                    assert!(note.rect.height <= 4 && note.rect.y >= top + 19 - 2);
                    continue;
                };
                let size = view.column_width(row as usize, (9, 19)) as i32;
                for (col, cell) in view.snapshot.rows[row as usize].cells.iter().enumerate() {
                    let (x, y) = (left + col as i32 * size, top + row * 19);
                    let rect = PixelRect { x, y, width: size as u32, height: 19 };
                    let is_blank =
                        cell.content() == Content::Empty && cell.width() == Width::Narrow;
                    assert!(is_blank || rect.intersection(&note.rect).is_empty(), "{prompt:?}");
                }
            }
        }
    }
}
