//! Tests of the functions of plugins and of the registry.

use std::fs;

use serde_json::{Value, json};
use unterm_plugin::{
    CallError, ClassifyContext, Limits, LoadError, Matcher, Permission, PredicateInput, Registry,
    UnloadError,
};

use crate::support::{ALL, written};

/// A registry with one loaded plugin.
fn loaded(name: &str, permissions: &str, source: &str) -> Registry {
    let registry = Registry::default();
    let (_folder, path) = written(name, permissions, source);
    assert_eq!(registry.load(&path).as_deref(), Ok(name));
    registry
}

const API: &str = r#"
    local a, m = ptywright.action, ptywright.matcher
    local M = {}
    function M.everything()
        return { actions = { a.text("t"), a.paste("p"), a.bracketed_paste("b"), a.key("f5"), a.interrupt(), a.eof(),
            a.mark_transcript("here"), a.kill(), a.signal("term") }, last_intent = "" }
    end
    function M.wait_all_matcher(params)
        return m.all({ m.contains_text(params.text), m.screen_regex("a.b"), m.transcript_contains("c"),
            m.transcript_regex("d"), m.screen_stable(250), m.screen_stable({ min_ms = 300 }), m.process_exited(),
            m.any(m.contains_text("x"), m.contains_text("y")) })
    end
    function M.kill() return { actions = { a.kill() } } end
    function M.kill_by_hand() return { actions = { { type = "kill" } } } end
    function M.type() return { actions = { a.text("x") } } end
    function M.wait_matcher() return { type = "process_exited" } end
    function M.wait_made_matcher() return m.process_exited() end
    function M.wrong() return { actions = { a.key(5) } } end
    function M.echo(params) return { actions = {}, last_intent = type(params) .. "-" .. type(params and params.a) } end
    return M
"#;

#[test]
fn actions_and_matchers_follow_the_protocol() {
    let registry = loaded("api", ALL, API);
    let adapter = registry.adapter("api").expect("an adapter");
    let outcome = adapter.intent("everything", &Value::Null).expect("actions");
    let expected = json!([
        { "type": "text", "value": "t" }, { "type": "paste", "value": "p" },
        { "type": "bracketed_paste", "value": "b" }, { "type": "key", "value": "f5" },
        { "type": "interrupt" }, { "type": "eof" },
        { "type": "mark_transcript", "value": { "label": "here" } },
        { "type": "kill" }, { "type": "signal", "value": "term" },
    ]);
    assert_eq!(json!(outcome.actions), expected);
    assert_eq!(outcome.last_intent.as_deref(), Some(""));
    let matcher =
        adapter.wait_matcher("wait_all_matcher", &json!({ "text": "ready" })).expect("a tree");
    let expected = json!({ "type": "all", "value": [
        { "type": "contains_text", "value": "ready" }, { "type": "screen_regex", "value": "a.b" },
        { "type": "transcript_contains", "value": "c" }, { "type": "transcript_regex", "value": "d" },
        { "type": "screen_stable", "value": { "min_ms": 250 } },
        { "type": "screen_stable", "value": { "min_ms": 300 } },
        { "type": "process_exited" },
        { "type": "any", "value": [
            { "type": "contains_text", "value": "x" }, { "type": "contains_text", "value": "y" } ] },
    ] });
    assert_eq!(json!(matcher), expected);
    let error = adapter.intent("wrong", &Value::Null).expect_err("a number");
    assert!(
        error.to_string().contains("ptywright.action.key takes a string, not number"),
        "{error}"
    );
    let echo = |params| adapter.intent("echo", &params).expect("an echo").last_intent;
    assert_eq!(echo(json!({ "a": [1] })).as_deref(), Some("table-table"));
    assert_eq!(echo(json!(null)).as_deref(), Some("nil-nil"));
}

