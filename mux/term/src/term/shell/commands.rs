//! Commands that shell integration reports (OSC 133, OSC 633): the positions of each prompt, input and output.
//!
//! Owns the list of commands, which is bounded and in the order of the main screen's lines. Its positions follow the
//! text when lines rewrap. A command is dropped together with the last line of its output, or with the line of its
//! prompt if it printed nothing. If a running command erases the row in which its output begins, its output begins again
//! at the first erased row. Marks are part of program output, so any program can send them: this module trusts only
//! marks with the terminal's own nonce.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use crate::cap::Caps;
use crate::grid::Grid;
use crate::grid::row::{INPUT, OUTPUT, PROMPT};
use crate::term::screen::edit::Protection;
use crate::term::shell::anchors::Visit;
use crate::term::shell::left_behind::Before;
use crate::term::{ScreenKind, Term};
use crate::{LineId, Point, TextRange};

/// The maximum number of commands in the list. The oldest is dropped first.
const COMMANDS_CAP: usize = 10_000;
/// The maximum number of commands that run inside one another, in nested shells.
const NESTED_CAP: usize = 64;
/// The maximum size in bytes of all commands' texts. The oldest commands are dropped first.
const TEXT_CAP: usize = 4 << 20;
/// The maximum size in bytes of `Given::command`. A longer command is truncated.
const GIVEN_CAP: usize = 4096;

/// Which arrow keys move the cursor at a prompt (OSC 133 `cl`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClickKeys {
    /// `line`, the default: left and right, within one line.
    #[default]
    Line,
    /// `m`: left and right, across the lines of an input.
    Multiple,
    /// `v`: up and down, starting at the beginning of the line.
    Vertical,
    /// `w`: up and down, which keep the column.
    Smart,
}

/// The coordinates in which the shell receives clicks at a prompt (kitty's `click_events`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClickEvents {
    /// Value 1: rows count from the top of the screen.
    Absolute,
    /// Value 2: rows count from the prompt's first row, which is 0.
    Relative,
}

/// The part of a prompt that a shell redraws by itself after a resize (`redraw`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Redraw {
    /// The whole prompt.
    #[default]
    Prompt,
    /// The last line of the prompt.
    LastLine,
    /// Nothing.
    Nothing,
}

/// The options of a prompt's mark.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptOptions {
    /// The application's id (`aid`), at most 128 bytes.
    pub aid: Option<String>,
    /// Keys that move the cursor.
    pub click: ClickKeys,
    /// The coordinates in which the shell receives clicks. `None` if the shell does not request clicks.
    pub click_events: Option<ClickEvents>,
    /// The part of the prompt that the shell redraws after a resize.
    pub redraw: Redraw,
}

/// A command line that a program typed at a prompt in place of another command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandAlias {
    /// The typed text, without Enter.
    pub typed: String,
    /// The command that runs because of `typed`. For display only, never to be run: at most 4 KiB, without control
    /// characters other than line breaks and tabs.
    pub command: String,
}

