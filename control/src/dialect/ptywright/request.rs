//! Parses messages as requests, and writes replies and notifications.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{
    Map, Value,
    value::{RawValue, to_raw_value},
};

use super::error::{Error, Result};

/// A request. A request without an id is a notification, which gets no reply.
#[derive(Debug, PartialEq)]
pub struct Request {
    /// The id: a string, a number or `null`. `None` for a notification.
    pub id: Option<Value>,
    /// The method's name.
    pub method: String,
    /// The parameters.
    pub params: Map<String, Value>,
}

/// A message that is not a valid request, with the id for the reply.
#[derive(Debug, PartialEq)]
pub struct Refused {
    /// The id. `null` if there is none.
    pub id: Value,
    /// The reason.
    pub error: Error,
}

impl Request {
    /// Parses a message. `None` if the message is blank.
    ///
    /// # Errors
    /// The message is not valid JSON, or not a valid request.
    pub fn parse(message: &[u8]) -> Result<Option<Self>, Refused> {
        if message.trim_ascii().is_empty() {
            return Ok(None);
        }
        let value: Value = serde_json::from_slice(message).map_err(|error| Refused {
            id: Value::Null,
            error: Error::parse(format!("the message is no JSON: {error}")),
        })?;
        let mut fields = match value {
            Value::Object(fields) => fields,
            Value::Array(_) => {
                return Err(refused(
                    None,
                    "batches are not supported: send each request by itself",
                ));
            }
            _ => return Err(refused(None, "a request is an object")),
        };
        let id = match fields.remove("id") {
            id @ (None | Some(Value::Null | Value::String(_) | Value::Number(_))) => id,
            Some(other) => {
                let why = format!("\"id\" must be a string, a number or null, not {other}");
                return Err(refused(None, &why));
            }
        };
        match fields.remove("jsonrpc") {
            Some(Value::String(version)) if version == "2.0" => {}
            Some(other) => {
                return Err(refused(id, &format!("\"jsonrpc\" must be \"2.0\", not {other}")));
            }
            None => return Err(refused(id, "\"jsonrpc\": \"2.0\" is missing")),
        }
        let method = match fields.remove("method") {
            Some(Value::String(method)) => method,
            Some(other) => {
                return Err(refused(id, &format!("\"method\" must be a string, not {other}")));
            }
            None => return Err(refused(id, "\"method\" is missing")),
        };
        let params = match fields.remove("params") {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(params)) => params,
            Some(_) => {
                let id = id.unwrap_or(Value::Null);
                let error = Error::invalid_params("\"params\" must be an object");
                return Err(Refused { id, error });
            }
        };
        Ok(Some(Self { id, method, params }))
    }
}

fn refused(id: Option<Value>, why: &str) -> Refused {
    Refused { id: id.unwrap_or(Value::Null), error: Error::invalid_request(why) }
}

/// Parses parameters.
///
/// # Errors
/// A parameter is invalid. The message contains the path of the value.
pub fn read<T: DeserializeOwned>(params: Map<String, Value>) -> Result<T> {
    serde_path_to_error::deserialize(Value::Object(params)).map_err(|error| {
        let path = error.path().to_string();
        let why = error.into_inner().to_string();
        Error::invalid_params(match path.as_str() {
            "." | "?" | "" => why,
            path => format!("{path}: {why}"),
        })
    })
}

/// The parameters of a method without parameters.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NoParams {}

/// Converts the result of a method to JSON.
///
/// # Errors
/// The result can't be converted.
pub fn result(value: &impl Serialize) -> Result<Box<RawValue>> {
    to_raw_value(value)
        .map_err(|error| Error::internal(format!("cannot write the result: {error}")))
}

/// A message to a client. The fields are written in the usual order.
#[derive(Serialize)]
struct Message<'a> {
    jsonrpc: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    params: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Error>,
}

impl Default for Message<'_> {
    fn default() -> Self {
        Self { jsonrpc: "2.0", id: None, method: None, params: None, result: None, error: None }
    }
}

impl Message<'_> {
    fn written(&self) -> Vec<u8> {
        // Writing to memory can't fail.
        serde_json::to_vec(self).unwrap_or_default()
    }
}

/// A reply with a result.
pub fn reply(id: &Value, result: &RawValue) -> Vec<u8> {
    Message { id: Some(id), result: Some(result), ..Message::default() }.written()
}

/// A reply with an error. The message is written unchanged, so it must already be redacted and shortened.
pub fn failure(id: &Value, error: &Error) -> Vec<u8> {
    Message { id: Some(id), error: Some(error), ..Message::default() }.written()
}

/// A notification.
pub fn notification(method: &str, params: &Value) -> Vec<u8> {
    Message { method: Some(method), params: Some(params), ..Message::default() }.written()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn error(message: &str) -> (Value, i32, String) {
        let refused = Request::parse(message.as_bytes()).unwrap_err();
        (refused.id, refused.error.code, refused.error.message)
    }

    #[test]
    fn a_request_has_an_id_and_a_notification_has_none() {
        let parse = |text: &str| Request::parse(text.as_bytes()).unwrap().unwrap();
        let request = parse(r#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1}}"#);
        assert_eq!((request.id, request.params["x"].as_u64()), (Some(json!("a")), Some(1)));
        assert_eq!(parse(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#).id, Some(Value::Null));
        assert_eq!(parse(r#"{"jsonrpc":"2.0","method":"m","params":null}"#).id, None);
        assert!(Request::parse(b" \r").unwrap().is_none());
    }

    #[test]
    fn invalid_requests_are_reported_with_the_reason() {
        assert_eq!(error("{bad}").1, -32700);
        assert_eq!(error("\u{0}").1, -32700);
        for (message, why) in [
            ("[]", "batches"),
            ("5", "object"),
            (r#"{"jsonrpc":"1.0","method":"m"}"#, "not \"1.0\""),
            (r#"{"method":"m"}"#, "jsonrpc"),
            (r#"{"jsonrpc":"2.0"}"#, "method"),
            (r#"{"jsonrpc":"2.0","method":7}"#, "not 7"),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#, "not [1]"),
        ] {
            let (_, code, said) = error(message);
            assert!(code == -32600 && said.contains(why), "{message}: {code} {said}");
        }
        let (id, code, _) = error(r#"{"jsonrpc":"2.0","id":3,"method":"m","params":[1]}"#);
        assert_eq!((id, code), (json!(3), -32602));
        let deep = format!(r#"{{"jsonrpc":"2.0","method":"m","params":{}"#, "[".repeat(1 << 20));
        assert_eq!(error(&deep).1, -32700);
    }

    #[test]
    fn a_wrong_parameter_is_named_with_its_place() {
        #[derive(Debug, Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Params {
            #[expect(dead_code, reason = "only its type is of interest")]
            rows: u16,
        }
        let read = |params: Value| {
            read::<Params>(params.as_object().unwrap().clone()).unwrap_err().message
        };
        assert!(read(json!({"rows": "x"})).starts_with("rows: invalid type: string \"x\""));
        assert!(read(json!({})).contains("missing field `rows`"));
        assert!(read(json!({"rows": 1, "colour": 2})).contains("unknown field `colour`"));
    }
}
