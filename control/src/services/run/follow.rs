//! Following a command from when it was typed to its end: a state machine that touches neither the pane nor the clock.
//!
//! [`Follow::step`] takes one [`Event`] and returns one [`Effect`]. What it can't know from the bytes that pass through the pane
//! it asks for by [`Effect::Look`]; whoever drives it answers by [`Event::Seen`].

use std::sync::Arc;

use unterm_mux::{ExitStatus, TAP_CAPACITY};

use super::outcome::{Ending, ExitSource, Lost};
use crate::services::{
    output::{Capture, End, Framing},
    shell::Marks,
};

/// Ctrl+C, as a terminal receives it.
const INTERRUPT: u8 = 0x03;

/// The exit code of a command that SIGINT ended: 128 and the signal's number.
const ENDED_BY_SIGINT: i32 = 130;

/// What happened.
#[derive(Debug)]
pub enum Event<'a> {
    /// The pane's program wrote these bytes; with them, the terminal's `seq` reached this.
    Output { seq: u64, bytes: &'a [u8] },
    /// These bytes were typed.
    Input(&'a [u8]),
    /// Some of the pane's bytes were missed.
    Gap,
    /// Nothing more has passed through the pane so far.
    Empty,
    /// Those who wait for the terminal were told that its `seq` has reached this.
    Advanced(u64),
    /// Nothing has come for a while since the last output.
    Quiet,
    /// The time is over.
    Deadline,
    /// The pane's program has ended; how, if the system reported it.
    Exited(Option<ExitStatus>),
    /// What a look found.
    Seen(Sight),
}

/// What to do next.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect {
    /// Report the next thing that has passed through the pane, or [`Event::Empty`].
    Poll,
    /// Wait for the next thing, an advance of the terminal, or the deadline; with `for_quiet` also for [`Event::Quiet`].
    Wait { for_quiet: bool },
    /// Look at the pane.
    Look(Look),
    /// Stop: the command is over, or is waited for no longer.
    Finish,
    /// Stop: the program ended before the command began, or without an exit code.
    Fail,
}

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// Whether the shell that runs the command leads the terminal's foreground.
    Leader,
    /// Whether the pane's own shell reads a line.
    Prompt,
    /// The end of the command, as the terminal keeps it.
    Kept,
    /// The end of the command that this one was typed into.
    Around,
    /// A shell that is back and reported no end.
    Silence,
}

/// What a look found, each for the [`Look`] of its name. A command's end is its exit code, if the shell reported one.
#[derive(Debug)]
#[allow(missing_docs, reason = "their looks say it")]
pub enum Sight {
    Leader(bool),
    Prompt(bool),
    Kept(Option<Option<i32>>),
    Around(Option<Option<i32>>),
    Silence(Option<Silence>),
}

/// The state of a shell that leads the foreground again and edits a line, although the command's end was not seen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence {
    /// A later prompt of it was marked.
    pub has_prompt: bool,
    /// It asks that pastes be marked, as an editor of lines does while it reads one, and only then.
    pub has_editor: bool,
    /// Another program may have taken the place of the pane's shell.
    pub is_replaced: bool,
    /// The terminal saw the command begin, or keeps nothing of it.
    pub has_run: bool,
    /// The command's exit code, if the terminal keeps one.
    pub exit_code: Option<i32>,
}

/// How the command is told from all else that passes through the pane.
pub enum Reported {
    /// By marks of the shell's integration, which carry the nonce, around the line that was typed.
    Block { nonce: Arc<str>, line: String },
    /// By marks that were typed with the command. `around`: another command marks the shell that it was typed into; `nonce` is
    /// the pane's, if it has one.
    Marker { marks: Marks, is_around: bool, nonce: Option<Arc<str>> },
}

/// What came of following a command.
pub struct Finish {
    /// How it ended.
    pub ending: Ending,
    /// Its exit code, if one was reported.
    pub exit_code: Option<i32>,
    /// Who reported the exit code.
    pub exit_source: Option<ExitSource>,
    /// Ctrl+C ended it.
    pub is_interrupted: bool,
    /// Where in the captured bytes its output ends.
    pub end: Option<End>,
    /// What passed through the pane.
    pub capture: Capture,
}

