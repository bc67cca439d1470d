//! The buttons of the marked entry, with their keys and texts.

use unterm_mux::input::Key;

use crate::window::overlays::inbox_panel::question::ShownQuestion;

/// A button of the panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Button {
    Go,
    Approve,
    Deny,
    /// The choice of this number, counted from 1.
    Choice(usize),
    Type,
    Dismiss,
    Snooze,
}

impl Button {
    /// All buttons, to find the one of a key.
    pub(crate) const ALL_KEYS: [Self; 15] = [
        Self::Go,
        Self::Approve,
        Self::Deny,
        Self::Type,
        Self::Dismiss,
        Self::Snooze,
        Self::Choice(1),
        Self::Choice(2),
        Self::Choice(3),
        Self::Choice(4),
        Self::Choice(5),
        Self::Choice(6),
        Self::Choice(7),
        Self::Choice(8),
        Self::Choice(9),
    ];

    pub(crate) fn has_key(self, key: Key) -> bool {
        match (self, key) {
            (Self::Go, Key::Enter | Key::KeypadEnter) => true,
            (_, Key::Char(char)) => self.key() == char.to_string(),
            _ => false,
        }
    }

    /// The name of the button's key.
    pub(crate) fn key(self) -> String {
        match self {
            Self::Go => "Enter".to_owned(),
            Self::Approve => "y".to_owned(),
            Self::Deny => "n".to_owned(),
            Self::Choice(number) => number.to_string(),
            Self::Type => "t".to_owned(),
            Self::Dismiss => "d".to_owned(),
            Self::Snooze => "s".to_owned(),
        }
    }

    /// The text of the button, for the shown question.
    pub(crate) fn title(self, shown: Option<&ShownQuestion>) -> String {
        let label = |at: Option<usize>| Some(&**shown?.choices.get(at?.checked_sub(1)?)?);
        let named =
            |verb: &str, at| label(at).map_or(verb.to_owned(), |it| format!("{verb}: {it}"));
        match self {
            Self::Go => "Show pane".to_owned(),
            Self::Approve => named("Approve", shown.and_then(|shown| shown.approve)),
            Self::Deny => named("Deny", shown.and_then(|shown| shown.deny)),
            Self::Choice(number) => label(Some(number)).unwrap_or_default().to_owned(),
            Self::Type => "Type an answer".to_owned(),
            Self::Dismiss => "Dismiss".to_owned(),
            Self::Snooze => "Snooze 10 min".to_owned(),
        }
    }
}
