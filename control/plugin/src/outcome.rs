//! The results of a plugin's functions, which are parsed and checked here.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    action::{Action, check_label},
    matcher::Matcher,
    text::{is_name, quoted},
};

/// The maximum number of actions of one intent.
const ACTIONS: usize = 256;

/// The maximum number of marks of one classification.
const MARKS: usize = 64;

/// The maximum length of evidence and captures, in bytes.
const EVIDENCE: usize = 4096;

/// The maximum length of a rule's name, in bytes.
const RULE: usize = 64;

/// The state that a screen shows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Classification {
    /// The name of the state. Each plugin defines its states.
    pub state: String,
    /// The confidence of the plugin in this state, from 0 to 1.
    pub confidence: f64,
    /// The text on the screen from which the plugin concluded the state.
    pub evidence: String,
    /// The sequence number of the screen.
    pub sequence: u64,
    /// The rule that determined the state, and the text that it found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explanation>,
    /// Other values that the plugin read from the screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// The labels of marks that the host adds at the end of the transcript.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host_marks: Vec<String>,
}

/// The reason for a plugin's classification of a screen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// The name of the plugin's rule that determined the state.
    pub rule: String,
    /// The text that the rule found, as the program printed it.
    pub text: String,
}

/// The result of an intent.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentOutcome {
    /// The actions, in order.
    pub actions: Vec<Action>,
    /// The new last intent. If it is empty, the last intent is removed. If it is `None`, the last intent does not
    /// change.
    pub last_intent: Option<String>,
}

/// The result of a predicate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PredicateOutcome {
    /// Whether the condition is met.
    pub matched: bool,
    /// The text from which the predicate concluded the result.
    pub evidence: Option<String>,
    /// The text that the predicate found.
    pub capture: Option<String>,
}

impl Classification {
    /// Parses the result of `classify` for the screen with this `sequence` number.
    pub(crate) fn read(value: Value, sequence: u64) -> Result<Self, String> {
        let mut fields = Fields::of(value)?;
        let state = fields.text("state", 64)?.ok_or("`state` is missing")?;
        if !is_name(&state) {
            return Err(format!(
                "`state` must be 1 to 64 letters, digits, `_`, `-` or `.`, not {}",
                quoted(&state)
            ));
        }
        let confidence = match fields.take("confidence") {
            Some(Value::Number(number)) => number.as_f64().unwrap_or(-1.0),
            Some(other) => return Err(wrong("confidence", "a number from 0 to 1", &other)),
            None => return Err("`confidence` is missing".into()),
        };
        if !(0.0..=1.0).contains(&confidence) {
            return Err(format!("`confidence` must be between 0 and 1, not {confidence}"));
        }
        let evidence = fields.text("evidence", EVIDENCE)?.ok_or("`evidence` is missing")?;
        let sequence = match fields.take("sequence") {
            None => sequence,
            Some(value) => {
                value.as_u64().ok_or_else(|| wrong("sequence", "a whole number", &value))?
            }
        };
        let metadata = match fields.take("metadata") {
            None => None,
            Some(value @ Value::Object(_)) => Some(value),
            Some(other) => return Err(wrong("metadata", "a table with named keys", &other)),
        };
        let explain = match fields.take("explain") {
            None => None,
            Some(value) => {
                Some(Explanation::read(value).map_err(|why| format!("`explain`: {why}"))?)
            }
        };
        let mut host_marks = Vec::new();
        for (at, mark) in fields.list("host_marks", MARKS)?.into_iter().enumerate() {
            let Value::String(label) = mark else {
                return Err(wrong(&format!("host_marks[{}]", at + 1), "a string", &mark));
            };
            check_label(&label).map_err(|error| format!("`host_marks[{}]`: {error}", at + 1))?;
            host_marks.push(label);
        }
        Ok(Self { state, confidence, evidence, sequence, explain, metadata, host_marks })
    }
}

impl Explanation {
    fn read(value: Value) -> Result<Self, String> {
        let mut fields = Fields::of(value)?;
        let rule = fields.text("rule", RULE)?.ok_or("`rule` is missing")?;
        Ok(Self { rule, text: fields.text("text", EVIDENCE)?.unwrap_or_default() })
    }
}

impl IntentOutcome {
    /// Parses the result of an intent. Positions in error messages are counted from 1, as in Luau.
    pub(crate) fn read(value: Value) -> Result<Self, String> {
        let mut fields = Fields::of(value)?;
        if !fields.0.contains_key("actions") {
            return Err("`actions` is missing".into());
        }
        let mut actions = Vec::new();
        for (at, value) in fields.list("actions", ACTIONS)?.into_iter().enumerate() {
            let named = |error: String| format!("`actions[{}]`: {error}", at + 1);
            let action = Action::of_intent(value).map_err(|error| named(error.to_string()))?;
            action.check().map_err(named)?;
            actions.push(action);
        }
        let last_intent = fields.text("last_intent", 64)?;
        if let Some(name) = last_intent.as_ref().filter(|name| !name.is_empty() && !is_name(name)) {
            return Err(format!("`last_intent` must be a name, not {}", quoted(name)));
        }
        Ok(Self { actions, last_intent })
    }
}

