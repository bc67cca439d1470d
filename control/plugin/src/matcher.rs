//! The conditions that a plugin lets the host wait for, in the JSON format of `session.wait`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::text::{is_name, quoted};

/// The maximum length of a text or a pattern, in bytes.
const PATTERN: usize = 4096;

/// A condition, as `{"type": …, "value": …}`. The host compiles the regular expressions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "value", rename_all = "snake_case", deny_unknown_fields)]
pub enum Matcher {
    /// The screen contains this text.
    ContainsText(String),
    /// A regular expression matches the screen.
    ScreenRegex(String),
    /// The transcript contains this text.
    TranscriptContains(String),
    /// A regular expression matches the transcript.
    TranscriptRegex(String),
    /// The cursor is in this cell.
    CursorAt(CellPosition),
    /// The screen has not changed for a time.
    ScreenStable(StableFor),
    /// The program has ended.
    ProcessExited,
    /// At least one of these conditions is met.
    Any(Vec<Matcher>),
    /// All of these conditions are met.
    All(Vec<Matcher>),
    /// A predicate of a plugin returns that it is met.
    Lua(LuaPredicate),
}

/// A cell, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CellPosition {
    /// The number of the row.
    pub row: u16,
    /// The number of the column.
    pub col: u16,
}

/// The time without a change of the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StableFor {
    /// The minimum time in milliseconds.
    pub min_ms: u64,
}

/// A predicate of a plugin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LuaPredicate {
    /// The name of the plugin.
    pub plugin: String,
    /// The name of the predicate that the plugin exports.
    pub predicate: String,
    /// The `params` that are passed to the predicate.
    #[serde(default)]
    pub params: Value,
}

impl Matcher {
    /// The maximum number of matchers in one tree.
    pub const MOST: usize = 256;

    /// Checks the limits that the types do not express, for the whole tree.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.check_below(&mut 0)
    }

    fn check_below(&self, nodes: &mut usize) -> Result<(), String> {
        *nodes += 1;
        if *nodes > Self::MOST {
            return Err(format!("the tree has more than {} matchers", Self::MOST));
        }
        match self {
            Self::ContainsText(text)
            | Self::ScreenRegex(text)
            | Self::TranscriptContains(text)
            | Self::TranscriptRegex(text) => {
                if (1..=PATTERN).contains(&text.len()) {
                    return Ok(());
                }
                let length = text.len();
                Err(format!("a text or pattern must have 1 to {PATTERN} bytes, not {length}"))
            }
            Self::Any(matchers) | Self::All(matchers) => {
                if matchers.is_empty() {
                    return Err("`any` and `all` need at least one matcher".into());
                }
                matchers.iter().try_for_each(|matcher| matcher.check_below(nodes))
            }
            Self::Lua(LuaPredicate { plugin, predicate, .. }) => {
                for (what, name) in [("plugin", plugin), ("predicate", predicate)] {
                    if !is_name(name) {
                        return Err(format!("`{what}` must be a name, not {}", quoted(name)));
                    }
                }
                Ok(())
            }
            Self::CursorAt(_) | Self::ScreenStable(_) | Self::ProcessExited => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn matchers_have_the_protocols_json() {
        let tree = json!({ "type": "any", "value": [
            { "type": "contains_text", "value": "ready" },
            { "type": "screen_regex", "value": "rea.y" },
            { "type": "transcript_contains", "value": "ready" },
            { "type": "transcript_regex", "value": "rea.y" },
            { "type": "cursor_at", "value": { "row": 0, "col": 0 } },
            { "type": "screen_stable", "value": { "min_ms": 250 } },
            { "type": "process_exited" },
            { "type": "all", "value": [{ "type": "contains_text", "value": "rea" }] },
            { "type": "lua", "value": { "plugin": "p", "predicate": "f", "params": { "anchor": "ready" } } },
        ] });
        let matcher: Matcher = serde_json::from_value(tree.clone()).expect("a matcher");
        assert_eq!(matcher.check(), Ok(()));
        assert_eq!(serde_json::to_value(&matcher).expect("JSON"), tree);
    }

    #[test]
    fn large_and_empty_trees_are_refused() {
        let leaf = || Matcher::ContainsText("x".into());
        assert!(Matcher::Any(Vec::new()).check().is_err());
        assert!(Matcher::Any((0..Matcher::MOST).map(|_| leaf()).collect()).check().is_err());
        assert!(Matcher::ContainsText("x".repeat(PATTERN + 1)).check().is_err());
        assert!(Matcher::ContainsText(String::new()).check().is_err());
    }
}
