//! The Model Context Protocol over HTTP, with clients that abandon their sessions and clients that keep them.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{PATIENCE, Relay, Start, wait_for};

/// The maximum number of concurrent sessions of the older era of the protocol.
const MOST: usize = 64;

/// A reply: its status, the session in its header, and its body.
struct Reply {
    status: u16,
    session: Option<String>,
    body: String,
}

/// Posts a message to the instance of a registry entry. `headers` are added to the headers that every client sends.
fn post(entry: &Value, headers: &[(&str, &str)], message: &Value) -> Result<Reply> {
    request(entry, "POST", headers, &message.to_string())
}

fn request(entry: &Value, verb: &str, headers: &[(&str, &str)], body: &str) -> Result<Reply> {
    let port = entry["http_port"].as_u64().context("no HTTP")?;
    let token = entry["auth_token"].as_str().context("no token")?;
    let mut request = format!(
        "{verb} /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Connection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    let mut stream = TcpStream::connect(("127.0.0.1", u16::try_from(port)?))?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(format!("{request}\r\n{body}").as_bytes())?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    let (head, body) = reply.split_once("\r\n\r\n").context("no reply")?;
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
    let session = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("mcp-session-id").then(|| value.to_owned())
    });
    Ok(Reply { status: status.context("no status")?, session, body: body.to_owned() })
}

/// Begins a session of the older era of the protocol, which is never ended. Returns its id.
fn begin(entry: &Value) -> Result<String> {
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "one that goes", "version": "1"},
    }});
    let reply = post(entry, &[], &hello)?;
    ensure!(reply.status == 200, "{}: {}", reply.status, reply.body);
    let session = reply.session.context("no session")?;
    let done = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let reply = post(entry, &[("Mcp-Session-Id", &session)], &done)?;
    ensure!(reply.status == 202, "{}: {}", reply.status, reply.body);
    Ok(session)
}

/// Sends a request in a session. Returns its status.
fn ask(entry: &Value, session: &str) -> Result<u16> {
    let params = json!({"name": "status", "arguments": {}});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    Ok(post(entry, &in_session(session), &call)?.status)
}

fn in_session(session: &str) -> [(&str, &str); 2] {
    [("Mcp-Session-Id", session), ("MCP-Protocol-Version", "2025-11-25")]
}

/// Sends a request without a session. Returns its reply.
fn ask_alone(entry: &Value) -> Result<Reply> {
    let call = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "status",
        "arguments": {},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "one that stays", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }});
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "status"),
    ];
    post(entry, &headers, &call)
}

#[test]
fn abandoned_sessions_do_not_block_new_ones() -> Result<()> {
    const WORDS: &str = "gives way to a new one";
    let unterm = Start::headless().now()?;
    let entry = unterm.entry();
    let sessions = (0..MOST).map(|_| begin(entry)).collect::<Result<Vec<_>>>()?;
    // After using the first session, the second session has been idle longest.
    assert_eq!(ask(entry, &sessions[0])?, 200);
    // Requests without a session do not count toward the limit.
    let alone = ask_alone(entry)?;
    ensure!(alone.status == 200 && alone.body.contains("one that stays"), "{}", alone.body);
    assert_eq!(unterm.log().matches(WORDS).count(), 0, "{}", unterm.log());

    let new = begin(entry)?;
    assert_eq!(ask(entry, &new)?, 200);
    assert_eq!(unterm.log().matches(WORDS).count(), 1, "{}", unterm.log());
    assert_eq!(ask(entry, &sessions[1])?, 404, "its client must begin a new session");
    for kept in [&sessions[0], &sessions[2], &sessions[MOST - 1]] {
        assert_eq!(ask(entry, kept)?, 200);
    }
    Ok(())
}

#[test]
fn a_session_keeps_another_agents_instance_running() -> Result<()> {
    let home = tempfile::tempdir()?;
    let registry = home.path().join(".unterm");
    let relay = Relay::start(home.path(), &registry, &[])?;
    let entry: Value = serde_json::from_slice(&fs::read(registry.join("active.json"))?)?;
    let session = begin(&entry)?;
    assert_eq!(ask(&entry, &session)?, 200);
    assert!(relay.finish()?.success());
    assert_eq!(ask(&entry, &session)?, 200, "it stays for the session");
    let ended = request(&entry, "DELETE", &in_session(&session), "")?;
    ensure!(ended.status == 204, "{}: {}", ended.status, ended.body);
    let is_gone = || Ok((!registry.join("active.json").exists()).then_some(()));
    wait_for("its end", is_gone, String::new)
}
