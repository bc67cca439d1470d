//! A client of the Model Context Protocol over lines, in either of its versions.

use serde_json::{Value, json};

use super::{Fixture, PATIENCE, Wire};

/// A client that has begun a session.
pub struct Client {
    pub wire: Wire,
    /// The metadata of every request, in the version without sessions.
    pub meta: Option<Value>,
    id: u64,
    /// Messages other than replies.
    pub notes: Vec<Value>,
}

impl Client {
    /// Logs in and switches to the protocol, without beginning a session.
    pub fn silent(fixture: &Fixture, toolset: &str) -> Self {
        Self::silent_as(fixture, json!({"token": fixture.token(), "mcp": toolset}))
    }

    /// Does what [`Self::silent`] does, with these parameters of the login.
    pub fn silent_as(fixture: &Fixture, login: Value) -> Self {
        let mut wire = fixture.connect();
        assert_eq!(wire.call("auth.login", login), json!({"status": "ok"}));
        Self { wire, meta: None, id: 0, notes: Vec::new() }
    }

    /// Begins a session with `initialize`, and returns the reply.
    pub fn hello(&mut self, name: &str, version: &str, capabilities: &Value) -> Value {
        let info = json!({"name": name, "version": "1"});
        let hello =
            json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": info});
        let answer = self.request("initialize", hello)["result"].take();
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    /// Creates a client of the protocol version with `initialize`.
    pub fn old(fixture: &Fixture) -> Self {
        Self::old_with(fixture, &json!({}))
    }

    /// Creates a client like [`Self::old`], with these capabilities.
    pub fn old_with(fixture: &Fixture, capabilities: &Value) -> Self {
        let mut client = Self::silent(fixture, "");
        let hello = client.hello("old client", "2025-11-25", capabilities);
        assert_eq!(hello["protocolVersion"], "2025-11-25", "{hello}");
        assert_eq!(hello["serverInfo"]["name"], "unterm");
        client
    }

    /// Creates a client of the protocol version without sessions, in which every request contains all metadata.
    pub fn new(fixture: &Fixture) -> Self {
        let mut client = Self::silent(fixture, "unterm");
        client.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "new client", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }));
        let found = client.request("server/discover", json!({}));
        let versions = found["result"]["supportedVersions"].as_array().unwrap();
        assert!(versions.contains(&json!("2026-07-28")), "{found}");
        client
    }

    pub fn send(&mut self, message: &Value) {
        self.wire.send(format!("{message}\n"));
    }

    /// Sends a request, and returns its number.
    pub fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.id += 1;
        if let Some(meta) = &self.meta {
            let given = params["_meta"].take();
            params["_meta"] = meta.clone();
            for (name, value) in given.as_object().into_iter().flatten() {
                params["_meta"][name] = value.clone();
            }
        }
        let id = self.id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Waits for the reply to the request with this number. A reply to another request fails the test.
    pub fn end(&mut self, id: u64) -> Value {
        loop {
            let line = self.wire.receive().expect("a reply");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message.get("method").is_some() {
                self.notes.push(message);
                continue;
            }
            assert_eq!(message["id"], id, "{message}");
            return message;
        }
    }

    /// Returns the first notification of this kind. If none has been received, waits for it.
    pub fn note(&mut self, method: &str) -> Value {
        loop {
            if let Some(at) = self.notes.iter().position(|note| note["method"] == method) {
                return self.notes.remove(at);
            }
            let line = self.wire.receive().expect("a note");
            self.notes.push(serde_json::from_str(&line).unwrap());
        }
    }

    /// Waits for conditions, and fails the test if they are not met.
    pub fn until(&mut self, what: Value) {
        let waited = self.call("wait", what);
        assert_eq!(waited["matched"], true, "{waited}");
    }

    /// Repeats an action until a notification of this kind arrives.
    pub fn until_note(&mut self, method: &str, mut act: impl FnMut(&mut Self)) -> Value {
        let end = std::time::Instant::now() + PATIENCE;
        loop {
            act(self);
            if let Some(at) = self.notes.iter().position(|note| note["method"] == method) {
                return self.notes.remove(at);
            }
            assert!(std::time::Instant::now() < end, "{method} never came");
        }
    }

    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params);
        self.end(id)
    }

    /// Calls a tool, and returns the whole result.
    pub fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let mut reply = self.request("tools/call", json!({"name": name, "arguments": arguments}));
        assert!(reply.get("error").is_none(), "{name}: {reply}");
        reply["result"].take()
    }

    /// Calls a tool that must succeed. Returns its structured reply, which must equal its text.
    pub fn call(&mut self, name: &str, arguments: Value) -> Value {
        let mut result = self.tool(name, arguments);
        assert_eq!(result["isError"], false, "{name}: {result}");
        let structured = result["structuredContent"].take();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), structured);
        structured
    }

    /// Calls a tool that must fail, and returns its message.
    pub fn fail(&mut self, name: &str, arguments: Value) -> String {
        let result = self.tool(name, arguments);
        assert_eq!(result["isError"], true, "{name}: {result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Opens a pane with a marked bash, waits for its prompt, and returns its number.
    pub fn shell(&mut self, fixture: &Fixture) -> u64 {
        fixture.integrate();
        let opened = self.call(
            "pane_open",
            json!({"command": ["bash"], "cwd": fixture.home.path(), "cols": 80, "rows": 24}),
        );
        assert_eq!((&opened["cols"], &opened["rows"]), (&json!(80), &json!(24)));
        let pane = opened["pane"].as_u64().unwrap();
        let there = self.call("wait", json!({"pane": pane, "any": [{"prompt": true}]}));
        assert_eq!(there["matched"], true, "{there}");
        pane
    }
}