impl PredicateOutcome {
    /// Parses the result of a predicate.
    pub(crate) fn read(value: Value) -> Result<Self, String> {
        if let Value::Bool(matched) = value {
            return Ok(Self { matched, evidence: None, capture: None });
        }
        if !value.is_object() {
            return Err(format!(
                "a predicate returns a boolean or {{ matched, evidence?, capture? }}, not {}",
                kind(&value)
            ));
        }
        let mut fields = Fields::of(value)?;
        let matched = match fields.take("matched") {
            Some(Value::Bool(matched)) => matched,
            Some(other) => return Err(wrong("matched", "a boolean", &other)),
            None => return Err("`matched` is missing".into()),
        };
        let evidence = fields.text("evidence", EVIDENCE)?;
        let capture = fields.text("capture", EVIDENCE)?;
        Ok(Self { matched, evidence, capture })
    }
}

/// Parses the matcher that a `…_matcher` function returned.
pub(crate) fn read_matcher(value: Value) -> Result<Matcher, String> {
    if !value.is_object() {
        return Err(format!("a matcher is a table with `type`, not {}", kind(&value)));
    }
    let matcher: Matcher = serde_json::from_value(value).map_err(|error| error.to_string())?;
    matcher.check()?;
    Ok(matcher)
}

/// The fields of a table that a plugin returned.
struct Fields(Map<String, Value>);

impl Fields {
    fn of(value: Value) -> Result<Self, String> {
        match value {
            Value::Object(fields) => Ok(Self(fields)),
            other => Err(format!("a table with named keys is expected, not {}", kind(&other))),
        }
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key)
    }

    fn text(&mut self, key: &str, limit: usize) -> Result<Option<String>, String> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) if text.len() <= limit => Ok(Some(text)),
            Some(Value::String(text)) => {
                Err(format!("`{key}` has {} bytes; {limit} are allowed", text.len()))
            }
            Some(other) => Err(wrong(key, "a string", &other)),
        }
    }

    /// Takes a list from the table. An empty table counts as a list.
    fn list(&mut self, key: &str, limit: usize) -> Result<Vec<Value>, String> {
        match self.take(key) {
            None => Ok(Vec::new()),
            Some(Value::Object(fields)) if fields.is_empty() => Ok(Vec::new()),
            Some(Value::Array(items)) if items.len() <= limit => Ok(items),
            Some(Value::Array(items)) => {
                Err(format!("`{key}` has {} entries; {limit} are allowed", items.len()))
            }
            Some(other) => Err(wrong(key, "a list", &other)),
        }
    }
}

fn wrong(key: &str, expected: &str, value: &Value) -> String {
    format!("`{key}` must be {expected}, not {}", kind(value))
}

/// The type of a value, for an error message.
pub(crate) fn kind(value: &Value) -> String {
    match value {
        Value::Null => "nil".into(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => quoted(text),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "a table".into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn wrong_classifications_name_the_field() {
        let good =
            json!({ "state": "ready", "confidence": 0.8, "evidence": "prompt", "host_marks": {} });
        let read = Classification::read(good.clone(), 7).expect("a classification");
        assert_eq!((read.state.as_str(), read.sequence), ("ready", 7));
        for (key, value, expected) in [
            ("state", json!("two words"), "`state` must be 1 to 64"),
            ("state", json!(4), "`state` must be a string, not 4"),
            ("confidence", json!(1.5), "between 0 and 1, not 1.5"),
            ("confidence", json!("high"), "`confidence` must be a number"),
            ("evidence", json!("x".repeat(5000)), "`evidence` has 5000 bytes"),
            ("sequence", json!(-1), "`sequence` must be a whole number, not -1"),
            ("explain", json!("x"), "`explain`: a table with named keys is expected"),
            ("explain", json!({ "text": "x" }), "`explain`: `rule` is missing"),
            ("metadata", json!([1]), "`metadata` must be a table with named keys, not a list"),
            ("host_marks", json!(["a", 2]), "`host_marks[2]` must be a string, not 2"),
        ] {
            let mut wrong = good.clone();
            wrong[key] = value;
            let error = Classification::read(wrong, 7).expect_err(key);
            assert!(error.contains(expected), "{error}");
        }
        let error = Classification::read(json!({}), 7).expect_err("an empty table");
        assert_eq!(error, "`state` is missing");
    }

    #[test]
    fn wrong_actions_are_reported_with_their_position() {
        let error = |value| IntentOutcome::read(value).expect_err("a wrong outcome");
        assert_eq!(error(json!({})), "`actions` is missing");
        let wrong = json!({ "actions": [{ "type": "eof" }, { "type": "launch" }] });
        assert!(error(wrong).starts_with("`actions[2]`: unknown variant `launch`"));
        let wrong = json!({ "actions": [{ "type": "key", "value": "entr" }] });
        assert!(error(wrong).starts_with("`actions[1]`: `entr` is not a key"));
        let wrong = json!({ "actions": [], "last_intent": "\n" });
        assert!(error(wrong).starts_with("`last_intent` must be a name"));
        let read = IntentOutcome::read(json!({ "actions": {}, "last_intent": "" }));
        assert_eq!(read, Ok(IntentOutcome { actions: Vec::new(), last_intent: Some("".into()) }));
    }

    #[test]
    fn predicates_return_a_boolean_or_a_table() {
        let read = PredicateOutcome::read;
        assert!(read(json!(true)).expect("true").matched);
        let table = json!({ "matched": false, "capture": "x" });
        assert_eq!(read(table).expect("a table").capture.as_deref(), Some("x"));
        for value in [json!(null), json!(1), json!({}), json!({ "matched": 1 })] {
            assert!(read(value.clone()).is_err(), "{value}");
        }
    }
}
