//! Echoes of text that callers typed, so that a wait for output can ignore them.
//!
//! Shells with integration mark the text typed at their prompts. Other programs that show their input do not: interpreters,
//! shells without integration, and shells that have not drawn their prompt yet. Typed text counts as an echo in three places:
//!
//! - on the line in which the cursor stood;
//! - if the terminal itself echoes input: on the lines directly below, one for each further typed line;
//! - behind a prompt in a later line, where interpreters show the further typed lines, and line editors redraw what was typed
//!   ahead of their prompt.
//!
//! In these places, the beginning of the text counts as well, since a search may see a half-drawn line. If the cursor
//! was about to move, the first line below it that equals the text counts as well. If the line is gone, for example after
//! Ctrl+L, text behind any prompt counts.

use std::collections::VecDeque;

use parking_lot::Mutex;
use unterm_mux::{Pane, PaneId};
use unterm_term::{LineId, Modes, Term, TypedId, text_clusters};

use super::question_line::{ends_prompt, line_to_cursor};

/// The most echoes that are remembered. One more replaces the oldest.
const MOST: usize = 256;
/// The longest text that is remembered, in bytes. A longer one is remembered by its beginning.
const LONGEST: usize = 4096;
/// The marks before and after a bracketed paste. Programs do not show them.
const PASTE: [&str; 2] = ["\x1b[200~", "\x1b[201~"];

/// The most rows below the cursor in which an early echo is looked for.
const BELOW: u64 = 64;

/// The prompts of Python and gdb in the middle of a statement.
const CONTINUATIONS: [&str; 2] = ["... ", ">"];
/// Shorter texts without Enter are keys rather than lines: programs answer them without showing them.
const SHORTEST: usize = 3;

/// The position at which a program would echo input.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    mark: TypedId,
    /// The terminal itself echoes input, at once.
    by_terminal: bool,
    /// The echo may appear below this position: earlier input is not on the screen yet, or a line editor is about to submit its
    /// line or to begin the next one.
    may_move: bool,
    /// No prompt stands before the position, so a line editor may redraw the text behind its next prompt.
    is_ahead: bool,
}

impl Place {
    /// Remembers the cursor's position in a pane. `None` if text at that position is not an echo: on the alternate screen,
    /// input edits a document; in the first column, if neither the terminal echoes nor a line editor has ever run, the program
    /// prints its own output.
    pub fn of(pane: &Pane) -> Option<Self> {
        let (by_terminal, reads_secret) = {
            let process = pane.process();
            (process.echo() != Some(false), process.reads_secret())
        };
        let is_early = !pane.shows_input();
        let mut term = pane.term();
        let (modes, by_terminal) = (term.modes(), by_terminal || is_early);
        let has_editor = modes.contains(Modes::BRACKETED_PASTE);
        let is_bare = !by_terminal && !has_editor && term.cursor().col == 0;
        if reads_secret || modes.contains(Modes::ALT_SCREEN) || is_bare && !term.has_edited_lines()
        {
            return None;
        }
        // Otherwise, a line editor changes hands: it has just submitted its line, so that the terminal is about to echo, or it
        // is about to draw its next prompt.
        let by_terminal = by_terminal || is_bare;
        let is_ahead = is_early || by_terminal && !ends_prompt(&line_to_cursor(&term));
        let may_move = is_early || has_editor || is_bare;
        Some(Self { mark: term.mark_typed()?, by_terminal, may_move, is_ahead })
    }
}

/// A typed text and its position.
#[derive(Clone, Debug)]
struct Typed {
    place: Place,
    lines: Vec<String>,
    /// The rest of its line was typed too.
    reaches_end: bool,
}

impl Typed {
    /// Text that was typed at a position. Each line counts up to its first control character, such as a tab. What a program
    /// shows for the rest of such a line is unknown, so it then counts up to the end of the shown line. An editor shows the
    /// lines of a paste below each other.
    fn of(place: Place, typed: &[u8]) -> Self {
        let typed = String::from_utf8_lossy(&typed[..typed.len().min(LONGEST)]);
        let pasted = typed.strip_prefix(PASTE[0]).map(|rest| rest.trim_end_matches(PASTE[1]));
        let by_terminal = place.by_terminal || pasted.is_some();
        let lines = pasted.unwrap_or(&typed).split(['\r', '\n']);
        let lines = lines.map(|line| line.trim_start_matches('\t'));
        let reaches_end = lines.clone().any(|line| line.contains(char::is_control));
        let text = |line: &str| {
            let text = line.split(char::is_control).next().unwrap_or_default();
            text.trim_end().to_owned()
        };
        let lines = lines.map(text).collect();
        Self { place: Place { by_terminal, ..place }, lines, reaches_end }
    }

