//! Tests of the Model Context Protocol over lines, in both of its versions, and of the toolset `unterm`: its tools, the
//! life of a call, and refusals. Other files test the results of the tools.

mod ask_user;
mod awaiting;
mod http;
mod many_panes;
mod new_rows;
mod notices;
mod questions;
mod refusals;
mod resources;
mod run;
mod screen;
mod secrets;
mod wait;

use crate::support::{self, Fixture, client::Client};
use serde_json::{Value, json};

/// Fails if a schema contains what strict clients reject.
fn assert_strict(schema: &Value, at: &str) {
    let Some(fields) = schema.as_object() else { return };
    for name in ["$ref", "$defs", "$schema", "format", "nullable"] {
        assert!(!fields.contains_key(name), "{at}: {name}");
    }
    assert!(!fields.get("type").is_some_and(Value::is_array), "{at}: several types");
    for (name, value) in fields.get("properties").and_then(Value::as_object).into_iter().flatten() {
        assert_strict(value, &format!("{at}.{name}"));
    }
    for inner in ["items", "additionalProperties"] {
        assert_strict(fields.get(inner).unwrap_or(&Value::Null), &format!("{at}[]"));
    }
}

/// The tools of a toolset, and the instructions for its use.
fn listed(fixture: &Fixture, toolset: &str) -> (Value, String) {
    let mut client = Client::silent(fixture, toolset);
    let hello = client.hello("reader", "2025-11-25", &json!({}));
    let listed = client.request("tools/list", json!({}))["result"].take();
    (listed, hello["instructions"].as_str().unwrap().to_owned())
}

