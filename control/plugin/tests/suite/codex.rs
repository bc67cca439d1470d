//! Tests of the plugin for Codex.

use serde_json::json;
use unterm_plugin::{PredicateInput, Registry};

use crate::support::{classify_all, screens};

#[test]
fn every_screen_is_classified_by_its_name() {
    classify_all("codex");
}

#[test]
fn a_dialog_is_answered_by_its_labels() {
    let registry = Registry::default();
    let adapter = registry.adapter("codex").expect("the plugin");
    let screens = screens("codex");
    let dialog = screens.iter().find(|screen| screen.name == "waiting_for_permission").expect("it");
    let metadata =
        adapter.classify(&dialog.context()).expect("a state").metadata.expect("metadata");
    assert_eq!(metadata["options"][0], "Yes, proceed (y)");
    let chosen =
        adapter.intent("choose_option", &json!({ "option": "Yes, proceed (y)" })).expect("one");
    assert_eq!(json!(chosen.actions), json!([{ "type": "text", "value": "1" }]));
    adapter.intent("choose_option", &json!({ "option": "Maybe" })).expect_err("no such option");
    adapter.intent("choose_option", &json!({ "index": 0 })).expect_err("no such option");
}

#[test]
fn a_turn_is_settled_only_after_output_that_follows_the_prompt() {
    let registry = Registry::default();
    let screens = screens("codex");
    let settled = |name: &str, printed: u64| {
        let screen = screens.iter().find(|screen| screen.name == name).expect(name).text.clone();
        let markers = [("turn".to_owned(), 10)].into();
        let input = PredicateInput {
            screen,
            stable_ms: 1000,
            markers,
            cursor: 10 + printed,
            ..PredicateInput::default()
        };
        registry.predicate("codex", "turn_settled", &input).expect(name).matched
    };
    assert!(settled("completed_turn", 5));
    assert!(!settled("completed_turn", 0));
    assert!(!settled("thinking", 5));
    assert!(settled("error", 5));
}
