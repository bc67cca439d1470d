//! Echoes of text that callers typed, so that a wait for output can ignore them.
//!
//! **Invariant.** Two parties can show a typed line, each in one place only. The terminal echoes the line at the first
//! place where its text appears after it was typed. A line editor shows the line at the first place where its text
//! appears in what the editor draws, and again when the editor redraws it after the same prompt. The text at any other
//! place is output.
//!
//! The cells record which party drew them: an editor enables bracketed paste while it draws, and the terminal marks the
//! cells that are drawn meanwhile ([`Cell::is_edited`](unterm_term::Cell::is_edited)). The search does not use the
//! cursor's position or the terminal's settings at the moment of typing, because both may change before the program's
//! terminal receives the text. There is one exception: if a program certainly waits for the text, the way in which it
//! waits is used ([`Reader`]).
//!
//! Editors that don't enable bracketed paste, such as Python's, are recognized by their prompt (`ends_prompt`). This
//! matters only for text that was typed while the program was busy.

mod seen;
mod shown_line;
mod typed;

use std::collections::VecDeque;

use parking_lot::Mutex;
use unterm_mux::{Pane, PaneId};
use unterm_term::{Modes, Term, TypedId};

use super::question_line::line_to_cursor;
pub use seen::Search;
use typed::{Reader, Typed};

/// The maximum number of remembered lines. A further line replaces the oldest.
const MOST: usize = 256;
/// The maximum number of lines that one search looks for.
const MOST_OF_PANE: usize = 64;
/// The maximum length in bytes of a remembered input. Of a longer input, only the beginning is remembered.
const LONGEST: usize = 4096;
/// The maximum length in bytes of an input that a terminal receives as a whole. The terminal echoes either all lines of
/// such an input or no line.
const AT_ONCE: usize = 1024;
/// The marks before and after a bracketed paste. Programs do not show them.
const PASTE: [&str; 2] = ["\x1b[200~", "\x1b[201~"];

/// The state of a pane before text is typed.
#[derive(Clone, Debug)]
pub struct BeforeTyping {
    mark: TypedId,
    seq: u64,
    reader: Reader,
}

impl BeforeTyping {
    /// The state of a pane now. `None` if its program does not show typed text. On the alternate screen, input edits a
    /// document. A program that waits for keys with the cursor in the first column has no prompt, and shows only its
    /// own output.
    pub fn of(pane: &Pane) -> Option<Self> {
        let process = pane.process();
        if process.reads_secret() {
            return None;
        }
        // Right after input, the program may not have received the input yet.
        let has_editor = pane.term().modes().contains(Modes::BRACKETED_PASTE);
        let waits = !has_editor && pane.shows_input() && process.awaits_input() == Some(true);
        let is_echoed = process.echo() != Some(false);
        let mut term = pane.term();
        let reader = match waits && !term.modes().contains(Modes::BRACKETED_PASTE) {
            true if is_echoed => Reader::Line,
            // The editor may already wait although its request for bracketed paste has not been read yet.
            true if term.has_edited_lines() => Reader::Any,
            true if term.cursor().col == 0 => return None,
            true => Reader::Keys(line_to_cursor(&term)),
            false => Reader::Any,
        };
        Some(Self { mark: term.mark_typed()?, seq: term.seq(), reader })
    }
}

/// The lines that callers typed recently, in any pane.
#[derive(Debug, Default)]
pub struct Echoes(Mutex<Recent>);

#[derive(Debug, Default)]
struct Recent {
    lines: VecDeque<(PaneId, Typed)>,
    /// The number of the next line.
    next: u64,
}

impl Echoes {
    /// Records text that will be typed next. Returns the numbers of its lines.
    pub fn add(&self, pane: &Pane, place: BeforeTyping, typed: &[u8]) -> Vec<u64> {
        let kept = String::from_utf8_lossy(&typed[..typed.len().min(LONGEST)]);
        self.put(pane.id(), &pane.term(), place, &kept, typed.len() > LONGEST)
    }

    /// Records whole lines that were typed. Text that the screen shows after a line, up to the line's end, is an echo
    /// as well.
    pub fn add_lines(&self, pane: &Pane, place: BeforeTyping, typed: &str) {
        self.put(pane.id(), &pane.term(), place, typed, true);
    }

    /// Forgets lines that were not typed after all.
    pub fn withdraw(&self, numbers: &[u64]) {
        self.0.lock().lines.retain(|(_, line)| !numbers.contains(&line.number));
    }