#[test]
fn the_small_toolset_is_small_and_complete_in_itself() {
    let fixture = Fixture::new();
    let (small, instructions) = listed(&fixture, "small");
    let length = small.to_string().len();
    assert!(length <= 6000, "a model reads all of it, and it has {length} bytes");
    let names = |listed: &Value| -> Vec<String> {
        let tools = listed["tools"].as_array().unwrap().iter();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let own = names(&small);
    assert_eq!(own, ["status", "run", "input", "wait", "screen", "signal", "block"]);
    // The texts of the small toolset name no tool that it does not have.
    let (large, _) = listed(&fixture, "unterm");
    let text = format!("{instructions} {small}");
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let words: Vec<&str> = text.split(|char: char| !is_word(char)).collect();
    for tool in names(&large).iter().filter(|name| !own.contains(name)) {
        assert!(!words.contains(&&**tool), "{tool}");
    }
    // A tool has the same effects as in the large toolset, and has only arguments that it has there, too.
    for tool in small["tools"].as_array().unwrap() {
        let known = large["tools"].as_array().unwrap();
        let known = known.iter().find(|known| known["name"] == tool["name"]).unwrap();
        assert_eq!(tool["annotations"], known["annotations"]);
        assert_strict(&tool["inputSchema"], "small");
        for (name, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            assert_eq!(*schema, known["inputSchema"]["properties"][name], "{name}");
        }
    }
    // A tool works as in the large toolset, and accepts arguments that the small toolset does not list.
    let mut client = Client::silent(&fixture, "small");
    client.hello("few words", "2025-11-25", &json!({}));
    let why = client.fail("run", json!({"command": "x"}));
    assert_eq!(why, "There is no pane");
    assert_eq!(client.call("status", json!({}))["toolset"], "small");
    let pane = fixture.shell(&mut fixture.login()).id;
    let ran = client.call("run", json!({"pane": pane, "command": "echo 42", "max_chars": 1}));
    assert_eq!((&ran["exit_code"], &ran["clipped"]["characters"]), (&json!(0), &json!(1)));
    assert_eq!(client.fail("screen", json!({"pane": 99})), "There is no pane 99");
    let unknown = client.request("tools/call", json!({"name": "pane_open", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[test]
fn both_protocol_eras_list_the_same_strict_tools() {
    let fixture = Fixture::new();
    let mut old = Client::old(&fixture);
    let mut new = Client::new(&fixture);
    let listed = old.request("tools/list", json!({}))["result"].take();
    let tools = listed["tools"].as_array().unwrap();
    assert_eq!(&new.request("tools/list", json!({}))["result"]["tools"], &listed["tools"]);
    assert!((10..=21).contains(&tools.len()), "{}", tools.len());
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert!(tool["description"].as_str().unwrap().len() < 500, "{name}");
        for (schema, is_closed) in [("inputSchema", true), ("outputSchema", false)] {
            let schema = &tool[schema];
            assert_eq!(schema["type"], "object", "{name}");
            assert_eq!(schema.get("additionalProperties").is_some(), is_closed, "{name}");
            assert_strict(schema, name);
        }
        let hints = &tool["annotations"];
        assert!(hints["readOnlyHint"].is_boolean() && tool["title"].is_string(), "{tool}");
    }
    let length = listed.to_string().len();
    assert!(length <= 15_000, "a model reads all of it, and it has {length} bytes");
    // Replies about the session itself: the client's name, and errors for unknown tools and methods.
    assert_eq!(old.call("status", json!({}))["you"], "old client");
    assert_eq!(new.call("status", json!({}))["you"], "new client");
    let unknown = new.request("tools/call", json!({"name": "nope", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    for (method, params) in [
        ("tools/call", json!({"arguments": {}})),
        ("tools/call", json!({"name": 3})),
        ("resources/read", json!({})),
    ] {
        for client in [&mut new, &mut old] {
            let wrong = client.request(method, params.clone());
            assert_eq!(wrong["error"]["code"], -32602, "{method} {params}: {wrong}");
        }
    }
    assert_eq!(old.request("nope/nope", json!({}))["error"]["code"], -32601);
    let wrong = old.fail("run", json!({"comand": "x"}));
    let right = "`run` takes no `comand`; did you mean `command`? It takes command, ";
    assert!(wrong.starts_with(right), "{wrong}");
    assert!(wrong.ends_with(r#". Example: run {"command": "make test"}"#), "{wrong}");
    assert_eq!(
        new.fail("run", json!({"command": "x"})),
        "There is no pane; open one with pane_open"
    );
}

#[test]
fn a_toolset_that_is_not_there_is_refused_at_the_login() {
    let fixture = Fixture::new();
    let mut wire = fixture.connect();
    let why = wire.fail("auth.login", json!({"token": fixture.token(), "mcp": "nope"}));
    assert!(why.starts_with("There is no toolset \"nope\"; there are: unterm"), "{why}");
    let wrong = wire.reply("auth.login", json!({"token": "wrong", "mcp": "unterm"}));
    assert_eq!(wrong["error"]["code"], -32001);
}

#[test]
fn messages_in_one_piece_with_the_login_are_served() {
    let fixture = Fixture::new();
    let mut wire = fixture.connect();
    let login =
        json!({"id": 1, "method": "auth.login", "params": {"token": fixture.token(), "mcp": ""}});
    let hello = json!({"jsonrpc": "2.0", "id": 2, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "hasty", "version": "1"},
    }});
    wire.send(format!("{login}\n{hello}\n"));
    assert!(wire.receive().unwrap().contains("ok"));
    assert!(wire.receive().unwrap().contains("2025-06-18"));
}

#[test]
fn tools_pass_the_same_rules_as_every_call() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let pane = client.shell(&fixture);
    let mut user = fixture.login();
    let rules = json!({"enabled": true, "allowed_patterns": [], "blocked_patterns": ["rm -rf"]});
    user.call("policy.set", rules);
    let refused = client.fail("run", json!({"command": "rm -rf nothing"}));
    assert!(refused.starts_with("Command blocked by policy"), "{refused}");
    let refused = client.fail("input", json!({"text": "rm -rf nothing", "keys": ["enter"]}));
    assert!(refused.starts_with("Command blocked by policy"), "{refused}");
    user.call("session.lease", json!({"id": pane}));
    let refused = client.fail("input", json!({"text": "x"}));
    let leased = format!("Nothing was typed: pane {pane} is leased by ");
    assert!(refused.starts_with(&leased), "{refused}");
    user.call("session.release", json!({"id": pane}));
    assert_eq!(client.call("lease", json!({}))["held"], true);
    let refused = user.fail("session.input", json!({"id": pane, "input": "x"}));
    assert_eq!(refused, format!("Session {pane} is leased by old client"));
    // The call is logged under the client's name.
    let log = user.call("session.audit_log", json!({"id": pane}));
    let entries = log.as_array().unwrap();
    let refused = entries.iter().find(|entry| entry["method"] == "exec.run_wait").unwrap();
    assert_eq!((&refused["allowed"], &refused["client"]), (&json!(false), &json!("old client")));
    // The lease ends when the client disconnects.
    drop(client);
    let end = std::time::Instant::now() + support::PATIENCE;
    while user.reply("session.input", json!({"id": pane, "input": "x"})).get("error").is_some() {
        assert!(std::time::Instant::now() < end, "the lease stays");
        std::thread::yield_now();
    }
}

#[test]
fn a_long_wait_reports_progress_and_can_be_canceled() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    client.shell(&fixture);
    let arguments = json!({"any": [{"text": "never"}], "timeout_ms": 5000});
    let params =
        json!({"name": "wait", "arguments": arguments, "_meta": {"progressToken": "mine"}});
    let waited = client.request("tools/call", params);
    assert_eq!(waited["result"]["structuredContent"]["matched"], false, "{waited}");
    let note = &client.notes[0];
    assert_eq!(note["method"], "notifications/progress");
    assert_eq!(note["params"]["progressToken"], "mine");

    let arguments = json!({"any": [{"text": "never"}]});
    let given_up = client.begin("tools/call", json!({"name": "wait", "arguments": arguments}));
    let params = json!({"requestId": given_up, "reason": "enough"});
    client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    // The canceled request gets no reply, so the next reply belongs to the next request.
    let next = client.begin("ping", json!({}));
    assert_eq!(client.end(next)["result"], json!({}));
}

#[test]
fn calls_of_one_client_do_not_wait_for_each_other() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    client.shell(&fixture);
    let arguments = json!({"any": [{"text": "let go"}]});
    let waiting = client.begin("tools/call", json!({"name": "wait", "arguments": arguments}));
    assert_eq!(client.call("run", json!({"command": "true"}))["exit_code"], 0);
    let typing = client
        .begin("tools/call", json!({"name": "input", "arguments": {"text": "echo let\" go\"\n"}}));
    let mut ended = Vec::new();
    while ended.len() < 2 {
        let message: Value = serde_json::from_str(&client.wire.receive().unwrap()).unwrap();
        ended.push(message["id"].as_u64().unwrap());
    }
    ended.sort_unstable();
    assert_eq!(ended, [waiting, typing]);
}

#[test]
fn empty_values_are_refused_with_a_right_example() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let pane = client.shell(&fixture);
    for (tool, arguments, why) in [
        (
            "wait",
            json!({}),
            r#"Give the conditions in `any` or `all`, such as [{"text": "ready"}], or the `handle` of an earlier call"#,
        ),
        (
            "input",
            json!({}),
            r#"Say what to type or press in `text`, `paste`, `keys` or `mouse`, such as {"keys": ["enter"]}"#,
        ),
        (
            "screen",
            json!({"first_row": 99}),
            "`first_row` must be from 0 to 23, the last on the screen, not 99",
        ),
        (
            "screen",
            json!({"first_col": 80}),
            "`first_col` must be from 0 to 79, the last on the screen, not 80",
        ),
    ] {
        assert_eq!(client.fail(tool, arguments), why);
    }
    let wrong = client.fail("wait", json!({"any": [{"exit": true}, {}]}));
    let right = "`any[1]` must be exactly one of text, regex, stable_ms, exit, ";
    assert!(wrong.starts_with(right) && wrong.ends_with("not {}"), "{wrong}");
    // The error lists only the conditions that are accepted, and nothing was typed for a refused call.
    assert!(!wrong.contains("seq,"), "{wrong}");
    let two = json!([{"exit": true, "prompt": true}]);
    let wrong = client.fail("input", json!({"text": "echo typed\n", "wait_all": two}));
    assert!(wrong.starts_with("`wait_all[0]` must be exactly one of"), "{wrong}");
    let screen = client.call("screen", json!({"pane": pane}));
    assert!(!screen["text"].as_str().unwrap().contains("typed"), "{screen}");
    for (tool, size) in [
        ("pane_open", json!({"cols": 70_000, "rows": 5})),
        ("pane_resize", json!({"cols": 70_000, "rows": 5})),
    ] {
        let wrong = client.fail(tool, size);
        let right = "`cols` must be a whole number from 1 to 10000, not 70000";
        assert_eq!(wrong, right, "{tool}");
    }
}
