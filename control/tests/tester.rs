//! The toolset of document 4, past its names and replies: what others may not see, and what nobody sees.

mod support;

use serde_json::{Value, json};
use support::{Fixture, toolset::Client};
use unterm_control::Approval;

/// A request to a tool of the toolset `unterm`; what it says when it fails.
fn refused(client: &mut Client, tool: &str, mut arguments: Value, pane: u64) -> String {
    arguments["pane"] = json!(pane);
    let result = client.request("tools/call", json!({"name": tool, "arguments": arguments}));
    assert_eq!(result["isError"], true, "{tool}: {result}");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn what_one_client_tests_is_not_there_for_another_who_guesses_its_number() {
    let fixture = Fixture::new();
    let mut tester = Client::new(&fixture, "tester");
    let launched = tester.call("launch_app", json!({"command": "cat"}));
    let id = launched["session_id"].clone();
    // The next pane has the next number.
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
        assert_eq!(why, format!("Session {pane} not found"), "{tool}");
    }
    let uri = format!("unterm://pane/{pane}/screen");
    assert_eq!(other.request("resources/read", json!({"uri": uri})), Value::Null);
    // It goes on for its owner, and nobody typed.
    tester.call("send_keys", json!({"session_id": id, "keys": "ownEnter"}));
    let view = tester.view(&id, "plain", "own\nown");
    assert_eq!(view, "own\nown");
}

#[test]
fn views_for_eyes_show_what_nobody_sees_and_the_others_are_to_the_letter() {
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
    // A debug view has every column of every row.
    let view = tester.view(&id, "ansi", " left out …]");
    assert!(view.chars().count() < 201_000, "{}", view.len());
}

#[test]
fn who_is_refused_reads_it_as_the_document_writes_errors() {
    let fixture = Fixture::new();
    fixture.server().set_approval(Approval::Deny);
    let why = "The person does not let client act. Ask them before you try again.";
    let mut tester = Client::new(&fixture, "tester");
    let refused = tester.fail("launch_app", json!({"command": "cat"}));
    assert_eq!(refused, json!({"message": why, "code": "INTERNAL_ERROR"}));
    let mut iterm = Client::new(&fixture, "iterm");
    assert_eq!(iterm.fail("iterm_new_tab", json!({})), why);
}
