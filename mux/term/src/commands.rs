//! Commands as shell integration tells of them (OSC 133, OSC 633): where prompt, input and output of each are.
//!
//! Owns the list: bounded, in the order of the main screen's lines, and anchored to them, so that it follows the text
//! when lines are wrapped anew. A command is gone with its prompt's line. Never believes more than it is told: all of
//! it is output of programs.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::anchors::Visit;
use crate::cap::Caps;
use crate::grid::Grid;
use crate::row::{OUTPUT, PROMPT};
use crate::term::{ScreenKind, Term};
use crate::{LineId, Point, TextRange};

/// Commands kept; the oldest goes.
const COMMANDS_CAP: usize = 10_000;
/// Commands that may run inside one another: those of shells in shells.
const NESTED_CAP: usize = 64;
/// Bytes of text of all commands; the oldest go.
const TEXT_CAP: usize = 4 << 20;
/// Bytes of a command that is kept as it was given; of more, the beginning.
const GIVEN_CAP: usize = 4096;

/// What arrow keys move the cursor at a prompt (OSC 133 `cl`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClickKeys {
    /// `line`, and where nothing is said: left and right within one line.
    #[default]
    Line,
    /// `m`: left and right across the lines of an input.
    Multiple,
    /// `v`: up and down from the line's start.
    Vertical,
    /// `w`: up and down, the column being kept.
    Smart,
}

/// How clicks at a prompt are told to the shell (kitty's `click_events`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClickEvents {
    /// 1: with rows of the screen.
    Absolute,
    /// 2: with rows from the prompt's first, which is 0.
    Relative,
}

/// What a shell redraws by itself after a resize (`redraw`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redraw {
    /// The whole prompt.
    #[default]
    Prompt,
    /// Its last line.
    LastLine,
    /// Nothing.
    Nothing,
}

/// What a prompt said of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptOptions {
    /// The application's id (`aid`), at most 128 bytes.
    pub aid: Option<String>,
    /// Keys that move its cursor.
    pub click: ClickKeys,
    /// It wants clicks themselves.
    pub click_events: Option<ClickEvents>,
    /// What it redraws.
    pub redraw: Redraw,
}

/// What a program typed at a prompt so that the shell runs a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// What it typed, without Enter.
    pub typed: String,
    /// The command that this stands for, to be shown and never to be run: the first 4 KiB, without control characters but
    /// for line breaks and tabs.
    pub command: String,
}

/// A command, from its prompt on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// Counts from 1 in each terminal.
    pub id: u64,
    /// First cell of its prompt.
    pub prompt: Option<Point>,
    /// First cell of what is typed; `None` before the prompt is complete.
    pub input: Option<Point>,
    /// First cell of its output; `None` before it runs.
    pub output: Option<Point>,
    /// First cell behind its output; `None` before it has ended.
    pub end: Option<Point>,
    /// The `seq` at which the prompt began.
    pub prompt_seq: u64,
    /// The `seq` at which it began to run, 0 before.
    pub output_seq: u64,
    /// The `seq` at which it ended, 0 before.
    pub end_seq: u64,
    /// Its exit code, if the shell told.
    pub exit_code: Option<i32>,
    /// Its command line: as the shell told it, else as it stood on the screen when it began to run. At most 4 KiB, without
    /// control characters but for line breaks and tabs.
    pub line: Option<String>,
    /// The command line is the shell's own word, not read off the screen.
    pub line_told: bool,
    /// What came with the command line to show that it is the shell's (OSC 633 E), at most 128 bytes; not checked here.
    pub nonce: Option<String>,
    /// Its beginning carried the terminal's own nonce ([`crate::Options::nonce`]): the pane's shell told of it, and nobody
    /// else can end it, so that its exit code is the shell's word as well.
    pub is_authentic: bool,
    /// The working directory it was started in, as a URI, if it was told.
    pub cwd: Option<Arc<str>>,
    /// What its prompt said of itself.
    pub options: PromptOptions,
    /// What was typed at its prompt for somebody, which need not be what ran.
    pub given: Option<Given>,
}

