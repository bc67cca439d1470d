//! The Model Context Protocol over HTTP: both eras of it, and who is refused.

mod support;

use serde_json::{Value, json};
use support::{
    Fixture,
    page::{Page, Reply},
};

/// A client over HTTP.
struct Client {
    page: Page,
    /// The session of the older era.
    session: Option<String>,
    name: &'static str,
}

/// The message that a reply carries, as JSON or as the last event of a stream.
fn message(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{}", reply.body);
    let events = reply.body.lines().filter_map(|line| line.strip_prefix("data:"));
    let last = events.map(str::trim).rfind(|data| !data.is_empty());
    serde_json::from_str(last.unwrap_or(&reply.body)).unwrap_or_else(|_| panic!("{}", reply.body))
}

impl Client {
    fn new(fixture: &Fixture, name: &'static str) -> Self {
        Self { page: Page::of(fixture), session: None, name }
    }

    fn post(&self, method: &str, path: &str, more: &[(&str, &str)], body: &Value) -> Reply {
        let bearer = format!("Bearer {}", self.page.token);
        let mut headers = vec![
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        if let Some(session) = &self.session {
            headers.push(("Mcp-Session-Id", session));
        }
        headers.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
        headers.extend(more);
        self.page.raw(method, path, &headers, &body.to_string())
    }

    /// Begins a session of the older era.
    fn initialize(&mut self) {
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": self.name, "version": "1"},
        }});
        let reply = self.post("POST", "/mcp", &[], &hello);
        assert_eq!(message(&reply)["result"]["serverInfo"]["name"], "unterm");
        let session = reply.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        self.session = Some(session.expect("a session").trim().to_owned());
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.post("POST", "/mcp", &[], &done).status, 202);
    }

    /// Calls a tool that must succeed.
    fn call(&self, tool: &str, arguments: Value) -> Value {
        let mut reply = message(&self.ask(tool, arguments, &[]));
        assert_eq!(reply["result"]["isError"], false, "{tool}: {reply}");
        reply["result"]["structuredContent"].take()
    }

    fn ask(&self, tool: &str, arguments: Value, more: &[(&str, &str)]) -> Reply {
        let mut params = json!({"name": tool, "arguments": arguments});
        let mut headers = Vec::new();
        if self.session.is_none() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
            headers.extend([
                ("MCP-Protocol-Version", "2026-07-28"),
                ("Mcp-Method", "tools/call"),
                ("Mcp-Name", tool),
            ]);
        }
        headers.extend(more);
        let body = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
        self.post("POST", "/mcp", &headers, &body)
    }
}

#[test]
fn both_eras_drive_a_pane() {
    let fixture = Fixture::new();
    fixture.integrate();
    let new = Client::new(&fixture, "new client");
    let mut old = Client::new(&fixture, "old client");
    old.initialize();
    let pane =
        new.call("pane_open", json!({"command": ["bash"], "cwd": fixture.home.path()}))["pane"]
            .clone();
    for client in [&new, &old] {
        let ran = client.call("run", json!({"command": "echo $((6 * 7))", "pane": pane}));
        assert_eq!((&ran["output"], &ran["exit_code"]), (&json!("42"), &json!(0)), "{ran}");
        assert_eq!(client.call("status", json!({}))["you"], client.name);
    }
    // What a client holds is its own in its next request too, and nobody else's.
    assert_eq!(new.call("lease", json!({}))["held"], true);
    assert_eq!(new.call("run", json!({"command": "true"}))["exit_code"], 0);
    let refused = message(&old.ask("run", json!({"command": "true"}), &[]));
    let why = &refused["result"]["content"][0]["text"];
    assert_eq!(why, &format!("Session {pane} is leased by new client"), "{refused}");
    assert_eq!(new.call("lease", json!({"release": true}))["held"], false);
    let begun =
        new.call("run", json!({"command": "echo asked; read -r A; echo $A", "timeout_ms": 0}));
    new.call("wait", json!({"any": [{"regex": "^asked$"}]}));
    new.call("input", json!({"text": "it\n"}));
    let ended = new.call("wait", json!({"handle": begun["handle"]}));
    assert_eq!(ended["run"]["output"], "asked\nit\nit", "{ended}");
    // A session ends when its client says so, with what it held.
    assert_eq!(old.call("lease", json!({}))["held"], true);
    assert_eq!(old.post("DELETE", "/mcp", &[], &json!({})).status, 202);
    assert_eq!(old.ask("status", json!({}), &[]).status, 404);
    let end = std::time::Instant::now() + support::PATIENCE;
    while message(&new.ask("lease", json!({}), &[]))["result"]["isError"] == true {
        assert!(std::time::Instant::now() < end, "the lease stays");
    }
}

#[test]
fn nobody_else_is_answered() {
    let fixture = Fixture::new();
    let client = Client::new(&fixture, "client");
    let asked = |more: &[(&str, &str)]| client.ask("status", json!({}), more).status;
    assert_eq!(asked(&[]), 200);
    assert_eq!(asked(&[("Authorization", "-")]), 401);
    assert_eq!(asked(&[("Authorization", "Bearer wrong")]), 401);
    // A page of another origin, one without an origin, and a name that somebody points here.
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "http://localhost"] {
        assert_eq!(asked(&[("Origin", origin)]), 403, "{origin}");
    }
    assert_eq!(asked(&[("Host", "evil.example")]), 403);
    assert_eq!(asked(&[("Host", "127.0.0.1:1")]), 403);
    assert_eq!(asked(&[("Sec-Fetch-Site", "cross-site")]), 403);
    let own = format!("http://127.0.0.1:{}", client.page.port);
    assert_eq!(asked(&[("Origin", &own)]), 200);
    // What says one thing in its head and another in its body.
    assert_eq!(asked(&[("Mcp-Name", "run")]), 400);
    // A settings page's token is the person's, and no agent's.
    let link = fixture.server().settings_link().unwrap();
    let code = link.split_once("#code=").unwrap().1;
    let bearer = format!("Bearer {code}");
    let entered = client.page.raw("GET", "/bootstrap.json", &[("Authorization", &bearer)], "");
    let token = entered.json()["auth_token"].as_str().unwrap().to_owned();
    assert_eq!(asked(&[("Authorization", &format!("Bearer {token}"))]), 403);
    let elsewhere = client.post("POST", "/mcp?toolset=nope", &[], &json!({}));
    assert_eq!(elsewhere.status, 404, "{}", elsewhere.body);
    assert!(elsewhere.body.contains("There is no toolset"), "{}", elsewhere.body);
    let long = json!({"text": "x".repeat(17 << 20)});
    assert_eq!(client.ask("input", long, &[]).status, 413);
    assert_eq!(client.post("GET", "/mcp", &[], &json!({})).status, 400);
}
