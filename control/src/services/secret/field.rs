//! Where on a screen a question stands that is answered at the cursor: in front of it, or above where the cursor's row holds
//! nothing but the field. Knows no words; what it finds is for others to judge.
//!
//! On the main screen the question is a line. A full-screen program has it in a box that is closed all around. A multiplexer
//! shows a terminal in a part of the screen, whose lines it breaks by itself: there the question is the last that the part
//! has, with nothing below it, unless something there is known to read without echo.

use std::ops::Range;

use unterm_mux::ShownLine;
use unterm_term::{LineId, Modes, Point, Term, TextRange};

/// The sides of a box, or of a multiplexer's parts, also where a line goes off.
const SIDES: &str = "│┃║├┤┠┨┣┫╟╢╠╣";
/// What a line that parts rows begins with.
const ACROSS: &str = "─━═┌┏╔╭└┗╚╰├┠┣╟╠┬┴┼";
/// What fills a field that nothing was typed into, and what ends one.
const FILL: &str = "_·.]";
/// What a field has around it, or in it, where it stands in a row of its own, beside the sides of a box.
const FRAME: &str = "[]_";
/// What stands for each character that was typed.
const MASKS: &str = "*•●∗·▪■";
/// Rows that a question is broken into.
const MOST_ROWS: usize = 4;

/// What may be a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its text.
    pub text: String,
    /// A field of its own stands below it, so that it may end in no colon.
    pub has_field: bool,
}

/// What may be asked at the cursor, the most likely first; `is_shared`: the screen is a multiplexer's.
pub fn labels(term: &Term, is_shared: bool) -> Vec<Label> {
    if !term.modes().contains(Modes::ALT_SCREEN) {
        return on_a_line(term).into_iter().collect();
    }
    match boxed(term) {
        Some(cols) => within(term, &cols, true),
        None if is_shared => part(term).map_or_else(Vec::new, |cols| within(term, &cols, false)),
        None => Vec::new(),
    }
}

/// What may be asked at the cursor in a multiplexer's part of the screen that has something below: as a rule it is an editor's.
pub fn labels_above_text(term: &Term) -> Vec<Label> {
    open_part(term).map_or_else(Vec::new, |cols| within(term, &cols, false))
}

/// The line up to the cursor, else the one above it.
fn on_a_line(term: &Term) -> Option<Label> {
    let cursor = term.cursor();
    let line = LineId(term.live_top().0 + u64::from(cursor.row));
    let start = term.line_at(line).start;
    let text = match cursor.col.checked_sub(1) {
        Some(col) => term.text(TextRange { start, end: Point { line, col }, block: false }),
        None if start.line == line => String::new(),
        // Behind a row that is full.
        None => return None,
    };
    if !says_nothing(&text) {
        return Some(in_front(text));
    }
    let above = start.line.0.checked_sub(1).filter(|above| *above >= term.live_top().0)?;
    let is_free = (cursor.col..term.size().cols).all(|col| is_free(shown(term, cursor.row, col)));
    // A shell's own lines are no questions.
    if !is_free || ShownLine::of(term).is_some() {
        return None;
    }
    Some(Label { text: term.text(term.line_at(LineId(above))), has_field: has_frame(&text) })
}

/// The row up to the cursor, and with the rows that go on in it, else the one above it.
fn within(term: &Term, cols: &Range<u16>, is_boxed: bool) -> Vec<Label> {
    let cursor = term.cursor();
    let mut text = row_text(term, cursor.row, cols.start..cursor.col);
    if says_nothing(&text) {
        let has_field = is_boxed || has_frame(&text);
        return above(term, cols.start, is_boxed, has_field).into_iter().collect();
    }
    let is_full = |row: &u16| shown(term, *row, cols.end - 1).is_some();
    let rows = (0..cursor.row).rev().take_while(is_full).take(MOST_ROWS - 1);
    let mut labels = vec![in_front(text.clone())];
    for row in rows {
        text.insert_str(0, &row_text(term, row, cols.clone()));
        labels.push(in_front(text.clone()));
    }
    labels
}

/// A question right before its answer, without the beginning of the field that it may have.
fn in_front(mut text: String) -> Label {
    text.truncate(text.trim_end_matches(['[', ' ']).len());
    Label { text, has_field: false }
}

