//! A line as a request.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::caller::LONGEST_NAME;

/// A request, borrowed from its line.
#[derive(Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// Its id as it came: any JSON value, `null` when there is none.
    pub id: &'a str,
    /// The method.
    pub method: Cow<'a, str>,
    /// The parameters as they came, empty when there are none.
    pub params: &'a str,
}

/// Why a line is no request.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault<'a> {
    /// The id, as far as it is known; else `null`.
    pub id: &'a str,
    /// What is wrong with the line.
    pub message: String,
}

#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Request<'a> {
    /// Reads a line; `None`: it is blank.
    pub fn parse(line: &'a [u8]) -> Result<Option<Self>, Fault<'a>> {
        let nameless = |message: String| Fault { id: "null", message };
        let trimmed = line.trim_ascii_start();
        if trimmed.is_empty() {
            return Ok(None);
        }
        let Ok(text) = str::from_utf8(line) else {
            let error = serde_json::from_slice::<serde_json::Value>(line).err();
            return Err(nameless(error.map_or("invalid unicode".to_owned(), |e| e.to_string())));
        };
        // Serde would also take the fields from a list, in order.
        if trimmed[0] != b'{' {
            let error = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text);
            return Err(nameless(error.err().map_or(String::new(), |e| e.to_string())));
        }
        let fields: Fields<'a> = serde_json::from_str(text).map_err(|e| nameless(e.to_string()))?;
        let id = fields.id.map_or("null", RawValue::get);
        let fault = |message: &str| Fault { id, message: message.to_owned() };
        let method = fields.method.ok_or_else(|| fault("missing field `method`"))?;
        let method: Text<'a> = serde_json::from_str(method.get())
            .map_err(|_| fault("invalid field `method`: expected a string"))?;
        Ok(Some(Self { id, method: method.0, params: fields.params.map_or("", RawValue::get) }))
    }
}

/// What `auth.login` carries.
#[derive(Debug, Deserialize)]
pub struct Login {
    /// The token.
    pub token: String,
    /// The client's name for itself.
    #[serde(default)]
    pub client: Option<String>,
    /// The client's name for the conversation it acts for.
    #[serde(default)]
    pub conversation: Option<String>,
    /// The connection speaks the Model Context Protocol from the reply on, with the toolset of this name; empty: the usual.
    #[serde(default)]
    pub mcp: Option<String>,
    /// Another instance speaks for an agent: it is treated as one.
    #[serde(default)]
    pub agent: bool,
    /// Where the client was started: new panes of that protocol open there.
    #[serde(default)]
    pub cwd: Option<String>,
}

impl Login {
    /// Reads the parameters, names as far as they are shown; `None`: they hold no token.
    pub fn parse(params: &str) -> Option<Self> {
        if !params.starts_with('{') {
            return None;
        }
        let mut login: Self = serde_json::from_str(params).ok()?;
        for name in [&mut login.client, &mut login.conversation] {
            *name = name.take().map(|name| name.chars().take(LONGEST_NAME).collect());
        }
        Some(login)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Option<Request<'_>>, Fault<'_>> {
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
    fn what_is_no_request_is_told_in_serde_jsons_words() {
        let message = |line: &str| parse(line).unwrap_err().message;
        assert_eq!(message("{bad}"), "key must be a string at line 1 column 2");
        assert_eq!(
            message("[1,\"m\",{}]"),
            "invalid type: sequence, expected a map at line 1 column 0"
        );
        assert_eq!(message("garbage"), "expected value at line 1 column 1");
        assert_eq!(message("{\"id\":1"), "EOF while parsing an object at line 1 column 7");
        let fault = parse(r#"{"id":5}"#).unwrap_err();
        assert_eq!((fault.id, fault.message.as_str()), ("5", "missing field `method`"));
        let fault = parse(r#"{"id":5,"method":7}"#).unwrap_err();
        assert_eq!(
            (fault.id, fault.message.as_str()),
            ("5", "invalid field `method`: expected a string")
        );
        let fault = Request::parse(b"{\"method\":\"\xff\"}").unwrap_err();
        assert_eq!(fault.id, "null");
        assert!(fault.message.contains("unicode"), "{}", fault.message);
    }

    #[test]
    fn names_are_cut() {
        let long = "é".repeat(1000);
        let params = serde_json::json!({"token": "t", "client": long, "conversation": long});
        let login = Login::parse(&params.to_string()).unwrap();
        for name in [login.client, login.conversation] {
            assert_eq!(name.unwrap(), "é".repeat(LONGEST_NAME));
        }
        assert!(Login::parse(r#"{"token":"t"}"#).unwrap().client.is_none());
        assert!(Login::parse("[]").is_none());
    }

    #[test]
    fn deep_nesting_overflows_nothing() {
        let deep = "[".repeat(1 << 20);
        assert!(parse(&format!(r#"{{"params":{deep}"#)).is_err());
        let deep = format!(r#"{{"method":"m","params":{deep}{}}}"#, "]".repeat(1 << 20));
        assert!(parse(&deep).unwrap().is_some());
    }
}
