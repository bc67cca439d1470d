//! The shell's input line as the screen shows it: the text after the mark where input begins (OSC 133 B), whoever wrote
//! it. A shell that marks no prompts has no such line.
//!
//! The screen is only a picture of the shell's line, and programs in the pane can make it show a different line. Trust
//! the line only if [`ShownLine::doubt`] returns no doubt.

use std::{cmp::Ordering, collections::HashMap};

use unterm_term::{LineId, Modes, Term};

/// The maximum number of rows to read above the screen. If a shell does not mark where output begins, all output of its
/// programs counts as input, and the terminal is locked while it is read.
const ROWS_ABOVE: u64 = 64;

/// The input of a shell that waits at a marked prompt, as the screen shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownLine {
    /// The id that the command will have.
    pub command: u64,
    /// The text up to the cursor, including blanks.
    pub before_cursor: String,
    /// The text from the cursor on, without trailing blanks. It includes the shell's suggestions and a right prompt.
    pub behind_cursor: String,
    /// Whether the line begins above the rows that were read, so that only its end is known.
    pub is_cut: bool,
    /// The reason why the screen may show a different line than the shell has, independent of the typed text.
    pub distortion: Option<Distortion>,
}

/// The reasons why the screen may show a different line than the shell has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Distortion {
    /// The line begins above the screen, where the shell no longer updates it.
    #[error("its beginning is above the screen")]
    Above,
    /// A mode, a margin or a character set changes what is printed, or its position.
    #[error("a mode of the terminal changes what the shell prints")]
    Modes,
    /// The shell shows only a part of the line, and marks the hidden parts with `<` or `>`.
    #[error("the shell may show only a part of it")]
    Scrolled,
    /// The terminal device has a different width than the pane, so the shell divides the line into different rows.
    #[error("the terminal device has another size than the pane")]
    Size,
    /// The screen does not show some of the typed text.
    #[error("the screen does not show all that was typed")]
    Missing,
    /// The line contains characters that nobody typed. Shells and terminals may disagree about their width, or they may
    /// stand for a control character (such as `^J`).
    #[error("it contains characters that nobody typed and that may stand for others")]
    Characters,
    /// The screen shows no text of the line.
    #[error("the screen shows none")]
    Blank,
}

impl ShownLine {
    /// The line of a shell that waits at a marked prompt. `None` if no shell does, or if a program uses the alternate
    /// screen.
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
        let mut is_marked = false;
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
                // readline puts its mark in the last column, zsh in the column before.
                is_marked |= col >= first && col + 2 >= size.cols && shown == ">";
                written = col + 1;
                is_full = written == size.cols && shown != " ";
            });
            let Some(is_wrapped) = read else { continue };
            if row == here {
                // Cells before the cursor that were never written are blanks.
                (written..cursor).for_each(|col| put(col, " "));
            }
            // A shell may break a long line itself, after filling the last column.
            let goes_on = is_wrapped || is_full;
            if !goes_on {
                text[usize::from(row >= here)].push('\n');
            }
        }
        let [before_cursor, behind_cursor] = text;
        let behind_cursor = behind_cursor.trim_end().to_owned();
        let is_marked = is_marked || format!("{before_cursor}{behind_cursor}").starts_with('<');
        let distortion = if start.line.0 < top {
            Some(Distortion::Above)
        } else if !term.prints_all_as_is() {
            Some(Distortion::Modes)
        } else if is_marked || term.is_prompt_overwritten(start) {
            Some(Distortion::Scrolled)
        } else {
            None
        };
        Some(Self {
            command,
            before_cursor,
            behind_cursor,
            is_cut: from > start.line.0,
            distortion,
        })
    }

    /// The reason to doubt that the shell has this line, after keys edited it. `earlier` is the text that earlier input
    /// typed; NUL separates the parts between two keys ([`crate::Line::earlier`]). The line must contain every typed
    /// character, and those of one part in their order. All other characters come from the shell's history or
    /// completion. They must be ASCII, so that each occupies one cell.
    pub fn doubt(&self, earlier: &str) -> Option<Distortion> {
        if self.distortion.is_some() {
            return self.distortion;
        }
        let shown = || self.before_cursor.chars().chain(self.behind_cursor.chars()).filter(is_ink);
        let mut typed = HashMap::<char, usize>::new();
        for char in earlier.chars().filter(is_ink) {
            *typed.entry(char).or_default() += 1;
        }
        for char in shown() {
            match typed.get_mut(&char) {
                Some(left) => *left = left.saturating_sub(1),
                // `^` begins the name of a control character.
                None if char.is_ascii() && char != '^' => {}
                None => return Some(Distortion::Characters),
            }
        }
        let is_whole = |part: &str| {
            let mut rest = shown();
            part.chars().filter(is_ink).all(|char| rest.any(|shown| shown == char))
        };
        if typed.values().any(|&left| left > 0) || !earlier.split('\0').all(is_whole) {
            return Some(Distortion::Missing);
        }
        shown().next().is_none().then_some(Distortion::Blank)
    }

    /// The line with `added` typed at the cursor.
    pub fn with(&self, added: &str) -> String {
        format!("{}{added}{}", self.before_cursor, self.behind_cursor)
    }
}

