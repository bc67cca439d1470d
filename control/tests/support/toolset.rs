//! A client of the toolsets `iterm` and `tester`, whose tools reply with JSON in a single text.

use serde_json::{Value, json};

use super::{Fixture, PATIENCE, client};

/// A client of such a toolset.
pub struct Client(client::Client);

impl Client {
    /// A client that has begun a session with the instance's token.
    pub fn new(fixture: &Fixture, toolset: &str) -> Self {
        Self::with_token(fixture, &json!(fixture.token()), toolset)
    }

    /// Creates a client like [`Self::new`], with another token.
    pub fn with_token(fixture: &Fixture, token: &Value, toolset: &str) -> Self {
        let login = json!({"token": token, "mcp": toolset, "cwd": fixture.home.path()});
        let mut client = client::Client::silent_as(fixture, login);
        client.hello("client", "2025-06-18", &json!({}));
        Self(client)
    }

    /// Sends a request, and returns its result.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.0.request(method, params)["result"].take()
    }

    /// Calls a tool. Returns the JSON in its text, and whether it is an error.
    pub fn tool(&mut self, name: &str, arguments: Value) -> (Value, bool) {
        let result = self.request("tools/call", json!({"name": name, "arguments": arguments}));
        assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{name}: {result}");
        assert!(result.get("structuredContent").is_none(), "{result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        (serde_json::from_str(text).unwrap(), result["isError"] == true)
    }

    /// Calls a tool that must succeed, and returns its reply.
    pub fn call(&mut self, name: &str, arguments: Value) -> Value {
        let (reply, is_error) = self.tool(name, arguments);
        assert!(!is_error, "{name}: {reply}");
        reply
    }

    /// Calls a tool that must fail, and returns its error.
    pub fn fail(&mut self, name: &str, arguments: Value) -> Value {
        let (reply, is_error) = self.tool(name, arguments);
        assert!(is_error, "{name}: {reply}");
        reply["error"].clone()
    }

    /// The names of the tools.
    pub fn names(&mut self) -> Vec<Value> {
        let listed = self.request("tools/list", json!({}));
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect()
    }

    /// Requests a view until it contains a text, because the documented server sends no notifications of changes.
    pub fn view(&mut self, session: &Value, format: &str, text: &str) -> String {
        let end = std::time::Instant::now() + PATIENCE;
        loop {
            let view = self.call("view_screen", json!({"session_id": session, "format": format}));
            let content = view["content"].as_str().unwrap().to_owned();
            if content.contains(text) {
                return content;
            }
            assert!(std::time::Instant::now() < end, "{text:?} never came: {content:?}");
            std::thread::yield_now();
        }
    }
}
