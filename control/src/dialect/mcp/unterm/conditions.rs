//! What can be waited for, as `wait` and `input` take it.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::run::WEEK;
use crate::dialect::mcp::{arguments, tool::Said};

/// One thing to wait for: exactly one of these. Flags take true.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// A line that changed holds this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// A line that changed matches this regular expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    regex: Option<String>,
    /// Nothing has changed for so long.
    #[serde(skip_serializing_if = "Option::is_none")]
    stable_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<bool>,
    /// true: the shell waits at its prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command_done: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bell: Option<bool>,
    /// The title holds this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// true: the program asks for a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<bool>,
    /// true: the program waits for input.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<bool>,
}

/// What a [`Condition`] may be, for the model.
const CONDITIONS: &str =
    "text, regex, stable_ms, exit, prompt, command_done, bell, title, secret or input";

/// A list of conditions as the client sent it. Its schema calls each only an object: one tool's schema describes conditions,
/// and the others do not repeat it.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct Conditions(Vec<Value>);

impl JsonSchema for Conditions {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Conditions".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "array", "items": {"type": "object"}})
    }
}

/// The schema of what another tool's schema describes.
pub struct AnObject;

impl JsonSchema for AnObject {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Object".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "object"})
    }
}

/// The parameters of `session.watch` for a pane and the conditions of one of these arguments, each with its name.
///
/// # Errors
/// Both are given or empty, or a condition is not exactly one thing; for the model.
pub fn params(
    pane: u64,
    any: (&str, Option<Conditions>),
    all: (&str, Option<Conditions>),
) -> Said<Value> {
    if any.1.is_some() && all.1.is_some() {
        return Err(format!("Give `{}` or `{}`, not both", any.0, all.0));
    }
    let mut params = json!({"id": pane, "timeout_ms": WEEK});
    for (key, (name, given)) in [("any", any), ("all", all)] {
        let Some(Conditions(given)) = given else { continue };
        if given.is_empty() {
            return Err(format!("`{name}` is empty; give a condition: one of {CONDITIONS}"));
        }
        let conditions = given.into_iter().enumerate();
        let conditions: Said<Vec<Value>> = conditions
            .map(|(index, given)| {
                let at = format!("{name}[{index}]");
                let condition = json!(arguments::read_part::<Condition>(given, &at)?);
                let count = condition.as_object().map_or(0, Map::len);
                if count != 1 {
                    return Err(format!(
                        "`{at}` must be exactly one of {CONDITIONS}, such as {{\"text\": \"ready\"}}, not {condition}"
                    ));
                }
                Ok(condition)
            })
            .collect();
        params[key] = json!(conditions?);
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_conditions_that_are_named_are_those_there_are() {
        let schema = schemars::schema_for!(Condition).to_value();
        let there: BTreeSet<&str> =
            schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        let named = CONDITIONS.split(", ").flat_map(|names| names.split(" or ")).collect();
        assert_eq!(there, named);
    }
}
