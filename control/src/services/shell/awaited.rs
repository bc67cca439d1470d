//! Detects whether the program in a pane waits for input, so that its user or agent must act.
//!
//! A program counts as waiting if it reads or polls its terminal and one of these is true: it shows a full screen, its
//! last line looks like a question, or it has been silent for a second.

use std::time::Duration;

use unterm_mux::{Pane, PaneState};
use unterm_term::Modes;

use super::{
    kind::Shell,
    plain_prompt,
    question_line::{ends_prompt, is_question, line_to_cursor},
    secret,
};

/// The kind of input that a program waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The answer to a question.
    Answer,
    /// Keys, in a full-screen program.
    Keys,
    /// Input of any kind: the program reads its terminal, but its screen shows no question.
    Input,
}

impl Awaited {
    /// Whether the screen shows that the program waits.
    pub fn is_shown(self) -> bool {
        self != Self::Input
    }
}

/// The time that a program that reads its terminal must be silent before it counts as waiting, whatever its screen
/// shows.
pub const SILENT: Duration = Duration::from_secs(1);

/// The kind of input that a pane's program waits for. `None` if the program waits for nothing or for a secret, or if
/// the system does not report whether it waits. A shell at its prompt waits for nothing.
pub fn awaited(pane: &Pane) -> Option<Awaited> {
    // Right after input, the screen may still show a question that was already answered. This check must come before
    // the screen is read.
    if pane.state() != PaneState::Running || !pane.shows_input() {
        return None;
    }
    let (is_running, is_screen, keypad, is_question, is_prompt) = {
        let term = pane.term();
        let last = term.commands().next_back();
        if last.is_some_and(|last| !last.is_running()) {
            return None;
        }
        let modes = term.modes();
        let is_screen = modes.contains(Modes::ALT_SCREEN);
        let is_prompt = ends_prompt(&line_to_cursor(&term));
        (
            last.is_some(),
            is_screen,
            modes.contains(Modes::APP_CURSOR),
            is_question(&term),
            is_prompt,
        )
    };
    let is_silent = pane.silence() >= SILENT;
    if !is_screen && !keypad && !is_question && !is_silent {
        return None;
    }
    let foreground = pane.foreground();
    let is_shell = foreground.as_ref().is_some_and(|it| Shell::of_process(&it.name).is_some());
    // A shell that was started by `exec` in place of the pane's shell sends no marks.
    let is_replaced = || pane.is_shell_replaced() != Some(false);
    let is_idle = || match is_running {
        true => is_prompt && is_replaced(),
        false => is_prompt || plain_prompt::stands(pane),
    };
    if is_shell && is_idle() {
        return None;
    }
    let process = pane.process();
    let reads_keys = process.echo() == Some(false) && !process.reads_secret();
    // Full-screen programs usually enable application cursor keys, even without the alternate screen.
    let shown = match reads_keys && (is_screen || keypad && !is_shell) {
        true => Some(Awaited::Keys),
        false if is_question && !is_screen => Some(Awaited::Answer),
        false => None,
    };
    let awaited = shown.filter(|_| process.awaits_input() == Some(true));
    // If the screen shows no question, the program counts as waiting only if the system reports a read for certain, and
    // no input is on its way to the program. On a busy machine, input can take more than a second.
    let reads = || is_silent && !process.is_in_transit() && process.reads_input();
    let awaited = awaited.or_else(|| reads().then_some(Awaited::Input))?;
    (!secret::is_asked(pane)).then_some(awaited)
}
