//! Whether a person is typing in a pane: agents give way from their first key on. What counts is keys in the window
//! ([`Pane::touch`]); what callers type is no person's.

use std::time::Duration;

use unterm_mux::{Pane, ShownLine};
use unterm_term::Modes;

use super::question_line::line_to_cursor;

/// How long a person who left no line unfinished is silent before others may type.
pub const PAUSE: Duration = Duration::from_secs(3);

/// What a person is doing in a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typing {
    /// They have typed a line and not entered it: what can be seen of it.
    Line(String),
    /// They pressed a key a moment ago ([`PAUSE`]), and left no line.
    Keys,
}

/// What a person is typing in a pane: from their key until they enter the line, or, where they left none, for a while.
pub fn typing(pane: &Pane) -> Option<Typing> {
    let touch = pane.last_touch()?;
    let pauses = touch.at.elapsed() >= PAUSE;
    // In a full-screen program Enter enters no line.
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

/// The line that a person has begun: at a marked prompt the one that stands there, elsewhere what was typed, if the screen
/// shows it in front of the cursor. Single keys that a program takes at once are no line.
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
