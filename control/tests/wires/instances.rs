//! Tests of several servers in one registry, of their ports, and of clients that search for them.

use std::{io::ErrorKind, net::TcpListener};

use crate::support::Fixture;
use serde_json::json;
use unterm_control::client::{self, Client, ClientError};

#[test]
fn a_server_registers_and_goes_without_a_trace() {
    let mut fixture = Fixture::new();
    let registry = fixture.registry();
    let server = fixture.server.take().unwrap();
    assert_eq!(server.instance_id(), "alpha");
    assert!(server.address().ip().is_loopback());
    let record = std::fs::read_to_string(registry.join("server.json")).unwrap();
    assert!(record.contains(&format!("\"mcp_port\": {}", server.address().port())), "{record}");
    let endpoint = client::find(&registry).remove(0);
    server.stop();
    assert!(!registry.join("instances/alpha.json").exists());
    assert!(!registry.join("server.json").exists());
    assert!(!registry.join("active.json").exists());
    // If another test's server uses the port meanwhile, it does not accept the token.
    assert!(Client::connect_to(&endpoint).is_err());
}

#[test]
fn stopping_closes_connections_also_those_that_wait() {
    let mut fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.shell(&mut wire);
    let mut waiting = fixture.login();
    waiting.send(format!(
        "{}\n",
        json!({"id": 1, "method": "exec.run_wait", "params": {"id": session.id, "command": "echo begun$((1)); read line"}})
    ));
    // The command prints this text. A search for the typed text could fail, because the shell's prompt may appear in
    // the middle of it.
    session.wait_for_text("begun1");
    fixture.server.take().unwrap().stop();
    assert_eq!(waiting.receive(), None);
    assert_eq!(wire.receive(), None);
}

#[test]
fn servers_take_different_ports_and_tokens() {
    let (one, two) = (Fixture::new(), Fixture::new());
    assert_ne!(one.server().address().port(), two.server().address().port());
    assert_ne!(one.token(), two.token());
    let mut wire = two.connect();
    assert_eq!(wire.reply("auth.login", json!({"token": one.token()}))["error"]["code"], -32001);
}

#[test]
fn the_client_finds_the_server_and_calls_it() {
    let fixture = Fixture::new();
    let client = Client::connect(&fixture.registry()).unwrap();
    let info = client.call_by_name("instance.info", json!({})).unwrap();
    assert_eq!(info["id"], "alpha");
    let error = client.call_by_name("session.status", json!({"id": 9})).unwrap_err();
    assert_eq!(error.to_string(), "MCP session.status failed [-32603]: Session 9 not found");
    let endpoint = client::find_by_name(&fixture.registry(), "alpha").unwrap();
    assert_eq!(endpoint.port, fixture.server().address().port());
    Client::connect_to(&endpoint).unwrap();
}

#[test]
fn the_client_says_so_when_nothing_runs() {
    let home = tempfile::tempdir().unwrap();
    let error = Client::connect(home.path()).err().unwrap();
    assert!(matches!(error, ClientError::NotRunning { .. }));
    assert!(
        error.to_string().ends_with("start one with `unterm` or `unterm --headless`"),
        "{error}"
    );
}

#[test]
fn the_client_sends_a_killed_instances_token_to_nobody() {
    let stranger = TcpListener::bind("127.0.0.1:0").unwrap();
    stranger.set_nonblocking(true).unwrap();
    let home = tempfile::tempdir().unwrap();
    // The entry of a killed process, whose port another program uses. No process has this pid.
    let record = json!({
        "id": "alpha", "mcp_port": stranger.local_addr().unwrap().port(), "http_port": 0,
        "auth_token": "secret", "pid": u32::MAX, "started_at": "2026-01-01T00:00:00Z",
        "title": "Unterm — alpha", "cwd": "/", "version": "1", "platform": "linux",
    });
    std::fs::create_dir(home.path().join("instances")).unwrap();
    for file in ["instances/alpha.json", "active.json", "server.json"] {
        std::fs::write(home.path().join(file), record.to_string()).unwrap();
    }
    std::fs::write(home.path().join("auth_token"), "secret").unwrap();
    let error = Client::connect(home.path()).err().unwrap();
    assert!(matches!(error, ClientError::NotRunning { .. }), "{error}");
    assert_eq!(stranger.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
}

#[test]
fn the_client_refuses_a_wrong_token_in_the_servers_words() {
    let fixture = Fixture::new();
    let port = fixture.server().address().port();
    let endpoint = client::Endpoint { port, token: "wrong".to_owned(), socket: None };
    let error = Client::connect_to(&endpoint).err().unwrap();
    assert_eq!(error.to_string(), "MCP auth.login failed [-32001]: Invalid auth token");
}
