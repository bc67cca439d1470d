//! The arguments of a tool. Values in forms other than the schema's are accepted if their meaning is clear: `"3"` and
//! `3.0` for 3, `SIGINT` for `INT`, one key for a list with one key. Errors contain the field, the given value and the
//! expected one.

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    schema,
    tool_result::{ToolResult, whole},
};
use crate::{error::unplaced, untrusted::shortened};

/// The maximum number of characters of a value in an error.
const QUOTED: usize = 80;

/// Reads the arguments of a tool. `example`: arguments to show in errors.
///
/// # Errors
/// An argument is invalid. A message for the model, with the reason.
pub fn read<T: DeserializeOwned + JsonSchema + 'static>(
    tool: &str,
    example: &str,
    given: JsonObject,
) -> ToolResult<T> {
    let fitted = fit_object(&schema::of_arguments::<T>(), given, "", tool);
    let read = fitted.and_then(|fitted| {
        // The type may restrict values more than the schema does.
        serde_json::from_value(fitted).map_err(|error| format!("`{tool}`: {}", unplaced(&error)))
    });
    read.map_err(|why| format!("{why}. Example: {tool} {example}"))
}

/// Reads one value of a list whose schema describes its values only as objects. `at`: the value's path in the
/// arguments.
///
/// # Errors
/// The value is invalid. A message for the model, with the reason.
pub fn read_part<T: DeserializeOwned + JsonSchema + 'static>(
    given: Value,
    at: &str,
) -> ToolResult<T> {
    let given = match given {
        Value::Object(given) => given,
        other => return Err(wrong(at, "an object", &other)),
    };
    let fitted = fit_object(&schema::of_arguments::<T>(), given, at, at)?;
    serde_json::from_value(fitted).map_err(|error| format!("`{at}`: {}", unplaced(&error)))
}

/// A value in the form in which errors quote it.
fn quoted(value: &Value) -> String {
    shortened(&value.to_string(), QUOTED)
}

fn wrong(at: &str, right: &str, given: &Value) -> String {
    format!("`{at}` must be {right}, not {}", quoted(given))
}

fn fit_object(schema: &JsonObject, given: JsonObject, at: &str, owner: &str) -> ToolResult<Value> {
    let none = JsonObject::new();
    let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let path = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    let mut fitted = JsonObject::new();
    for (name, value) in given {
        // Some clients send null for an absent argument.
        if value.is_null() {
            continue;
        }
        let value = match (known.get(&name), schema.get("additionalProperties")) {
            (Some(schema), _) => fit(schema, value, &path(&name))?,
            (None, Some(of_all @ Value::Object(_))) => fit(of_all, value, &path(&name))?,
            (None, Some(Value::Bool(false))) => return Err(unknown(owner, &name, known)),
            (None, _) => value,
        };
        fitted.insert(name, value);
    }
    let required = schema.get("required").and_then(Value::as_array);
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !fitted.contains_key(name) {
            let doc = known.get(name).and_then(|schema| schema["description"].as_str());
            let doc = doc.map(|doc| format!(" ({})", doc.trim_end_matches('.')));
            return Err(format!("`{owner}` needs `{}`{}", path(name), doc.unwrap_or_default()));
        }
    }
    Ok(Value::Object(fitted))
}

/// Converts a value to the form of a schema.
fn fit(schema: &Value, given: Value, at: &str) -> ToolResult<Value> {
    if let Some(names) = schema["enum"].as_array() {
        return fit_name(names, given, at);
    }
    match schema["type"].as_str() {
        Some("integer") => fit_integer(schema, given, at),
        Some("boolean") => match &given {
            Value::Bool(_) => Ok(given),
            Value::String(text) if text.eq_ignore_ascii_case("true") => Ok(json!(true)),
            Value::String(text) if text.eq_ignore_ascii_case("false") => Ok(json!(false)),
            _ => Err(wrong(at, "true or false", &given)),
        },
        Some("string") => match given {
            Value::String(_) => Ok(given),
            Value::Number(number) => Ok(json!(number.to_string())),
            other => Err(wrong(at, "text", &other)),
        },
        Some("array") => fit_list(&schema["items"], given, at),
        Some("object") => {
            let given = match parsed(&given) {
                Some(Value::Object(parsed)) => parsed,
                _ => match given {
                    Value::Object(given) => given,
                    other => return Err(wrong(at, "an object", &other)),
                },
            };
            match schema.as_object() {
                Some(schema) => fit_object(schema, given, at, at),
                None => Ok(Value::Object(given)),
            }
        }
        _ => Ok(given),
    }
}

