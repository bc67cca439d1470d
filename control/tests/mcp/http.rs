//! Tests of the Model Context Protocol over HTTP: both versions of the transport, and the clients that are refused.

use std::{
    io::{BufRead, BufReader, Write},
    net::TcpStream,
};

use crate::support::{
    Fixture,
    page::{self, Page, Reply},
};
use serde_json::{Value, json};

/// A client over HTTP.
struct Client {
    page: Page,
    /// The id of the session, in the older version.
    session: Option<String>,
    name: &'static str,
    path: &'static str,
}

/// The message in a reply, as JSON or as the last event of a stream.
fn message(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{}", reply.body);
    let events = reply.body.lines().filter_map(|line| line.strip_prefix("data:"));
    let last = events.map(str::trim).rfind(|data| !data.is_empty());
    serde_json::from_str(last.unwrap_or(&reply.body)).unwrap_or_else(|_| panic!("{}", reply.body))
}

impl Client {
    fn new(fixture: &Fixture, name: &'static str) -> Self {
        Self { page: Page::of(fixture), session: None, name, path: "/mcp" }
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

    /// Begins a session in the older version.
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
        self.post("POST", self.path, &headers, &body)
    }
}

/// Sends a request with a body of `length` bytes, of which only `some` is sent.
fn begun(page: &Page, path: &str, length: usize, some: &str) -> TcpStream {
    let mut stream = page.connect();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{some}",
        page.port, page.token
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

/// Sends the head of a request with a body, but no body. Returns the status of the reply.
fn announced(page: &Page, path: &str, length: usize) -> u16 {
    page::read(begun(page, path, length, "")).status
}

#[test]
fn a_session_is_its_own_tokens() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let made = user.call("token.create", json!({"name": "reader", "scope": "read"}));
    let reader = format!("Bearer {}", made["token"].as_str().unwrap());
    let mut client = Client::new(&fixture, "owner");
    client.initialize();
    client.call("status", json!({}));
    // A caller that knows the session's id, but has a token with fewer rights, can neither call tools nor receive
    // messages through the session.
    let lesser = [("Authorization", reader.as_str())];
    let reply = client.ask("status", json!({}), &lesser);
    assert_eq!(
        (reply.status, reply.json()),
        (404, json!({"error": "Not Found: Session not found"}))
    );
    for verb in ["GET", "DELETE"] {
        assert_eq!(client.post(verb, "/mcp", &lesser, &json!({})).status, 404, "{verb}");
    }
    client.call("status", json!({}));
    assert_eq!(client.post("DELETE", "/mcp", &[], &json!({})).status, 204);
}

#[test]
fn a_body_that_stays_away_is_given_up() {
    let fixture = Fixture::new();
    let page = Page::of(&fixture);
    let paths = ["/mcp", "/mcp/sse?session_id=none", "/api/theme"];
    let slow = paths.map(|path| (path, begun(&page, path, 100, "{\"jsonrpc\": ")));
    for (path, stream) in slow {
        let reply = page::read(stream);
        assert_eq!(reply.status, 408, "{path}: {}", reply.body);
        assert_eq!(reply.json()["error"], "The body did not come in time", "{path}");
    }
    // Other clients are not delayed.
    let client = Client::new(&fixture, "client");
    assert_eq!(client.call("status", json!({}))["panes"], 0);
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
    // A client keeps its lease in later requests, and no other client holds the lease.
    assert_eq!(new.call("lease", json!({}))["held"], true);
    assert_eq!(new.call("run", json!({"command": "true"}))["exit_code"], 0);
    let refused = message(&old.ask("run", json!({"command": "true"}), &[]));
    let why = &refused["result"]["content"][0]["text"];
    let leased = format!("Nothing was typed: pane {pane} is leased by new client. ");
    assert!(why.as_str().unwrap().starts_with(&leased), "{refused}");
    assert_eq!(new.call("lease", json!({"release": true}))["held"], false);
    let begun =
        new.call("run", json!({"command": "echo asked; read -r A; echo $A", "timeout_ms": 0}));
    new.call("wait", json!({"any": [{"regex": "^asked$"}]}));
    new.call("input", json!({"text": "it\n"}));
    let ended = new.call("wait", json!({"handle": begun["handle"]}));
    assert_eq!(ended["run"]["output"], "asked\nit", "{ended}");
    // Two clients with the same name are distinguished by the conversation in their addresses.
    assert_eq!(new.call("lease", json!({}))["held"], true);
    let second = Client { path: "/mcp?conversation=second", ..Client::new(&fixture, "new client") };
    let note = |client: &Client| client.call("lease", json!({"pane": pane}))["note"].clone();
    assert!(note(&new).as_str().is_some_and(|note| note.contains("/mcp?conversation=")));
    let refused = message(&second.ask("run", json!({"command": "true"}), &[]));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    let again = Client::new(&fixture, "new client");
    assert_eq!(again.call("run", json!({"command": "true"}))["exit_code"], 0);
    assert_eq!(again.call("lease", json!({"release": true}))["held"], false);
    assert_eq!(note(&second), Value::Null);
    assert_eq!(second.call("lease", json!({"release": true}))["held"], false);
    // A session ends when its client deletes it, and its lease ends with it.
    assert_eq!(note(&old), Value::Null);
    assert_eq!(old.call("lease", json!({}))["held"], true);
    let end = old.post("DELETE", "/mcp", &[], &json!({}));
    assert_eq!((end.status, end.body.as_str()), (204, ""));
    assert_eq!(old.ask("status", json!({}), &[]).status, 404);
    let end = std::time::Instant::now() + crate::support::PATIENCE;
    while message(&new.ask("lease", json!({}), &[]))["result"]["isError"] == true {
        assert!(std::time::Instant::now() < end, "the lease stays");
    }
}

