//! A screen with every cell, as plain data, and its redaction.

use std::{borrow::Cow, collections::HashMap};

use serde::Serialize;

use super::{error::Result, redaction::Redaction};
use crate::{
    methods::cells::{Attribute, CellsReply, Run},
    services::limits::search_limiter::Searches,
};

/// A session's screen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Snapshot {
    pub size: Size,
    pub cursor: Cursor,
    /// A number that grows with every change of the screen.
    pub sequence: u64,
    /// The text of the screen. Each line ends at the last cell in which something was printed. Rows that wrapped are
    /// one line.
    pub plain_text: String,
    /// Every cell, row by row.
    pub cells: Vec<Cell>,
    pub alternate_screen: bool,
    pub application_cursor: bool,
    pub application_keypad: bool,
    pub title: Option<String>,
    /// For each row, whether its text continues in the next row.
    #[serde(skip)]
    wraps: Vec<bool>,
}

/// The size of a screen, in cells and in pixels. 0 pixels stand for an unknown size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Size {
    pub rows: u16,
    pub cols: u16,
    pub pixel_width: u16,
    pub pixel_height: u16,
}

/// The position of the cursor, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cursor {
    pub row: u16,
    pub col: u16,
    pub visible: bool,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    pub row: u16,
    pub col: u16,
    /// The text. It is empty if nothing was printed in the cell, or if the cell is the second half of a wide character.
    /// A printed blank is not empty.
    pub text: String,
    /// Whether the cell is the first half of a character that is two columns wide.
    pub wide: bool,
    /// Whether the cell is the second half of a character that is two columns wide.
    pub wide_continuation: bool,
    pub style: Style,
}

/// The style of a cell. Colors are `default`, `idx:N` or `rgb:R:G:B`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Style {
    pub foreground: Cow<'static, str>,
    pub background: Cow<'static, str>,
    pub bold: bool,
    pub dim: bool,
    pub italic: bool,
    pub underline: bool,
    pub inverse: bool,
}

/// The name of the default colors.
const DEFAULT: Cow<'static, str> = Cow::Borrowed("default");

impl Style {
    fn plain() -> Self {
        Self {
            foreground: DEFAULT,
            background: DEFAULT,
            bold: false,
            dim: false,
            italic: false,
            underline: false,
            inverse: false,
        }
    }

    fn of(run: &Run) -> Self {
        let has = |attribute| run.attributes.contains(&attribute);
        let color = |color: &Option<String>| color.clone().map_or(DEFAULT, Cow::Owned);
        Self {
            foreground: color(&run.foreground),
            background: color(&run.background),
            bold: has(Attribute::Bold),
            dim: has(Attribute::Dim),
            italic: has(Attribute::Italic),
            underline: run.underline.is_some(),
            inverse: has(Attribute::Inverse),
        }
    }
}

impl Snapshot {
    /// Builds the screen from a reply of `screen.cells` with `each_cell`. `pixels`: the screen's width and height in
    /// pixels.
    pub fn new(reply: CellsReply, pixels: (u16, u16)) -> Self {
        let CellsReply { seq, lines, cursor, cols, rows, title, .. } = reply;
        let empty = |row, col| Cell {
            row,
            col,
            text: String::new(),
            wide: false,
            wide_continuation: false,
            style: Style::plain(),
        };
        let mut cells: Vec<_> =
            (0..rows).flat_map(|row| (0..cols).map(move |col| empty(row, col))).collect();
        let mut wraps = vec![false; usize::from(rows)];
        for (row, line) in lines.iter().take(usize::from(rows)).enumerate() {
            wraps[row] = line.wrapped;
            for run in &line.runs {
                let style = Style::of(run);
                for col in run.col..run.col.saturating_add(run.cols).min(cols) {
                    let cell = &mut cells[row * usize::from(cols) + usize::from(col)];
                    cell.style = style.clone();
                    if col == run.col {
                        cell.text.clone_from(&run.text);
                        cell.wide = run.cols > 1;
                    } else {
                        cell.wide_continuation = true;
                    }
                }
            }
        }
        let mut snapshot = Self {
            size: Size { rows, cols, pixel_width: pixels.0, pixel_height: pixels.1 },
            cursor: Cursor { row: cursor.y, col: cursor.x, visible: cursor.visible },
            sequence: seq,
            plain_text: String::new(),
            cells,
            alternate_screen: reply.alternate_screen,
            application_cursor: reply.application_cursor,
            application_keypad: reply.application_keypad,
            title,
            wraps,
        };
        snapshot.plain_text = text(&snapshot.lines());
        snapshot
    }

    /// The text of each line. A line is one row, or several rows if the text of a row continues in the next.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = String::new();
        let cols = usize::from(self.size.cols).max(1);
        for (row, &wraps) in self.cells.chunks(cols).zip(&self.wraps) {
            let mut blanks = 0;
            for cell in row.iter().filter(|cell| !cell.wide_continuation) {
                if cell.text.is_empty() {
                    blanks += 1;
                } else {
                    line.extend(std::iter::repeat_n(' ', blanks));
                    blanks = 0;
                    line.push_str(&cell.text);
                }
            }
            if !wraps {
                lines.push(std::mem::take(&mut line));
            }
        }
        if !line.is_empty() {
            lines.push(line);
        }
        lines
    }

    /// Returns the screen without secrets. Each line is redacted as a whole, and then written into its cells from the
    /// left. The cells keep their styles.
    ///
    /// # Errors
    /// A client's expression takes too long.
    pub async fn redacted(mut self, redaction: &Redaction, searches: Searches<'_>) -> Result<Self> {
        if redaction.is_off() {
            return Ok(self);
        }
        let lines = self.lines();
        let mut texts = lines.clone();
        texts.extend(self.title.clone());
        let mut redacted = redaction.texts(searches, texts).await?;
        if self.title.is_some() {
            self.title = redacted.pop();
        }
        if redacted != lines {
            self.lay_back(&lines, &redacted);
            self.plain_text = text(&redacted);
        }
        Ok(self)
    }

    fn lay_back(&mut self, lines: &[String], redacted: &[String]) {
        let cols = usize::from(self.size.cols).max(1);
        let mut row = 0;
        for (line, redacted) in lines.iter().zip(redacted) {
            let last = (row..self.wraps.len()).find(|&row| !self.wraps[row]);
            let end = last.map_or(self.wraps.len(), |last| last + 1);
            if line != redacted {
                lay(&mut self.cells[row * cols..end * cols], redacted);
            }
            row = end;
        }
    }
}

