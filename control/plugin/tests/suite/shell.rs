//! Tests of the plugin for shells.

use serde_json::json;
use unterm_plugin::Registry;

use crate::support::classify_all;

#[test]
fn every_screen_is_classified_by_its_name() {
    classify_all("shell");
}

#[test]
fn a_command_is_one_line() {
    let registry = Registry::default();
    let adapter = registry.adapter("shell").expect("the plugin");
    let outcome = adapter.intent("run_command", &json!({ "command": "ls -l" })).expect("actions");
    let expected = json!([
        { "type": "text", "value": "ls -l" }, { "type": "key", "value": "enter" },
        { "type": "mark_transcript", "value": { "label": "command" } },
    ]);
    assert_eq!(json!(outcome.actions), expected);
    assert_eq!(outcome.last_intent.as_deref(), Some("command_submitted"));
    for command in ["ls\nrm x", "ls\u{1b}", ""] {
        adapter.intent("run_command", &json!({ "command": command })).expect_err("not one line");
    }
}