#[test]
fn a_command_goes_on_after_its_client_has_ended_the_session() {
    let fixture = Fixture::new();
    fixture.integrate();
    let mut client = Client::new(&fixture, "client");
    client.initialize();
    let other = Client::new(&fixture, "other");
    let pane = client.call("pane_open", json!({"command": ["bash"]}))["pane"].clone();
    std::thread::scope(|scope| {
        let command = json!({"pane": pane, "command": "echo asked; read -r A; echo got $A"});
        let run = scope.spawn(|| client.ask("run", command, &[]));
        other.call("wait", json!({"pane": pane, "any": [{"regex": "^asked$"}]}));
        assert_eq!(client.post("DELETE", "/mcp", &[], &json!({})).status, 204);
        // The request ends before the next input, so a Ctrl+C would come before it.
        drop(run.join());
    });
    other.call("input", json!({"pane": pane, "text": "it\n"}));
    let seen = other.call("wait", json!({"pane": pane, "any": [{"regex": "^got it$"}]}));
    assert_eq!(seen["matched"], true, "{seen}");
}

#[test]
fn nobody_else_is_answered() {
    let fixture = Fixture::new();
    let client = Client::new(&fixture, "client");
    let asked = |more: &[(&str, &str)]| client.ask("status", json!({}), more).status;
    assert_eq!(asked(&[]), 200);
    assert_eq!(asked(&[("Authorization", "-")]), 401);
    assert_eq!(asked(&[("Authorization", "Bearer wrong")]), 401);
    // The origins of foreign pages, a page without an origin, and a foreign host name that resolves to this machine.
    for origin in ["http://evil.example", "null", "https://127.0.0.1", "http://localhost"] {
        assert_eq!(asked(&[("Origin", origin)]), 403, "{origin}");
    }
    assert_eq!(asked(&[("Host", "evil.example")]), 403);
    assert_eq!(asked(&[("Host", "127.0.0.1:1")]), 403);
    assert_eq!(asked(&[("Sec-Fetch-Site", "cross-site")]), 403);
    let own = format!("http://127.0.0.1:{}", client.page.port);
    assert_eq!(asked(&[("Origin", &own)]), 200);
    // The header and the body contradict each other.
    assert_eq!(asked(&[("Mcp-Name", "run")]), 400);
    // The token of a settings page belongs to the user, so agents can't use it.
    let link = fixture.server().settings_links().address().unwrap();
    let code = link.split_once("#code=").unwrap().1;
    let bearer = format!("Bearer {code}");
    let entered = client.page.raw("GET", "/bootstrap.json", &[("Authorization", &bearer)], "");
    let token = entered.json()["auth_token"].as_str().unwrap().to_owned();
    assert_eq!(asked(&[("Authorization", &format!("Bearer {token}"))]), 403);
    // An agent with a separate token has the rights of that token, and no rights after the token is revoked.
    let mut user = fixture.login();
    let made = user.call("token.create", json!({"name": "reader", "scope": "read"}));
    let bearer = format!("Bearer {}", made["token"].as_str().unwrap());
    let reader = [("Authorization", bearer.as_str())];
    let status = message(&client.ask("status", json!({}), &reader));
    assert_eq!(status["result"]["structuredContent"]["scopes"], json!(["read"]), "{status}");
    let refused = message(&client.ask("pane_open", json!({}), &reader));
    let why = &refused["result"]["content"][0]["text"];
    let right = "Not allowed: pane_open needs the scope act, and your token gives read. Ask the user for another token";
    assert_eq!(why, right, "{refused}");
    user.call("token.revoke", json!({"number": made["number"]}));
    assert_eq!(asked(&reader), 401);
    let elsewhere = client.post("POST", "/mcp?toolset=nope", &[], &json!({}));
    assert_eq!(elsewhere.status, 404, "{}", elsewhere.body);
    assert!(elsewhere.body.contains("There is no toolset"), "{}", elsewhere.body);
    assert_eq!(announced(&client.page, "/mcp", 17 << 20), 413, "it is not even read");
    assert_eq!(client.post("GET", "/mcp", &[], &json!({})).status, 400);
}

