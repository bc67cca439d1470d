//! Tests of the plugin for Claude Code: its classification of screens in each state, and the input of each intent.

use std::collections::BTreeSet;

use crate::support::{Screen, classify_all, screens};
use serde_json::{Value, json};
use unterm_plugin::{Classification, Instance, PredicateInput, Registry};

fn plugin() -> (Registry, Instance) {
    let registry = Registry::default();
    let adapter = registry.adapter("claude-code").expect("the plugin");
    (registry, adapter)
}

/// The classification of the screen with this name.
fn classified(name: &str) -> Classification {
    let screen = screens("claude-code").into_iter().find(|screen| screen.name == name);
    plugin().1.classify(&screen.expect(name).context()).expect(name)
}

#[test]
fn every_screen_is_classified_by_its_name() {
    classify_all("claude-code");
}

#[test]
fn metadata_describes_the_question() {
    let metadata = |name| classified(name).metadata.expect("metadata");
    let asked = metadata("waiting_for_permission");
    assert_eq!(asked["permission"]["tool"], "Bash");
    assert_eq!(asked["permission"]["summary"], "touch new.txt");
    assert_eq!(asked["permission"]["options"][2], "No");
    for (name, count) in
        [("waiting_for_permission.unnumbered", 2), ("waiting_for_permission.tip", 4)]
    {
        let asked = metadata(name)["permission"].take();
        assert_eq!((&asked["tool"], &asked["summary"]), (&json!("Bash"), &json!("touch new.txt")));
        assert_eq!(asked["options"].as_array().map(Vec::len), Some(count), "{name}");
    }
    assert_eq!(metadata("error.unable_to_connect")["error"]["kind"], "connection");
    assert_eq!(metadata("waiting_for_permission.edit")["permission"]["tool"], "Write");
    let quoting = metadata("waiting_for_permission.quotes_others");
    assert_eq!(quoting["permission"]["options"], json!(["Yes", "No"]));
    assert_eq!(quoting["permission"]["tool"], "Bash");
    assert_eq!(quoting["permission"]["summary"], "cat <<EOF");
    let models = metadata("waiting_for_model_select");
    let options = json!(["Default (recommended)", "Sonnet", "Haiku"]);
    assert_eq!(models["model_select"]["options"], options);
    let plan = metadata("waiting_for_plan_approval.plan");
    assert_eq!(plan["plan"], "1. Read the old parser\n2. Write the new one");
    assert_eq!(plan["options"].as_array().map(Vec::len), Some(3));
    let usage = metadata("usage_screen");
    assert_eq!(usage["usage"]["cost_usd"], 0.005);
    assert_eq!(usage["usage"]["wall_duration_s"], 96);
    assert_eq!(usage["usage"]["input_tokens"], 1500);
    assert_eq!(usage["usage"]["lines_added"], 1);
    assert_eq!(metadata("error")["error"]["kind"], "quota");
    assert_eq!(metadata("completed_turn")["turn"]["text"], "The answer is 4.\nIt always was.");
    assert_eq!(metadata("completed_turn.long_prompt")["turn"]["text"], "The answer is 4.");
    let progress = json!({ "duration_ms": 62_000, "output_tokens": 1200, "total_tokens": 1200 });
    assert_eq!(metadata("thinking")["turn"]["progress"], progress);
}

#[test]
fn a_dialogs_name_changes_with_the_dialog_not_the_selection() {
    let (_registry, adapter) = plugin();
    let id = |text: &str| {
        let screen = Screen::of(text);
        let metadata = adapter.classify(&screen.context()).expect("a state").metadata;
        metadata.expect("metadata")["dialog_id"].clone()
    };
    let first = " Do you want to proceed?\n ❯ 1. Yes\n   2. No\n";
    let moved = " Do you want to proceed?\n   1. Yes\n ❯ 2. No\n";
    let other = " Do you want to create x?\n ❯ 1. Yes\n   2. No\n";
    assert_eq!(id(first), id(moved));
    assert_ne!(id(first), id(other));
}

