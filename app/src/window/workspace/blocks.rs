//! Commands as blocks. Each prompt has a mark with actions for its command, and the user can jump between prompts. A
//! header shows the command line while the command's output scrolls.
//!
//! Owns the list of visible commands and the current command. The terminal detects commands with the help of shell
//! integration. This module never writes to the terminal. Blocks are not shown on the alternate screen.

pub(crate) mod about;
pub(crate) mod action;
pub(crate) mod actions;
pub(crate) mod draw;
pub(crate) mod layout;
pub(crate) mod mark;
pub(crate) mod mouse;

use unterm_term::{Command, LineId, Rgb, ScreenKind, Snapshot, Term};

use crate::window::{
    ui::colors::Colors,
    workspace::blocks::{
        about::{about, possible},
        action::BlockAction,
    },
};

/// The maximum number of visible commands that are shown as blocks.
const CAP: usize = 512;

/// The outcome of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fare {
    Good,
    Bad,
    Running,
    /// The user is still typing the command, or its exit code is unknown.
    Plain,
}

impl Fare {
    fn of(command: &Command) -> Self {
        match command.exit_code {
            Some(0) => Self::Good,
            Some(_) => Self::Bad,
            None if command.is_running() => Self::Running,
            None => Self::Plain,
        }
    }

    fn color(self, colors: &Colors) -> Rgb {
        match self {
            Self::Good => colors.success,
            Self::Bad => colors.danger,
            Self::Running => colors.accent,
            Self::Plain => colors.muted,
        }
    }
}

/// A command whose first line is visible: its prompt or, if the prompt is gone, what is left of its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    id: u64,
    line: LineId,
    fare: Fare,
    /// The text of the panel about the command; empty if the command has not run.
    about: String,
    /// The actions that are possible on the command now.
    parts: Vec<BlockAction>,
}

/// The command whose output fills the first visible row, for the sticky header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    line: LineId,
    fare: Fare,
    text: String,
}

/// The visible commands of a view.
#[derive(Debug, Default)]
pub(crate) struct Blocks {
    list: Vec<Block>,
    header: Option<Header>,
    /// The terminal's `seq` and the first line when the commands were last read.
    read: Option<(u64, LineId)>,
    /// The command that the user last jumped to.
    current: Option<u64>,
    /// The number of changes of the visible commands so far.
    changes: u64,
}

impl Blocks {
    /// Makes the next [`Blocks::read`] read the terminal again.
    pub(crate) fn forget(&mut self) {
        self.read = None;
    }

    /// A counter that grows with each change of the visible commands.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Reads the visible commands, if the terminal or the first visible line has changed since the last call.
    pub(crate) fn read(&mut self, term: &Term, snapshot: &Snapshot, is_scrolled: bool) {
        let (Some(first), Some(last)) = (snapshot.rows.first(), snapshot.rows.last()) else {
            return;
        };
        let (first, last) = (first.line, last.line);
        if self.read.replace((snapshot.seq, first)) == Some((snapshot.seq, first)) {
            return;
        }
        let before = (std::mem::take(&mut self.list), self.header.take(), self.current);
        if !is_scrolled {
            self.current = None;
        }
        if snapshot.screen == ScreenKind::Main {
            self.read_between(term, first, last, is_scrolled);
        }
        let is_same = (&before.0, &before.1, before.2) == (&self.list, &self.header, self.current);
        self.changes += u64::from(!is_same);
    }

