//! Follows a typed command to its end. This is a state machine that accesses neither the pane nor the clock.
//!
//! [`Follow::step`] processes an [`Event`] and returns an [`Effect`]. If the machine needs more than the pane's input
//! and output, it returns [`Effect::Look`], and its driver answers with [`Event::Seen`].

use std::sync::Arc;

use unterm_mux::{ExitStatus, TAP_CAPACITY};

use super::outcome::{Ending, ExitSource, Lost};
use crate::services::shell::{
    kind::Marks,
    output::{Capture, End, Framing},
};

/// Ctrl+C, as a terminal receives it.
const INTERRUPT: u8 = 0x03;

/// The exit code of a command that SIGINT ended: 128 plus the signal's number.
const ENDED_BY_SIGINT: i32 = 130;

/// An input of the state machine.
#[derive(Debug)]
pub enum Event<'a> {
    /// The pane's program wrote `bytes`. `seq`: the terminal's `seq` after them.
    Output { seq: u64, bytes: &'a [u8] },
    /// A caller or the user typed these bytes. `is_echoed`: whether the terminal itself echoes them.
    Input { bytes: &'a [u8], is_echoed: bool },
    /// Some of the pane's bytes were missed.
    Gap,
    /// There is no more input or output yet.
    Empty,
    /// The terminal announced that its `seq` has reached this value.
    Advanced(u64),
    /// There was no output for a while.
    Quiet,
    /// The deadline has passed.
    Deadline,
    /// The pane's program has ended. Contains the exit status, if the system reported one.
    Exited(Option<ExitStatus>),
    /// The answer to [`Effect::Look`].
    Seen(Sight),
}

/// An instruction to the driver.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// Report the next input or output, or [`Event::Empty`] if there is none.
    Poll,
    /// Wait for input, output, an advance of the terminal's `seq`, or the deadline. With `for_quiet`, also wait for
    /// [`Event::Quiet`].
    Wait { for_quiet: bool },
    /// Look at the pane and report the answer.
    Look(Look),
    /// Stop, because the command or the wait for the command has ended.
    Finish,
    /// Stop, because the program ended before the command began, or ended without an exit code.
    Fail,
}

/// A question about the pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Whether the shell that runs the command leads the terminal's foreground.
    Leader,
    /// Whether the pane's own shell reads a line.
    Prompt,
    /// Whether the terminal's records contain the command's end.
    Kept,
    /// Whether the outer command, inside which this command was typed, has ended.
    Around,
    /// Whether the shell is back at its prompt without having reported the command's end, or a new shell is at its
    /// prompt.
    Silence,
    /// Whether a new shell, which the command started, is at its prompt.
    NewShell,
}

/// The answer to the [`Look`] of the same name. The inner value of an end is the exit code, if the shell reported one.
#[derive(Debug)]
#[allow(missing_docs, reason = "the variants of `Look` document them")]
pub enum Sight {
    Leader(bool),
    Prompt(bool),
    Kept(Option<Option<i32>>),
    Around(Option<Option<i32>>),
    Silence(Option<Silence>),
    NewShell(bool),
}

/// The state of a shell that leads the foreground and edits a line, although it did not report the command's end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence {
    /// Whether the shell is at a later prompt: the shell marked one, or the screen shows one.
    pub has_prompt: bool,
    /// Whether bracketed paste is on, which means that a line editor reads a line.
    pub has_editor: bool,
    /// Whether another program may have replaced the pane's shell (`exec`).
    pub is_replaced: bool,
    /// Whether the terminal recorded the command's beginning, or no longer keeps the command.
    pub has_run: bool,
    /// The command's exit code, if the terminal keeps one.
    pub exit_code: Option<i32>,
    /// Whether a new shell, which the command started, leads the foreground and is at its prompt. The other fields are
    /// then meaningless.
    pub is_new_shell: bool,
}

/// The marks that separate the command's output from everything else in the pane.
pub enum Reported {
    /// Marks of shell integration with this nonce. `line`: the typed line.
    Block { nonce: Arc<str>, line: String },
    /// Marks that were typed with the command. `is_around`: whether the shell runs inside a command that another shell
    /// marks. `nonce`: the pane's nonce, if it has one.
    Marker { marks: Marks, is_around: bool, nonce: Option<Arc<str>> },
}

/// The result of a followed command.
pub struct Finish {
    /// The way in which the wait ended.
    pub ending: Ending,
    /// The command's exit code, if one was reported.
    pub exit_code: Option<i32>,
    /// The source of the exit code.
    pub exit_source: Option<ExitSource>,
    /// Whether Ctrl+C ended the command.
    pub is_interrupted: bool,
    /// The end of the output within the captured bytes.
    pub end: Option<End>,
    /// The captured output.
    pub capture: Capture,
}