/// Parses JSON inside a string.
fn parsed(given: &Value) -> Option<Value> {
    serde_json::from_str(given.as_str()?).ok()
}

fn fit_integer(schema: &Value, given: Value, at: &str) -> ToolResult<Value> {
    let number = match &given {
        Value::String(text) => parsed(&json!(text.trim())).filter(Value::is_number),
        Value::Number(_) => Some(given.clone()),
        _ => None,
    };
    let signed = |number: &Value| {
        let float = || number.as_f64().filter(|it| it.fract() == 0.0 && it.abs() < 9.0e15);
        number.as_i64().or_else(|| float().map(|it| it as i64))
    };
    let (min, max) = (schema["minimum"].as_i64(), schema["maximum"].as_i64());
    let right = match (min, max) {
        (Some(min), Some(max)) => format!("a whole number from {min} to {max}"),
        (Some(min), None) => format!("a whole number of at least {min}"),
        _ => "a whole number".to_owned(),
    };
    let fitted = number.and_then(|number| match whole(&number) {
        Some(number) => Some(json!(number)),
        None => signed(&number).map(|number| json!(number)),
    });
    let is_within = |number: &Value| {
        let number = number.as_f64().unwrap_or_default();
        min.is_none_or(|min| min as f64 <= number) && max.is_none_or(|max| number <= max as f64)
    };
    fitted.filter(is_within).ok_or_else(|| wrong(at, &right, &given))
}

fn fit_name(names: &[Value], given: Value, at: &str) -> ToolResult<Value> {
    let plain = |text: &str| text.trim().to_ascii_lowercase().replace(['-', ' '], "_");
    if let Some(text) = given.as_str().map(plain) {
        // The names of signals have two forms, such as `INT` and `SIGINT`.
        let forms = [Some(text.as_str()), text.strip_prefix("sig")];
        let is_it = |name: &&Value| {
            let name = name.as_str().map(plain);
            name.is_some() && forms.contains(&name.as_deref())
        };
        if let Some(name) = names.iter().find(is_it) {
            return Ok(name.clone());
        }
    }
    let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
    Err(wrong(at, &format!("one of {}", names.join(", ")), &given))
}

fn fit_list(items: &Value, given: Value, at: &str) -> ToolResult<Value> {
    let given = match parsed(&given) {
        Some(list @ Value::Array(_)) => list,
        _ => given,
    };
    let parts = match (given, items["type"].as_str()) {
        (Value::Array(parts), _) => parts,
        // A single value is accepted in place of a list with one value.
        (object @ Value::Object(_), Some("object")) => vec![object],
        (Value::String(text), Some("string")) if !text.contains(char::is_whitespace) => {
            vec![Value::String(text)]
        }
        (other @ (Value::Number(_) | Value::Bool(_)), Some("integer")) => vec![other],
        // `all` stands for an empty list, which means all panes.
        (Value::String(text), Some("integer")) if text.eq_ignore_ascii_case("all") => Vec::new(),
        (Value::String(text), Some("string")) => {
            let list: Vec<&str> = text.split_whitespace().collect();
            return Err(wrong(at, &format!("a list such as {}", json!(list)), &json!(text)));
        }
        (other, _) => return Err(wrong(at, "a list", &other)),
    };
    let parts = parts.into_iter().enumerate();
    let parts: ToolResult<Vec<Value>> =
        parts.map(|(index, part)| fit(items, part, &format!("{at}[{index}]"))).collect();
    parts.map(Value::Array)
}

