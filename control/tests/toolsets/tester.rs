//! Tests of the toolset `tester`, other than names and replies: sessions hidden from other clients, views of ended
//! programs, sizes, invisible characters, limits, and errors.

use crate::support::{self, Fixture, toolset::Client};
use serde_json::{Value, json};
use unterm_control::Approval;

/// Calls a tool of the toolset `unterm` that must fail, and returns its message.
fn refused(client: &mut Client, tool: &str, mut arguments: Value, pane: u64) -> String {
    arguments["pane"] = json!(pane);
    let result = client.request("tools/call", json!({"name": tool, "arguments": arguments}));
    assert_eq!(result["isError"], true, "{tool}: {result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_tested_session_is_hidden_from_other_clients() {
    let fixture = Fixture::new();
    let mut tester = Client::new(&fixture, "tester");
    let launched = tester.call("launch_app", json!({"command": "cat"}));
    let id = launched["session_id"].clone();
    // Pane numbers are consecutive.
    let next = fixture.login().call("session.create", json!({"program": "cat"}));
    let pane = next["id"].as_u64().unwrap() - 1;
    let mut other = Client::new(&fixture, "unterm");
    for (tool, arguments) in [
        ("screen", json!({})),
        ("transcript", json!({})),
        ("search", json!({"pattern": "x"})),
        ("find", json!({"pattern": "x"})),
        ("input", json!({"text": "mine\n"})),
        ("run", json!({"command": "mine"})),
        ("wait", json!({"any": [{"exit": true}]})),
        ("lease", json!({})),
        ("signal", json!({"signal": "INT"})),
        ("pane_close", json!({})),
    ] {
        let why = refused(&mut other, tool, arguments, pane);
        let right = format!("There is no pane {pane}; pane_list lists those there are");
        assert_eq!(why, right, "{tool}");
    }
    let uri = format!("unterm://pane/{pane}/screen");
    assert_eq!(other.request("resources/read", json!({"uri": uri})), Value::Null);
    // The session continues for its owner, and nothing was typed.
    tester.call("send_keys", json!({"session_id": id, "keys": "ownEnter"}));
    let view = tester.view(&id, "plain", "own\nown");
    assert_eq!(view, "own\nown");
}

#[test]
fn the_last_screen_can_be_viewed_until_the_session_is_stopped() {
    let fixture = Fixture::new();
    let mut tester = Client::new(&fixture, "tester");
    // This is the documented workflow.
    let arguments = json!({"command": "printf", "args": ["\\033[31mred\\033[m\\n"]});
    let launched = tester.call("launch_app", arguments);
    let id = launched["session_id"].clone();
    let on = json!({"session_id": id});
    let end = std::time::Instant::now() + support::PATIENCE;
    while tester.call("list_sessions", json!({}))["sessions"][0]["state"] != "stopped" {
        assert!(std::time::Instant::now() < end, "it never ends");
        std::thread::yield_now();
    }
    for (format, content) in
        [("plain", "red"), ("scrollback", "red"), ("passthrough", "\u{1b}[31mred\u{1b}[m\r\n")]
    {
        let view = tester.call("view_screen", json!({"session_id": id, "format": format}));
        assert_eq!(view["content"], content, "{format}");
    }
    let raw = tester.call("view_screen", json!({"session_id": id, "format": "raw"}));
    assert!(raw["content"].as_str().unwrap().contains(";38;2;205;0;0mred"), "{raw}");
    let cursor = tester.call("get_cursor_position", on.clone());
    assert_eq!(cursor, json!({"row": 1, "col": 0}));
    assert_eq!(tester.call("get_screen_size", on.clone()), json!({"width": 80, "height": 24}));
    let dead = json!({"message": "session is not active", "code": "SESSION_DEAD"});
    assert_eq!(tester.fail("send_keys", json!({"session_id": id, "keys": "x"})), dead);
    let size = json!({"session_id": id, "width": 9, "height": 9});
    assert_eq!(tester.fail("resize_terminal", size), dead);
    tester.call("stop_app", on.clone());
    assert_eq!(tester.fail("view_screen", on)["code"], "SESSION_NOT_FOUND");
}

#[test]
fn a_size_is_a_whole_number_however_json_writes_it() {
    let fixture = Fixture::new();
    let mut tester = Client::new(&fixture, "tester");
    let launched = tester.call("launch_app", json!({"command": "cat"}));
    let id = launched["session_id"].clone();
    tester.call("resize_terminal", json!({"session_id": id, "width": 120.0, "height": 30}));
    let size = tester.call("get_screen_size", launched);
    assert_eq!(size, json!({"width": 120, "height": 30}));
    let range = "width must be between 1 and 1000";
    for (wrong, why) in [
        (json!(0), range),
        (json!(1001), range),
        (json!(-1.0), range),
        (json!(2.5), "width must be a whole number between 1 and 1000, not 2.5"),
        (json!("9"), "width must be a whole number between 1 and 1000, not \"9\""),
    ] {
        let size = json!({"session_id": id, "width": wrong, "height": 1});
        assert_eq!(tester.fail("resize_terminal", size)["message"], why);
    }
    let listed = tester.request("tools/list", json!({}));
    let tools = listed["tools"].as_array().unwrap();
    let resize = tools.iter().find(|tool| tool["name"] == "resize_terminal").unwrap();
    for side in ["width", "height"] {
        let schema = &resize["inputSchema"]["properties"][side];
        assert_eq!((&schema["minimum"], &schema["maximum"]), (&json!(1), &json!(1000)));
    }
}

#[test]
fn readable_views_escape_invisible_characters() {
    let fixture = Fixture::new();
    let mut tester = Client::new(&fixture, "tester");
    let script = r"printf 'a\342\200\256b\342\200\213c'; exec cat";
    let launched = tester.call("launch_app", json!({"command": "sh", "args": ["-c", script]}));
    let id = launched["session_id"].clone();
    for format in ["plain", "ansi", "scrollback"] {
        let view = tester.view(&id, format, "c");
        assert!(view.contains(r"\u{202e}") && view.contains(r"\u{200b}"), "{format}: {view:?}");
        assert!(!view.contains(['\u{202e}', '\u{200b}']), "{format}: {view:?}");
    }
    let bytes = tester.view(&id, "passthrough", "c");
    assert_eq!(bytes, "a\u{202e}b\u{200b}c");
}

#[test]
fn a_view_that_is_too_long_is_cut_and_says_so() {
    let fixture = Fixture::new();
    let mut tester = Client::new(&fixture, "tester");
    let launched = tester.call("launch_app", json!({"command": "cat"}));
    let id = launched["session_id"].clone();
    let size = json!({"session_id": id, "width": 1000, "height": 1000});
    tester.call("resize_terminal", size);
    // This view contains every column of every row.
    let view = tester.view(&id, "ansi", " left out …]");
    assert!(view.chars().count() < 201_000, "{}", view.len());
}

#[test]
fn a_denied_call_returns_an_error_in_the_toolsets_format() {
    let fixture = Fixture::new();
    fixture.server().set_approval(Approval::Deny);
    let why = "The user has denied client permission to act. Ask them before you try again.";
    let mut tester = Client::new(&fixture, "tester");
    let refused = tester.fail("launch_app", json!({"command": "cat"}));
    assert_eq!(refused, json!({"message": why, "code": "INTERNAL_ERROR"}));
    let mut iterm = Client::new(&fixture, "iterm");
    assert_eq!(iterm.fail("iterm_new_tab", json!({})), why);
}
