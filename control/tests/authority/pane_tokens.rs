//! Tests that over the Model Context Protocol, an agent whose token is limited to some sessions sees nothing of the
//! other sessions.

use crate::support::{Fixture, Session, Wire, client, toolset::Client};
use serde_json::{Value, json};

/// The addresses of the resources in a client's list.
fn resources(client: &mut client::Client) -> Vec<Value> {
    let listed = client.request("resources/list", json!({}));
    let listed = listed["result"]["resources"].as_array().unwrap();
    listed.iter().map(|resource| resource["uri"].clone()).collect()
}

/// Creates two sessions, and a token for the first one.
fn bound(fixture: &Fixture, user: &mut Wire) -> (Session, Session, Value) {
    let mine = fixture.program(user, "cat", &[]);
    let other = fixture.program(user, "cat", &[]);
    user.call("session.rename", json!({"id": mine.id, "title": "mine"}));
    user.call("session.rename", json!({"id": other.id, "title": "not yours"}));
    let made = user.call("token.create", json!({"name": "bound", "panes": [mine.id]}));
    (mine, other, made["token"].clone())
}

#[test]
fn the_toolset_iterm_has_only_the_tokens_sessions() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let (mine, _other, token) = bound(&fixture, &mut user);
    let everything = Client::new(&fixture, "iterm").call("iterm_list_sessions", json!({}));
    let mut client = Client::with_token(&fixture, &token, "iterm");
    let listed = client.call("iterm_list_sessions", json!({}));
    assert_eq!(listed, json!([everything[0]]), "{everything}");
    assert_eq!(listed[0]["name"], "mine");
    let found = client.call("iterm_get_session_by_name", json!({"name": "not yours"}));
    assert_eq!(found, json!([]));

    let id = &listed[0]["session_id"];
    client.call("iterm_send_command", json!({"identifier": id, "command": "to mine"}));
    mine.wait_for_text("to mine");
    let read = client.call("iterm_read_output", json!({"identifier": id}));
    assert!(read["output"].as_str().unwrap().starts_with("to mine"), "{read}");
    let tty = &listed[0]["tty"];
    client.call("iterm_register_session", json!({"tty_path": tty}));
    let renamed =
        client.call("iterm_set_session_name", json!({"identifier": id, "new_name": "still mine"}));
    assert_eq!(renamed["old_name"], "mine");
    let focused = client.call("iterm_focus_session", json!({"identifier": id}));
    assert_eq!(focused["status"], "focused");

    // Another session is found neither by its id nor by its device.
    for name in [&everything[1]["session_id"], &everything[1]["tty"]] {
        let name = name.as_str().unwrap();
        for (tool, mut arguments) in [
            ("iterm_read_output", json!({})),
            ("iterm_watch_session", json!({})),
            ("iterm_send_command", json!({"command": "x"})),
            ("iterm_send_keys", json!({"keys": "enter"})),
            ("iterm_set_session_name", json!({"new_name": "x"})),
        ] {
            arguments["identifier"] = json!(name);
            let why =
                format!("No session found matching '{name}'. Available sessions: ['still mine']");
            assert_eq!(client.fail(tool, arguments), why, "{tool}");
        }
        let focused = client.call("iterm_focus_session", json!({"identifier": name}));
        assert_eq!(focused["status"], "not_found");
    }
    let reached = mine.id;
    let denied = |tool: &str| {
        format!("Not allowed: your token reaches session {reached} only, and {tool} is about more")
    };
    assert_eq!(client.fail("iterm_new_tab", json!({})), denied("iterm_new_tab"));
    let split = client.fail("iterm_split_pane", json!({"identifier": id}));
    assert_eq!(split, denied("iterm_split_pane"));
}

#[test]
fn the_toolset_tester_opens_nothing_for_such_a_token() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let (mine, _, token) = bound(&fixture, &mut user);
    let mut client = Client::with_token(&fixture, &token, "tester");
    let reached = mine.id;
    let why = format!(
        "Not allowed: your token reaches session {reached} only, and launch_app is about more"
    );
    let refused = client.fail("launch_app", json!({"command": "true"}));
    assert_eq!(refused, json!({"message": why, "code": "INVALID_INPUT"}));
    assert_eq!(client.call("list_sessions", json!({})), json!({"sessions": []}));
}

#[test]
fn tabs_are_listed_as_far_as_the_token_reaches() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let (mine, _other, token) = bound(&fixture, &mut user);
    let beside = user.call("session.split", json!({"id": mine.id, "direction": "left"}));
    let mut wire = fixture.connect();
    wire.call("auth.login", json!({"token": token}));
    user.call("session.focus", json!({"id": mine.id}));
    let tabs = wire.call("tab.list", json!({}))["tabs"].take();
    let all = user.call("tab.list", json!({}))["tabs"].take();
    assert_eq!((tabs.as_array().unwrap().len(), all.as_array().unwrap().len()), (1, 2));
    assert_eq!(all[0]["sessions"], json!([beside["id"], mine.id]));
    assert_eq!(
        (&tabs[0]["sessions"], &tabs[0]["layout"]),
        (&json!([mine.id]), &json!({"id": mine.id}))
    );
    assert_eq!((&tabs[0]["focused"], &tabs[0]["title"]), (&json!(mine.id), &json!("mine")));
    // If another session has the focus, its title is not revealed.
    user.call("session.rename", json!({"id": beside["id"], "title": "not yours"}));
    user.call("session.focus", json!({"id": beside["id"]}));
    let tabs = wire.call("tab.list", json!({}))["tabs"].take();
    assert!(tabs[0].get("focused").is_none(), "{tabs}");
    assert_eq!(tabs[0]["title"], "mine");
}

#[test]
fn events_are_told_as_far_as_the_token_reaches() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let (mine, other, token) = bound(&fixture, &mut user);
    let mut listener = fixture.connect();
    listener.call("auth.login", json!({"token": token}));
    listener.call("events.subscribe", json!({"events": ["output", "title", "session_removed"]}));
    let mut until = |kind: &str| loop {
        let line: Value = serde_json::from_str(&listener.receive().expect("an event")).unwrap();
        let event = &line["params"];
        assert_eq!(event["session_id"], mine.id.to_string(), "{event}");
        if event["event"] == kind {
            return;
        }
    };
    for session in [&other, &mine] {
        user.call("session.rename", json!({"id": session.id, "title": "another"}));
        user.call("session.input", json!({"id": session.id, "input": "typed\r"}));
        session.wait_for_text("typed");
    }
    until("output");
    user.call("session.destroy", json!({"id": other.id}));
    user.call("session.destroy", json!({"id": mine.id}));
    until("session_removed");
}

#[test]
fn a_changed_list_of_resources_is_reported() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let (mine, other, token) = bound(&fixture, &mut user);
    let login = json!({"token": token, "mcp": "unterm"});
    let mut client = client::Client::silent_as(&fixture, login);
    client.hello("client", "2025-11-25", &json!({}));
    assert_eq!(client.call("status", json!({}))["panes"], 1);
    let own = format!("unterm://pane/{}/screen", mine.id);
    assert_eq!(resources(&mut client), [own.as_str(), "unterm://panes", "unterm://agents"]);
    // The end of another session does not change this client's list, so the notification means that the client's own
    // session ended.
    user.call("session.destroy", json!({"id": other.id}));
    user.call("session.destroy", json!({"id": mine.id}));
    client.note("notifications/resources/list_changed");
    assert_eq!(resources(&mut client), ["unterm://panes", "unterm://agents"]);
}