/// A command. It begins with its prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The number of the command. The first command of a terminal is 1.
    pub id: u64,
    /// First cell of the prompt; `None` if the command erased its prompt.
    pub prompt: Option<Point>,
    /// First cell of the input; `None` until the prompt is complete.
    pub input: Option<Point>,
    /// First cell of the output; `None` until the command runs. If the beginning of the output was erased, the first
    /// cell of the output that is left.
    pub output: Option<Point>,
    /// First cell after the output; `None` until the command ends.
    pub end: Option<Point>,
    /// The `seq` when the prompt began.
    pub prompt_seq: u64,
    /// The `seq` when the command started to run. 0 before that.
    pub output_seq: u64,
    /// The `seq` when the command ended. 0 before that.
    pub end_seq: u64,
    /// The time when the command started to run, in milliseconds since 1970. 0 if unknown ([`Term::set_time`]).
    pub output_time: u64,
    /// The time when the command ended, in milliseconds since 1970. 0 if unknown.
    pub end_time: u64,
    /// The exit code, if the shell reported it.
    pub exit_code: Option<i32>,
    /// The command line, as the shell reported it. If the shell reported none, the text on the screen when the command
    /// started. At most 4 KiB, without control characters other than line breaks and tabs.
    pub line: Option<String>,
    /// Whether the shell reported the command line. False if it was read from the screen.
    pub line_reported: bool,
    /// The nonce that was sent with the command line (OSC 633 E), at most 128 bytes. Not checked here.
    pub nonce: Option<String>,
    /// Whether the start mark contained the terminal's own nonce ([`crate::Options::nonce`]), which proves that the
    /// pane's shell sent it. Only a mark with the same nonce can end such a command, so its exit code is also from the
    /// shell.
    pub is_authentic: bool,
    /// The working directory in which the command started, as a URI. `None` if not reported.
    pub cwd: Option<Arc<str>>,
    /// The options of the command's prompt.
    pub options: PromptOptions,
    /// The command line that a program typed at the command's prompt. It may differ from what ran.
    pub given: Option<CommandAlias>,
    /// Whether the shell shows a continuation prompt, because the entered text is not a complete command.
    pub is_continued: bool,
    /// Whether a mark with the terminal's own nonce announced the prompt. The shell's integration then works, and will
    /// also mark the command's output and end.
    pub is_announced: bool,
    /// Whether the shell's integration has a key at this prompt that empties the line and ends every mode of the line
    /// editor, such as a search or vi's command mode. Set only by marks with the terminal's own nonce.
    pub has_reset_key: bool,
    /// Whether the shell's line editor replaces every character that is not ASCII, because of the shell's locale. Set
    /// only by marks with the terminal's own nonce.
    pub is_ascii_only: bool,
    /// Whether the beginning of the output was erased while the command ran, for example by `clear`.
    pub is_erased: bool,
}

impl Command {
    /// How long the command ran, in milliseconds. `None` while it runs, or if a time is unknown.
    pub fn duration(&self) -> Option<u64> {
        let is_known = self.output_time != 0 && self.end_time != 0;
        is_known.then(|| self.end_time.saturating_sub(self.output_time))
    }

    /// The command line to display. If the text that a program typed is what ran, returns the command that the text
    /// runs, otherwise the command line.
    pub fn shown(&self) -> Option<&str> {
        match self.ran_as_given() {
            Some(given) => Some(&given.command),
            None => self.line.as_deref(),
        }
    }

    /// The command line that a program typed at the prompt, if that text is what ran. If the line was read from the
    /// screen, its beginning may be missing, so comparing the end of the text is enough. If the line is missing because
    /// it is too long, it also counts as equal.
    pub fn ran_as_given(&self) -> Option<&CommandAlias> {
        let given = self.given.as_ref().filter(|_| self.output_seq != 0)?;
        let squeezed = |text: &str| text.split_whitespace().collect::<String>();
        let is_it = self.line.as_deref().is_none_or(|line| {
            let (typed, line) = (squeezed(&given.typed), squeezed(line));
            typed == line || !self.line_reported && typed.ends_with(&line)
        });
        is_it.then_some(given)
    }

    /// Whether the shell is waiting for input.
    pub fn is_prompting(&self) -> bool {
        self.input.is_some() && self.output_seq == 0 && self.end_seq == 0
    }

    /// Whether the command is running.
    pub fn is_running(&self) -> bool {
        self.output_seq != 0 && self.end_seq == 0
    }

    /// The first cell of the command that was not erased: of the prompt or, if the prompt was erased, of the output.
    fn beginning(&self) -> Option<Point> {
        self.prompt.or(self.output)
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

/// The list of commands, and the state that marks refer to. See the module.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    list: VecDeque<Command>,
    last_id: u64,
    /// The size in bytes of all commands' texts.
    text: usize,
    /// The time of the output that is being applied, in milliseconds since 1970. 0 if unknown.
    pub now: u64,
    /// The command line and nonce that the shell reported for the next command (OSC 633 E).
    pub announced: Option<(String, Option<String>)>,
    /// The secret that only the pane's own shells know.
    nonce: Option<Arc<str>>,
    /// A ticket that a program can exchange for the nonce once.
    ticket: Option<String>,
    /// The state of the terminal before each running command of the pane's own shells, the outermost command first. A
    /// shell inside a shell is such a command too. It continues to run after the first prompt of the inner shell has
    /// ended it in `list`.
    before: Vec<Before>,
}

impl Commands {
    /// The commands that begin or end on a line, in order.
    pub fn around(&self, line: u64) -> impl Iterator<Item = &Command> {
        let starts_by = |command: &Command| command.beginning().is_none_or(|at| at.line.0 <= line);
        let end = self.list.partition_point(starts_by);
        // Include the command that may have ended on this line, and the commands that began on it.
        let is_above = |command: &Command| command.beginning().is_none_or(|at| at.line.0 < line);
        let first = self.list.iter().take(end).rposition(is_above);
        self.list.range(first.unwrap_or(0)..end)
    }

