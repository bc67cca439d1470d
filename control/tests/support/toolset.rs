//! A client of the toolsets of documents 3 and 4, whose tools answer with JSON in one text.

use serde_json::{Value, json};

use super::{Fixture, PATIENCE, Wire};

/// Such a client.
pub struct Client {
    wire: Wire,
    id: u64,
}

impl Client {
    /// One that has begun a session.
    pub fn new(fixture: &Fixture, toolset: &str) -> Self {
        let mut wire = fixture.connect();
        let home = fixture.home.path();
        let login = json!({"token": fixture.token(), "mcp": toolset, "cwd": home});
        assert_eq!(wire.call("auth.login", login), json!({"status": "ok"}));
        let mut client = Self { wire, id: 0 };
        let info = json!({"name": "client", "version": "1"});
        let hello =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
        client.request("initialize", hello);
        client
    }

    /// Sends a request; its result.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        let mut reply: Value =
            serde_json::from_str(&self.wire.exchange(&request.to_string())).unwrap();
        assert_eq!(reply["id"], self.id, "{reply}");
        reply["result"].take()
    }

    /// What a tool's one text says, and whether it is an error.
    pub fn tool(&mut self, name: &str, arguments: Value) -> (Value, bool) {
        let result = self.request("tools/call", json!({"name": name, "arguments": arguments}));
        assert_eq!(result["content"].as_array().map(Vec::len), Some(1), "{name}: {result}");
        assert!(result.get("structuredContent").is_none(), "{result}");
        let text = result["content"][0]["text"].as_str().unwrap();
        (serde_json::from_str(text).unwrap(), result["isError"] == true)
    }

    /// Calls a tool that must succeed; what it says.
    pub fn call(&mut self, name: &str, arguments: Value) -> Value {
        let (reply, is_error) = self.tool(name, arguments);
        assert!(!is_error, "{name}: {reply}");
        reply
    }

    /// Calls one that must fail; its error.
    pub fn fail(&mut self, name: &str, arguments: Value) -> Value {
        let (reply, is_error) = self.tool(name, arguments);
        assert!(is_error, "{name}: {reply}");
        reply["error"].clone()
    }

    /// The tools' names.
    pub fn names(&mut self) -> Vec<Value> {
        let listed = self.request("tools/list", json!({}));
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect()
    }

    /// Asks for a view until it holds a text: the document's server tells of no changes.
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