/// A command that is followed.
pub struct Follow {
    capture: Capture,
    is_block: bool,
    is_around: bool,
    nonce: Option<Arc<str>>,
    /// The terminal's `seq` after the last bytes that came.
    seen: u64,
    /// The terminal's `seq` as it was last announced.
    told: u64,
    /// It was announced since nothing more had come: the terminal may know something new.
    is_news: bool,
    /// Bytes that had piled up before they were read, since nothing more had come.
    backlog: usize,
    /// The next thing that comes was waited for.
    is_waiting: bool,
    awaits_quiet: bool,
    /// How much had come when Ctrl+C was typed.
    cancelled_at: Option<usize>,
    /// An end that may be another command's.
    found: Option<End>,
    finish: Option<Finished>,
}

/// How it ended, its exit code, who reported that, and where its output ends.
type Finished = (Ending, Option<i32>, Option<ExitSource>, Option<End>);

impl Follow {
    /// A command that has just been typed.
    pub fn new(reported: Reported) -> Self {
        let (framing, is_block, is_around, nonce) = match reported {
            Reported::Block { nonce, line } => {
                (Framing::Block { nonce: nonce.clone(), line }, true, false, Some(nonce))
            }
            Reported::Marker { marks, is_around, nonce } => {
                (Framing::Marker(marks), false, is_around, nonce)
            }
        };
        Self {
            capture: Capture::new(framing),
            is_block,
            is_around,
            nonce,
            seen: 0,
            told: 0,
            is_news: false,
            backlog: 0,
            is_waiting: false,
            awaits_quiet: false,
            cancelled_at: None,
            found: None,
            finish: None,
        }
    }

    /// Takes an event; what to do next.
    pub fn step(&mut self, event: Event<'_>) -> Effect {
        let passed =
            matches!(event, Event::Output { .. } | Event::Input(_) | Event::Gap | Event::Exited(_));
        if std::mem::take(&mut self.is_waiting) && passed {
            self.backlog = 0;
        }
        match event {
            Event::Output { seq, bytes } => {
                self.seen = seq;
                self.awaits_quiet = self.is_block;
                self.backlog += bytes.len();
                self.capture.push(bytes);
                self.search()
            }
            Event::Input(bytes) => {
                let is_reached = self.is_block || self.capture.has_begun();
                if is_reached && bytes.contains(&INTERRUPT) {
                    self.cancelled_at.get_or_insert(self.capture.len());
                }
                Effect::Poll
            }
            Event::Gap => {
                self.capture.gap();
                Effect::Poll
            }
            // The tap has bytes before the terminal announces them. If it announces some that did not come, after much had piled
            // up, bytes were missed, and the end may have been among them. The terminal still keeps it.
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
            // A shell inside the command reported the end of one of its own.
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
                self.finish(Ending::Completed, exit_code, Some(ExitSource::Block), end)
            }
            Sight::Around(None) => self.wait(),
            Sight::Silence(silence) => match silence.and_then(|silence| self.judge(silence)) {
                Some((ending, exit_code)) => {
                    self.finish(ending, exit_code, Some(self.own_source()), None)
                }
                None => Effect::Poll,
            },
        }
    }

    /// Looks for an end in what has come.
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
            // The end of a command that had begun is reported.
            Some(at) if !self.capture.has_begun() && self.capture.has_prompt_behind(at) => {
                self.finish(Ending::Interrupted, None, None, None)
            }
            Some(_) => Effect::Poll,
        }
    }

    /// Everything that was announced has come, or was missed without loss.
    fn caught_up(&mut self) -> Effect {
        self.seen = self.seen.max(self.told);
        let is_news = std::mem::take(&mut self.is_news);
        match is_news && self.is_around && self.capture.has_begun() {
            true => Effect::Look(Look::Around),
            false => self.wait(),
        }
    }

    fn wait(&mut self) -> Effect {
        self.is_waiting = true;
        Effect::Wait { for_quiet: self.awaits_quiet }
    }

    /// How the command ended, if the shell waits for a line again without having reported it.
    fn judge(&self, silence: Silence) -> Option<(Ending, Option<i32>)> {
        let Silence { has_prompt, has_editor, is_replaced, has_run, exit_code } = silence;
        let has_begun = self.capture.has_begun();
        // A shell that nothing replaced reads a line for the command (`read -e`, `vared`).
        let is_back = has_prompt || has_editor && has_begun && is_replaced;
        match (is_back, has_begun) {
            (true, true) if exit_code.is_some() => Some((Ending::Completed, exit_code)),
            (true, true) => Some((Ending::Lost(Lost::NotTold), None)),
            (true, false) if has_run => Some((Ending::Lost(Lost::OtherLine), None)),
            _ => None,
        }
    }

    /// Who reports a command like this one.
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

    /// Whether the shell has reached the command.
    pub fn has_begun(&self) -> bool {
        self.capture.has_begun()
    }

    /// What came of it, after [`Effect::Finish`].
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
