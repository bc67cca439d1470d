//! Parses a line as a request.

use std::{borrow::Cow, collections::HashMap};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::value::RawValue;

/// A request, borrowed from its line. Valid JSON that is not an object also counts as a request. Its id is `null`, and
/// its method is empty, so that the call fails because there is no such method.
#[derive(Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The id, unchanged: any JSON value, or `null` if it is missing.
    pub id: &'a str,
    /// The method. Empty if it is missing or not a string.
    pub method: Cow<'a, str>,
    /// The parameters, unchanged. Empty if they are missing.
    pub params: &'a str,
}

#[derive(Default, Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

impl<'a> Fields<'a> {
    /// Parses the fields of a JSON object. If a field occurs twice, the last one wins.
    fn of_object(text: &'a str) -> serde_json::Result<Self> {
        serde_json::from_str(text).or_else(|error| {
            let Ok(all) = serde_json::from_str::<HashMap<Text<'_>, &'a RawValue>>(text) else {
                return Err(error);
            };
            let field = |name| all.get(&Text(Cow::Borrowed(name))).copied();
            Ok(Self { id: field("id"), method: field("method"), params: field("params") })
        })
    }
}

#[derive(Deserialize, PartialEq, Eq, Hash)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Request<'a> {
    /// Parses a line. `None` if the line is blank.
    ///
    /// # Errors
    /// The line is not valid JSON. The error is serde_json's message.
    pub fn parse(line: &'a [u8]) -> Result<Option<Self>, String> {
        let trimmed = line.trim_ascii_start();
        if trimmed.is_empty() {
            return Ok(None);
        }
        let words = |error: serde_json::Error| error.to_string();
        let Ok(text) = str::from_utf8(line) else {
            let error = serde_json::from_slice::<serde_json::Value>(line).err();
            return Err(error.map_or("invalid unicode".to_owned(), words));
        };
        let fields = if trimmed[0] == b'{' {
            Fields::of_object(text).map_err(words)?
        } else {
            serde_json::from_str::<IgnoredAny>(text).map_err(words)?;
            Fields::default()
        };
        let method = match fields.method {
            Some(method) if method.get().starts_with('"') => {
                serde_json::from_str::<Text<'a>>(method.get()).map_err(words)?.0
            }
            _ => Cow::Borrowed(""),
        };
        let raw = |field: Option<&'a RawValue>| field.map(RawValue::get);
        let (id, params) = (raw(fields.id).unwrap_or("null"), raw(fields.params));
        Ok(Some(Self { id, method, params: params.unwrap_or_default() }))
    }
}

/// The parameters of `auth.login`.
#[derive(Debug, Deserialize)]
pub struct Login {
    /// The token.
    pub token: String,
    /// The name that the client reports.
    #[serde(default)]
    pub client: Option<String>,
    /// The client's name for the conversation that it acts for.
    #[serde(default)]
    pub conversation: Option<String>,
    /// Switches the connection to the Model Context Protocol after the reply, with the toolset of this name. An empty
    /// name selects the default toolset.
    #[serde(default)]
    pub mcp: Option<String>,
    /// Switches the connection to the dialect of tmux after the reply.
    #[serde(default)]
    pub tmux: bool,
    /// Whether the client is another instance that acts for an agent. The client is then treated as an agent.
    #[serde(default)]
    pub agent: bool,
    /// The directory in which the client was started. Panes that the client opens over the Model Context Protocol start
    /// there.
    #[serde(default)]
    pub cwd: Option<String>,
}

impl Login {
    /// Parses the parameters. `None` if they contain no token.
    pub fn parse(params: &str) -> Option<Self> {
        if !params.starts_with('{') {
            return None;
        }
        serde_json::from_str(params).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Request<'_>>, String> {
        Request::parse(line.as_bytes())
    }

    #[test]
    fn any_id_comes_back_as_it_was() {
        for id in ["1", "\"a\\u00e9\"", "null", "-0.10e5", "{ \"a\": [1, 2] }", "true"] {
            let line = format!(r#"{{"id": {id} ,"method":"m"}}"#);
            assert_eq!(parse(&line).unwrap().unwrap().id, id);
        }
        assert_eq!(parse(r#"{"method":"m"}"#).unwrap().unwrap().id, "null");
    }

    #[test]
    fn the_version_is_not_looked_at_and_other_fields_are_ignored() {
        let request = parse(r#" {"jsonrpc":7,"x":[{}],"method":"a.\u0062","params":{"b":1}} "#);
        let request = request.unwrap().unwrap();
        assert_eq!((&*request.method, request.params), ("a.b", r#"{"b":1}"#));
    }

    #[test]
    fn blank_lines_say_nothing() {
        for line in ["", " ", "\r", "\t \r"] {
            assert_eq!(parse(line), Ok(None));
        }
    }

    #[test]
    fn invalid_json_returns_serde_jsons_message() {
        let message = |line: &str| parse(line).unwrap_err();
        assert_eq!(message("{bad}"), "key must be a string at line 1 column 2");
        assert_eq!(message("garbage"), "expected value at line 1 column 1");
        assert_eq!(message("{\"id\":1"), "EOF while parsing an object at line 1 column 7");
        assert_eq!(message("[1,"), "EOF while parsing a value at line 1 column 3");
        assert_eq!(message("42 7"), "trailing characters at line 1 column 4");
        assert!(message(r#"{"method":"\ud800"}"#).contains("hex escape"));
        let message = Request::parse(b"{\"method\":\"\xff\"}").unwrap_err();
        assert!(message.contains("unicode"), "{message}");
    }

    #[test]
    fn json_of_another_form_is_a_request_of_no_method() {
        for line in ["[]", "[1,\"m\",{}]", "42", "\"x\"", "null", "true", " -0.5e3", "{}"] {
            let nothing = Request { id: "null", method: Cow::Borrowed(""), params: "" };
            assert_eq!(parse(line).unwrap().unwrap(), nothing, "{line}");
        }
        for method in ["42", "null", "[\"m\"]", "{}", "\"\""] {
            let line = format!(r#"{{"id":5,"method":{method}}}"#);
            let request = parse(&line).unwrap().unwrap();
            assert_eq!((request.id, &*request.method), ("5", ""), "{line}");
        }
    }

    #[test]
    fn the_last_of_two_fields_with_one_name_wins() {
        let twice =
            r#"{"id":1,"method":"a","params":[],"x":0,"\u0069d":2,"method":"b","params":{}}"#;
        let request = parse(twice).unwrap().unwrap();
        assert_eq!((request.id, &*request.method, request.params), ("2", "b", "{}"));
    }

    #[test]
    fn a_login_needs_only_a_token() {
        assert!(Login::parse(r#"{"token":"t"}"#).unwrap().client.is_none());
        assert!(Login::parse("[]").is_none());
    }

    #[test]
    fn deep_nesting_overflows_nothing() {
        let deep = "[".repeat(1 << 20);
        assert!(parse(&deep).is_err() && parse(&format!(r#"{{"params":{deep}"#)).is_err());
        let deep = format!(r#"{{"method":"m","params":{deep}{}}}"#, "]".repeat(1 << 20));
        assert!(parse(&deep).unwrap().is_some());
    }
}
