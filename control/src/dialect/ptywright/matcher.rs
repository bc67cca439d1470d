//! The conditions of a wait: plain data that clients send, and their compiled form.
//!
//! Owns what a matcher is and whether a state matches it. Never waits: `sessions::wait` does.

mod compiled;
mod predicate;

pub use self::compiled::{Answered, Compiled, Outcome, Seen};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How deep matchers may be nested, and how many parts one may have.
const DEEPEST: usize = 16;
const MOST_PARTS: usize = 256;

/// A condition of a wait.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case", deny_unknown_fields)]
pub enum Matcher {
    /// The screen contains a text.
    ContainsText(String),
    /// The screen matches an expression.
    ScreenRegex(String),
    /// The kept output contains a text.
    TranscriptContains(String),
    /// The kept output matches an expression.
    TranscriptRegex(String),
    /// The cursor is at a place.
    CursorAt(CursorAt),
    /// The screen has not changed for a time.
    ScreenStable(ScreenStable),
    /// The program has ended.
    ProcessExited,
    /// One of several matches.
    Any(Vec<Matcher>),
    /// All of several match at the same time.
    All(Vec<Matcher>),
    /// A plugin's function decides.
    Lua(Lua),
}

/// A place of the cursor, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CursorAt {
    /// The row of the screen.
    pub row: u16,
    /// The column.
    pub col: u16,
}

/// How long a screen must not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ScreenStable {
    /// Milliseconds.
    pub min_ms: u64,
}

/// A function of a plugin.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Lua {
    /// The plugin's name.
    pub plugin: String,
    /// The function.
    pub predicate: String,
    /// What the function receives.
    #[serde(default)]
    pub params: Value,
}

impl Matcher {
    /// Checks how deep it is nested and how many parts it has.
    ///
    /// # Errors
    /// It is too deep or has too many parts, as a message for clients.
    pub fn check(&self) -> Result<(), String> {
        let (mut parts, mut level, mut depth) = (0, vec![self], 0);
        while !level.is_empty() {
            (parts, depth) = (parts + level.len(), depth + 1);
            if depth > DEEPEST {
                return Err(format!("matcher: nested more than {DEEPEST} deep"));
            }
            if parts > MOST_PARTS {
                return Err(format!("matcher: more than {MOST_PARTS} parts"));
            }
            level = level.into_iter().flat_map(Self::parts).collect();
        }
        Ok(())
    }

    fn parts(&self) -> &[Self] {
        match self {
            Self::Any(parts) | Self::All(parts) => parts,
            _ => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn matchers_are_plain_json() {
        let all = json!({"type": "all", "value": [
            {"type": "any", "value": [{"type": "contains_text", "value": "a"}]},
            {"type": "cursor_at", "value": {"row": 1, "col": 2}},
            {"type": "screen_stable", "value": {"min_ms": 250}},
            {"type": "process_exited"},
            {"type": "lua", "value": {"plugin": "p", "predicate": "f", "params": {"x": 1}}},
        ]});
        let matcher: Matcher = serde_json::from_value(all.clone()).unwrap();
        assert_eq!(serde_json::to_value(matcher).unwrap(), all);
        for (wrong, named) in [
            (json!({"type": "nope"}), "unknown variant `nope`"),
            (json!({"type": "cursor_at", "value": {"row": 1, "col": 2, "x": 3}}), "`x`"),
            (json!({"type": "process_exited", "more": 1}), "more"),
            (json!({"type": "screen_stable", "value": {"min_ms": -1}}), "-1"),
        ] {
            let error = serde_json::from_value::<Matcher>(wrong.clone()).unwrap_err().to_string();
            assert!(error.contains(named), "{wrong}: {error}");
        }
    }

    #[test]
    fn depth_and_parts_are_bounded() {
        let nested =
            |depth| (1..depth).fold(Matcher::ProcessExited, |inner, _| Matcher::Any(vec![inner]));
        assert_eq!(nested(DEEPEST).check(), Ok(()));
        assert!(nested(DEEPEST + 1).check().unwrap_err().contains("16 deep"));
        let wide = |count| Matcher::All(vec![Matcher::ProcessExited; count]);
        assert_eq!(wide(MOST_PARTS - 1).check(), Ok(()));
        assert!(wide(MOST_PARTS).check().unwrap_err().contains("256 parts"));
    }
}
