//! The data that the host passes to a plugin.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// The number of rows at the bottom of a screen that are the screen's status.
const STATUS_ROWS: usize = 3;

/// The argument of a plugin's `classify`.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ClassifyContext {
    /// The text of the screen, one line for each row.
    pub screen: String,
    /// The text of the screen without the last three rows.
    pub body_text: String,
    /// The text of the last three rows.
    pub status_text: String,
    /// The title that the program set. If it is empty, the field is left out.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The program's output, as far back as the host keeps it.
    pub transcript: String,
    /// The sequence number of the screen.
    pub sequence: u64,
    /// The last intent that the plugin reported.
    pub last_intent: Option<String>,
    /// The number of milliseconds since the screen changed.
    pub stable_ms: u64,
    /// The number of milliseconds without a change of the screen after which a turn counts as completed.
    pub completed_turn_stable_ms: u64,
    /// The positions of the transcript's marks, by their labels.
    pub markers: BTreeMap<String, u64>,
    /// The position of the end of the transcript.
    pub cursor: u64,
}

impl ClassifyContext {
    /// Creates a context for `screen`, and divides the screen into body and status.
    pub fn of_screen(screen: impl Into<String>) -> Self {
        let screen = screen.into();
        let (body, status) = split_status(&screen);
        Self { body_text: body.into(), status_text: status.into(), screen, ..Self::default() }
    }
}

/// Splits a screen's text before the last three rows, which are the status. Blank rows at the end do not count.
pub fn split_status(screen: &str) -> (&str, &str) {
    let text = screen.trim_end_matches(['\n', ' ']);
    // Blanks at the end of the last row belong to that row.
    let end = screen[text.len()..].find('\n').map_or(screen.len(), |blanks| text.len() + blanks);
    let text = &screen[..end];
    match text.rmatch_indices('\n').nth(STATUS_ROWS - 1) {
        Some((at, _)) => (&text[..at], &text[at + 1..]),
        None => ("", text),
    }
}

/// The argument of a predicate.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PredicateInput {
    /// The text of the screen, one line for each row.
    pub screen: String,
    /// The title that the program set. If it is empty, the field is left out.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The program's output, as far back as the host keeps it.
    pub transcript: String,
    /// The sequence number of the screen.
    pub sequence: u64,
    /// The number of milliseconds since the screen changed.
    pub stable_ms: u64,
    /// Whether the program has ended.
    pub process_exited: bool,
    /// The positions of the transcript's marks, by their labels.
    pub markers: BTreeMap<String, u64>,
    /// The position of the end of the transcript.
    pub cursor: u64,
    /// The `params` of the matcher.
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
