//! Whether the program in a pane waits for input, so that whoever drives the pane must act.
//!
//! A program waits for input if it waits for its terminal (a read, or a poll for one), and either shows a full screen, or
//! the last line looks like a question, or it has been silent for a second.

use std::time::Duration;

use unterm_mux::{Pane, PaneState};
use unterm_term::Modes;

use super::{
    plain_prompt,
    question_line::{ends_prompt, is_question, line_to_cursor},
    secret,
    shell::Shell,
};

/// What a program waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The answer to a question.
    Answer,
    /// Keys, in a full-screen program.
    Keys,
    /// Input of any kind: the program reads, and its screen does not show what for.
    Input,
}

impl Awaited {
    /// Whether the screen shows what the program waits for.
    pub fn is_shown(self) -> bool {
        self != Self::Input
    }
}

/// How long a program that reads its terminal must be silent before it counts as waiting, whatever its screen shows.
pub const SILENT: Duration = Duration::from_secs(1);

/// What a pane's program waits for. `None` if it waits for nothing or for a secret, or if the system does not report
/// it. A shell at its prompt waits for nothing.
pub fn awaited(pane: &Pane) -> Option<Awaited> {
    // Right after input, the screen may still show what was answered. Must come before a look at the screen.
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
    // A shell that replaced another one (exec) sends no marks.
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
    // Without a question, only the system's certain knowledge counts.
    let awaited =
        awaited.or_else(|| (is_silent && process.reads_input()).then_some(Awaited::Input))?;
    (!secret::is_asked(pane)).then_some(awaited)
}