/// Whether a character shows. NUL separates texts.
fn is_ink(char: &char) -> bool {
    !char.is_whitespace() && *char != '\0'
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

    /// A line of two parts, with the cursor between them.
    fn line(before: &str, behind: &str) -> ShownLine {
        let (before_cursor, behind_cursor) = (before.to_owned(), behind.to_owned());
        ShownLine { before_cursor, behind_cursor, ..ShownLine::default() }
    }

    #[test]
    fn a_line_that_lacks_typed_text_is_in_doubt() {
        for (before, behind, earlier, doubt) in [
            ("git push", "", "", None),
            ("forbid", "den", "forbdden\0i", None),
            ("sudo git push", "", "git push\0sudo ", None),
            ("a b", "", "ab", None),
            (": git push", "", "touch x; : git push", Some(Distortion::Missing)),
            ("ab", "", "ab\0a", Some(Distortion::Missing)),
            ("ab", "", "ba", Some(Distortion::Missing)),
            ("", "", "", Some(Distortion::Blank)),
            ("  ", "", "", Some(Distortion::Blank)),
            ("echo é", "", "é", None),
            ("echo é", "", "", Some(Distortion::Characters)),
            ("echo éé", "", "é", None),
            ("echo ^J id", "", "", Some(Distortion::Characters)),
            ("grep ^a", "", "^a", None),
        ] {
            assert_eq!(line(before, behind).doubt(earlier), doubt, "{before}|{behind} {earlier:?}");
        }
    }

    #[test]
    fn a_line_in_a_distorted_picture_is_in_doubt() {
        const PROMPT: &str = "\x1b]133;A\x07$ \x1b]133;B\x07";
        let doubt = |output: &str| {
            let mut term = Term::new(Size::cells(20, 5), Options::default());
            Parser::new().advance(&mut term, output.as_bytes());
            ShownLine::of(&term).unwrap().doubt("")
        };
        let at = |output: &str| doubt(&format!("{PROMPT}{output}"));
        assert_eq!(at("git push"), None);
        for (output, modes) in [
            ("\x1b[4h", "insert"),
            ("\x1b(0", "graphics in G0"),
            ("\x1b)0\x0e", "graphics in G1, shifted"),
            ("\x1b[?7l", "no wrap"),
            ("\x1b[2;4r\x1b[1;3H", "rows"),
            ("\x1b[?69h\x1b[3;9s\x1b[1;3H", "columns"),
            ("\x1b#6", "double width"),
        ] {
            assert_eq!(at(&format!("{output}git push")), Some(Distortion::Modes), "{modes}");
        }
        // Marks of a line that is scrolled sideways, at both ends; the left one is where the prompt was.
        assert_eq!(at("\r<: git push"), Some(Distortion::Scrolled));
        assert_eq!(at(": git push 123456>"), Some(Distortion::Scrolled));
        assert_eq!(at(": git push 12345>"), Some(Distortion::Scrolled));
        assert_eq!(at("a > b"), None);
        let no_prompt = "\x1b]133;A\x07\x1b]133;B\x07";
        assert_eq!(doubt(&format!("{no_prompt}<: git push")), Some(Distortion::Scrolled));
        let above = format!("{}git push", "x".repeat(20 * 6));
        assert_eq!(at(&above), Some(Distortion::Above));
    }

    proptest::proptest! {
        /// Whatever is typed between keys, a line that hides a typed character is in doubt, and the whole line is not.
        #[test]
        fn no_typed_character_can_be_hidden(
            parts in proptest::collection::vec("[a-f;:]{1,6}", 1..5),
            order in proptest::collection::vec(0usize..100, 5),
            hidden in 0usize..100,
        ) {
            // Each part is inserted somewhere in the line.
            let mut whole: Vec<char> = Vec::new();
            for (part, place) in parts.iter().zip(order) {
                let place = place % (whole.len() + 1);
                whole.splice(place..place, part.chars());
            }
            let (text, earlier) = (whole.iter().collect::<String>(), parts.join("\0"));
            proptest::prop_assert_eq!(line(&text, "").doubt(&earlier), None);
            whole.remove(hidden % whole.len());
            let text: String = whole.iter().collect();
            proptest::prop_assert_eq!(line(&text, "").doubt(&earlier), Some(Distortion::Missing));
        }
    }
}