    /// The first line below a row that equals the first line of the text, if the line of that row does not show it.
    fn line_below(&self, term: &Term, row: LineId) -> Option<LineId> {
        let end = term.live_top().0 + u64::from(term.size().rows);
        let mut below = (row.0 + 1..end.min(row.0 + BELOW)).map(LineId);
        let first = self.lines.first().filter(|line| !line.is_empty())?;
        if term.text(term.line_at(row)).contains(first) {
            return None;
        }
        below.find(|&line| {
            let range = term.line_at(line);
            range.start.line == line && term.text(range).trim_end() == first
        })
    }
}

/// The texts that callers typed recently, in any pane.
#[derive(Debug, Default)]
pub struct Echoes(Mutex<VecDeque<(PaneId, Typed)>>);

impl Echoes {
    /// Records text that was typed at a position.
    pub fn add(&self, pane: &Pane, place: Place, typed: &[u8]) {
        self.put(pane, Typed::of(place, typed));
    }

    /// Records whole lines that were typed at a position. The beginning of a single line is enough.
    pub fn add_lines(&self, pane: &Pane, place: Place, lines: Vec<String>) {
        self.put(pane, Typed { place, lines, reaches_end: true });
    }

    fn put(&self, pane: &Pane, typed: Typed) {
        let is_key = typed.lines.len() == 1 && typed.lines[0].chars().count() < SHORTEST;
        if is_key || typed.lines.iter().all(|line| line.trim().is_empty()) {
            return;
        }
        let mut echoes = self.0.lock();
        if echoes.len() == MOST {
            echoes.pop_front();
        }
        echoes.push_back((pane.id(), typed));
    }

    /// The echoes in a pane, the oldest first, for the text that its terminal shows now. Takes the terminal, so that the caller
    /// reads the text under the same lock: a program may clear the screen in between.
    pub fn of(&self, pane: PaneId, term: &Term) -> Vec<Echo> {
        let typed: Vec<Typed> = {
            let echoes = self.0.lock();
            echoes.iter().filter(|(of, _)| *of == pane).map(|(_, it)| it.clone()).collect()
        };
        let cols = usize::from(term.size().cols);
        let mut echoes = Vec::new();
        for typed in typed {
            let mark = term.typed_at(typed.place.mark);
            let moved = mark.filter(|_| typed.place.may_move);
            let moved = moved.and_then(|at| typed.line_below(term, at.line));
            let at = mark.map(|at| (at.line.0, usize::from(at.col)));
            echoes.extend(moved.map(|line| {
                let place = Place { by_terminal: true, is_ahead: true, ..typed.place };
                Echo::of(Typed { place, ..typed.clone() }, Some((line.0, 0)), cols)
            }));
            echoes.push(Echo::of(typed, at, cols));
        }
        echoes
    }
}

/// Where a typed text is shown.
#[derive(Clone, Debug)]
pub struct Echo {
    /// Rows and what was typed in each.
    placed: Vec<(u64, String)>,
    /// Shown behind a prompt in any line that begins below this row, or anywhere.
    below: Option<u64>,
    behind_prompts: Vec<String>,
    reaches_end: bool,
}

impl Echo {
    /// A text that was typed at this row and column; `None` if that row is gone.
    fn of(typed: Typed, at: Option<(u64, usize)>, cols: usize) -> Self {
        let Typed { place: Place { by_terminal, is_ahead, .. }, lines, reaches_end } = typed;
        let mut placed = Vec::new();
        if let Some((mut row, mut col)) = at {
            for line in lines.iter().take(if by_terminal { usize::MAX } else { 1 }) {
                placed.push((row, line.clone()));
                let width: usize = text_clusters(line).map(|(_, width)| width).sum();
                row += ((col + width).saturating_sub(1) / cols) as u64 + 1;
                col = 0;
            }
        }
        placed.retain(|(_, line)| !line.is_empty());
        let behind_prompts = lines
            .into_iter()
            .skip(usize::from(!is_ahead && at.is_some()))
            .filter(|line| !line.trim().is_empty())
            .collect();
        Self { placed, below: at.map(|at| at.0), behind_prompts, reaches_end }
    }