    fn read_between(&mut self, term: &Term, first: LineId, last: LineId, is_scrolled: bool) {
        let above = term.command_at(first);
        let at_first = above.filter(|command| term.first_line(command) == Some(first));
        let mut next = at_first.and(Some(first)).or_else(|| term.command_after(first));
        while let Some(line) = next.filter(|line| *line <= last && self.list.len() < CAP) {
            if let Some(command) = term.command_at(line) {
                let (about, parts) = (about(command), possible(term, command));
                let (id, fare) = (command.id, Fare::of(command));
                self.list.push(Block { id, line, fare, about, parts });
            }
            next = term.command_after(line);
        }
        self.header = above.filter(|_| is_scrolled && at_first.is_none()).and_then(|command| {
            let line = term.first_line(command)?;
            let output = command.output.map_or(line, |output| output.line);
            let text = command.shown()?.lines().next()?.trim().to_owned();
            let header = Header { line, fare: Fare::of(command), text };
            (output <= first && !header.text.is_empty()).then_some(header)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unterm_term::{Options, Parser, Size};

    #[test]
    fn blocks_are_visible_prompts_and_the_header_is_the_one_above() {
        let mut term = Term::new(Size::cells(20, 4), Options::default());
        let run = |line: &str, output: &str, code: u8| {
            format!(
                "\x1b]133;A\x07$ \x1b]133;B\x07{line}\r\n\x1b]133;C\x07{output}\x1b]133;D;{code}\x07"
            )
        };
        let bytes = run("one", "1\r\n2\r\n3\r\n4\r\n5\r\n", 0)
            + &run("two", "x\r\n", 1)
            + "\x1b]133;A\x07$ ";
        Parser::new().advance(&mut term, bytes.as_bytes());
        let mut snapshot = Snapshot::default();
        let mut blocks = Blocks::default();
        let mut at = |top: Option<u64>| {
            term.snapshot(&mut snapshot, top.map(LineId));
            blocks.read(&term, &snapshot, top.is_some());
            let lines: Vec<_> =
                blocks.list.iter().map(|block| (block.line.0, block.fare)).collect();
            (lines, blocks.header.clone().map(|header| header.text))
        };
        let (two, last) = ((6, Fare::Bad), (8, Fare::Plain));
        assert_eq!(at(None), (vec![two, last], None));
        assert_eq!(at(Some(3)), (vec![two], Some("one".to_owned())));
        assert_eq!(at(Some(0)), (vec![(0, Fare::Good)], None));
        assert_eq!(at(Some(1)).1, Some("one".to_owned()));
    }

    #[test]
    fn a_command_without_its_prompt_is_marked_at_its_output() {
        let mut term = Term::new(Size::cells(20, 6), Options::default());
        let prompt = "\x1b]133;A\x07$ \x1b]133;B\x07";
        let bytes = format!(
            "{prompt}x\r\n\x1b]133;C\x07old\r\n\x1b[H\x1b[2J\x1b[3Jrest\r\n\x1b]133;D;0\x07{prompt}"
        );
        Parser::new().advance(&mut term, bytes.as_bytes());
        let (mut snapshot, mut blocks) = (Snapshot::default(), Blocks::default());
        term.snapshot(&mut snapshot, None);
        blocks.read(&term, &snapshot, false);
        let lines: Vec<_> = blocks.list.iter().map(|block| (block.line.0, block.fare)).collect();
        assert_eq!(lines, [(0, Fare::Good), (1, Fare::Plain)]);
    }

    #[test]
    fn the_header_is_the_command_as_it_was_given() {
        let mut term = Term::new(Size::cells(20, 4), Options::default());
        let mut parser = Parser::new();
        parser.advance(&mut term, b"\x1b]133;A\x07$ \x1b]133;B\x07");
        term.give_command(1, "eval one", "one");
        let output =
            b"eval one\r\n\x1b]133;C\x071\r\n2\r\n3\r\n4\r\n\x1b]133;D;0\x07\x1b]133;A\x07$ ";
        parser.advance(&mut term, output);
        let (mut snapshot, mut blocks) = (Snapshot::default(), Blocks::default());
        term.snapshot(&mut snapshot, Some(LineId(1)));
        blocks.read(&term, &snapshot, true);
        assert_eq!(blocks.header.map(|header| header.text).as_deref(), Some("one"));
    }
}
