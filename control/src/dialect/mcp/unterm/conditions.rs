//! The conditions that `wait` and `input` accept.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    dialect::mcp::{arguments, jobs::WEEK, tool_result::ToolResult},
    methods::wait::{Awaited, WatchParams},
    services::pane::program_state::claim::State,
};

/// Exactly one of these fields; flags take true.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Condition {
    /// A changed line contains this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// A changed line matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    regex: Option<String>,
    /// The screen has not changed for this long.
    #[serde(skip_serializing_if = "Option::is_none")]
    stable_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exit: Option<bool>,
    /// The shell is at its prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command_done: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bell: Option<bool>,
    /// The title contains this text.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The program asks for a password.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<bool>,
    /// The program waits for input.
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<bool>,
    /// working, needs_you, done, failed or idle.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    state: Option<State>,
}

impl Condition {
    /// The condition. `None` if the value has no field, or more than one.
    fn awaited(&self) -> Option<Awaited> {
        let Self {
            text,
            regex,
            stable_ms,
            exit,
            prompt,
            command_done,
            bell,
            title,
            secret,
            input,
            state,
        } = self;
        let given = [
            text.clone().map(Awaited::Text),
            regex.clone().map(Awaited::Regex),
            stable_ms.map(Awaited::StableMs),
            exit.map(Awaited::Exit),
            prompt.map(Awaited::Prompt),
            command_done.map(Awaited::CommandDone),
            bell.map(Awaited::Bell),
            title.clone().map(Awaited::Title),
            secret.map(Awaited::Secret),
            input.map(Awaited::Input),
            state.map(Awaited::State),
        ];
        let mut given = given.into_iter().flatten();
        given.next().filter(|_| given.next().is_none())
    }
}

/// The names of the conditions, for errors to the model.
const CONDITIONS: &str =
    "text, regex, stable_ms, exit, prompt, command_done, bell, title, secret, input or state";

/// A list of conditions as the client sent it. Its schema describes each condition only as an object, because the
/// schema of the tool `wait` already describes conditions in full.
#[derive(Clone, Deserialize)]
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

/// The schema of a value that another tool's schema already describes.
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

/// The parameters of `session.watch` for a pane. `any` and `all`: two arguments with their names, of which exactly one
/// must contain conditions.
///
/// # Errors
/// Both arguments are given, no argument is given, or a condition is invalid. A message for the model.
pub fn params(
    pane: u64,
    any: (&str, Option<Conditions>),
    all: (&str, Option<Conditions>),
) -> ToolResult<WatchParams<'static>> {
    if any.1.is_some() && all.1.is_some() {
        return Err(format!("Give `{}` or `{}`, not both", any.0, all.0));
    }
    let (any, all) = (awaited(any)?, awaited(all)?);
    let (any, all, timeout_ms) = (any.into(), all.into(), WEEK.into());
    Ok(WatchParams { any, all, timeout_ms, ..WatchParams::of(pane) })
}

/// Parses the conditions in an argument. Errors contain the argument's name.
fn awaited((name, given): (&str, Option<Conditions>)) -> ToolResult<Option<Vec<Awaited>>> {
    let Some(Conditions(given)) = given else { return Ok(None) };
    if given.is_empty() {
        return Err(format!("`{name}` is empty; give a condition: one of {CONDITIONS}"));
    }
    let one = |(index, given)| {
        let at = format!("{name}[{index}]");
        let condition: Condition = arguments::read_part(given, &at)?;
        condition.awaited().ok_or_else(|| {
            let condition = json!(condition);
            format!(
                "`{at}` must be exactly one of {CONDITIONS}, such as {{\"text\": \"ready\"}}, not {condition}"
            )
        })
    };
    given.into_iter().enumerate().map(one).collect::<ToolResult<_>>().map(Some)
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