impl Command {
    /// Its line as it is to be shown: the command that it was given as, where what ran is what was typed for that.
    pub fn shown(&self) -> Option<&str> {
        match self.ran_as_given() {
            Some(given) => Some(&given.command),
            None => self.line.as_deref(),
        }
    }

    /// What was typed for somebody, where that ran. A line that was read off the screen may lack its beginning; one that was
    /// too long is not known.
    pub fn ran_as_given(&self) -> Option<&Given> {
        let given = self.given.as_ref().filter(|_| self.output_seq != 0)?;
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        let is_it = self.line.as_deref().is_none_or(|line| {
            let (typed, line) = (squeezed(&given.typed), squeezed(line));
            typed == line || !self.line_told && typed.ends_with(&line)
        });
        is_it.then_some(given)
    }

    /// Whether the shell waits for it to be typed.
    pub fn is_prompting(&self) -> bool {
        self.input.is_some() && self.output_seq == 0 && self.end_seq == 0
    }

    /// Whether it runs.
    pub fn is_running(&self) -> bool {
        self.output_seq != 0 && self.end_seq == 0
    }

    fn text_len(&self) -> usize {
        let len = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        len(&self.line)
            + len(&self.nonce)
            + len(&self.options.aid)
            + self.given.as_ref().map_or(0, |given| given.typed.len() + given.command.len())
            + self.cwd.as_ref().map_or(0, |cwd| cwd.len())
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    list: VecDeque<Command>,
    last_id: u64,
    /// Bytes of their texts.
    text: usize,
    /// What the shell said of the next command to run (OSC 633 E): its line and its nonce.
    pub announced: Option<(String, Option<String>)>,
    /// What the pane's own shells know.
    nonce: Option<Arc<str>>,
    /// Lends the nonce to the program that presents it, once.
    ticket: Option<String>,
}

impl Commands {
    /// The commands that have a point on a line, in order.
    pub fn around(&self, line: u64) -> impl Iterator<Item = &Command> {
        let starts_by = |command: &Command| command.prompt.is_some_and(|at| at.line.0 <= line);
        let end = self.list.partition_point(starts_by);
        // A command that ended on this line, those that began on it.
        let first =
            self.list.iter().take(end).rposition(|c| c.prompt.is_some_and(|at| at.line.0 < line));
        self.list.range(first.unwrap_or(0)..end)
    }

    pub fn new(nonce: Option<Arc<str>>) -> Self {
        Self { nonce, ..Self::default() }
    }

    /// Forgets them all: ids go on, and the pane's shells are known as before.
    pub fn clear(&mut self) {
        let (nonce, ticket) = (self.nonce.take(), self.ticket.take());
        *self = Self { nonce, ticket, last_id: self.last_id, ..Self::default() };
    }

    /// Lends the nonce, once and while the command goes on that runs now, to the program that presents this ticket. A ticket
    /// that was given before ends.
    pub fn lend_nonce(&mut self, ticket: String) {
        self.ticket = Some(ticket);
    }

    /// The nonce, if this is the ticket for it, which ends.
    pub fn borrow_nonce(&mut self, ticket: &[u8]) -> Option<Arc<str>> {
        let known = self.ticket.take_if(|known| known.as_bytes() == ticket);
        known.and_then(|_| self.nonce.clone())
    }

    /// Whether a mark that carries this comes from one of the pane's own shells.
    pub fn is_authentic(&self, nonce: Option<&str>) -> bool {
        nonce.is_some() && nonce == self.nonce.as_deref()
    }

    /// Ends what runs, at this place and `seq`, and gives its id. What an authentic mark ends is the last authentic command
    /// and whatever was told inside it; any other mark ends no authentic command.
    pub fn end(
        &mut self,
        at: Point,
        seq: u64,
        exit_code: Option<i32>,
        authentic: bool,
    ) -> Option<u64> {
        if authentic {
            // Also where what it was lent to is no longer kept.
            self.ticket = None;
        }
        let ends = |command: &Command| command.is_running() && command.is_authentic == authentic;
        let first = match authentic {
            true => self.list.iter().rposition(ends)?,
            false => self.list.len().checked_sub(1).filter(|&last| ends(&self.list[last]))?,
        };
        for command in self.list.range_mut(first..).filter(|command| command.is_running()) {
            (command.end, command.end_seq) = (Some(at), seq);
        }
        self.list[first].exit_code = exit_code;
        Some(self.list[first].id)
    }