    fn put(
        &self,
        pane: PaneId,
        term: &Term,
        place: BeforeTyping,
        typed: &str,
        reaches_end: bool,
    ) -> Vec<u64> {
        let mut recent = self.0.lock();
        let BeforeTyping { mark, seq, mut reader } = place;
        let earlier = recent.of(pane).next_back().cloned();
        let begun = earlier.as_ref().filter(|line| line.is_open()).cloned();
        if earlier.is_some_and(|line| term.typed_at(line.mark) == term.typed_at(mark)) {
            // The screen has not changed since earlier input was typed, so perhaps that input has not arrived yet.
            reader = Reader::Any;
        }
        let pasted = typed.strip_prefix(PASTE[0]).map(|rest| rest.trim_end_matches(PASTE[1]));
        let given: Vec<_> =
            pasted.unwrap_or(typed).split(['\r', '\n']).map(TypedLine::of).collect();
        let reaches_end = reaches_end || given.iter().any(|line| line.is_cut);
        let last = given.len() - 1;
        let mut numbers = Vec::new();
        let mut above = None;
        for (index, TypedLine { text, drafts, .. }) in given.into_iter().enumerate() {
            let line = Typed {
                number: recent.number(),
                reader: if index == 0 { reader.clone() } else { Reader::Any },
                above: above.filter(|_| typed.len() <= AT_ONCE),
                text,
                drafts,
                reaches_end,
                has_ended: index < last,
                ..Typed::new(mark, seq)
            };
            // Add the whole line if it was typed in several inputs, because a line editor shows it as a whole.
            let whole = begun.as_ref().filter(|_| index == 0).map(|begun| Typed {
                number: recent.number(),
                text: format!("{}{}", begun.text, line.text),
                drafts: line.drafts.iter().map(|it| format!("{}{it}", begun.text)).collect(),
                cuts: [&begun.cuts[..], &[begun.text.len()]].concat(),
                reader: begun.reader.clone(),
                above: None,
                ..Typed { mark: begun.mark, seq: begun.seq, looked: begun.seq, ..line.clone() }
            });
            if line.text.is_empty() && line.drafts.is_empty() {
                above = above.map(|(number, gap)| (number, gap + 1));
            } else {
                above = Some((line.number, 0));
                numbers.push(line.number);
                recent.add(pane, line);
            }
            if let Some(whole) = whole {
                recent.lines.retain(|(_, line)| {
                    !line.is_joined()
                        || begun.as_ref().is_none_or(|begun| begun.number != line.number)
                });
                numbers.push(whole.number);
                recent.add(pane, whole);
            }
        }
        numbers
    }

    /// Begins a search in the text that a pane shows now. The caller passes the locked terminal, because it must read
    /// the text under the same lock.
    pub fn search(&self, pane: PaneId, term: &Term) -> Search {
        let recent = self.0.lock();
        let lines: Vec<_> = recent.of(pane).rev().take(MOST_OF_PANE).cloned().collect();
        Search::new(term, lines.into_iter().rev().collect())
    }

    /// Stores the places where a search of all rows has found echoes, so that later output at other places is not
    /// mistaken for an echo.
    pub fn keep(&self, search: Search, term: &mut Term) {
        let known = search.settle(term);
        let mut recent = self.0.lock();
        for line in known {
            let kept = recent.lines.iter_mut().find(|(_, kept)| kept.number == line.number);
            if let Some((_, kept)) = kept.filter(|(_, kept)| kept.looked <= line.looked) {
                *kept = line;
            }
        }
    }
}

impl Recent {
    fn of(&self, pane: PaneId) -> impl DoubleEndedIterator<Item = &Typed> {
        self.lines.iter().filter(move |(of, _)| *of == pane).map(|(_, line)| line)
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    fn add(&mut self, pane: PaneId, line: Typed) {
        if self.lines.len() == MOST {
            self.lines.pop_front();
        }
        self.lines.push_back((pane, line));
    }
}

/// A typed line as a program would show it.
struct TypedLine {
    text: String,
    /// The text at earlier times, before characters of it were erased.
    drafts: Vec<String>,
    /// Whether the line has a control character, such as a tab. A program may show anything for the rest of such a
    /// line.
    is_cut: bool,
}

impl TypedLine {
    fn of(line: &str) -> Self {
        let mut given = Self { text: String::new(), drafts: Vec::new(), is_cut: false };
        for char in line.trim_start_matches('\t').chars() {
            match char {
                '\x7f' | '\x08' => {
                    given.drafts.push(given.text.clone());
                    given.text.pop();
                }
                char if !char.is_control() => given.text.push(char),
                _ => {
                    given.is_cut = true;
                    break;
                }
            }
        }
        given.is_cut |= !given.drafts.is_empty();
        given
    }
}

#[cfg(test)]
mod tests;
