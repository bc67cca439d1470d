//! Finds the field at the cursor and its label. Does not decide whether the label asks for a secret.
//!
//! The label is the text before the cursor in its row, within the borders of a box or of a multiplexer's pane. If there
//! is only the field's frame and masked characters, the label is the nearest text above.

use std::ops::Range;

use unterm_term::{LineId, Modes, Point, Term, TextRange};

/// Vertical borders of boxes and of multiplexer panes, including junctions.
const SIDES: &str = "│┃║├┤┠┨┣┫╟╢╠╣|";
/// Characters that fill an empty field or enclose it.
const FRAME: &str = "[]_";
/// Characters that are shown in place of typed ones.
pub const MASKS: &str = "*•●∗·▪■";
/// The maximum number of rows of a label, and of rows without text between a label and its field.
const MOST_ROWS: usize = 4;

/// The field at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The label, followed by the masked characters.
    pub label: String,
    /// Whether the label is above the field.
    pub is_below: bool,
    /// Whether the field has a frame, so that it can't be text in an editor.
    pub has_frame: bool,
}

/// The field at the cursor. `None` if there is text after the cursor, or no text that could be a label.
pub fn at_cursor(term: &Term) -> Option<Field> {
    let (cursor, size) = (term.cursor(), term.size());
    let is_end = |col: &u16| shown(term, cursor.row, *col).is_some_and(is_side);
    let left = (0..cursor.col).rev().find(is_end);
    let right = (cursor.col..size.cols).find(is_end);
    let cols = left.map_or(0, |col| col + 1)..right.unwrap_or(size.cols);
    let behind = row_text(term, cursor.row, cursor.col..cols.end);
    let front = row_text(term, cursor.row, cols.start..cursor.col);
    if !is_empty(&behind) {
        return None;
    }
    let is_full = term.modes().contains(Modes::ALT_SCREEN);
    // In a full-screen program, a single border may belong to a multiplexer's pane.
    let is_boxed = left.is_some() && (right.is_some() || !is_full);
    let has_frame = is_boxed || front.contains(is_frame) || behind.contains(is_frame);
    if is_empty(&front) {
        // Without a frame, an empty row in a full-screen program may be an empty line of text.
        let label = above(term, cols.start).filter(|_| has_frame || !is_full)?;
        return Some(Field { label, is_below: true, has_frame });
    }
    let mut label = front.trim_end_matches(['[', '_', ' ']).to_owned();
    let goes_on = |row: &u16| shown(term, *row, cols.end - 1).is_some();
    for row in (0..cursor.row).rev().take_while(goes_on).take(MOST_ROWS - 1) {
        label.insert_str(0, &row_text(term, row, cols.clone()));
    }
    Some(Field { label, is_below: false, has_frame })
}

/// The texts on the screen, row by row from the top, split at borders.
pub fn texts(term: &Term) -> Vec<String> {
    let rows = (0..term.size().rows).map(|row| row_text(term, row, 0..term.size().cols));
    let parts = rows.flat_map(|row| row.split(is_side).map(str::to_owned).collect::<Vec<_>>());
    parts.filter(|text| !is_empty(text)).collect()
}

/// The nearest text above the cursor, within the borders around a column, with its rows joined.
fn above(term: &Term, col: u16) -> Option<String> {
    let mut rows = (0..term.cursor().row).rev().map(|row| segment(term, row, col));
    let last = rows.by_ref().take(MOST_ROWS).find(|text| has_text(text))?;
    let before = rows.take(MOST_ROWS - 1).take_while(|text| has_text(text));
    let mut label: Vec<String> = before.collect();
    label.reverse();
    label.push(last);
    Some(label.join(" "))
}

/// The text of a row, within the borders around a column.
fn segment(term: &Term, row: u16, col: u16) -> String {
    let is_end = |col: &u16| shown(term, row, *col).is_some_and(is_side);
    let left = (0..col).rev().find(is_end).map_or(0, |col| col + 1);
    let right = (col..term.size().cols).find(is_end).unwrap_or(term.size().cols);
    row_text(term, row, left..right)
}

/// The text of some columns of a row of the live screen.
fn row_text(term: &Term, row: u16, cols: Range<u16>) -> String {
    if cols.is_empty() {
        return String::new();
    }
    let line = LineId(term.live_top().0 + u64::from(row));
    let (start, end) = (Point { line, col: cols.start }, Point { line, col: cols.end - 1 });
    term.text(TextRange { start, end, block: false })
}

/// The character in a cell of the live screen. `None` if the cell is empty.
fn shown(term: &Term, row: u16, col: u16) -> Option<char> {
    row_text(term, row, col..col + 1).chars().next()
}

/// Whether part of a row contains only a field: its frame and masked characters.
fn is_empty(text: &str) -> bool {
    text.chars().all(|char| char.is_whitespace() || MASKS.contains(char) || is_frame(char))
}

fn has_text(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

fn is_side(char: char) -> bool {
    SIDES.contains(char)
}

fn is_frame(char: char) -> bool {
    FRAME.contains(char)
}