    /// Ends, at this place and `seq`, the innermost command that runs for an application (`aid`), and whatever was told
    /// inside it; nothing where an authentic one would end with it.
    pub fn end_application(&mut self, at: Point, seq: u64, aid: Option<&str>) {
        let start = self.list.len().saturating_sub(NESTED_CAP);
        let stops = |command: &Command| {
            command.is_running() && (command.is_authentic || command.options.aid.as_deref() == aid)
        };
        let Some(first) = self.list.range(start..).rposition(stops) else { return };
        let first = start + first;
        if self.list[first].is_authentic {
            return;
        }
        for command in self.list.range_mut(first..).filter(|command| command.is_running()) {
            (command.end, command.end_seq) = (Some(at), seq);
        }
    }

    pub fn last(&self) -> Option<&Command> {
        self.list.back()
    }

    fn pop_front(&mut self) {
        if let Some(command) = self.list.pop_front() {
            self.text -= command.text_len();
        }
    }

    fn pop_back(&mut self) {
        if let Some(command) = self.list.pop_back() {
            self.text -= command.text_len();
        }
    }

    /// Changes the last command.
    pub fn change(&mut self, change: impl FnOnce(&mut Command)) {
        if let Some(last) = self.list.len().checked_sub(1) {
            self.change_at(last, change);
        }
    }

    fn change_at(&mut self, at: usize, change: impl FnOnce(&mut Command)) {
        let Some(command) = self.list.get_mut(at) else { return };
        self.text -= command.text_len();
        change(command);
        self.text += command.text_len();
        while self.text > TEXT_CAP && self.list.len() > 1 {
            self.pop_front();
        }
    }

    fn push(&mut self, command: Command, caps: &mut Caps) {
        if self.list.len() == COMMANDS_CAP {
            caps.oldest_dropped("command", COMMANDS_CAP);
            self.pop_front();
        }
        self.text += command.text_len();
        self.list.push_back(command);
    }

    /// Every anchor of the list.
    pub fn visit(&mut self, visit: &mut Visit<'_>) {
        for command in &mut self.list {
            visit(&mut command.prompt);
            visit(&mut command.input);
            visit(&mut command.output);
            visit(&mut command.end);
        }
    }
}

impl Term {
    /// The main screen, shown or not.
    pub(crate) fn main_screen(&self) -> &Grid {
        match self.screen {
            ScreenKind::Main => &self.grid,
            ScreenKind::Alternate => &self.hidden,
        }
    }

    /// A prompt begins at `at`. One that is drawn anew stays the same command, and gives `false`.
    pub(crate) fn begin_command(&mut self, at: Point, options: PromptOptions) -> bool {
        let oldest = self.main_screen().oldest();
        while self.commands.list.front().is_some_and(|c| c.prompt.is_none_or(|p| p.line.0 < oldest))
        {
            self.commands.pop_front();
        }
        // What stood on this line and below it has been erased. A prompt nobody has used is drawn again.
        let is_over = |last: &Command| last.prompt.is_none_or(|prompt| prompt.line >= at.line);
        let again = self
            .commands
            .list
            .back()
            .filter(|last| is_over(last) && last.output_seq == 0 && last.end_seq == 0);
        let given = again.and_then(|last| last.given.clone());
        let again = again.map(|last| last.id);
        while self.commands.list.back().is_some_and(is_over) {
            self.commands.pop_back();
        }
        let id = again.unwrap_or(self.commands.last_id + 1);
        self.commands.last_id = self.commands.last_id.max(id);
        let prompt_seq = self.seq;
        let command =
            Command { id, prompt: Some(at), prompt_seq, options, given, ..Command::default() };
        self.commands.push(command, &mut self.caps);
        again.is_none()
    }