/// The state machine of a command that is followed.
pub struct Follow {
    capture: Capture,
    is_block: bool,
    is_around: bool,
    nonce: Option<Arc<str>>,
    /// The terminal's `seq` after the last output.
    seen: u64,
    /// The last `seq` that the terminal announced to the driver.
    told: u64,
    /// Whether the terminal announced a `seq` since the last [`Event::Empty`], so that its records may have changed.
    is_news: bool,
    /// The bytes of output that were waiting at once since the last [`Event::Empty`].
    backlog: usize,
    /// Whether the last effect was [`Effect::Wait`].
    is_waiting: bool,
    awaits_quiet: bool,
    /// Whether the command's line has been written. Keys that were typed earlier may arrive before it.
    is_typed: bool,
    /// The size of the captured output when Ctrl+C was typed.
    cancelled_at: Option<usize>,
    /// An end mark that was found, but may belong to another command.
    found: Option<End>,
    finish: Option<Finished>,
}

/// The ending, the exit code and its source, and the end of the output.
type Finished = (Ending, Option<i32>, Option<ExitSource>, Option<End>);

impl Follow {
    /// Begins to follow a command that has just been typed.
    pub fn new(reported: Reported) -> Self {
        let (framing, is_block, is_around, nonce) = match reported {
            Reported::Block { nonce, line } => {
                (Framing::Block { nonce: nonce.clone(), line }, true, false, Some(nonce))
            }
            Reported::Marker { marks, is_around, nonce } => {
                (Framing::Marker(marks), false, is_around, nonce)
            }
        };
        let mut capture = Capture::new(framing);
        if is_around && let Some(nonce) = &nonce {
            capture.watch_line(nonce);
        }
        Self {
            capture,
            is_block,
            is_around,
            nonce,
            seen: 0,
            told: 0,
            is_news: false,
            backlog: 0,
            is_waiting: false,
            awaits_quiet: false,
            is_typed: false,
            cancelled_at: None,
            found: None,
            finish: None,
        }
    }

    /// Processes an event and returns the next instruction.
    pub fn step(&mut self, event: Event<'_>) -> Effect {
        let passed = matches!(
            event,
            Event::Output { .. } | Event::Input { .. } | Event::Gap | Event::Exited(_)
        );
        if std::mem::take(&mut self.is_waiting) && passed {
            self.backlog = 0;
        }
        match event {
            Event::Output { seq, bytes } => {
                self.seen = seq;
                self.awaits_quiet = true;
                self.backlog += bytes.len();
                self.capture.push(bytes);
                self.search()
            }
            Event::Input { bytes, is_echoed } => {
                if self.is_typed || self.capture.has_begun() {
                    self.capture.expect_echo(bytes, is_echoed);
                }
                let is_reached = self.is_block && self.is_typed || self.capture.has_begun();
                self.is_typed |= bytes.contains(&b'\r');
                if is_reached && bytes.contains(&INTERRUPT) {
                    self.cancelled_at.get_or_insert(self.capture.len());
                }
                Effect::Poll
            }
            Event::Gap => {
                self.capture.gap();
                Effect::Poll
            }
            // Output reaches the tap before the terminal announces it. If the terminal announces output that did not
            // arrive, and much output was waiting, then output was lost, perhaps including the end mark. The terminal's
            // records still contain the end.
            Event::Empty if self.told > self.seen && self.backlog > TAP_CAPACITY / 2 => {
                Effect::Look(Look::Kept)
            }
            Event::Empty => self.caught_up(),
            Event::Advanced(seq) => {
                self.told = seq;
                self.is_news = true;
                Effect::Poll
            }
            Event::Quiet => {
                self.awaits_quiet = false;
                Effect::Look(Look::Silence)
            }
            Event::Deadline => self.finish(Ending::TimedOut, None, None, None),
            Event::Exited(Some(ExitStatus::Code(code))) if self.capture.has_begun() => {
                self.finish(Ending::Completed, Some(code), Some(ExitSource::Process), None)
            }
            Event::Exited(_) => Effect::Fail,
            Event::Seen(sight) => self.seen(sight),
        }
    }

    fn seen(&mut self, sight: Sight) -> Effect {
        match sight {
            Sight::Leader(true) => match self.found.take() {
                Some(end) => self.completed(end),
                None => Effect::Poll,
            },
            // A shell inside the command reported the end of one of its own commands.
            Sight::Leader(false) => self.search(),
            Sight::Prompt(true) => self.finish(Ending::Interrupted, None, None, None),
            Sight::Prompt(false) => Effect::Poll,
            Sight::Kept(Some(exit_code)) => {
                self.capture.gap();
                self.finish(Ending::Completed, exit_code, Some(self.own_source()), None)
            }
            Sight::Kept(None) => self.caught_up(),
            Sight::Around(Some(exit_code)) => {
                let end = self.nonce.as_deref().and_then(|nonce| self.capture.outer_end(nonce));
                let ending = match exit_code {
                    Some(_) => Ending::Completed,
                    None => Ending::Lost(Lost::ShellEnded),
                };
                self.finish(ending, exit_code, Some(ExitSource::Block), end)
            }
            Sight::Around(None) => self.wait(),
            Sight::NewShell(true) => self.finish(Ending::NewShell, None, None, None),
            Sight::NewShell(false) => self.wait(),
            Sight::Silence(silence) => match silence.and_then(|silence| self.judge(silence)) {
                Some((ending, exit_code)) => {
                    self.finish(ending, exit_code, Some(self.own_source()), None)
                }
                None => Effect::Poll,
            },
        }
    }