#[test]
fn each_intent_types_what_the_program_expects() {
    let (registry, adapter) = plugin();
    let key = |name: &str| json!({ "type": "key", "value": name });
    let text = |value: &str| json!({ "type": "text", "value": value });
    let paste = |value: &str| json!({ "type": "bracketed_paste", "value": value });
    let mark = json!({ "type": "mark_transcript", "value": { "label": "turn" } });
    // Enter is pressed separately, when the box shows only the text, and again until the text has left the box.
    let submitted = |text: &str| {
        let waiting = |predicate: &str, timeout_ms: u64| {
            json!({
                "predicate": predicate,
                "timeout_ms": timeout_ms,
                "params": { "prompt": text },
                "presses": 1,
            })
        };
        let mut other = waiting("box_shows_no_other_text", 1);
        other["failure"] = json!(
            "the input box of Claude Code holds another text, so nothing was submitted; empty the box first"
        );
        let mut left = waiting("prompt_left_box", 700);
        left["failure"] = json!(
            "the input box of Claude Code still holds the prompt after Enter was pressed several times"
        );
        (left["key"], left["presses"]) = (json!("enter"), json!(3));
        let wait = |value: Value| json!({ "type": "wait_for", "value": value });
        vec![
            paste(text),
            wait(waiting("box_shows_prompt", 1000)),
            wait(other),
            key("enter"),
            wait(left),
        ]
    };
    let prompted = |text: &str| json!([submitted(text), vec![mark.clone()]].concat());
    let cases = [
        ("send_prompt", json!({ "prompt": "a\nb" }), prompted("a\nb"), Some("prompt_submitted")),
        (
            "send_prompt",
            json!({ "prompt": "a\u{1b}[201~b" }),
            prompted("ab"),
            Some("prompt_submitted"),
        ),
        ("approve", json!({}), json!([key("enter")]), None),
        ("deny", json!({}), json!([key("escape")]), None),
        ("choose_option", json!({ "index": 2 }), json!([text("2"), key("enter")]), None),
        ("choose_option", json!({ "option": "2" }), json!([text("2"), key("enter")]), None),
        ("cancel", json!({}), json!([key("escape")]), Some("cancelling")),
        ("force_cancel", json!({}), json!([key("escape"), key("escape")]), Some("cancelling")),
        ("steer", json!({ "prompt": "more" }), json!(submitted("more")), None),
        ("key", json!({ "key": "Esc" }), json!([key("escape")]), None),
        ("key", json!({ "key": "ctrl+o" }), json!([key("ctrl_o")]), None),
        ("key", json!({ "key": "f12" }), json!([key("f12")]), None),
        ("key", json!({ "key": "Hello" }), json!([text("Hello")]), None),
        ("approve_trust", json!({}), json!([text("1"), key("enter")]), None),
        ("deny_trust", json!({}), json!([text("2"), key("enter")]), None),
        ("dismiss_welcome", json!({}), json!([key("enter")]), None),
        ("expand", json!({}), json!([key("ctrl_o")]), None),
        ("model_effort_left", json!({}), json!([key("left")]), None),
        ("model_effort_right", json!({}), json!([key("right")]), None),
        ("slash_command", json!({ "command": "usage" }), json!(submitted("/usage")), None),
        ("slash_command", json!({ "name": "/usage" }), json!(submitted("/usage")), None),
        ("attach_file", json!({ "path": "/tmp/a b" }), json!([paste("/tmp/a b")]), None),
    ];
    let mut tried = BTreeSet::new();
    for (name, params, actions, last_intent) in cases {
        let outcome = adapter.intent(name, &params).expect(name);
        assert_eq!(json!(outcome.actions), actions, "{name} {params}");
        assert_eq!(outcome.last_intent.as_deref(), last_intent, "{name}");
        tried.insert(name.to_owned());
    }
    let described = registry.describe("claude-code").expect("a description");
    let intents = described["intents"].as_array().expect("intents");
    assert!(intents.iter().all(|intent| intent["description"].is_string()));
    assert!(intents.iter().all(|intent| intent["params_schema"]["type"] == "object"));
    let intents: BTreeSet<_> =
        intents.iter().map(|intent| intent["name"].as_str().expect("a name").to_owned()).collect();
    assert_eq!(tried, intents);
    assert_eq!((intents.len(), described["states"].as_array().map(Vec::len)), (16, Some(16)));
}

#[test]
fn an_option_is_chosen_by_the_label_on_the_screen() {
    let (_registry, adapter) = plugin();
    let choose = |label: &str| adapter.intent("choose_option", &json!({ "option": label }));
    let error = choose("No").expect_err("no screen was seen");
    assert!(error.to_string().contains("no option is labeled No"), "{error}");
    let screens = screens("claude-code");
    let dialog = screens.iter().find(|screen| screen.name == "waiting_for_permission").expect("it");
    adapter.classify(&dialog.context()).expect("a state");
    for (label, number) in [("No", "3"), ("yes", "1"), ("Yes, and always", "2")] {
        let outcome = choose(label).expect(label);
        assert_eq!(json!(outcome.actions[0])["value"], number, "{label}");
    }
    for params in
        [json!({}), json!({ "index": 0 }), json!({ "index": 1.5 }), json!({ "option": "" })]
    {
        adapter.intent("choose_option", &params).expect_err("a wrong parameter");
    }
    let error = adapter.intent("send_prompt", &Value::Null).expect_err("no prompt");
    assert!(error.to_string().contains("the parameter prompt is missing"), "{error}");
}