    pub fn new(nonce: Option<Arc<str>>) -> Self {
        Self { nonce, ..Self::default() }
    }

    /// Drops all commands that do not run. The next ids continue, and the nonce, the ticket and the state before the
    /// commands that run stay.
    pub fn clear(&mut self) {
        self.announced = None;
        self.retain(Command::is_running);
    }

    fn retain(&mut self, is_kept: impl Fn(&Command) -> bool) {
        self.list.retain(is_kept);
        self.text = self.list.iter().map(Command::text_len).sum();
    }

    /// Lets a program exchange this ticket for the nonce, once and while the current command runs. Replaces an earlier
    /// ticket.
    pub fn lend_nonce(&mut self, ticket: String) {
        self.ticket = Some(ticket);
    }

    /// Returns the nonce if `ticket` is the valid ticket. The ticket is then used up.
    pub fn borrow_nonce(&mut self, ticket: &[u8]) -> Option<Arc<str>> {
        let known = self.ticket.take_if(|known| known.as_bytes() == ticket);
        known.and_then(|_| self.nonce.clone())
    }

    /// Whether a mark with this nonce was sent by one of the pane's own shells.
    pub fn is_authentic(&self, nonce: Option<&str>) -> bool {
        nonce.is_some() && nonce == self.nonce.as_deref()
    }

    /// Ends the running command at position `at` and `seq`, and returns its id. A mark with the pane's nonce
    /// (`authentic`) ends the last command that began with such a mark, and every command inside it. Any other mark
    /// cannot end such a command.
    pub fn end(
        &mut self,
        at: Point,
        seq: u64,
        exit_code: Option<i32>,
        authentic: bool,
    ) -> Option<u64> {
        if authentic {
            // The ticket expires even if the command for which it was issued is no longer in the list.
            self.ticket = None;
        }
        let ends = |command: &Command| command.is_running() && command.is_authentic == authentic;
        let first = match authentic {
            true => self.list.iter().rposition(ends)?,
            false => self.list.len().checked_sub(1).filter(|&last| ends(&self.list[last]))?,
        };
        for command in self.list.range_mut(first..).filter(|command| command.is_running()) {
            (command.end, command.end_seq, command.end_time) = (Some(at), seq, self.now);
        }
        self.list[first].exit_code = exit_code;
        Some(self.list[first].id)
    }

    /// Whether a command of the pane's own shells runs, so that their marks may still arrive.
    pub fn has_before(&self) -> bool {
        !self.before.is_empty()
    }

    /// Stores the state of the terminal before a command of the pane's own shells.
    pub fn remember(&mut self, before: Before) {
        if self.before.len() == NESTED_CAP {
            self.before.remove(0);
        }
        self.before.push(before);
    }

    /// The state of the terminal before the command that an authentic mark ends. If `is_end` is set, the mark reports
    /// the end of the shell's last command. Otherwise, the mark may be the first prompt of a shell inside that command,
    /// which then still runs.
    pub fn before(&mut self, is_end: bool) -> Option<Before> {
        if is_end {
            return self.before.pop();
        }
        let is_running = |command: &&Command| command.is_running() && command.is_authentic;
        let id = self.list.iter().rev().find(is_running)?.id;
        self.before.last().filter(|before| before.command == id).cloned()
    }