/// The error for an unknown argument.
fn unknown(owner: &str, name: &str, known: &JsonObject) -> String {
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    // Every known name is shorter, so the rest of a longer name can't make it more similar.
    let start: String = name.chars().take(QUOTED).collect();
    let distance = |known: &str| strsim::levenshtein(known, &start);
    let near = names
        .iter()
        .filter(|known| known.contains(name) || name.contains(**known) || distance(known) <= 2);
    let near = near.min_by_key(|known| distance(known));
    let meant = near.map_or(".".to_owned(), |near| format!("; did you mean `{near}`?"));
    let name = shortened(name, QUOTED);
    match names.as_slice() {
        [] => format!("`{owner}` takes no arguments, and got `{name}`"),
        names => format!("`{owner}` takes no `{name}`{meant} It takes {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Sample {
        /// The command to run.
        command: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        pane: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        lines: Option<i64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        raw: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        keys: Option<Vec<String>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        signal: Option<Name>,
        #[serde(skip_serializing_if = "Option::is_none")]
        env: Option<std::collections::BTreeMap<String, String>>,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    enum Name {
        #[serde(rename = "INT")]
        Interrupt,
        #[serde(rename = "KILL")]
        Kill,
    }

    fn read(given: Value) -> Result<Value, String> {
        let given = given.as_object().unwrap().clone();
        let example = r#"{"command": "ls"}"#;
        super::read::<Sample>("sample", example, given).map(|read| json!(read)).map_err(|why| {
            why.strip_suffix(". Example: sample {\"command\": \"ls\"}").unwrap().to_owned()
        })
    }

    #[test]
    fn arguments_in_other_forms_are_converted() {
        for (given, taken) in [
            (json!({"pane": "3"}), json!({"pane": 3})),
            (json!({"pane": 3.0, "raw": null}), json!({"pane": 3})),
            (json!({"lines": " -2 "}), json!({"lines": -2})),
            (json!({"lines": -2.0}), json!({"lines": -2})),
            (json!({"raw": "True"}), json!({"raw": true})),
            (json!({"keys": "enter"}), json!({"keys": ["enter"]})),
            (json!({"keys": "[\"a\", \"b\"]"}), json!({"keys": ["a", "b"]})),
            (json!({"keys": [1]}), json!({"keys": ["1"]})),
            (json!({"signal": "SIGINT"}), json!({"signal": "INT"})),
            (json!({"signal": "kill"}), json!({"signal": "KILL"})),
            (json!({"env": {"A": 1}}), json!({"env": {"A": "1"}})),
            (json!({"env": "{\"A\": \"b\"}"}), json!({"env": {"A": "b"}})),
        ] {
            let with = |mut value: Value| {
                value["command"] = json!("ls");
                value
            };
            assert_eq!(read(with(given.clone())), Ok(with(taken)), "{given}");
        }
        assert_eq!(read(json!({"command": 7})), Ok(json!({"command": "7"})));
    }

    #[test]
    fn invalid_arguments_are_reported_with_a_valid_form() {
        for (given, why) in [
            (json!({}), "`sample` needs `command` (The command to run)"),
            (json!({"command": ["ls"]}), "`command` must be text, not [\"ls\"]"),
            (
                json!({"command": "ls", "pane": -1}),
                "`pane` must be a whole number of at least 0, not -1",
            ),
            (
                json!({"command": "ls", "pane": 2.5}),
                "`pane` must be a whole number of at least 0, not 2.5",
            ),
            (
                json!({"command": "ls", "pane": "two"}),
                "`pane` must be a whole number of at least 0, not \"two\"",
            ),
            (json!({"command": "ls", "raw": 1}), "`raw` must be true or false, not 1"),
            (
                json!({"command": "ls", "keys": "ctrl+c q"}),
                "`keys` must be a list such as [\"ctrl+c\",\"q\"], not \"ctrl+c q\"",
            ),
            (json!({"command": "ls", "keys": [[]]}), "`keys[0]` must be text, not []"),
            (
                json!({"command": "ls", "signal": "STOP"}),
                "`signal` must be one of INT, KILL, not \"STOP\"",
            ),
            (json!({"command": "ls", "env": 5}), "`env` must be an object, not 5"),
            (
                json!({"comand": "ls"}),
                "`sample` takes no `comand`; did you mean `command`? It takes command, env, keys, lines, pane, raw, signal",
            ),
            (
                json!({"pane_id": 3}),
                "`sample` takes no `pane_id`; did you mean `pane`? It takes command, env, keys, lines, pane, raw, signal",
            ),
            (
                json!({"xyzzy": 3}),
                "`sample` takes no `xyzzy`. It takes command, env, keys, lines, pane, raw, signal",
            ),
        ] {
            assert_eq!(read(given.clone()), Err(why.to_owned()), "{given}");
        }
    }
}