/// Joins lines to a text, without empty lines at the end.
fn text(lines: &[String]) -> String {
    let mut text = lines.join("\n");
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// Writes a redacted line into cells. Characters of the original line keep their width. Each character of a replacement
/// is written into one column.
fn lay(cells: &mut [Cell], line: &str) {
    // The original texts that are wide or consist of several code points, each with whether it is wide.
    let special: HashMap<String, bool> = cells
        .iter()
        .filter(|cell| cell.wide || cell.text.chars().nth(1).is_some())
        .map(|cell| (cell.text.clone(), cell.wide))
        .collect();
    for cell in &mut *cells {
        cell.text.clear();
        cell.wide = false;
        cell.wide_continuation = false;
    }
    let (mut at, mut rest) = (0, line);
    while at < cells.len() && !rest.is_empty() {
        let known = special.iter().filter(|(text, _)| rest.starts_with(text.as_str()));
        let known = known.max_by_key(|(text, _)| text.len());
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let (text, after) = rest.split_at(known.map_or(first, |(text, _)| text.len()));
        cells[at].text = text.to_owned();
        if known.is_some_and(|(_, wide)| *wide) && at + 1 < cells.len() {
            cells[at].wide = true;
            cells[at + 1].wide_continuation = true;
            at += 1;
        }
        at += 1;
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{caller::TokenKind, services::limits::search_limiter::SearchLimiter};

    const WIDE: char = '漢';

    fn screen(rows: &[&str], cols: u16, wraps: &[bool]) -> Snapshot {
        let cell = |row, col, text: String, wide, wide_continuation| Cell {
            row,
            col,
            text,
            wide,
            wide_continuation,
            style: Style::plain(),
        };
        let mut cells = Vec::new();
        for (row, text) in rows.iter().enumerate() {
            let (row, mut chars, mut col) = (row as u16, text.chars(), 0);
            while col < cols {
                let char = chars.next().unwrap_or(' ');
                let wide = char == WIDE;
                let text = if char == ' ' { String::new() } else { char.to_string() };
                cells.push(cell(row, col, text, wide, false));
                if wide {
                    cells.push(cell(row, col + 1, String::new(), false, true));
                }
                col += 1 + u16::from(wide);
            }
        }
        let mut snapshot = Snapshot {
            size: Size { rows: rows.len() as u16, cols, pixel_width: 0, pixel_height: 0 },
            cursor: Cursor { row: 0, col: 0, visible: true },
            sequence: 1,
            plain_text: String::new(),
            cells,
            alternate_screen: false,
            application_cursor: false,
            application_keypad: false,
            title: Some("token=t".to_owned()),
            wraps: wraps.to_vec(),
        };
        snapshot.plain_text = text(&snapshot.lines());
        snapshot
    }

    /// The texts of the cells, row by row. A dot stands for an empty cell.
    fn rows(snapshot: &Snapshot) -> Vec<String> {
        let rows = snapshot.cells.chunks(usize::from(snapshot.size.cols));
        let shown = |cell: &Cell| match (cell.text.as_str(), cell.wide_continuation) {
            (_, true) => String::new(),
            ("", false) => ".".to_owned(),
            (text, false) => text.to_owned(),
        };
        rows.map(|row| row.iter().map(shown).collect()).collect()
    }

    #[tokio::test]
    async fn a_secret_is_covered_in_text_cells_and_title() {
        let limiter = SearchLimiter::default();
        let wrapped = screen(&["secret=abcdefghi", "jkl 漢 end", ""], 16, &[true, false, false]);
        assert_eq!(wrapped.plain_text, "secret=abcdefghijkl 漢 end");
        let redacted =
            wrapped.redacted(&Redaction::default(), limiter.of(TokenKind::Instance)).await.unwrap();
        assert_eq!(redacted.plain_text, "secret=[REDACTED] 漢 end");
        assert_eq!(redacted.title.as_deref(), Some("token=[REDACTED]"));
        assert_eq!(rows(&redacted), ["secret=[REDACTED", "] 漢 end........", "................"]);
        assert!(redacted.cells[18].wide && redacted.cells[19].wide_continuation);
    }

    #[tokio::test]
    async fn a_screen_without_secrets_stays_unchanged() {
        let limiter = SearchLimiter::default();
        let screen = screen(&["plain 漢", "x"], 9, &[false, false]);
        let redacted = screen
            .clone()
            .redacted(&Redaction::default(), limiter.of(TokenKind::Instance))
            .await
            .unwrap();
        assert_eq!(redacted.cells, screen.cells);
        assert_eq!(redacted.plain_text, "plain 漢\nx");
    }
}