    /// Somebody typed this, without Enter, at the prompt of the command of that id, to have `command` run.
    pub fn give_command(&mut self, id: u64, typed: &str, command: &str) {
        let Ok(at) = self.commands.list.binary_search_by_key(&id, |command| command.id) else {
            return;
        };
        let mut shown = String::new();
        for char in command.trim().chars() {
            if shown.len() > GIVEN_CAP {
                shown.push('…');
                break;
            }
            if !char.is_control() || matches!(char, '\n' | '\t') {
                shown.push(char);
            }
        }
        let given = Given { typed: typed.to_owned(), command: shown };
        self.commands.change_at(at, |command| command.given = Some(given));
    }

    /// The commands whose prompt is still there, oldest first.
    pub fn commands(&self) -> impl DoubleEndedIterator<Item = &Command> {
        self.commands.list.iter().filter(|command| self.prompt_line(command).is_some())
    }

    /// A command by its id.
    pub fn command(&self, id: u64) -> Option<&Command> {
        let at = self.commands.list.binary_search_by_key(&id, |command| command.id).ok()?;
        self.commands.list.get(at).filter(|command| self.prompt_line(command).is_some())
    }

    /// The line its prompt begins in, if that is still a prompt's.
    pub(crate) fn prompt_line(&self, command: &Command) -> Option<LineId> {
        let line = command.prompt?.line;
        let meta = self.main_screen().line_meta(line.0)?;
        (meta.flags & PROMPT != 0).then_some(line)
    }

    /// The last command that begins in a line for which `before` holds; these come first.
    fn last_before(&self, before: impl Fn(LineId) -> bool) -> Option<&Command> {
        let list = &self.commands.list;
        let end = list.partition_point(|c| c.prompt.is_none_or(|prompt| before(prompt.line)));
        list.range(..end).rev().find(|command| self.prompt_line(command).is_some())
    }

    /// The command that a line of the main screen belongs to, by its prompt, its input or its output.
    pub fn command_at(&self, line: LineId) -> Option<&Command> {
        self.last_before(|prompt| prompt <= line)
    }

    /// The last line before `line` in which a prompt begins.
    pub fn prompt_before(&self, line: LineId) -> Option<LineId> {
        self.last_before(|prompt| prompt < line)?.prompt.map(|prompt| prompt.line)
    }

    /// The first line after `line` in which a prompt begins.
    pub fn prompt_after(&self, line: LineId) -> Option<LineId> {
        let list = &self.commands.list;
        let start = list.partition_point(|c| c.prompt.is_none_or(|prompt| prompt.line <= line));
        list.range(start..).find_map(|command| self.prompt_line(command))
    }

    /// The text a command has put out so far, without what follows it; `None` when it has put out nothing, or nothing of
    /// it is kept.
    pub fn output_range(&self, id: u64) -> Option<TextRange> {
        let grid = self.main_screen();
        let command = self.command(id)?;
        let start = command.output?;
        let marked = grid.line_meta(start.line.0).is_none_or(|meta| meta.flags & OUTPUT != 0);
        let oldest = Point { line: LineId(grid.oldest()), col: 0 };
        let cursor = match self.screen {
            ScreenKind::Main => self.cursor,
            ScreenKind::Alternate => self.hidden_cursor,
        };
        let here =
            Point { line: LineId(grid.live_top() + cursor.row as u64), col: cursor.col as u16 };
        let behind = match command.is_running() {
            true => here,
            false => command.end.or_else(|| self.next_prompt(id)).unwrap_or(here),
        };
        if !marked || behind <= start || behind <= oldest {
            return None;
        }
        let end = match behind.col {
            0 => Point { line: LineId(behind.line.0 - 1), col: grid.cols() as u16 - 1 },
            col => Point { line: behind.line, col: col - 1 },
        };
        Some(TextRange { start: start.max(oldest), end, block: false })
    }

    fn next_prompt(&self, id: u64) -> Option<Point> {
        let list = &self.commands.list;
        let next = list.partition_point(|command| command.id <= id);
        list.get(next)?.prompt
    }
}
