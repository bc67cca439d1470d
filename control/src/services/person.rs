//! Whether a person is typing in a pane, so that agents do not type in between. Only keys in the window count
//! ([`Pane::touch`]), not input of callers.

use std::time::Duration;

use unterm_mux::{Pane, ShownLine};
use unterm_term::Modes;

use super::question_line::line_to_cursor;

/// How long after a person's last key others may type, if the person left no unfinished line.
pub const PAUSE: Duration = Duration::from_secs(3);

/// What a person is typing in a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typing {
    /// The visible part of a line that the person has typed but not entered.
    Line(String),
    /// The person pressed a key less than [`PAUSE`] ago, and left no line.
    Keys,
}

/// What a person is typing in a pane: from their first key until they enter the line or, if there is none, until
/// [`PAUSE`].
pub fn typing(pane: &Pane) -> Option<Typing> {
    let touch = pane.last_touch()?;
    let pauses = touch.at.elapsed() >= PAUSE;
    // In a full-screen program, Enter does not enter a line.
    if pane.term().modes().contains(Modes::ALT_SCREEN) {
        return (!pauses).then_some(Typing::Keys);
    }
    if pane.enters() != touch.enters {
        return None;
    }
    match line(pane) {
        Some(line) => Some(Typing::Line(line)),
        None => (!pauses).then_some(Typing::Keys),
    }
}

/// The line that a person has begun. At a marked prompt, this is the line on the screen. Elsewhere, it is what was
/// typed, if the screen shows that in front of the cursor. Keys that a program handles one by one are no line.
fn line(pane: &Pane) -> Option<String> {
    let shown = {
        let term = pane.term();
        ShownLine::of(&term).is_none().then(|| line_to_cursor(&term))
    };
    let Some(shown) = shown else { return pane.persons_line() };
    let typed = pane.typed();
    let typed = typed.trim();
    (!typed.is_empty() && shown.trim_end().ends_with(typed)).then(|| typed.to_owned())
}