/// The label above the cursor's row, in a box also above the field's own and above a blank row.
fn above(term: &Term, col: u16, is_boxed: bool, has_field: bool) -> Option<Label> {
    let mut rows = (0..term.cursor().row).rev().map(|row| segment(term, row, col));
    let mut text = rows.next()?;
    if is_boxed && (text.trim().is_empty() || is_across(&text)) {
        text = rows.next()?;
    }
    Some(Label { text, has_field })
}

/// The columns of the box that the cursor stands in, in a field that is empty from there on.
fn boxed(term: &Term) -> Option<Range<u16>> {
    let (cursor, size) = (term.cursor(), term.size());
    let here = |col: u16| shown(term, cursor.row, col);
    let left = (0..cursor.col).rev().find(|col| here(*col).is_some_and(is_side))?;
    let right = (cursor.col..size.cols).find(|col| !is_free(here(*col)))?;
    let (above, below) = (|| (0..cursor.row).rev(), || cursor.row + 1..size.rows);
    let is_closed = here(right).is_some_and(is_side)
        && [
            (corner(term, left, above()), "┌╭╔┏"),
            (corner(term, right, above()), "┐╮╗┓"),
            (corner(term, left, below()), "└╰╚┗"),
            (corner(term, right, below()), "┘╯╝┛"),
        ]
        .into_iter()
        .all(|(corner, of)| corner.is_some_and(|corner| of.contains(corner)));
    is_closed.then_some(left + 1..right)
}

/// What comes first in these rows of a column that is no side.
fn corner(term: &Term, col: u16, mut rows: impl Iterator<Item = u16>) -> Option<char> {
    rows.find_map(|row| match shown(term, row, col) {
        Some(char) if is_side(char) => None,
        other => Some(other),
    })?
}

/// The columns of a multiplexer's part that the cursor stands in, where nothing is behind it and nothing below: an editor has
/// something there.
fn part(term: &Term) -> Option<Range<u16>> {
    let cols = open_part(term)?;
    // At the bottom the multiplexer says what it has.
    let rows = term.cursor().row + 1..term.size().rows.saturating_sub(1);
    let mut below = rows.map(|row| row_text(term, row, cols.clone()));
    let first = below.find(|text| !text.trim().is_empty());
    first.is_none_or(|text| is_across(&text)).then_some(cols)
}

/// The same, whatever is below.
fn open_part(term: &Term) -> Option<Range<u16>> {
    let (cursor, size) = (term.cursor(), term.size());
    let is_end = |col: &u16| shown(term, cursor.row, *col).is_some_and(is_side);
    let left = (0..cursor.col).rev().find(is_end).map_or(0, |col| col + 1);
    let right = (cursor.col..size.cols).find(is_end).unwrap_or(size.cols);
    let is_empty = || (cursor.col..right).all(|col| is_free(shown(term, cursor.row, col)));
    (left < right && is_empty()).then_some(left..right)
}

/// What a row says between the sides that stand around a column.
fn segment(term: &Term, row: u16, col: u16) -> String {
    let is_end = |col: &u16| shown(term, row, *col).is_some_and(is_side);
    let left = (0..col).rev().find(is_end).map_or(0, |col| col + 1);
    let right = (col..term.size().cols).find(is_end).unwrap_or(term.size().cols);
    row_text(term, row, left..right)
}

/// What stands in some columns of a row of the live screen.
fn row_text(term: &Term, row: u16, cols: Range<u16>) -> String {
    if cols.is_empty() {
        return String::new();
    }
    let line = LineId(term.live_top().0 + u64::from(row));
    let (start, end) = (Point { line, col: cols.start }, Point { line, col: cols.end - 1 });
    term.text(TextRange { start, end, block: false })
}

/// What a cell of the live screen shows; `None`: nothing.
fn shown(term: &Term, row: u16, col: u16) -> Option<char> {
    row_text(term, row, col..col + 1).chars().next()
}

fn is_side(char: char) -> bool {
    SIDES.contains(char)
}

/// Whether nothing was typed where this is shown.
fn is_free(shown: Option<char>) -> bool {
    shown.is_none_or(|char| FILL.contains(char))
}

fn is_across(text: &str) -> bool {
    text.trim_start().starts_with(|char: char| ACROSS.contains(char))
}

/// Whether a row holds no more than a field, and what hides what was typed into it.
fn says_nothing(text: &str) -> bool {
    text.chars().all(|char| char.is_whitespace() || MASKS.contains(char) || is_frame(char))
}

fn has_frame(text: &str) -> bool {
    text.contains(is_frame)
}

fn is_frame(char: char) -> bool {
    is_side(char) || FRAME.contains(char)
}