    /// Removes this echo from the text of a line, whose rows are `first` to `last`, if the line shows it.
    pub fn remove_from(&self, first: u64, last: u64, line: &mut String) {
        for (_, typed) in self.placed.iter().filter(|(row, _)| (first..=last).contains(row)) {
            let start = line.rfind(typed.as_str()).or_else(|| half_drawn(line, typed));
            if let Some(start) = start {
                self.remove_at(start, typed, line);
            }
        }
        if self.below.is_some_and(|row| first <= row) {
            return;
        }
        for typed in &self.behind_prompts {
            let starts = line.match_indices([' ', '>']).map(|(at, _)| at + 1);
            let mut behind = starts
                .filter(|at| ends_prompt(&line[..*at]) || CONTINUATIONS.contains(&&line[..*at]))
                .filter(|at| is_begun(&line[*at..], typed));
            if let Some(start) = behind.next() {
                self.remove_at(start, typed, line);
            }
        }
    }

    fn remove_at(&self, start: usize, typed: &str, line: &mut String) {
        let end = if self.reaches_end { line.len() } else { (start + typed.len()).min(line.len()) };
        line.replace_range(start..end, "");
    }
}

/// Whether a text shows a typed one or its beginning.
fn is_begun(shown: &str, typed: &str) -> bool {
    shown.starts_with(typed) || !shown.is_empty() && typed.starts_with(shown)
}