#[test]
fn permissions_are_checked_when_something_is_used() {
    let registry = loaded("poor", r#""input.write""#, API);
    let adapter = registry.adapter("poor").expect("an adapter");
    assert!(adapter.intent("type", &Value::Null).is_ok());
    for (intent, what) in [("kill", "ptywright.action.kill"), ("kill_by_hand", "the action kill")] {
        let error = adapter.intent(intent, &Value::Null).expect_err(intent);
        let expected =
            CallError::Permission { what: what.into(), permission: Permission::SessionKill };
        assert_eq!(error, expected);
        assert!(error.to_string().contains("needs the permission session.kill"), "{error}");
    }
    for name in ["wait_matcher", "wait_made_matcher"] {
        let error = adapter.wait_matcher(name, &Value::Null).expect_err(name);
        assert!(
            matches!(error, CallError::Permission { permission: Permission::MatcherWait, .. }),
            "{error}"
        );
    }
}

#[test]
fn functions_are_called_only_as_their_kind() {
    let registry = loaded(
        "api",
        ALL,
        &API.replace("return M\n", "M.classify = print M.version = 1 return M\n"),
    );
    let adapter = registry.adapter("api").expect("an adapter");
    for name in ["classify", "describe", "wait_matcher", "none", "version", ""] {
        let error = adapter.intent(name, &Value::Null).expect_err(name);
        assert!(matches!(error, CallError::NoFunction(_)), "{name}: {error}");
    }
    let error = adapter.wait_matcher("type", &Value::Null).expect_err("an intent");
    assert!(error.to_string().contains("`type` is not a wait matcher"), "{error}");
    let described = registry.describe("api").expect("a description");
    assert_eq!(described["plugin"], "api");
    assert_eq!(described["manifest"]["entrypoint"], "main.luau");
    let names = |key: &str| -> Vec<_> {
        let entries = described[key].as_array().expect("a list").iter();
        entries.map(|entry| entry["name"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names("intents"), ["echo", "everything", "kill", "kill_by_hand", "type", "wrong"]);
    assert_eq!(names("wait_matchers"), ["wait_all_matcher", "wait_made_matcher", "wait_matcher"]);
    assert_eq!(described["states"], json!([]));
}

#[test]
fn classify_gets_the_documented_context() {
    let source = "local M = {} function M.classify(ctx)
        local seen = {}
        for key, value in pairs(ctx) do seen[#seen + 1] = key .. '=' .. type(value) end
        table.sort(seen)
        return { state = 'seen', confidence = 1, evidence = table.concat(seen, ' '), sequence = ctx.sequence,
            metadata = { body = ctx.body_text, status = ctx.status_text, mark = ctx.markers.m }, host_marks = { 'a' } }
    end return M";
    let registry = loaded("seen", ALL, source);
    let context = ClassifyContext {
        last_intent: Some("sent".into()),
        sequence: 9,
        markers: [("m".to_owned(), 4)].into(),
        ..ClassifyContext::of_screen("1\n2\n3\n4\n5")
    };
    let seen = registry.adapter("seen").expect("an adapter").classify(&context).expect("a state");
    assert_eq!(
        seen.evidence,
        "body_text=string completed_turn_stable_ms=number cursor=number last_intent=string markers=table \
         screen=string sequence=number stable_ms=number status_text=string transcript=string"
    );
    assert_eq!((seen.sequence, seen.host_marks), (9, vec!["a".to_owned()]));
    assert_eq!(seen.metadata, Some(json!({ "body": "1\n2", "status": "3\n4\n5", "mark": 4 })));
}

#[test]
fn a_failing_classifier_is_an_error_with_its_line() {
    let registry =
        loaded("failing", ALL, "return { classify = function(ctx)\nreturn ctx.none.field\nend }");
    let adapter = registry.adapter("failing").expect("an adapter");
    let error = adapter.classify(&ClassifyContext::default()).expect_err("an error");
    assert!(
        error.to_string().starts_with("classify failed: main.luau:2: attempt to index nil"),
        "{error}"
    );
    let registry =
        loaded("wrong", ALL, "return { classify = function() return { state = 1 } end }");
    let adapter = registry.adapter("wrong").expect("an adapter");
    let error = adapter.classify(&ClassifyContext::default()).expect_err("a wrong state");
    assert_eq!(
        error.to_string(),
        "classify returned a wrong value: `state` must be a string, not 1"
    );
}

#[test]
fn predicates_do_not_see_the_variables_of_adapters() {
    let source = "local set = 'unset' local M = {}
        function M.set() set = 'set' return { actions = {} } end
        function M.look(input) return { matched = input.process_exited == false, evidence = set,
            capture = input.params.anchor } end
        return M";
    let registry = loaded("apart", ALL, source);
    let adapter = registry.adapter("apart").expect("an adapter");
    adapter.intent("set", &Value::Null).expect("set");
    let input =
        PredicateInput { params: json!({ "anchor": "ready" }), ..PredicateInput::default() };
    let seen = adapter.predicate("look", &input).expect("a boolean");
    assert_eq!(seen.evidence.as_deref(), Some("set"));
    let seen = registry.predicate("apart", "look", &input).expect("a boolean");
    assert_eq!((seen.matched, seen.evidence.as_deref()), (true, Some("unset")));
    assert_eq!(seen.capture.as_deref(), Some("ready"));
    let error = registry.predicate("none", "look", &input).expect_err("no plugin");
    assert!(error.to_string().contains("unknown plugin `none`"), "{error}");
}

#[test]
fn plugins_are_loaded_once_and_unloaded_without_adapters() {
    let registry = Registry::default();
    let (_folder, path) = written("extra", ALL, "return {}");
    assert_eq!(registry.load(&path).as_deref(), Ok("extra"));
    assert_eq!(registry.load(&path), Err(LoadError::Loaded("extra".into())));
    let names: Vec<_> = registry.manifests().into_iter().map(|manifest| manifest.name).collect();
    assert_eq!(names, ["claude-code", "codex", "extra", "shell"]);
    assert_eq!(registry.built_in_manifests().len(), 3);
    let adapter = registry.adapter("extra").expect("an adapter");
    let bound = UnloadError::Bound { plugin: "extra".into(), count: 1 };
    assert_eq!(registry.unload("extra"), Err(bound));
    drop(adapter);
    assert_eq!(registry.unload("extra"), Ok(()));
    assert_eq!(registry.unload("extra"), Err(UnloadError::Unknown("extra".into())));
    assert_eq!(registry.unload("shell"), Err(UnloadError::BuiltIn("shell".into())));
    let (_folder, path) = written("claude-code", ALL, "return {}");
    assert_eq!(registry.load(&path), Err(LoadError::BuiltIn("claude-code".into())));
}

#[test]
fn loading_errors_state_the_reason() {
    let registry = Registry::default();
    for (source, expected) in [
        ("return 5", "a table of functions is expected, not number"),
        ("return", "not nil"),
        ("return {", "main.luau:1:"),
        ("error('no')", "main.luau:1: no"),
        ("return { [1] = print }", "has a number as a key"),
        ("return { ['a b'] = print }", "`a b` is no name for a function"),
        (
            "local t = {} for i = 1, 300 do t['f' .. i] = print end return t",
            "more than 256 entries",
        ),
    ] {
        let (_folder, path) = written("broken", ALL, source);
        let error = registry.load(&path).expect_err(source).to_string();
        assert!(
            error.contains("the plugin `broken` can't be loaded") && error.contains(expected),
            "{error}"
        );
    }
    let (folder, path) = written("wasm", ALL, "return {}");
    let text = fs::read_to_string(&path).expect("the manifest").replace("\"lua\"", "\"wasm\"");
    fs::write(&path, text).expect("the manifest");
    let error = registry.load(&path).expect_err("wasm").to_string();
    assert!(error.contains("manifest.toml is wrong: `runtime` is `wasm`"), "{error}");
    let error = registry.load(&folder.path().join("none.toml")).expect_err("no file").to_string();
    assert!(error.contains("can't read") && error.contains("none.toml"), "{error}");
    let error = registry.load(folder.path()).expect_err("a folder").to_string();
    assert!(error.contains("not a regular file"), "{error}");
}

#[test]
fn every_built_in_plugin_describes_itself() {
    let registry = Registry::default();
    for manifest in registry.manifests() {
        assert_eq!(manifest.permissions, Permission::ALL, "{}", manifest.name);
        let described = registry.describe(&manifest.name).expect("a description");
        let adapter = registry.adapter(&manifest.name).expect("an adapter");
        for matcher in described["wait_matchers"].as_array().expect("a list") {
            let name = matcher["name"].as_str().expect("a name");
            let tree = adapter.wait_matcher(name, &json!({})).expect(name);
            assert!(matches!(tree, Matcher::Any(_) | Matcher::All(_)), "{name}");
        }
        // Every plugin has the matcher that hosts use if a caller names no matcher.
        let waits = described["wait_matchers"].as_array().expect("a list").iter();
        assert!(waits.clone().any(|wait| wait["name"] == "wait_turn_matcher"), "{}", manifest.name);
        for key in ["intents", "states"] {
            let entries = described[key].as_array().expect("a list");
            assert!(!entries.is_empty());
            assert!(entries.iter().all(|entry| entry["description"].is_string()), "{key}");
        }
    }
}

/// The maximum number of steps of `classify` for a full screen: a tenth of the limit of a call.
const STEPS: u64 = 500_000;

#[test]
fn any_full_screen_is_classified_within_the_step_limit() {
    let registry = Registry::new(Limits { steps: STEPS, ..Limits::default() });
    let rows = [
        "x".repeat(200),
        " ".repeat(199) + "x",
        "1".repeat(200),
        "x ".repeat(100),
        "1. ".repeat(66),
        "❯ ".repeat(100),
        "❯ 1. Yes ".repeat(20),
        "⏺ … ctrl+o ".repeat(15),
        "✻ … for 1 ".repeat(18),
        "› ".repeat(100),
        "■ limit ".repeat(25),
        "Total cost: 1".to_owned() + &"1".repeat(180),
        "Usage: ".to_owned() + &"1.".repeat(90) + " input",
        "Password".to_owned() + &":".repeat(190),
        "│".repeat(200),
    ];
    let endings = ["", "\n❯ \n", "\nEsc to cancel\n", "\n❯ 1. Yes\n  2. No\n", "\n› \n"];
    for name in ["claude-code", "codex", "shell"] {
        let adapter = registry.adapter(name).expect("an adapter");
        for row in &rows {
            for ending in endings {
                let context = ClassifyContext {
                    last_intent: Some("prompt_submitted".into()),
                    transcript: row.repeat(500),
                    stable_ms: 5000,
                    ..ClassifyContext::of_screen(format!("{row}\n").repeat(60) + ending)
                };
                let classified = adapter.classify(&context);
                assert!(classified.is_ok(), "{name}: {row:.20}{ending}: {classified:?}");
            }
        }
    }
}

/// The first code block in this language in the guide for authors.
fn guide(language: &str) -> String {
    let guide = include_str!("../../../../assets/docs/plugins.md");
    let (_, block) = guide.split_once(&format!("```{language}\n")).expect("a block");
    block.split("```").next().expect("its end").to_owned()
}

#[test]
fn the_example_of_the_guide_works() {
    let folder = tempfile::tempdir().expect("a folder");
    let manifest = folder.path().join("manifest.toml");
    fs::write(&manifest, guide("toml")).expect("the manifest");
    fs::write(folder.path().join("main.luau"), guide("lua")).expect("the source");
    let registry = Registry::default();
    assert_eq!(registry.load(&manifest).as_deref(), Ok("python"));
    let adapter = registry.adapter("python").expect("an adapter");
    let state = |screen: &str| {
        adapter.classify(&ClassifyContext::of_screen(screen)).expect("a state").state
    };
    assert_eq!(state(">>> 1 + 1\n2\n>>> "), "ready");
    assert_eq!(state(">>> input()\n"), "running");
    let outcome = adapter.intent("evaluate", &json!({ "expression": "1 + 1" })).expect("actions");
    assert_eq!(json!(outcome.actions)[0]["value"], "1 + 1");
    adapter.wait_matcher("wait_turn_matcher", &json!({})).expect("a matcher");
}
