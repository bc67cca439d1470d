//! Detects whether the user is typing in a pane, so that agents do not type in between. Only keys in the window count
//! ([`Pane::touch`]), not input of callers.

use std::time::Duration;

use unterm_mux::{Pane, ShownLine};
use unterm_term::Modes;

use crate::services::shell::question_line::line_to_cursor;

/// The time after the user's last key when others may type, unless the user left an unfinished line.
pub const PAUSE: Duration = Duration::from_secs(3);

/// The user's input in a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typing {
    /// The visible part of a line that the user has typed but not entered.
    Line(String),
    /// The user pressed a key less than [`PAUSE`] ago, and left no line.
    Keys,
}

/// The user's input in a pane. An unfinished line counts until it is entered. Other keys count for [`PAUSE`].
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

/// The line that the user has begun. At a marked prompt, it is the line on the screen. Elsewhere, it is the typed text,
/// if the screen shows that text before the cursor. Keys that a program handles one by one do not form a line.
fn line(pane: &Pane) -> Option<String> {
    let shown = {
        let term = pane.term();
        ShownLine::of(&term).is_none().then(|| line_to_cursor(&term))
    };
    let Some(shown) = shown else { return pane.users_line() };
    let typed = pane.typed();
    let typed = typed.trim();
    (!typed.is_empty() && shown.trim_end().ends_with(typed)).then(|| typed.to_owned())
}
