//! The shell's input line as the screen shows it: the text after the mark where input begins (OSC 133 B), from any
//! source. A shell without marks has no such line.

use std::cmp::Ordering;

use unterm_term::{LineId, Modes, Term};

/// The most rows read above the screen. If a shell does not mark where output begins, all its programs' output counts
/// as input, and the terminal is locked while it is read.
const ROWS_ABOVE: u64 = 64;

/// The input of a shell that waits at a marked prompt, as the screen shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownLine {
    /// The id that the command will have.
    pub command: u64,
    /// The text up to the cursor, blanks included.
    pub before_cursor: String,
    /// The text from the cursor on, without trailing blanks. Includes the shell's suggestions and a right prompt.
    pub behind_cursor: String,
    /// The line begins above the rows read, so this is only its end.
    pub is_cut: bool,
}

impl ShownLine {
    /// Returns `None` if no shell waits at a marked prompt, or a program uses the alternate screen.
    pub fn of(term: &Term) -> Option<Self> {
        if term.modes().contains(Modes::ALT_SCREEN) {
            return None;
        }
        let last = term.commands().next_back().filter(|last| last.is_prompting())?;
        let (command, start) = (last.id, last.input?);
        let (top, cursor, size) = (term.live_top().0, term.cursor(), term.size());
        let here = top + u64::from(cursor.row);
        let from = start.line.0.max(top.saturating_sub(ROWS_ABOVE));
        let mut text = [String::new(), String::new()];
        for row in from..top + u64::from(size.rows) {
            let first = if row == start.line.0 { start.col } else { 0 };
            let cursor = match row.cmp(&here) {
                Ordering::Less => size.cols,
                Ordering::Equal => cursor.col,
                Ordering::Greater => 0,
            };
            let mut put = |col: u16, shown: &str| {
                if col >= first {
                    text[usize::from(col >= cursor)].push_str(shown);
                }
            };
            let (mut written, mut is_full) = (0, false);
            let read = term.row_cells(LineId(row), |col, shown| {
                put(col, shown);
                written = col + 1;
                is_full = written == size.cols && shown != " ";
            });
            let Some(is_wrapped) = read else { continue };
            if row == here {
                // Cells before the cursor that were never written are blanks.
                (written..cursor).for_each(|col| put(col, " "));
            }
            // A shell may break a long line itself, at the last column.
            let goes_on = is_wrapped || is_full;
            if !goes_on {
                text[usize::from(row >= here)].push('\n');
            }
        }
        let [before_cursor, behind_cursor] = text;
        let behind_cursor = behind_cursor.trim_end().to_owned();
        Some(Self { command, before_cursor, behind_cursor, is_cut: from > start.line.0 })
    }

    /// The line with `added` typed at the cursor.
    pub fn with(&self, added: &str) -> String {
        format!("{}{added}{}", self.before_cursor, self.behind_cursor)
    }
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size};

    use super::*;

    fn shown(cols: u16, output: &str) -> Option<(String, String)> {
        let mut term = Term::new(Size::cells(cols, 5), Options::default());
        Parser::new().advance(&mut term, output.as_bytes());
        ShownLine::of(&term).map(|shown| (shown.before_cursor, shown.behind_cursor))
    }

    fn parts(before: &str, behind: &str) -> Option<(String, String)> {
        Some((before.to_owned(), behind.to_owned()))
    }

    #[test]
    fn a_shells_line_is_what_stands_behind_the_mark_of_its_input() {
        const PROMPT: &str = "\x1b]133;A\x07$ \x1b]133;B\x07";
        let at = |output: &str| shown(20, &format!("{PROMPT}{output}"));
        assert_eq!(at("echo ab"), parts("echo ab", ""));
        assert_eq!(at("echo ab\x1b[2D"), parts("echo ", "ab"), "the cursor is within");
        assert_eq!(at("echo \x1b[C"), parts("echo  ", ""), "blanks count");
        // Across several rows, wrapped and not.
        assert_eq!(at("0123456789abcdefghijk"), parts("0123456789abcdefghijk", ""));
        assert_eq!(at("one\r\ntwo\x1b[A\r\x1b[3C"), parts("o", "ne\ntwo"));
        assert_eq!(at("ls\x1b]133;C\x07out"), None, "it runs");
        assert_eq!(at("ls\x1b[?1049h"), None, "a program has the screen");
        assert_eq!(shown(20, "$ ls"), None, "nothing is marked");
    }

    #[test]
    fn of_what_an_unmarked_command_wrote_the_end_is_read() {
        let read = |lines: usize| {
            let mut term = Term::new(Size::cells(20, 5), Options::default());
            let output = format!("\x1b]133;A\x07$ \x1b]133;B\x07{}", "\r\nout".repeat(lines));
            Parser::new().advance(&mut term, output.as_bytes());
            let shown = ShownLine::of(&term).unwrap();
            (shown.before_cursor.matches("out").count(), shown.is_cut)
        };
        // The rows above the cursor's row on a screen of five rows, plus those above the screen.
        assert_eq!(read(4 + 64), (4 + 64, false));
        assert_eq!(read(5 + 64), (5 + 64, true));
        assert_eq!(read(9 + 64), (5 + 64, true));
    }

    #[test]
    fn a_shells_line_has_every_character_whole() {
        const PROMPT: &str = "\x1b]133;A\x07$ \x1b]133;B\x07";
        let at = |output: &str| shown(20, &format!("{PROMPT}{output}"));
        assert_eq!(at("cafe\u{301} 漢字"), parts("cafe\u{301} 漢字", ""));
        // A wide character that does not fit leaves a blank column, which is not part of the line.
        assert_eq!(at("0123456789abcdefg漢x"), parts("0123456789abcdefg漢x", ""));
    }
}
