//! Prints text above the line that the user edits, and draws that line again below the text.
//!
//! The printer of rustyline can't be used: while it exists, the editor waits for a key even if keys were typed ahead.
//! Instead, the editor reports each change of its line to this module before it draws the line.

use std::{
    io,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

use crate::cli::ptywright::terminal;

/// The state of the edited line. The editor shares it with the threads that print above the line.
#[derive(Clone, Default)]
pub struct LinePrinter(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
enum State {
    /// No line is edited.
    #[default]
    Idle,
    /// The editor has not drawn its line yet.
    Starting,
    /// The editor shows this line.
    Edited(Edited),
    /// The user has pressed Enter. The editor draws the line for the last time.
    Taken,
}

/// The edited line, as the editor last drew it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edited {
    /// The prompt before the line.
    pub prompt: String,
    /// The text of the line.
    pub line: String,
    /// The position of the cursor, as a byte offset in the line.
    pub position: usize,
}

impl LinePrinter {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, state: State) {
        *self.state() = state;
        self.0.1.notify_all();
    }

    /// Records that the editor is about to draw a new line.
    pub fn start(&self) {
        self.set(State::Starting);
    }

    /// Records that the user has pressed Enter.
    pub fn take(&self) {
        self.set(State::Taken);
    }

    /// Records a change of the line that the editor is about to draw.
    pub fn edit(&self, change: impl FnOnce(&mut Edited)) {
        let mut state = self.state();
        match &mut *state {
            State::Edited(edited) => change(edited),
            State::Starting => {
                let mut edited = Edited::default();
                change(&mut edited);
                *state = State::Edited(edited);
                self.0.1.notify_all();
            }
            State::Idle | State::Taken => {}
        }
    }

    /// Records that no line is edited.
    pub fn end(&self) {
        self.set(State::Idle);
    }

    /// Prints whole lines of text above the edited line.
    ///
    /// # Errors
    /// Fails if the terminal is closed.
    pub fn print(&self, text: &str) -> io::Result<()> {
        let mut state = self.state();
        while matches!(*state, State::Starting | State::Taken) {
            state = self.0.1.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let cols = terminal::size().map_or(80, |size| size.cols);
        // The lock is still held, so that the editor does not draw at the same time.
        match &*state {
            State::Edited(edited) => write(&edited.below(text, usize::from(cols))),
            _ => write(text),
        }
    }

    /// Whether a line is edited or about to be edited.
    pub fn is_edited(&self) -> bool {
        !matches!(*self.state(), State::Idle)
    }
}

/// Writes bytes immediately. `io::stdout()` would lock, and would buffer text after the last line end.
fn write(text: &str) -> io::Result<()> {
    let mut bytes = text.as_bytes();
    while !bytes.is_empty() {
        bytes = &bytes[rustix::io::write(io::stdout(), bytes)?..];
    }
    Ok(())
}

impl Edited {
    /// The escape sequences that print a text where the edited line is, and then draw the line below the text.
    fn below(&self, text: &str, cols: usize) -> String {
        let Self { prompt, line, position } = self;
        let whole = format!("{prompt}{line}");
        let (end_row, end_col) = place(&whole, cols);
        let (row, col) = place(&whole[..prompt.len() + position], cols);
        let mut out = String::new();
        if row > 0 {
            out.push_str(&format!("\x1b[{row}A"));
        }
        out.push_str("\r\x1b[J");
        out.push_str(text);
        out.push_str(&whole);
        // After a character in the last column, a terminal keeps the cursor there until the next character. Move the
        // cursor to the next row.
        if end_col == 0 && end_row > 0 && !whole.ends_with('\n') {
            out.push('\n');
        }
        if end_row > row {
            out.push_str(&format!("\x1b[{}A", end_row - row));
        }
        out.push('\r');
        if col > 0 {
            out.push_str(&format!("\x1b[{col}C"));
        }
        out
    }
}

/// The row and the column at the end of a text that starts in the first column.
fn place(text: &str, cols: usize) -> (usize, usize) {
    let (mut row, mut col) = (0, 0);
    for grapheme in text.graphemes(true) {
        if grapheme == "\n" {
            (row, col) = (row + 1, 0);
            continue;
        }
        let width = grapheme.width();
        col += width;
        if col > cols {
            (row, col) = (row + 1, width);
        }
    }
    if col == cols { (row + 1, 0) } else { (row, col) }
}

#[cfg(test)]
mod tests {
    use unterm_term::{LineId, Options, Parser, Size, Term};

    use super::*;

    #[test]
    fn a_place_counts_cells_and_rows() {
        assert_eq!(place("", 10), (0, 0));
        assert_eq!(place("abc", 10), (0, 3));
        assert_eq!(place("0123456789", 10), (1, 0));
        assert_eq!(place("01234567漢", 10), (1, 0));
        assert_eq!(place("012345678漢", 10), (1, 2));
        assert_eq!(place("ab\ncd", 10), (1, 2));
    }

    /// Prints bytes in a terminal. Returns the rows of its screen, and the row and column of the cursor.
    fn shown(bytes: &str) -> (Vec<String>, (u16, u16)) {
        let mut term = Term::new(Size::cells(10, 8), Options::default());
        Parser::new().advance(&mut term, bytes.replace('\n', "\r\n").as_bytes());
        let row = |row| {
            let mut text = String::new();
            term.row_text(LineId(row), &mut text);
            text.trim_end().to_owned()
        };
        ((0..8).map(row).collect(), (term.cursor().row, term.cursor().col))
    }

    #[test]
    fn the_line_is_drawn_again_below_the_text() {
        let edited = |line: &str, position| Edited {
            prompt: "> ".to_owned(),
            line: line.to_owned(),
            position,
        };
        for (line, position, rows, cursor) in [
            ("abc", 3, &["news", "> abc"][..], (1, 5)),
            ("abc", 1, &["news", "> abc"], (1, 3)),
            ("0123456789ab", 12, &["news", "> 01234567", "89ab"], (2, 4)),
            ("0123456789ab", 0, &["news", "> 01234567", "89ab"], (1, 2)),
            ("01234567", 8, &["news", "> 01234567", ""], (2, 0)),
        ] {
            let edited = edited(line, position);
            // Draw the line first, as the editor does.
            let before = edited.below("", 10);
            let (found, at) = shown(&format!("{before}{}", edited.below("news\n", 10)));
            assert_eq!(&found[..rows.len()], rows, "{line}");
            assert_eq!(at, cursor, "{line} {position}");
        }
    }
}
