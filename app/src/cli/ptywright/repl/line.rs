//! Parses a line that the user typed as a command.
//!
//! A line is `METHOD name=value …` or `METHOD {JSON}`. A value is JSON, or a word up to the next blank, or text in
//! single quotes. A name with a dot, such as `action.type=key`, sets a member of an object.

use serde_json::{Map, Value};
use unterm_control::ptywright::{ParamValue, method_doc};

use crate::plain_words;

/// A command.
#[derive(Debug, PartialEq)]
pub enum Command {
    /// A blank line or a comment.
    Nothing,
    /// Explain a method, or list all methods.
    Help(Option<String>),
    /// Leave the prompt.
    Quit,
    /// Call a method.
    Call {
        /// The name of the method.
        method: String,
        /// The parameters of the method.
        params: Map<String, Value>,
    },
}

/// Commands that are not methods of the server.
pub const OWN: [(&str, &str); 2] = [("help", "Explain a method, or list all"), ("quit", "Leave")];

/// Parses a line.
///
/// # Errors
/// Returns a message with the problem and how to correct the line.
pub fn parse(line: &str) -> Result<Command, String> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(Command::Nothing);
    }
    let (method, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim_start();
    match (method, rest) {
        ("help" | "?", "") => return Ok(Command::Help(None)),
        ("help" | "?", name) => return Ok(Command::Help(Some(name.to_owned()))),
        ("quit" | "exit", "") => return Ok(Command::Quit),
        ("quit" | "exit", _) => return Err(format!("{method} takes no arguments")),
        _ => {}
    }
    if method.contains(['=', '{', '"', '\'']) {
        return Err(format!(
            "a line starts with a method, such as session.list, not with {method}"
        ));
    }
    let params = if rest.starts_with('{') { object(rest)? } else { pairs(method, rest)? };
    Ok(Command::Call { method: method.to_owned(), params })
}

/// Parses a JSON object with all parameters.
fn object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(params)) => Ok(params),
        Ok(_) => Err("the parameters must be a JSON object".to_owned()),
        Err(error) => {
            Err(format!("the parameters are not valid JSON: {}", plain_words::of_json(&error)))
        }
    }
}

fn pairs(method: &str, mut rest: &str) -> Result<Map<String, Value>, String> {
    let mut params = Map::new();
    while !rest.is_empty() {
        let (name, after) = match rest.split_once('=') {
            Some((name, after)) if !name.contains(char::is_whitespace) => (name, after),
            _ => {
                let word = rest.split_whitespace().next().unwrap_or(rest);
                return Err(format!("{word}: a parameter is written name=value"));
            }
        };
        if name.split('.').any(str::is_empty) {
            return Err(format!("{name}=: the name of the parameter is missing"));
        }
        let (value, after) = value(name, after, is_text(method, name))?;
        insert(&mut params, name, value)?;
        if !after.is_empty() && !after.starts_with(char::is_whitespace) {
            let end: String = after.chars().take(20).collect();
            return Err(format!("{name}: a blank is missing before {end:?}"));
        }
        rest = after.trim_start();
    }
    Ok(params)
}

/// Whether a parameter is a text. If so, the input `5` is the text "5", not a number.
fn is_text(method: &str, name: &str) -> bool {
    let doc = method_doc(method).and_then(|doc| doc.params.iter().find(|param| param.name == name));
    doc.is_some_and(|param| ParamValue::is_text(param.value))
}

/// Parses the value at the start of a text. Also returns the text after the value.
fn value<'t>(name: &str, text: &'t str, is_text: bool) -> Result<(Value, &'t str), String> {
    if text.starts_with(['"', '[', '{']) {
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        return match stream.next() {
            Some(Ok(value)) => Ok((value, &text[stream.byte_offset()..])),
            Some(Err(error)) => Err(format!("{name}: not valid JSON: {error}")),
            None => Err(format!("{name}: the value is missing")),
        };
    }
    if let Some(quoted) = text.strip_prefix('\'') {
        let (inside, after) =
            quoted.split_once('\'').ok_or_else(|| format!("{name}: the closing ' is missing"))?;
        return Ok((inside.into(), after));
    }
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, after) = text.split_at(end);
    if word.is_empty() {
        return Err(format!("{name}: the value is missing; an empty text is \"\""));
    }
    let value = match serde_json::from_str(word) {
        Ok(value) if !is_text => value,
        _ => word.into(),
    };
    Ok((value, after))
}