    /// Looks for an end mark in the captured output.
    fn search(&mut self) -> Effect {
        if let Some(end) = self.capture.end() {
            if self.is_block && self.capture.is_nested() {
                self.found = Some(end);
                return Effect::Look(Look::Leader);
            }
            return self.completed(end);
        }
        match self.cancelled_at {
            None => Effect::Poll,
            Some(_) if !self.is_block => Effect::Look(Look::Prompt),
            // If the command has begun, the shell itself will report its end.
            Some(at) if !self.capture.has_begun() && self.capture.has_prompt_behind(at) => {
                self.finish(Ending::Interrupted, None, None, None)
            }
            Some(_) => Effect::Poll,
        }
    }

    /// Handles the state in which all announced output has arrived.
    fn caught_up(&mut self) -> Effect {
        self.seen = self.seen.max(self.told);
        let is_news = std::mem::take(&mut self.is_news) && self.capture.has_begun();
        // If the outer command's own shell runs the command, it had lost its marks, and the outer command had ended before.
        if is_news && self.is_around && !self.capture.is_line_marked() {
            return Effect::Look(Look::Around);
        }
        if is_news && self.capture.has_inner_prompt() {
            return Effect::Look(Look::NewShell);
        }
        self.wait()
    }

    fn wait(&mut self) -> Effect {
        self.is_waiting = true;
        Effect::Wait { for_quiet: self.awaits_quiet }
    }

    /// The ending of the command, if the shell is back at its prompt without having reported the end.
    fn judge(&self, silence: Silence) -> Option<(Ending, Option<i32>)> {
        let Silence { has_prompt, has_editor, is_replaced, has_run, exit_code, is_new_shell } =
            silence;
        let has_begun = self.capture.has_begun();
        if is_new_shell {
            return has_begun.then_some((Ending::NewShell, None));
        }
        if !self.is_block {
            return None;
        }
        // Bracketed paste alone does not prove that the shell is at its prompt: the command may read a line with the
        // shell's editor (`read -e`, `vared`). It counts if the shell may have been replaced. It also counts if the
        // shell reported no beginning and its editor waits in spite of Enter: such a shell has lost its hooks and is at
        // its next prompt.
        let has_lost_hooks = !has_begun && !has_run;
        let is_back = has_prompt || has_editor && (has_begun && is_replaced || has_lost_hooks);
        match (is_back, has_begun) {
            (true, true) if exit_code.is_some() => Some((Ending::Completed, exit_code)),
            (true, true) => Some((Ending::Lost(Lost::NotTold), None)),
            (true, false) if has_run => Some((Ending::Lost(Lost::OtherLine), None)),
            (true, false) => Some((Ending::Lost(Lost::NotTold), None)),
            _ => None,
        }
    }

    /// The source of the exit codes in this command's marks.
    fn own_source(&self) -> ExitSource {
        if self.is_block { ExitSource::Block } else { ExitSource::Marker }
    }

    fn completed(&mut self, end: End) -> Effect {
        self.finish(Ending::Completed, end.exit_code, Some(self.own_source()), Some(end))
    }

    fn finish(
        &mut self,
        ending: Ending,
        exit_code: Option<i32>,
        source: Option<ExitSource>,
        end: Option<End>,
    ) -> Effect {
        let source = source.filter(|_| ending == Ending::Completed && exit_code.is_some());
        self.finish = Some((ending, exit_code, source, end));
        Effect::Finish
    }

    /// Whether the shell has started the command.
    pub fn has_begun(&self) -> bool {
        self.capture.has_begun()
    }

    /// The result. Call this after [`Effect::Finish`].
    pub fn into_finish(self) -> Finish {
        let unfinished = (Ending::TimedOut, None, None, None);
        let (ending, exit_code, exit_source, end) = self.finish.unwrap_or(unfinished);
        let is_ended_by_it = self.cancelled_at.is_some() && exit_code == Some(ENDED_BY_SIGINT);
        Finish {
            ending,
            exit_code,
            exit_source,
            is_interrupted: ending == Ending::Interrupted || is_ended_by_it,
            end,
            capture: self.capture,
        }
    }
}

#[cfg(test)]
mod tests;