/// Where the longest beginning of a typed text ends a line.
fn half_drawn(line: &str, typed: &str) -> Option<usize> {
    let least = line.len().saturating_sub(typed.len());
    let mut starts = line.char_indices().map(|(at, _)| at).filter(|at| *at >= least);
    starts.find(|at| typed.starts_with(&line[*at..]))
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size};

    use super::*;

    /// Lines typed at row 5, column 4 of a terminal that is 20 columns wide.
    fn typed(lines: &[&str], by_terminal: bool) -> Typed {
        let mut term = Term::new(Size::cells(20, 5), Options::default());
        let place = Place {
            mark: term.mark_typed().unwrap(),
            by_terminal,
            may_move: false,
            is_ahead: by_terminal,
        };
        let lines = lines.iter().map(|&line| line.to_owned()).collect();
        Typed { place, lines, reaches_end: false }
    }

    fn shown(echo: &Echo, row: u64, line: &str) -> String {
        let mut line = line.to_owned();
        echo.remove_from(row, row, &mut line);
        line
    }

    fn of_editor(lines: &[&str]) -> Echo {
        Echo::of(typed(lines, false), Some((5, 4)), 20)
    }

    fn of_terminal(lines: &[&str]) -> Echo {
        Echo::of(typed(lines, true), Some((5, 4)), 20)
    }

    #[test]
    fn an_echo_is_removed_where_it_was_typed() {
        let echo = of_editor(&["print('it')"]);
        assert_eq!(shown(&echo, 5, ">>> print('it')"), ">>> ");
        assert_eq!(shown(&echo, 5, ">>> print('it') # hint"), ">>>  # hint");
        assert_eq!(shown(&echo, 5, ">>> pri"), ">>> ", "half drawn");
        assert_eq!(shown(&echo, 7, "print('it')"), "print('it')", "another line");
        assert_eq!(shown(&echo, 7, ">>> print('it')"), ">>> print('it')", "not typed ahead");
        assert_eq!(shown(&echo, 5, ">>> other"), ">>> other");
        assert_eq!(shown(&echo, 5, ">>> é"), ">>> é");
        let mut wrapped = "a wrapped print('it')".to_owned();
        echo.remove_from(4, 5, &mut wrapped);
        assert_eq!(wrapped, "a wrapped ");
    }

    #[test]
    fn of_a_line_with_a_tab_the_shown_rest_is_an_echo_too() {
        let place = typed(&[], false).place;
        let echo = |text: &str| Echo::of(Typed::of(place, text.as_bytes()), Some((5, 4)), 20);
        assert_eq!(shown(&echo("cat REA\t"), 5, "$ cat READY.txt"), "$ ");
        assert_eq!(shown(&echo("cat\tREADY\r"), 5, "$ cat     READY"), "$ ");
        assert_eq!(shown(&echo("cat it\r"), 5, "$ cat it # hint"), "$  # hint");
    }

    #[test]
    fn the_lines_of_a_paste_are_echoes_below_each_other() {
        let place = typed(&[], false).place;
        let paste = Typed::of(place, b"\x1b[200~read A\recho READY\x1b[201~");
        let echo = Echo::of(paste, Some((5, 4)), 20);
        assert_eq!(shown(&echo, 5, "$   read A"), "$   ");
        assert_eq!(shown(&echo, 6, "echo READY"), "");
        assert_eq!(shown(&echo, 7, "echo READY"), "echo READY");
    }

    #[test]
    fn an_echo_whose_line_is_gone_is_removed_behind_prompts() {
        let echo = Echo::of(typed(&["echo READY"], false), None, 20);
        assert_eq!(shown(&echo, 0, "$ echo READY"), "$ ");
        assert_eq!(shown(&echo, 0, "→ echo READY"), "→ ");
        assert_eq!(shown(&echo, 0, "echo READY"), "echo READY", "output");
    }

    #[test]
    fn a_line_that_was_typed_reaches_its_end() {
        let echo = Echo { reaches_end: true, ..of_terminal(&[" printf begin"]) };
        assert_eq!(shown(&echo, 5, "$  printf begin; echo READY"), "$ ");
        assert_eq!(shown(&echo, 6, "$  printf begin; echo READY"), "$ ", "redrawn by an editor");
    }

    #[test]
    fn later_lines_are_removed_behind_prompts() {
        let echo = of_editor(&["for _ in x:", "    print('it')", "it"]);
        assert_eq!(shown(&echo, 6, "...     print('it')"), "... ");
        assert_eq!(shown(&echo, 6, "...     pri"), "... ", "half drawn");
        assert_eq!(shown(&echo, 7, ">>> it"), ">>> ");
        assert_eq!(shown(&echo, 8, "it"), "it", "output");
        assert_eq!(shown(&echo, 8, "this is it"), "this is it", "output");
        assert_eq!(shown(&echo, 4, ">>> it"), ">>> it", "printed before");
    }

    #[test]
    fn what_a_terminal_echoes_is_removed_from_consecutive_rows() {
        let echo = of_terminal(&["0123456789abcdef+", "", "it", "ends"]);
        // The first line fills 21 columns, so two rows.
        assert_eq!(shown(&echo, 8, "it"), "");
        assert_eq!(shown(&echo, 9, "ends"), "");
        assert_eq!(shown(&echo, 7, "it"), "it");
        assert_eq!(shown(&echo, 10, "it"), "it", "output");
    }

    #[test]
    fn what_was_typed_ahead_is_removed_where_it_is_redrawn() {
        let echo = of_terminal(&["echo it", ""]);
        assert_eq!(shown(&echo, 5, "echo it"), "");
        assert_eq!(shown(&echo, 6, "me@host:~$ echo it"), "me@host:~$ ");
        assert_eq!(shown(&echo, 6, "me@host:~$ echo"), "me@host:~$ ", "half drawn");
        assert_eq!(shown(&echo, 6, "echo it"), "echo it", "output");
    }

    #[test]
    fn what_was_typed_at_a_prompt_is_not_expected_behind_the_next_one() {
        let mut typed = typed(&["READY", ""], true);
        typed.place.is_ahead = false;
        let echo = Echo::of(typed, Some((5, 5)), 20);
        assert_eq!(shown(&echo, 5, "you> READY"), "you> ");
        assert_eq!(shown(&echo, 6, "bot> READY"), "bot> READY", "an answer");
    }

    #[test]
    fn on_a_cleared_screen_an_echo_has_no_row() {
        let echo = Echo::of(typed(&["it"], true), None, 20);
        assert_eq!(shown(&echo, 5, "it"), "it");
        assert_eq!(shown(&echo, 5, "$ it"), "$ ", "redrawn");
    }

    #[test]
    fn an_early_echo_is_the_first_line_that_equals_it() {
        let mut term = Term::new(Size::cells(20, 5), Options::default());
        Parser::new().advance(&mut term, b"$ sleep 1\r\nread it\r\nread it\r\n");
        let early = typed(&["read it", ""], true);
        assert_eq!(early.line_below(&term, LineId(0)), Some(LineId(1)));
        assert_eq!(early.line_below(&term, LineId(2)), None);
    }
}