/// A client of the 2024 version: a stream of events, and messages posted to the address that the stream names.
struct Older {
    page: Page,
    events: BufReader<TcpStream>,
    endpoint: String,
    id: u64,
    /// Messages other than replies.
    notes: Vec<Value>,
}

impl Older {
    /// Opens a stream and begins a session.
    fn new(fixture: &Fixture, name: &str, query: &str) -> Self {
        let mut client = Self::silent(fixture, query);
        let hello = client.request(
            "initialize",
            json!({
                "protocolVersion": "2024-11-05",
                "capabilities": {},
                "clientInfo": {"name": name, "version": "1"},
            }),
        );
        assert_eq!(hello["result"]["protocolVersion"], "2024-11-05", "{hello}");
        let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(client.post(&done.to_string()).status, 202);
        client
    }

    /// Opens a stream without beginning a session.
    fn silent(fixture: &Fixture, query: &str) -> Self {
        let page = Page::of(fixture);
        let stream = Self::connect(&page, query);
        let mut client = Self {
            page,
            events: BufReader::new(stream),
            endpoint: String::new(),
            id: 0,
            notes: Vec::new(),
        };
        let status = client.line().expect("a reply");
        assert!(status.contains(" 200 "), "{status}");
        let kind = std::iter::from_fn(|| client.line())
            .find(|line| line.starts_with("content-type"))
            .expect("a type");
        assert_eq!(kind, "content-type: text/event-stream");
        let (event, endpoint) = client.event();
        assert_eq!(event, "endpoint");
        client.endpoint = endpoint;
        client
    }

    fn connect(page: &Page, query: &str) -> TcpStream {
        Self::connect_with(page, query, "")
    }

    /// Opens a stream on a connection that closes after the reply.
    fn connect_once(page: &Page) -> TcpStream {
        Self::connect_with(page, "", "Connection: close\r\n")
    }

    fn connect_with(page: &Page, query: &str, more: &str) -> TcpStream {
        let mut stream = page.connect();
        let request = format!(
            "GET /mcp/sse{query} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n\
             Accept: text/event-stream\r\n{more}\r\n",
            page.port, page.token
        );
        stream.write_all(request.as_bytes()).unwrap();
        stream
    }

    /// The next line from the server. `None` at the end.
    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.events.read_line(&mut line).unwrap();
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// Reads until the stream ends with an empty chunk.
    fn until_over(&mut self) {
        while self.line().is_some_and(|line| line != "0") {}
    }

    /// The kind and the data of the next event. Skips the sizes of chunks.
    fn event(&mut self) -> (String, String) {
        let mut kind = None;
        loop {
            let line = self.line().expect("an event");
            if let Some(event) = line.strip_prefix("event: ") {
                kind = Some(event.to_owned());
            } else if let Some(data) = line.strip_prefix("data: ") {
                return (kind.expect("a kind before the data"), data.to_owned());
            }
        }
    }