    /// Ends the innermost running command of an application (`aid`) and every command inside it, at position `at` and
    /// `seq`. Does nothing if that would end an authentic command.
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
            (command.end, command.end_seq, command.end_time) = (Some(at), seq, self.now);
        }
    }

    /// The number of commands in the list.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.list.len()
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

    /// Applies a change to the last command.
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

    /// Calls `visit` for every anchor of the list.
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
    /// Sets the time of the output that is applied next, in milliseconds since 1970. It becomes the start or end time
    /// of commands that begin or end in that output, and the time of the states that programs report in it.
    pub fn set_time(&mut self, milliseconds: u64) {
        self.commands.now = milliseconds;
    }

    /// The time of the output that is being applied, in milliseconds since 1970. 0 if unknown.
    pub(crate) fn now(&self) -> u64 {
        self.commands.now
    }

    /// The main screen, whether it is visible or hidden.
    pub(crate) fn main_screen(&self) -> &Grid {
        match self.screen {
            ScreenKind::Main => &self.grid,
            ScreenKind::Alternate => &self.hidden,
        }
    }

    /// Handles the beginning of a prompt at `at`. Returns `false` if the mark redraws the current prompt, which then
    /// stays the same command. `is_announced`: the mark is the shell's own and announces a new prompt, so it cannot
    /// redraw the current prompt at another position.
    pub(crate) fn begin_command(
        &mut self,
        at: Point,
        options: PromptOptions,
        is_announced: bool,
    ) -> bool {
        let oldest = self.main_screen().oldest();
        let is_old = |command: &&Command| {
            command.beginning().is_none_or(|beginning| beginning.line.0 < oldest)
        };
        let old = self.commands.list.iter().take_while(is_old);
        let gone: Vec<u64> = old.filter(|it| !self.is_kept(it)).map(|it| it.id).collect();
        let is_gone = |command: &Command| gone.binary_search(&command.id).is_ok();
        let first = self.commands.list.iter().take_while(|command| is_gone(command)).count();
        for _ in 0..first {
            self.commands.pop_front();
        }
        // The first command that is left may run around commands that are gone.
        if first < gone.len() {
            self.commands.retain(|command| !is_gone(command));
        }
        // Unterm's integrations announce each prompt before the shell draws it. A prompt that is not announced is therefore
        // the current prompt, even on a later line: keys that were echoed before the prompt was drawn pushed it there, the
        // line editor listed completions, or the terminal was resized faster than the shell could draw.
        let is_moved = |last: &Command| !is_announced && last.is_announced;
        let again = self.commands.list.back().filter(|last| {
            (self.is_over(last, at) || is_moved(last)) && last.output_seq == 0 && last.end_seq == 0
        });
        // If neither explains the later line, another program may have printed the prompt.
        let is_certain = |last: &Command| {
            self.is_over(last, at) || last.input.is_none() || self.resized > last.prompt_seq
        };
        let given = again.and_then(|last| last.given.clone());
        let drawn_again = again.filter(|_| !is_announced);
        let prompt_seq = drawn_again.map_or(self.seq, |last| last.prompt_seq);
        let has_reset_key = again.is_some_and(|last| last.has_reset_key && is_certain(last));
        let is_ascii_only = again.is_some_and(|last| last.is_ascii_only);
        let is_announced = is_announced || again.is_some_and(|last| last.is_announced);
        let again = again.map(|last| last.id);
        // A prompt that is drawn again does not end the command that runs its shell.
        let is_around =
            |last: &Command| again.is_some() && last.is_running() && last.prompt.is_none();
        let is_replaced =
            |last: &Command| again == Some(last.id) || self.is_over(last, at) && !is_around(last);
        let replaced = self.commands.list.iter().rev().take_while(|last| is_replaced(last)).count();
        for _ in 0..replaced {
            self.commands.pop_back();
        }
        let id = again.unwrap_or(self.commands.last_id + 1);
        self.commands.last_id = self.commands.last_id.max(id);
        let command = Command {
            id,
            prompt: Some(at),
            prompt_seq,
            options,
            given,
            is_announced,
            has_reset_key,
            is_ascii_only,
            ..Command::default()
        };
        self.commands.push(command, &mut self.caps);
        again.is_none()
    }

    /// Records that a program typed `typed`, without Enter, at the prompt of command `id`, so that `command` runs.
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
        let given = CommandAlias { typed: typed.to_owned(), command: shown };
        self.commands.change_at(at, |command| command.given = Some(given));
    }

    /// The commands whose prompt or part of whose output is still stored, oldest first.
    pub fn commands(&self) -> impl DoubleEndedIterator<Item = &Command> {
        self.commands.list.iter().filter(|command| self.is_kept(command))
    }

    /// The command of [`Term::commands`] with this id.
    pub fn command(&self, id: u64) -> Option<&Command> {
        let at = self.commands.list.binary_search_by_key(&id, |command| command.id).ok()?;
        self.commands.list.get(at).filter(|command| self.is_kept(command))
    }

    /// Whether the beginning of a command's output is gone: it was erased, or it is older than the history.
    pub fn is_cut(&self, command: &Command) -> bool {
        let oldest = self.main_screen().oldest();
        let is_gone = |at: Option<Point>| at.is_none_or(|at| at.line.0 < oldest);
        command.output_seq != 0 && (command.is_erased || is_gone(command.output))
    }

    /// Whether the command's prompt or part of its output is still stored.
    fn is_kept(&self, command: &Command) -> bool {
        if self.prompt_line(command).is_some() {
            return true;
        }
        let grid = self.main_screen();
        let oldest = Point { line: LineId(grid.oldest()), col: 0 };
        let is_gone = command.prompt.is_none_or(|at| at < oldest);
        let is_marked = command
            .output
            .is_none_or(|at| grid.line_meta(at.line.0).is_none_or(|meta| meta.flags & OUTPUT != 0));
        let first = command.output.map_or(oldest, |output| output.max(oldest));
        // The shell reports the end of an authentic command. Any other command may have ended before a later prompt.
        let end = match command.is_running() && command.is_authentic {
            true => None,
            false => command.end.or_else(|| self.next_prompt(command.id)),
        };
        let has_output = end.map_or(command.is_running(), |end| end > first);
        is_gone && command.output_seq != 0 && is_marked && has_output
    }

    /// Whether a prompt that begins at `at` shows that a command is over: its text was erased.
    fn is_over(&self, command: &Command, at: Point) -> bool {
        match (command.prompt, command.output) {
            (Some(prompt), _) => prompt.line >= at.line,
            (None, Some(output)) => output >= at,
            (None, None) => !self.is_kept(command),
        }
    }

    /// The line in which the command's prompt begins, if that line still contains a prompt.
    pub fn prompt_line(&self, command: &Command) -> Option<LineId> {
        let line = command.prompt?.line;
        let meta = self.main_screen().line_meta(line.0)?;
        (meta.flags & PROMPT != 0).then_some(line)
    }

    /// The first line that is left of a command: of its prompt or, if the prompt is gone, of its output.
    pub fn first_line(&self, command: &Command) -> Option<LineId> {
        let oldest = self.main_screen().oldest();
        let output = || command.output.map_or(oldest, |output| output.line.0.max(oldest));
        let has_run = command.output_seq != 0;
        self.prompt_line(command).or_else(|| has_run.then(|| LineId(output())))
    }

    /// The last stored command that begins in a line for which `before` is true and that `is_wanted` accepts. Such
    /// lines must be at the start of the list.
    fn last_before(
        &self,
        before: impl Fn(LineId) -> bool,
        is_wanted: impl Fn(&Command) -> bool,
    ) -> Option<&Command> {
        let list = &self.commands.list;
        let end = list.partition_point(|c| c.beginning().is_none_or(|at| before(at.line)));
        list.range(..end).rev().find(|command| is_wanted(command))
    }

    /// The command whose prompt, input or output covers this line of the main screen.
    pub fn command_at(&self, line: LineId) -> Option<&Command> {
        self.last_before(|first| first <= line, |command| self.is_kept(command))
    }

    /// The last line before `line` in which a prompt begins.
    pub fn prompt_before(&self, line: LineId) -> Option<LineId> {
        let has_prompt = |command: &Command| self.prompt_line(command).is_some();
        self.prompt_line(self.last_before(|first| first < line, has_prompt)?)
    }

    /// The first line after `line` in which a prompt begins.
    pub fn prompt_after(&self, line: LineId) -> Option<LineId> {
        let list = &self.commands.list;
        let start = list.partition_point(|c| c.beginning().is_none_or(|at| at.line <= line));
        list.range(start..).find_map(|command| self.prompt_line(command))
    }

    /// The first line after `line` in which a command begins: its prompt or, if the prompt is gone, what is left of its
    /// output.
    pub fn command_after(&self, line: LineId) -> Option<LineId> {
        let list = &self.commands.list;
        let start = list.partition_point(|c| c.beginning().is_none_or(|at| at.line <= line));
        let mut later = list.range(start..).filter(|command| self.is_kept(command));
        later.find_map(|command| self.first_line(command))
    }

    /// The last line of the main screen with text, if a command runs. For [`Term::erase_outputs`], before the erase.
    pub(crate) fn last_text(&self) -> Option<u64> {
        let mut last = self.commands.list.iter().rev().take(NESTED_CAP);
        let runs = self.screen == ScreenKind::Main && last.any(Command::is_running);
        let row = (0..self.grid.rows()).rev().find(|row| runs && self.grid.meta(*row).occ > 0);
        row.map(|row| self.grid.live_top() + row as u64)
    }

    /// Handles the erasing of the lines `erased` of the main screen. If a running command's output began in one of these
    /// lines, the output begins again at the start of row `row` of the screen. Commands that have ended are dropped with
    /// their text. `last_text`: the value of [`Term::last_text`] before the erase.
    ///
    /// If a program erases its output from the first row on, it draws that row again: the row keeps its mark, so nothing
    /// is cut. The top row of the screen is an exception, because an erase from there on (`CSI H CSI J`) clears the screen.
    pub(crate) fn erase_outputs(&mut self, erased: Range<u64>, row: usize, last_text: Option<u64>) {
        let is_in = |at: Point| erased.contains(&at.line.0);
        let has = |term: &Self, at: Point, flag| {
            let meta = term.main_screen().line_meta(at.line.0);
            meta.is_some_and(|meta| meta.flags & flag != 0)
        };
        let live = self.main_screen().live_top();
        let is_protected = self.protection == Protection::Iso;
        let cleared = if row == 0 && !is_protected { live } else { u64::MAX };
        let is_cut = |command: &&Command| {
            let output = command.output.filter(|_| command.is_running());
            output.is_some_and(|at| is_in(at) && (at.line.0 == cleared || !has(self, at, OUTPUT)))
        };
        let is_later = |command: &&Command| {
            command.output.or(command.prompt).is_none_or(|at| at.line.0 >= erased.start)
        };
        let last = self.commands.list.iter().rev().take_while(is_later);
        let cut: Vec<u64> = last.filter(is_cut).map(|command| command.id).collect();
        if cut.is_empty() {
            return;
        }
        let line = live + row as u64;
        if erased.contains(&line) {
            self.main_grid().meta_mut(row).flags &= !(PROMPT | INPUT | OUTPUT);
        }
        // The shell draws the last prompt again.
        let is_open = |command: &Command| {
            let is_last = self.commands.last().is_some_and(|last| last.id == command.id);
            command.is_running() || is_last && command.end_seq == 0
        };
        let is_lost = |command: &&Command| {
            !is_open(command) && command.beginning().is_some_and(is_in) && !self.is_kept(command)
        };
        let lost: Vec<u64> = self.commands.list.iter().filter(is_lost).map(|it| it.id).collect();
        self.commands.retain(|command| lost.binary_search(&command.id).is_err());
        let mut list = std::mem::take(&mut self.commands.list);
        for command in &mut list {
            let Some(output) = command.output.filter(|at| is_in(*at) && !has(self, *at, OUTPUT))
            else {
                continue;
            };
            if cut.contains(&command.id) {
                command.prompt = command.prompt.filter(|at| has(self, *at, PROMPT));
                command.input = command.input.filter(|at| has(self, *at, INPUT));
                command.output = Some(Point { line: LineId(line), col: 0 });
                // Nothing is lost if the command had printed nothing.
                let has_text =
                    output.line.0 < live || last_text.is_some_and(|last| output.line.0 <= last);
                command.is_erased |= has_text;
            } else if !command.is_running() {
                // Its prompt is left, and no output.
                command.end = Some(output);
            }
        }
        self.commands.list = list;
        self.main_grid().meta_mut(row).flags |= OUTPUT;
    }

    /// The range of the command's output, up to the next prompt. `None` if there is no output, or if it is no longer
    /// stored.
    pub fn output_range(&self, id: u64) -> Option<TextRange> {
        let grid = self.main_screen();
        let command = self.command(id)?;
        let oldest = Point { line: LineId(grid.oldest()), col: 0 };
        let start = match command.output {
            None if command.output_seq != 0 => oldest,
            output => output?,
        };
        let marked = grid.line_meta(start.line.0).is_none_or(|meta| meta.flags & OUTPUT != 0)
            || self.is_cut(command);
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
