//! The data that the host passes to a plugin.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// The rows at the bottom of a screen that count as its status.
const STATUS_ROWS: usize = 3;

/// What `classify` gets.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClassifyContext {
    /// The screen's text, a line a row.
    pub screen: String,
    /// The screen without its last three rows.
    pub body_text: String,
    /// The last three rows.
    pub status_text: String,
    /// The title that the program set. Empty and left out if it set none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What the program printed, as far as the host keeps it.
    pub transcript: String,
    /// The screen's sequence number.
    pub sequence: u64,
    /// The last intent that the plugin set.
    pub last_intent: Option<String>,
    /// The milliseconds since the screen changed.
    pub stable_ms: u64,
    /// The milliseconds that a screen has to stay as it is before a turn counts as completed.
    pub completed_turn_stable_ms: u64,
    /// The transcript's marks: positions by label.
    pub markers: BTreeMap<String, u64>,
    /// The position of the transcript's end.
    pub cursor: u64,
}

impl ClassifyContext {
    /// A context for `screen`, with its body and status split off.
    pub fn of_screen(screen: impl Into<String>) -> Self {
        let screen = screen.into();
        let (body, status) = split_status(&screen);
        Self { body_text: body.into(), status_text: status.into(), screen, ..Self::default() }
    }
}

/// Splits the last three rows off a screen's text. Blank rows at its end do not count.
pub fn split_status(screen: &str) -> (&str, &str) {
    let text = screen.trim_end_matches(['\n', ' ']);
    // Blanks that end the last row belong to it.
    let end = screen[text.len()..].find('\n').map_or(screen.len(), |blanks| text.len() + blanks);
    let text = &screen[..end];
    match text.rmatch_indices('\n').nth(STATUS_ROWS - 1) {
        Some((at, _)) => (&text[..at], &text[at + 1..]),
        None => ("", text),
    }
}

/// What a predicate gets.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PredicateInput {
    /// The screen's text, a line a row.
    pub screen: String,
    /// The title that the program set. Empty and left out if it set none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What the program printed, as far as the host keeps it.
    pub transcript: String,
    /// The screen's sequence number.
    pub sequence: u64,
    /// The milliseconds since the screen changed.
    pub stable_ms: u64,
    /// Whether the program has ended.
    pub process_exited: bool,
    /// The transcript's marks: positions by label.
    pub markers: BTreeMap<String, u64>,
    /// The position of the transcript's end.
    pub cursor: u64,
    /// The matcher's `params`.
    pub params: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_three_rows_are_the_status() {
        assert_eq!(split_status("a\nb\nc\nd\ne"), ("a\nb", "c\nd\ne"));
        assert_eq!(split_status("a\nb\nc\nd \n\n   \n"), ("a", "b\nc\nd "));
        assert_eq!(split_status("a\nb"), ("", "a\nb"));
        assert_eq!(split_status("\n \n"), ("", ""));
    }
}
