//! Echoes of text that callers typed, so that a wait for output can ignore them.
//!
//! Shells with integration mark the text typed at their prompts. Other programs that show their input do not: interpreters,
//! shells without integration, and shells that have not drawn their prompt yet.

use std::collections::VecDeque;

use parking_lot::Mutex;
use unterm_mux::{Pane, PaneId};
use unterm_term::{LineId, Modes, Point};

use super::question_line::ends_prompt;

/// The most echoes that are remembered. One more replaces the oldest.
const MOST: usize = 256;
/// The longest text that is remembered, in bytes. A longer one is remembered by its beginning.
const LONGEST: usize = 4096;
/// The marks before and after a bracketed paste. Programs do not show them.
const PASTE: [&str; 2] = ["\x1b[200~", "\x1b[201~"];

/// Python's prompt in the middle of a statement.
const CONTINUATION: &str = "... ";

/// The position at which a program would echo input.
#[derive(Clone, Copy, Debug)]
pub struct Place(Point);

impl Place {
    /// The cursor's position in a pane. `None` if text at that position is not an echo: on the alternate screen, input edits
    /// a document; in the first column without terminal echo, the program prints its own output.
    pub fn of(pane: &Pane) -> Option<Self> {
        let at = {
            let term = pane.term();
            if term.modes().contains(Modes::ALT_SCREEN) {
                return None;
            }
            let cursor = term.cursor();
            let line = term.live_top().0 + u64::from(cursor.row);
            Point { line: LineId(line), col: cursor.col }
        };
        let process = pane.process();
        let echoes = process.echo() != Some(false) || at.col > 0;
        (echoes && !process.reads_secret()).then_some(Self(at))
    }
}

/// A typed text and its position.
#[derive(Clone, Debug)]
pub struct Echo {
    place: Place,
    text: String,
    /// The lines after the first. Their places are unknown, because a program may print between them.
    later: Vec<String>,
    /// The rest of its line was typed too.
    reaches_end: bool,
}

/// The texts that callers typed recently, in any pane.
#[derive(Debug, Default)]
pub struct Echoes(Mutex<VecDeque<(PaneId, Echo)>>);

impl Echoes {
    /// Records text that was typed at a position. Each line counts up to its first control character.
    pub fn add(&self, pane: &Pane, place: Place, typed: &[u8]) {
        let typed = String::from_utf8_lossy(&typed[..typed.len().min(LONGEST)]);
        let typed = typed.strip_prefix(PASTE[0]).unwrap_or(&typed);
        let mut lines = typed.split(['\r', '\n']).map(|line| {
            let text = line.split(char::is_control).next();
            text.unwrap_or_default().trim_end().to_owned()
        });
        let text = lines.next().unwrap_or_default();
        let later = lines.filter(|line| !line.trim().is_empty()).collect();
        self.put(pane, Echo { place, text, later, reaches_end: false });
    }

    /// Records a line that was typed at a position, by its beginning.
    pub fn add_line(&self, pane: &Pane, place: Place, beginning: &str) {
        let (text, later) = (beginning.to_owned(), Vec::new());
        self.put(pane, Echo { place, text, later, reaches_end: true });
    }

    fn put(&self, pane: &Pane, echo: Echo) {
        if echo.text.trim().is_empty() {
            return;
        }
        let mut echoes = self.0.lock();
        if echoes.len() == MOST {
            echoes.pop_front();
        }
        echoes.push_back((pane.id(), echo));
    }

    /// The echoes in a pane, oldest first.
    pub fn of(&self, pane: PaneId) -> Vec<Echo> {
        let echoes = self.0.lock();
        echoes.iter().filter(|(of, _)| *of == pane).map(|(_, echo)| echo.clone()).collect()
    }
}

impl Echo {
    /// Removes this echo from the text of a line, whose rows are `first` to `last`, if the line shows it. Removes
    /// the drawn part of an echo that is still incomplete.
    pub fn remove_from(&self, first: u64, last: u64, line: &mut String) {
        let Point { line: row, col } = self.place.0;
        if first > row.0 {
            // The echo of a later line follows a prompt.
            let is_typed = |typed: &&String| {
                line.strip_suffix(typed.as_str())
                    .is_some_and(|before| ends_prompt(before) || before == CONTINUATION)
            };
            if let Some(typed) = self.later.iter().find(is_typed) {
                line.truncate(line.len() - typed.len());
            }
            return;
        }
        if last < row.0 {
            return;
        }
        if let Some(at) = line.rfind(&self.text) {
            let end = if self.reaches_end { line.len() } else { at + self.text.len() };
            line.replace_range(at..end, "");
            return;
        }
        let at = line.char_indices().nth(usize::from(col)).map(|(at, _)| at);
        if let Some(at) = at
            && row.0 == first
            && self.text.starts_with(&line[at..])
        {
            line.truncate(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, row: u64, text: &str) -> String {
        let place = Place(Point { line: LineId(row), col: 4 });
        let mut line = line.to_owned();
        Echo { place, text: text.to_owned(), later: Vec::new(), reaches_end: false }
            .remove_from(5, 6, &mut line);
        line
    }

    #[test]
    fn an_echo_is_removed_where_it_was_typed() {
        assert_eq!(shown(">>> print('it')", 5, "print('it')"), ">>> ");
        assert_eq!(shown(">>> print('it') # hint", 5, "print('it')"), ">>>  # hint");
        assert_eq!(shown(">>> pri", 5, "print('it')"), ">>> ", "half drawn");
        assert_eq!(shown("a wrapped print('it')", 6, "print('it')"), "a wrapped ");
        assert_eq!(shown("print('it')", 7, "print('it')"), "print('it')", "another line");
        assert_eq!(shown(">>> other", 5, "print('it')"), ">>> other");
        assert_eq!(shown(">>> é", 5, "print('it')"), ">>> é");
    }

    #[test]
    fn a_line_that_was_typed_reaches_its_end() {
        let place = Place(Point { line: LineId(5), col: 2 });
        let mut line = "$  printf begin; echo READY".to_owned();
        Echo { place, text: " printf begin".to_owned(), later: Vec::new(), reaches_end: true }
            .remove_from(5, 5, &mut line);
        assert_eq!(line, "$ ");
    }
    #[test]
    fn later_lines_are_removed_behind_prompts() {
        let later = vec!["    print('it')".to_owned(), "it".to_owned()];
        let place = Place(Point { line: LineId(5), col: 4 });
        let echo = Echo { place, text: "for _ in x:".to_owned(), later, reaches_end: false };
        let shown = |line: &str, row: u64| {
            let mut line = line.to_owned();
            echo.remove_from(row, row, &mut line);
            line
        };
        assert_eq!(shown("...     print('it')", 6), "... ");
        assert_eq!(shown(">>> it", 7), ">>> ");
        assert_eq!(shown("it", 8), "it", "output");
        assert_eq!(shown("this is it", 8), "this is it", "output");
        assert_eq!(shown(">>> it", 4), ">>> it", "printed before");
    }
}
