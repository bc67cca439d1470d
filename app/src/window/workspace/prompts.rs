//! The prompts and marked lines of a pane, for the marks on its scrollbar.

use std::time::{Duration, Instant};

use unterm_mux::Pane;
use unterm_term::{LineId, Term};

/// While a program prints, the marks of prompts are read again at most once in this time.
const AGE: Duration = Duration::from_millis(200);

/// The kind of a mark on the scrollbar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MarkKind {
    /// A command that succeeded.
    Good,
    /// A command that failed.
    Bad,
    /// A command that is running or has no exit code; or a line that a program marked.
    Plain,
}

/// The marks of a pane's scrollbar.
#[derive(Debug, Default)]
pub(crate) struct Prompts {
    pub(crate) marks: Vec<(LineId, MarkKind)>,
    /// The terminal's `seq` when the marks were last read.
    seq: u64,
    read: Option<Instant>,
}

impl Prompts {
    /// Reads the marks if the terminal has changed. If it is too early to read, returns the time at which to read
    /// them.
    pub(crate) fn read(&mut self, pane: &Pane, seq: u64, now: Instant) -> Option<Instant> {
        if self.seq == seq {
            return None;
        }
        let due = self.read.map(|read| read + AGE).filter(|due| now < *due);
        if due.is_none() {
            self.marks = prompts(&pane.term());
            self.seq = seq;
            self.read = Some(now);
        }
        due
    }
}

pub(crate) fn prompts(term: &Term) -> Vec<(LineId, MarkKind)> {
    let mark = |command: &unterm_term::Command| {
        let kind = match command.exit_code {
            Some(0) => MarkKind::Good,
            Some(_) => MarkKind::Bad,
            None => MarkKind::Plain,
        };
        Some((term.prompt_line(command)?, kind))
    };
    let marks = term.marks().map(|line| (line, MarkKind::Plain));
    let mut all: Vec<_> = term.commands().filter_map(mark).chain(marks).collect();
    // The sort is stable. If the line of a prompt is also marked by a program, the mark of the prompt's command is
    // kept.
    all.sort_by_key(|(line, _)| *line);
    all.dedup_by_key(|(line, _)| *line);
    all
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size};

    use super::*;

    #[test]
    fn prompts_are_marked_with_how_their_commands_ended() {
        let mut term = Term::new(Size::cells(20, 8), Options::default());
        let bytes = "\x1b]133;A\x07$ \x1b]133;B\x07a\r\n\x1b]133;C\x07x\r\n\x1b]133;D;0\x07\
                     \x1b]133;A\x07$ \x1b]133;B\x07b\r\n\x1b]133;C\x07y\r\n\x1b]133;D;3\x07\
                     \x1b]133;A\x07$ \x1b]133;B\x07";
        Parser::new().advance(&mut term, bytes.as_bytes());
        let kinds: Vec<_> = prompts(&term).into_iter().map(|(line, kind)| (line.0, kind)).collect();
        assert_eq!(kinds, [(0, MarkKind::Good), (2, MarkKind::Bad), (4, MarkKind::Plain)]);
        Parser::new()
            .advance(&mut term, b"\x1b[4H\x1b]1337;SetMark\x07\x1b[3H\x1b]1337;SetMark\x07");
        let kinds: Vec<_> = prompts(&term).into_iter().map(|(line, kind)| (line.0, kind)).collect();
        let marked = (3, MarkKind::Plain);
        assert_eq!(kinds, [(0, MarkKind::Good), (2, MarkKind::Bad), marked, (4, MarkKind::Plain)]);
    }
}