    fn post(&self, body: &str) -> Reply {
        post(&self.page, &self.endpoint, &[], body)
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params});
        // Some clients send JSON over several lines.
        let reply = self.post(&serde_json::to_string_pretty(&message).unwrap());
        assert_eq!((reply.status, reply.body.as_str()), (202, ""), "{method}");
        loop {
            let message = self.message();
            if message.get("method").is_none() {
                assert_eq!(message["id"], self.id, "{message}");
                return message;
            }
            self.notes.push(message);
        }
    }

    fn message(&mut self) -> Value {
        let (event, data) = self.event();
        assert_eq!(event, "message");
        serde_json::from_str(&data).unwrap()
    }

    /// The result of calling a tool.
    fn tool(&mut self, name: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": name, "arguments": arguments}))["result"].take()
    }

    fn call(&mut self, name: &str, arguments: Value) -> Value {
        let mut result = self.tool(name, arguments);
        assert_eq!(result["isError"], false, "{name}: {result}");
        result["structuredContent"].take()
    }
}

/// Posts with the instance's token, unless the headers contain another.
fn post(page: &Page, path: &str, more: &[(&str, &str)], body: &str) -> Reply {
    let bearer = format!("Bearer {}", page.token);
    let mut headers = vec![("Authorization", &*bearer), ("Content-Type", "application/json")];
    headers.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
    headers.extend(more);
    page.raw("POST", path, &headers, body)
}

#[test]
fn older_clients_drive_a_pane_over_events() {
    let fixture = Fixture::new();
    fixture.integrate();
    let mut one = Older::new(&fixture, "one", "");
    let mut two = Older::new(&fixture, "two", "?toolset=unterm");
    assert!(one.endpoint.starts_with("/mcp/sse?session_id="), "{}", one.endpoint);
    assert_ne!(one.endpoint, two.endpoint);
    let folder = json!({"command": ["bash"], "cwd": fixture.home.path()});
    let pane = one.call("pane_open", folder)["pane"].clone();
    for client in [&mut one, &mut two] {
        let ran = client.call("run", json!({"command": "echo $((6 * 7))", "pane": pane}));
        assert_eq!((&ran["output"], &ran["exit_code"]), (&json!("42"), &json!(0)), "{ran}");
    }
    assert_eq!(two.call("status", json!({}))["you"], "two");
    // The following messages are not replies: the server sends them unrequested.
    let screen = json!({"uri": format!("unterm://pane/{pane}/screen")});
    assert_eq!(one.request("resources/subscribe", screen.clone())["result"], json!({}));
    let end = std::time::Instant::now() + crate::support::PATIENCE;
    let note = loop {
        two.call("run", json!({"command": "echo news", "pane": pane}));
        one.request("ping", json!({}));
        if let Some(note) = one.notes.pop() {
            break note;
        }
        assert!(std::time::Instant::now() < end, "nothing is told");
    };
    assert_eq!(note["method"], "notifications/resources/updated", "{note}");
    assert_eq!(note["params"]["uri"], screen["uri"], "{note}");
    assert_eq!(one.request("resources/unsubscribe", screen)["result"], json!({}));
    // The messages are longer than the pipes can hold, in both directions.
    let long = "x".repeat(150_000);
    let none = one.tool("find", json!({"pattern": long, "pane": 999}));
    assert_eq!(none["isError"], true, "{none}");
    let ran = one.call("run", json!({"command": "seq -f %030.0f 4000"}));
    let uri = format!("unterm://pane/{pane}/block/{}", ran["block"]);
    let read = one.request("resources/read", json!({"uri": uri}));
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert_eq!(text.len(), 4000 * 31 - 1);
    // A session ends with its stream, and its lease ends with it.
    assert_eq!(one.call("lease", json!({}))["held"], true);
    let refused = two.tool("run", json!({"command": "true"}));
    let why = refused["content"][0]["text"].as_str().unwrap();
    let leased = format!("Nothing was typed: pane {pane} is leased by one. ");
    assert!(why.starts_with(&leased), "{refused}");
    let (gone, page) = (one.endpoint.clone(), Page::of(&fixture));
    drop(one);
    while two.tool("lease", json!({}))["isError"] == true {
        assert!(std::time::Instant::now() < end, "the lease stays");
    }
    assert_eq!(post(&page, &gone, &[], "{}").status, 404);
    // The other toolsets are available too.
    let mut tester = Older::new(&fixture, "tester", "?toolset=tester");
    let listed = tester.request("tools/list", json!({}));
    assert_eq!(listed["result"]["tools"][0]["name"], "launch_app", "{listed}");
}