#[test]
fn the_right_option_is_chosen_in_a_list_without_numbers() {
    let (_registry, adapter) = plugin();
    let screens = screens("claude-code");
    let act = |screen: &str, intent: &str, params: Value| {
        let screen = screens.iter().find(|of| of.name == screen).expect(screen);
        adapter.classify(&screen.context()).expect("a state");
        json!(adapter.intent(intent, &params).expect(intent).actions)
    };
    let key = |name: &str| json!({ "type": "key", "value": name });
    let chosen = |steps: &[&str], label: &str| {
        let wait = json!({
            "predicate": "option_is_selected",
            "params": { "label": label },
            "timeout_ms": 1000,
            "presses": 1,
            "failure": format!("the dialog does not show the option {label} as selected, so nothing was confirmed"),
        });
        let mut actions: Vec<_> = steps.iter().map(|name| key(name)).collect();
        actions.extend([json!({ "type": "wait_for", "value": wait }), key("enter")]);
        json!(actions)
    };
    let trust = "waiting_for_trust.unnumbered";
    let yes = "Yes, I trust this folder";
    assert_eq!(act(trust, "approve_trust", json!({})), chosen(&["down"], yes));
    assert_eq!(act(trust, "deny_trust", json!({})), chosen(&[], "No, exit"));
    assert_eq!(act(trust, "choose_option", json!({ "option": "yes" })), chosen(&["down"], yes));
    let asks = "waiting_for_permission.unnumbered";
    assert_eq!(act(asks, "approve", json!({})), chosen(&["down"], "Yes"));
    assert_eq!(act(asks, "choose_option", json!({ "index": 1 })), chosen(&[], "No"));
    // If the selected option means yes, only Enter is pressed.
    assert_eq!(act("waiting_for_permission.tip", "approve", json!({})), json!([key("enter")]));
}

#[test]
fn a_prompt_is_submitted_alone_or_refused() {
    let (registry, adapter) = plugin();
    let screens = screens("claude-code");
    let find = |name: &str| screens.iter().find(|screen| screen.name == name).expect(name);
    let prompt = json!({ "prompt": "What is 2+2?" });
    let after = |screen: &str| {
        adapter.classify(&find(screen).context()).expect("a state");
        adapter.intent("send_prompt", &prompt)
    };
    // A text that is still in the box is removed first: one line and one line end at a time.
    let actions = json!(after("waiting_for_user_input.pending").expect("actions").actions);
    assert_eq!(actions[0]["value"], "end");
    let emptied = json!({
        "predicate": "box_is_empty", "params": null, "timeout_ms": 80, "key": "ctrl_u", "presses": 5,
    });
    assert_eq!(actions[1]["value"], emptied);
    assert_eq!(actions[2]["type"], "bracketed_paste");
    // A dialog would receive the prompt as its answer, so the intent fails.
    for screen in ["waiting_for_permission", "waiting_for_trust.unnumbered", "local_ui_screen.list"]
    {
        let error = after(screen).expect_err(screen).to_string();
        assert!(error.contains("answer that first"), "{error}");
    }

    let holds = |name: &str, text: &str, prompt: &str| {
        let rule = "─".repeat(40);
        let input = PredicateInput {
            screen: format!("{rule}\n❯ {text}\n{rule}\n  ? for shortcuts\n"),
            params: json!({ "prompt": prompt }),
            ..PredicateInput::default()
        };
        registry.predicate("claude-code", name, &input).expect(name).matched
    };
    let long = "word ".repeat(40);
    for (shown, prompt, is_shown, is_other) in [
        ("", "hello", false, false),
        ("hello", "hello", true, false),
        ("he\n  llo", "hello", true, false),
        ("[Pasted text #1 +12 lines]", "hello", true, false),
        ("word word\n  word", &long, true, false),
        ("leftover", "hello", false, true),
        ("leftoverhello", "hello", false, true),
        ("left[Pasted text #1 +12 lines]", "hello", false, true),
    ] {
        assert_eq!(holds("box_shows_prompt", shown, prompt), is_shown, "{shown:?}");
        assert_eq!(holds("prompt_left_box", shown, prompt), !is_shown, "{shown:?}");
        assert_eq!(holds("box_shows_no_other_text", shown, prompt), !is_other, "{shown:?}");
        assert_eq!(holds("box_is_empty", shown, prompt), shown.is_empty(), "{shown:?}");
    }
}

#[test]
fn waits_end_with_the_turn() {
    let (registry, adapter) = plugin();
    for name in ["wait_turn_matcher", "wait_prompt_matcher", "wait_dialog_matcher"] {
        let matcher = adapter.wait_matcher(name, &Value::Null).expect(name);
        assert_eq!(json!(matcher)["type"], "any");
        assert_eq!(json!(matcher)["value"][0]["value"]["plugin"], "claude-code");
    }
    let screens = screens("claude-code");
    let settled = |name: &str, stable_ms: u64, printed: u64| {
        let screen = screens.iter().find(|screen| screen.name == name).expect(name);
        let markers = [("turn".to_owned(), 100)].into();
        let screen = screen.text.clone();
        let input = PredicateInput {
            screen,
            stable_ms,
            markers,
            cursor: 100 + printed,
            ..PredicateInput::default()
        };
        registry.predicate("claude-code", "turn_settled", &input).expect(name).matched
    };
    assert!(settled("completed_turn", 2000, 50));
    assert!(settled("waiting_for_permission", 2000, 50));
    assert!(settled("error", 2000, 50));
    assert!(!settled("thinking", 2000, 50));
    assert!(!settled("thinking.between_rows", 2000, 50));
    assert!(!settled("completed_turn", 100, 50), "the screen still changes");
    assert!(!settled("completed_turn", 2000, 0), "nothing was printed since the prompt");
}