/// Sets a parameter. If its name contains dots, sets a member of nested objects.
fn insert(params: &mut Map<String, Value>, name: &str, value: Value) -> Result<(), String> {
    let mut names: Vec<_> = name.split('.').collect();
    let last = names.pop().unwrap_or(name);
    let mut object = params;
    for part in names {
        let inner = object.entry(part).or_insert_with(|| Map::new().into());
        object =
            inner.as_object_mut().ok_or_else(|| format!("{name}: {part} already has a value"))?;
    }
    if object.insert(last.to_owned(), value).is_some() {
        return Err(format!("{name}: given twice"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn params(line: &str) -> Value {
        match parse(line) {
            Ok(Command::Call { params, .. }) => params.into(),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn values_are_json_or_words() {
        assert_eq!(
            params(r#"session.create program="bash" args=["-i", "a b"]  rows=24 cwd=/tmp"#),
            json!({"program": "bash", "args": ["-i", "a b"], "rows": 24, "cwd": "/tmp"})
        );
        assert_eq!(
            params(r#"server.set_notifications enabled=true sessions=["s1"]"#),
            json!({"enabled": true, "sessions": ["s1"]})
        );
        assert_eq!(
            params("x a=null b=1.5 c=nul d='it is \"so\"'"),
            json!({
            "a": null, "b": 1.5, "c": "nul", "d": "it is \"so\""})
        );
        assert_eq!(params("session.list"), json!({}));
    }

    #[test]
    fn a_text_stays_a_text() {
        assert_eq!(
            params("adapter.wait adapter=e1 wait_id=5"),
            json!({"adapter": "e1", "wait_id": "5"})
        );
        assert_eq!(params("session.create program=true"), json!({"program": "true"}));
        assert_eq!(params("session.resize session=s1 rows=5"), json!({"session": "s1", "rows": 5}));
    }

    #[test]
    fn a_dot_makes_an_object() {
        assert_eq!(
            params("session.input session=s1 action.type=key action.value=enter"),
            json!({"session": "s1", "action": {"type": "key", "value": "enter"}})
        );
        assert_eq!(
            params(r#"adapter.turn adapter=e1 send.intent=x send.params.a.b=[1]"#),
            json!({"adapter": "e1", "send": {"intent": "x", "params": {"a": {"b": [1]}}}})
        );
    }

    #[test]
    fn all_parameters_can_be_one_object() {
        assert_eq!(params(r#"session.kill {"session": "s1"}"#), json!({"session": "s1"}));
        assert!(parse("session.kill {\"session\": 1} x").unwrap_err().contains("not valid JSON"));
    }

    #[test]
    fn lines_without_a_call_are_comments_help_or_errors() {
        assert_eq!(parse("  "), Ok(Command::Nothing));
        assert_eq!(parse("# session.list"), Ok(Command::Nothing));
        assert_eq!(parse("help"), Ok(Command::Help(None)));
        assert_eq!(parse("help session.list"), Ok(Command::Help(Some("session.list".to_owned()))));
        assert_eq!(parse("exit"), Ok(Command::Quit));
        for (line, why) in [
            ("session.create bash", "bash: a parameter is written name=value"),
            ("session.create program=", "program: the value is missing"),
            ("session.create program= rows=1", "program: the value is missing"),
            ("session.create =1", "the name of the parameter is missing"),
            ("session.create a..b=1", "the name of the parameter is missing"),
            ("session.create args=[\"x\"", "args: not valid JSON"),
            ("session.create args=[1]rows=2", "args: a blank is missing before \"rows=2\""),
            ("session.create cwd='x", "the closing ' is missing"),
            ("session.create rows=1 rows=2", "rows: given twice"),
            ("x a=1 a.b=2", "a.b: a already has a value"),
            ("{\"method\": 1}", "a line starts with a method"),
            ("quit now", "quit takes no arguments"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(why), "{line}: {error}");
        }
    }
}