#[test]
fn streams_are_for_those_who_may_and_there_is_an_end_to_them() {
    let fixture = Fixture::new();
    let page = Page::of(&fixture);
    let mut older = Older::new(&fixture, "older", "");
    let endpoint = older.endpoint.clone();
    let bearer = format!("Bearer {}", page.token);
    let opened = |more: &[(&str, &str)]| {
        let mut headers = vec![("Authorization", bearer.as_str())];
        headers.retain(|(name, _)| !more.iter().any(|(other, _)| other == name));
        headers.extend(more);
        page.raw("GET", "/mcp/sse", &headers, "").status
    };
    let posted = |more: &[(&str, &str)]| post(&page, &endpoint, more, "{}").status;
    for more in [("Authorization", "-"), ("Authorization", "Bearer wrong")] {
        assert_eq!((opened(&[more]), posted(&[more])), (401, 401), "{more:?}");
    }
    for more in [
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
        ("Host", "evil.example"),
        ("Host", "127.0.0.1:1"),
        ("Sec-Fetch-Site", "cross-site"),
    ] {
        assert_eq!((opened(&[more]), posted(&[more])), (403, 403), "{more:?}");
    }
    // A caller with another token counts as another client.
    let mut user = fixture.login();
    let made = user.call("token.create", json!({"name": "reader", "scope": "read"}));
    let reader = format!("Bearer {}", made["token"].as_str().unwrap());
    assert_eq!(posted(&[("Authorization", &reader)]), 404);
    let link = fixture.server().settings_links().address().unwrap();
    let code = format!("Bearer {}", link.split_once("#code=").unwrap().1);
    let entered = page.raw("GET", "/bootstrap.json", &[("Authorization", &code)], "");
    let own = format!("Bearer {}", entered.json()["auth_token"].as_str().unwrap());
    assert_eq!(opened(&[("Authorization", &own)]), 403);
    assert_eq!(posted(&[("Authorization", &own)]), 403);
    // These bodies are not messages.
    assert_eq!(posted(&[("Content-Type", "text/plain")]), 415);
    for wrong in ["", "no", "[]", "5"] {
        assert_eq!(post(&page, &endpoint, &[], wrong).status, 400, "{wrong}");
    }
    assert_eq!(announced(&page, &endpoint, 17 << 20), 413, "it is not even read");
    for nowhere in ["/mcp/sse", "/mcp/sse?session_id=", "/mcp/sse?session_id=none"] {
        assert_eq!(post(&page, nowhere, &[], "{}").status, 404, "{nowhere}");
    }
    assert_eq!(page.ask("DELETE", "/mcp/sse", None).status, 405);
    assert_eq!(page.ask("GET", "/mcp/sse?toolset=nope", None).status, 404);
    assert_eq!(older.call("status", json!({}))["you"], "older", "it is still there");
    // The number of streams is limited. A client with another token must wait until a stream ends, unless one of its
    // own streams is idle.
    let mut all: Vec<Older> = (0..23).map(|_| Older::silent(&fixture, "")).collect();
    let other = Page { port: page.port, token: made["token"].as_str().unwrap().to_owned() };
    let full = page::read(Older::connect_once(&other));
    assert_eq!(full.status, 503, "{}", full.body);
    assert!(full.body.contains("none of yours is idle"), "{}", full.body);
    assert_eq!(older.call("status", json!({}))["you"], "older", "there is a place to post");
    all.pop();
    let end = std::time::Instant::now() + crate::support::PATIENCE;
    let mut again = Older::connect_once(&other);
    let mut status = [0; 12];
    loop {
        std::io::Read::read_exact(&mut again, &mut status).unwrap();
        if status.ends_with(b"200") {
            break;
        }
        assert!(std::time::Instant::now() < end, "there is no room");
        again = Older::connect_once(&other);
    }
    // If one of the client's own streams is idle, the stream that has been idle longest is closed.
    let mut new = Older::new(&fixture, "new", "");
    all[0].until_over();
    for (client, name) in [(&mut new, "new"), (&mut older, "older")] {
        assert_eq!(client.call("status", json!({}))["you"], name);
    }
    drop(again);
    // A revoked token is refused.
    let mut headers = vec![("Authorization", reader.as_str())];
    headers.push(("Content-Type", "application/json"));
    user.call("token.revoke", json!({"number": made["number"]}));
    assert_eq!(page.raw("POST", &endpoint, &headers, "{}").status, 401);
}
