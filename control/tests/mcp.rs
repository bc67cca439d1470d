//! The Model Context Protocol over lines, as a client of either era speaks it, and the toolset `unterm`.

mod support;

use serde_json::{Value, json};
use support::{Fixture, Wire, client::Client};
use unterm_control::{Approval, METHODS};
use unterm_mux::PaneId;

/// Fails where a schema has what strict clients refuse.
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

#[test]
fn both_eras_are_told_of_the_same_few_strict_tools() {
    let fixture = Fixture::new();
    let mut old = Client::old(&fixture);
    let mut new = Client::new(&fixture);
    let listed = old.request("tools/list", json!({}))["result"].take();
    let tools = listed["tools"].as_array().unwrap();
    assert_eq!(&new.request("tools/list", json!({}))["result"]["tools"], &listed["tools"]);
    assert!((10..=20).contains(&tools.len()), "{}", tools.len());
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
        assert!(hints["readOnlyHint"].is_boolean() && hints["title"].is_string(), "{tool}");
    }
    assert!(listed.to_string().len() < 40_000, "a model reads all of it");
    // The session's own words: who it is, and what is not there.
    assert_eq!(old.call("status", json!({}))["you"], "old client");
    assert_eq!(new.call("status", json!({}))["you"], "new client");
    let unknown = new.request("tools/call", json!({"name": "nope", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    assert_eq!(old.request("nope/nope", json!({}))["error"]["code"], -32601);
    let wrong = old.fail("run", json!({"comand": "x"}));
    assert!(wrong.contains("unknown field `comand`"), "{wrong}");
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
fn what_comes_with_the_login_in_one_piece_is_heard() {
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
fn commands_are_run_in_a_shell_that_stays() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let pane = client.shell(&fixture);
    let ran =
        client.call("run", json!({"command": "mkdir sub; cd sub; A=5; (exit 3)", "pane": pane}));
    assert_eq!((&ran["ended"], &ran["exit_code"]), (&json!(true), &json!(3)), "{ran}");
    assert_eq!(ran["exit_source"], "block");
    let ran = client.call("run", json!({"command": "echo $A \"$(basename \"$PWD\")\""}));
    assert_eq!((&ran["output"], &ran["exit_code"]), (&json!("5 sub"), &json!(0)), "{ran}");
    assert_eq!(ran["untrusted"], json!(["output"]));

    // What is long has its ends, and is read in parts.
    let ran = client.call("run", json!({"command": "seq 5000", "max_chars": 1000}));
    let output = ran["output"].as_str().unwrap();
    let block = ran["block"].as_u64().unwrap();
    assert!(output.starts_with("1\n2\n") && output.ends_with("\n5000"), "{output}");
    assert!(output.contains(&format!("; block {block} has them …]")), "{output}");
    let missing = ran["clipped"]["characters"].as_u64().unwrap();
    assert!(missing > 20_000 && output.len() < 1200, "{missing}");
    let last = client.call("block", json!({"block": block, "first_line": 0, "line_count": 3}));
    assert_eq!((&last["state"], &last["authentic"]), (&json!("done"), &json!(true)), "{last}");
    assert_eq!((&last["output"], &last["line_count"]), (&json!("1\n2\n3"), &json!(5000)), "{last}");
    // Of more than the history keeps there is no block to read.
    let ran = client.call("run", json!({"command": "seq 20000", "max_chars": 1000}));
    assert_eq!((&ran["block"], &ran["exit_code"]), (&Value::Null, &json!(0)), "{ran}");
    let listed = client.call("pane_list", json!({}));
    assert_eq!(listed["panes"][0]["pane"], pane);
    assert!(listed["panes"][0]["cwd"].as_str().unwrap().ends_with("/sub"), "{listed}");
}

#[test]
fn a_command_that_takes_longer_is_asked_for_again_by_its_handle() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let pane = client.shell(&fixture);
    let begun = client
        .call("run", json!({"command": "echo asked; read -r A; echo got $A", "timeout_ms": 0}));
    assert_eq!(begun["ended"], false, "{begun}");
    let handle = begun["handle"].as_str().unwrap().to_owned();
    let still = client.call("wait", json!({"handle": handle, "timeout_ms": 1}));
    assert_eq!((&still["matched"], &still["handle"]), (&json!(false), &json!(handle)), "{still}");
    let asked = client.call("wait", json!({"pane": pane, "any": [{"regex": "^asked$"}]}));
    assert_eq!(asked["matched"], true, "{asked}");
    // Whoever did not begin it can't ask for it.
    let mut other = Client::old(&fixture);
    let refused = other.fail("wait", json!({"handle": handle}));
    assert!(refused.starts_with("There is no such handle"), "{refused}");
    client.call("input", json!({"pane": pane, "text": "it\n"}));
    let ended = client.call("wait", json!({"handle": handle}));
    assert_eq!(ended["matched"], true, "{ended}");
    assert_eq!(ended["run"]["output"], "asked\nit\ngot it", "{ended}");
    assert_eq!(ended["run"]["exit_code"], 0);
    assert!(client.fail("wait", json!({"handle": handle})).starts_with("There is no such handle"));
    // Its output is given as is said there.
    let command = "echo again; read -r A; printf 'a\\xe2\\x80\\x8bb\\n'; seq 100";
    let begun = client.call("run", json!({"command": command, "timeout_ms": 0}));
    client.call("wait", json!({"pane": pane, "any": [{"regex": "^again$"}]}));
    client.call("input", json!({"pane": pane, "text": "it\n"}));
    let handle = begun["handle"].as_str().unwrap();
    let ended = client.call("wait", json!({"handle": handle, "max_chars": 50, "raw": true}));
    let output = ended["run"]["output"].as_str().unwrap();
    assert!(output.contains("a\u{200b}b") && output.contains("characters in"), "{output}");
    assert_eq!(ended["run"]["truncated"], false);
}

#[test]
fn what_is_missing_of_a_long_output_is_said() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    client.shell(&fixture);
    // Escapes are longer than what they stand for.
    let command = "printf 'a\\xe2\\x80\\x8b%.0s' {1..9}";
    let escaped = client.call("run", json!({"command": command, "max_chars": 50}));
    let output = escaped["output"].as_str().unwrap();
    assert!(output.contains(&format!("; block {} has them", escaped["block"])), "{escaped}");
    // More than is kept.
    let long = client.call("run", json!({"command": "seq 1000000 2500000", "max_chars": 40}));
    assert_eq!((&long["truncated"], &long["block"]), (&json!(true), &Value::Null), "{long}");
    let output = long["output"].as_str().unwrap();
    assert!(output.ends_with("2500000") && !output.contains(" has them"), "{output}");
}

#[test]
fn input_and_what_comes_of_it_are_one_call() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let pane = client.shell(&fixture);
    let typed = client.call(
        "input",
        json!({
            "text": "echo no",
            "paste": "w $((40 + 2))",
            "keys": ["enter"],
            "wait_any": [{"regex": "^now \\d+$"}],
            "timeout_ms": 50_000,
        }),
    );
    assert_eq!(typed["wait"]["matched"], true, "{typed}");
    assert_eq!(typed["wait"]["conditions"][0]["text"], "now 42");
    assert!(typed["screen"].as_str().unwrap().contains("\nnow 42"), "{typed}");
    let place = client.call("find", json!({"pattern": "^now 42", "regex": true}));
    let row = place["places"][0]["row"].as_u64().unwrap();
    assert_eq!(
        (&place["places"][0]["col"], &place["places"][0]["end_col"]),
        (&json!(0), &json!(5))
    );
    assert_eq!(place["total"], 1, "{place}");
    let seen = client.call("screen", json!({"first_row": row, "row_count": 1}));
    assert_eq!(seen["text"], "now 42", "{seen}");
    assert_eq!((&seen["cols"], &seen["awaiting_secret"]), (&json!(80), &json!(false)));
    let unknown = client.fail("input", json!({"keys": ["hyper+x"]}));
    assert!(unknown.starts_with("Unknown key(s): [\"hyper+x\"]"), "{unknown}");
    // What has changed since, as cells, and all of it again.
    let seq = seen["seq"].as_u64().unwrap();
    client.call("run", json!({"command": "printf '\\033[1;31mred\\033[m\\n'"}));
    let diff = client.call("screen", json!({"format": "diff", "since_seq": seq}));
    let rows = diff["changes"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["text"] == "red"), "{diff}");
    assert!(!rows.iter().any(|row| row["text"] == "now 42"), "{diff}");
    let cells = client.call("screen", json!({"format": "cells"}));
    let red = cells["cells"].as_array().unwrap().iter().find(|run| run["text"] == "red");
    let red = red.unwrap_or_else(|| panic!("{cells}"));
    assert_eq!((&red["foreground"], &red["attributes"]), (&json!("idx:1"), &json!(["bold"])));
    let found =
        client.call("search", json!({"pattern": "NOW \\d", "regex": true, "ignore_case": true}));
    assert_eq!(found["matches"][0]["pane"], pane);
    let all = client.call("transcript", json!({}));
    assert!(all["text"].as_str().unwrap().contains("now 42"), "{all}");
    assert_eq!(client.call("signal", json!({"signal": "INT"}))["sent"], true);
    assert_eq!(client.call("pane_resize", json!({"cols": 100, "rows": 30}))["pane"], pane);
    let split = client.call("pane_split", json!({"command": ["cat"], "direction": "down"}));
    assert_ne!(split["pane"], pane);
    let which = client.fail("screen", json!({}));
    assert!(which.starts_with("Say which pane: there are ["), "{which}");
    client.call("pane_close", json!({"pane": split["pane"]}));
    assert!(fixture.mux.pane(PaneId(split["pane"].as_u64().unwrap())).is_none());
}

#[test]
fn what_nobody_sees_is_escaped_and_secrets_are_taken_out() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    client.shell(&fixture);
    let command = "printf 'a\\u202eb\\u200bc\\n'";
    let ran = client.call("run", json!({"command": command}));
    assert_eq!(ran["output"], "a\\u{202e}b\\u{200b}c", "{ran}");
    let raw = client.call("run", json!({"command": command, "raw": true}));
    assert_eq!(raw["output"], "a\u{202e}b\u{200b}c", "{raw}");
    client.call("run", json!({"command": "printf 'api_%s: %s\\n' key hunter2"}));
    let read = client.call("transcript", json!({}));
    assert!(read["text"].as_str().unwrap().contains("key: <redacted>"), "{read}");
    let read = client.call("transcript", json!({"secrets": true}));
    assert!(read["text"].as_str().unwrap().contains("api_key: hunter2"), "{read}");
}

#[test]
fn a_part_of_a_screen_is_read_and_secrets_on_it_are_covered_when_asked_for() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let rules = json!({"redaction": {"custom_patterns": ["hunter[0-9]"]}});
    std::fs::create_dir_all(fixture.registry()).unwrap();
    std::fs::write(fixture.registry().join("recording.json"), rules.to_string()).unwrap();
    let script = "printf 'one two hunter2 漢字\\npass\\033[1mword: s3cret\\033[m end\\n'; cat";
    client.call("pane_open", json!({"command": ["sh", "-c", script], "cols": 40, "rows": 5}));
    client.until(json!({"any": [{"regex": "end$"}]}));
    let mut text = |more: Value| client.call("screen", more)["text"].clone();
    assert_eq!(text(json!({})), "one two hunter2 漢字\npassword: s3cret end");
    assert_eq!(text(json!({"first_col": 4, "col_count": 3})), "two\nwor");
    assert_eq!(text(json!({"first_col": 16, "col_count": 2, "row_count": 1})), "漢");
    assert_eq!(text(json!({"first_col": 10, "first_row": 1})), "s3cret end");
    let covered = "one two ******* 漢字\npassword: ****** end";
    assert_eq!(text(json!({"redact": true})), covered);
    assert_eq!(text(json!({"redact": true, "first_col": 9, "col_count": 3})), "***\n **");
    let part =
        json!({"format": "cells", "redact": true, "first_row": 1, "first_col": 2, "col_count": 11});
    let seen = client.call("screen", part);
    let runs: Vec<_> = seen["cells"].as_array().unwrap().iter().collect();
    let places: Vec<_> = runs.iter().map(|run| (&run["row"], &run["col"], &run["text"])).collect();
    assert_eq!(
        places,
        [(&json!(1), &json!(2), &json!("ss")), (&json!(1), &json!(4), &json!("word: ***"))]
    );
    assert_eq!(seen["redacted"], 2, "{seen}");
    let diff = client.call("screen", json!({"format": "diff", "redact": true})).to_string();
    assert!(diff.contains("two ******* 漢字") && !diff.contains("s3cret"), "{diff}");
    let refused = client.fail("screen", json!({"format": "png", "redact": true}));
    assert!(refused.contains("can't be redacted"), "{refused}");
    // The person's own patterns hold for what has scrolled away too.
    let read = client.call("transcript", json!({}));
    assert_eq!(read["text"], "one two <redacted> 漢字\npassword: <redacted> end", "{read}");
}

#[test]
fn a_password_is_the_persons_to_type() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let pane = client.shell(&fixture);
    let command = "stty -echo; printf 'Password: '; read -r P; stty echo; echo; echo ${#P}";
    let asked = client.call("run", json!({"command": command}));
    assert_eq!(
        (&asked["ended"], &asked["awaiting_secret"]),
        (&json!(false), &json!(true)),
        "{asked}"
    );
    for input in
        [json!({"text": "guess\n"}), json!({"paste": "guess"}), json!({"keys": ["a", "enter"]})]
    {
        let refused = client.fail("input", input);
        assert!(refused.contains("asks for a secret, which only a person may type"), "{refused}");
    }
    let refused = client.fail("run", json!({"command": "guess"}));
    assert!(refused.contains("asks for a secret"), "{refused}");
    fixture.mux.pane(PaneId(pane)).unwrap().write(b"hunter2\r").unwrap();
    let ended = client.call("wait", json!({"handle": asked["handle"]}));
    assert_eq!(ended["run"]["exit_code"], 0, "{ended}");
    assert!(ended["run"]["output"].as_str().unwrap().ends_with("\n7"), "{ended}");
    assert!(!ended.to_string().contains("hunter2"));
    // Ctrl+C is no answer.
    let seq = client.call("screen", json!({}))["seq"].clone();
    client.call("run", json!({"command": command}));
    let question = json!({"any": [{"regex": "^Password: ?$"}], "since_seq": seq});
    let asked = client.call("wait", question);
    assert_eq!(asked["matched"], true, "{asked}");
    let given_up =
        json!({"keys": ["ctrl+c"], "wait_any": [{"prompt": true}], "timeout_ms": 50_000});
    assert_eq!(client.call("input", given_up)["wait"]["matched"], true);
}

#[test]
fn a_password_is_the_persons_to_type_though_every_key_is_read_by_itself() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let pane = client.shell(&fixture);
    let command = "stty -icanon -echo; printf '[sudo] password for me: '; read -rn 1 A; \
                   printf '*'; read -r P; stty sane; echo; echo $((1 + ${#P}))";
    let asked = client.call("run", json!({"command": command}));
    assert_eq!(asked["awaiting_secret"], true, "{asked}");
    let refused = client.fail("input", json!({"text": "guess\n"}));
    assert!(refused.contains("asks for a secret, which only a person may type"), "{refused}");
    let person = fixture.mux.pane(PaneId(pane)).unwrap();
    person.write(b"h").unwrap();
    client.until(json!({"any": [{"text": "for me: *"}]}));
    assert_eq!(client.call("screen", json!({}))["awaiting_secret"], true, "it goes on");
    let refused = client.fail("input", json!({"keys": ["a"]}));
    assert!(refused.contains("asks for a secret"), "{refused}");
    person.write(b"unter2\r").unwrap();
    let ended = client.call("wait", json!({"handle": asked["handle"]}));
    assert!(ended["run"]["output"].as_str().unwrap().ends_with("\n7"), "{ended}");
    assert!(!ended.to_string().contains("unter2"));
    assert_eq!(client.call("screen", json!({}))["awaiting_secret"], false);
}

#[test]
fn a_line_that_is_edited_is_no_secret_whatever_it_says() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    for command in [["zsh", "-f"], ["bash", "--norc"]] {
        let [shell, _] = command;
        if !support::has(shell, &["-c", "true"]) {
            continue;
        }
        let opened = client.call("pane_open", json!({"command": command}));
        let on = |mut more: Value| {
            more["pane"] = opened["pane"].clone();
            more
        };
        client.until(on(json!({"any": [{"prompt": true}]})));
        assert_eq!(client.call("screen", on(json!({})))["awaiting_secret"], false, "{shell}");
        client.call("input", on(json!({"text": "echo Password:"})));
        client.until(on(json!({"any": [{"text": "echo Password:"}]})));
        let seen = client.call("screen", on(json!({})));
        assert_eq!(seen["awaiting_secret"], false, "{shell}: {seen}");
        client.call("input", on(json!({"text": " $((6 * 7))\n"})));
        client.until(on(json!({"any": [{"regex": "^Password: 42"}]})));
    }
    // Nor is one of a full-screen program.
    let script = "printf '\\033[?1049hPassword: '; stty -icanon -echo; read -r A; echo $A; cat";
    let opened = client.call("pane_open", json!({"command": ["bash", "-c", script]}));
    let on = |mut more: Value| {
        more["pane"] = opened["pane"].clone();
        more
    };
    client.until(on(json!({"any": [{"text": "Password:"}]})));
    let seen = client.call("screen", on(json!({})));
    assert_eq!(seen["awaiting_secret"], false, "{seen}");
    client.call("input", on(json!({"text": "an answer\n"})));
    client.until(on(json!({"any": [{"text": "an answer"}]})));
}

#[test]
fn tools_pass_the_same_rules_as_every_call() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let pane = client.shell(&fixture);
    let mut person = fixture.login();
    let rules = json!({"enabled": true, "allowed_patterns": [], "blocked_patterns": ["rm -rf"]});
    person.call("policy.set", rules);
    let refused = client.fail("run", json!({"command": "rm -rf nothing"}));
    assert!(refused.starts_with("Command blocked by policy"), "{refused}");
    let refused = client.fail("input", json!({"text": "rm -rf nothing", "keys": ["enter"]}));
    assert!(refused.starts_with("Command blocked by policy"), "{refused}");
    person.call("session.lease", json!({"id": pane}));
    let refused = client.fail("input", json!({"text": "x"}));
    assert!(refused.starts_with(&format!("Session {pane} is leased by ")), "{refused}");
    person.call("session.release", json!({"id": pane}));
    assert_eq!(client.call("lease", json!({}))["held"], true);
    let refused = person.fail("session.input", json!({"id": pane, "input": "x"}));
    assert_eq!(refused, format!("Session {pane} is leased by old client"));
    // What was done is in the log under the client's name.
    let log = person.call("session.audit_log", json!({"id": pane}));
    let entries = log.as_array().unwrap();
    let refused = entries.iter().find(|entry| entry["method"] == "exec.run_wait").unwrap();
    assert_eq!((&refused["allowed"], &refused["client"]), (&json!(false), &json!("old client")));
    // The lease goes with the client.
    drop(client);
    let end = std::time::Instant::now() + support::PATIENCE;
    while person.reply("session.input", json!({"id": pane, "input": "x"})).get("error").is_some() {
        assert!(std::time::Instant::now() < end, "the lease stays");
        std::thread::yield_now();
    }
}

#[test]
fn a_long_wait_tells_that_it_goes_on_and_can_be_given_up() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    client.shell(&fixture);
    let arguments = json!({"any": [{"text": "never"}], "timeout_ms": 2000});
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
    // Its reply never comes: the next one is the next request's.
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
fn screens_and_output_are_read_by_address_and_changes_of_them_told() {
    let fixture = Fixture::new();
    for is_new in [false, true] {
        let mut client = if is_new { Client::new(&fixture) } else { Client::old(&fixture) };
        let pane = client.shell(&fixture);
        let ran = client.call("run", json!({"pane": pane, "command": "echo on the screen"}));
        let screen = format!("unterm://pane/{pane}/screen");
        let output = format!("unterm://pane/{pane}/block/{}", ran["block"]);
        let listed = client.request("resources/list", json!({}));
        let listed = listed["result"]["resources"].as_array().unwrap();
        for uri in [&screen, &output] {
            let resource = listed.iter().find(|resource| resource["uri"] == *uri);
            let resource = resource.unwrap_or_else(|| panic!("{listed:?}"));
            assert_eq!(resource["_meta"]["unterm/untrusted"], json!(["title"]));
        }
        let templates = client.request("resources/templates/list", json!({}));
        assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 3);
        let mut read = |uri: &str| client.request("resources/read", json!({"uri": uri}));
        let found = read(&output)["result"]["contents"][0].take();
        assert_eq!(found["text"], "on the screen");
        assert_eq!(found["_meta"]["unterm/untrusted"], json!(["text"]));
        let text = read(&screen)["result"]["contents"][0]["text"].clone();
        assert!(text.as_str().unwrap().contains("\non the screen"), "{text}");
        let missing = if is_new { -32602 } else { -32002 };
        for uri in ["unterm://pane/999/screen", "unterm://recording/none", "file:///etc/passwd"] {
            assert_eq!(read(uri)["error"]["code"], missing, "{uri}");
        }

        if is_new {
            let wanted = json!({"resourceSubscriptions": [screen, "file:///etc/passwd"], "resourcesListChanged": true});
            client.begin("subscriptions/listen", json!({"notifications": wanted}));
            let accepted = client.note("notifications/subscriptions/acknowledged");
            let uris = &accepted["params"]["notifications"]["resourceSubscriptions"];
            assert_eq!(uris, &json!([screen]), "{accepted}");
        } else {
            let told = client.request("resources/subscribe", json!({"uri": screen}));
            assert_eq!(told["result"], json!({}), "{told}");
        }
        // Each output is one more reason to tell, until it was told.
        let told = client.until_note("notifications/resources/updated", |client| {
            client.call("run", json!({"pane": pane, "command": "echo more"}));
        });
        assert_eq!(told["params"]["uri"], screen, "{told}");
        client.until_note("notifications/resources/list_changed", |client| {
            client.call("pane_open", json!({"command": ["true"]}));
        });
    }
}

#[test]
fn what_says_nothing_is_refused_and_told_what_would_be_right() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let pane = client.shell(&fixture);
    for (tool, arguments, why) in [
        (
            "wait",
            json!({}),
            "Say in any or all what to wait for, or give a handle to go on waiting",
        ),
        ("input", json!({}), "Say what to type or press: text, paste, keys or mouse"),
        ("screen", json!({"first_row": 99}), "first_row 99 is not on the screen; the last is 23"),
        ("screen", json!({"first_col": 80}), "first_col 80 is not on the screen; the last is 79"),
    ] {
        assert_eq!(client.fail(tool, arguments), why);
    }
    let wrong = client.fail("wait", json!({"any": [{"exit": true}, {}]}));
    let right = "Each condition of any must be exactly one of text, regex, stable_ms, exit, ";
    assert!(wrong.starts_with(right) && wrong.ends_with("got {}"), "{wrong}");
    // What is offered is taken; nothing was typed for what is refused.
    assert!(!wrong.contains("seq,"), "{wrong}");
    let two = json!([{"exit": true, "prompt": true}]);
    let wrong = client.fail("input", json!({"text": "echo typed\n", "wait_all": two}));
    assert!(wrong.starts_with("Each condition of wait_all must be"), "{wrong}");
    let screen = client.call("screen", json!({"pane": pane}));
    assert!(!screen["text"].as_str().unwrap().contains("typed"), "{screen}");
    for (tool, size) in [
        ("pane_open", json!({"cols": 70_000, "rows": 5})),
        ("pane_resize", json!({"cols": 70_000, "rows": 5})),
    ] {
        let wrong = client.fail(tool, size);
        let right = "Invalid 'cols': expected a whole number from 1 to 10000, got 70000";
        assert_eq!(wrong, right, "{tool}");
    }
}

#[test]
fn what_is_before_a_line_that_is_not_there_yet_is_the_end() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let script = "echo first; echo last; exec cat";
    client.call("pane_open", json!({"command": ["sh", "-c", script], "cols": 40, "rows": 2}));
    client.until(json!({"any": [{"text": "last"}]}));
    let read = client.call("transcript", json!({"before_line": 1_000_000}));
    assert!(read["text"].as_str().unwrap().starts_with("first\nlast"), "{read}");
    assert_eq!(read["more"], false);
}

#[test]
fn no_reply_is_longer_than_clients_take() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let script = "printf '\\033[31mx\\033[0m %.0s' $(seq 8000); echo all; exec cat";
    let opened =
        client.call("pane_open", json!({"command": ["sh", "-c", script], "cols": 250, "rows": 70}));
    let pane = opened["pane"].clone();
    client.call("wait", json!({"pane": pane, "any": [{"text": "all"}]}));
    let seen = client.tool("screen", json!({"pane": pane, "format": "cells"}));
    assert_eq!(seen["structuredContent"]["complete"], false);
    let mut replies = vec![seen];
    for (tool, arguments) in [
        ("screen", json!({"pane": pane, "format": "diff"})),
        ("search", json!({"pane": pane, "pattern": "x", "max_results": 500})),
    ] {
        replies.push(client.tool(tool, arguments));
    }
    for reply in replies {
        let length = reply["content"][0]["text"].as_str().unwrap().len();
        assert!((10_000..50_000).contains(&length), "{length}");
    }
}

#[test]
fn more_places_than_a_reply_holds_are_counted() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let pane = client.shell(&fixture);
    client.call("run", json!({"pane": pane, "command": "printf 'q%.0s' $(seq 120)"}));
    let found = client.call("find", json!({"pane": pane, "pattern": "q"}));
    assert_eq!(found["places"].as_array().map(Vec::len), Some(100));
    assert!(found["total"].as_u64().unwrap() >= 120, "{}", found["total"]);
}

#[test]
fn a_recording_is_there_from_its_beginning_and_its_end_is_told() {
    let fixture = Fixture::new();
    let mut person = fixture.login();
    let mut client = Client::old(&fixture);
    let pane = client.shell(&fixture);
    client.request("resources/list", json!({}));
    // From here on the list is watched.
    client.until_note("notifications/resources/list_changed", |client| {
        client.call("pane_open", json!({"command": ["true"]}));
    });
    let begin = |person: &mut Wire, client: &mut Client| {
        let started = person.call("session.recording_start", json!({"id": pane}));
        let uri = format!("unterm://recording/{}", started["session_id"].as_str().unwrap());
        client.note("notifications/resources/list_changed");
        let listed = client.request("resources/list", json!({}));
        let listed = listed["result"]["resources"].as_array().unwrap();
        assert!(listed.iter().any(|resource| resource["uri"] == uri), "{listed:?}");
        let told = client.request("resources/subscribe", json!({"uri": uri}));
        assert_eq!(told["result"], json!({}), "{told}");
        uri
    };
    let text = |client: &mut Client, uri: &str| {
        let read = client.request("resources/read", json!({"uri": uri}));
        read["result"]["contents"][0]["text"].as_str().unwrap().to_owned()
    };
    let uri = begin(&mut person, &mut client);
    assert!(text(&mut client, &uri).contains("It goes on"));
    // A command that has ended changes no more, whatever others print.
    let ran = client.call("run", json!({"pane": pane, "command": "echo one"}));
    let block = format!("unterm://pane/{pane}/block/{}", ran["block"]);
    client.request("resources/subscribe", json!({"uri": block}));
    assert_eq!(client.note("notifications/resources/updated")["params"]["uri"], block);
    client.call("run", json!({"pane": pane, "command": "echo two"}));
    person.call("session.recording_stop", json!({"id": pane}));
    assert_eq!(client.note("notifications/resources/updated")["params"]["uri"], uri);
    let page = text(&mut client, &uri);
    assert!(page.contains("echo two") && !page.contains("It goes on"), "{page}");
    // One that ends with its session.
    client.notes.clear();
    let uri = begin(&mut person, &mut client);
    person.call("session.input", json!({"id": pane, "input": "exit\n"}));
    assert_eq!(client.note("notifications/resources/updated")["params"]["uri"], uri);
    client.note("notifications/resources/list_changed");
    assert!(!text(&mut client, &uri).contains("It goes on"));
}

#[test]
fn common_jobs_have_their_words() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let listed = client.request("prompts/list", json!({}));
    let names: Vec<_> = listed["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].clone())
        .collect();
    assert_eq!(names, ["drive_tui", "supervise_agent", "run_tests"]);
    let prompt = json!({"name": "run_tests", "arguments": {"command": "make check"}});
    let words = client.request("prompts/get", prompt);
    let text = words["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("run `make check` with run"), "{text}");
    let missing = client.request("prompts/get", json!({"name": "run_tests"}));
    assert_eq!(missing["error"]["code"], -32602, "{missing}");
}

/// The question that is open, once one is; the person's view of it.
fn question(fixture: &Fixture) -> unterm_control::Question {
    support::question(fixture.server())
}

#[test]
fn the_person_says_whether_an_unknown_client_acts() {
    let fixture = Fixture::new();
    fixture.server().set_approval(Approval::Ask);
    let mut client = Client::old(&fixture);
    // Who looks is not asked about.
    client.call("status", json!({}));
    let open = |client: &mut Client| {
        let command = json!({"command": ["sleep", "1000"], "cwd": fixture.home.path()});
        client.begin("tools/call", json!({"name": "pane_open", "arguments": command}))
    };
    let asked = open(&mut client);
    let first = question(&fixture);
    let would = format!(r#"pane_open: ["sleep","1000"]; cwd {}"#, fixture.home.path().display());
    assert_eq!((first.client.as_str(), first.text.as_str()), ("old client", would.as_str()));
    assert!(fixture.server().answers().give(first.number, "perhaps").is_err());
    fixture.server().answers().give(first.number, "once").unwrap();
    assert_eq!(client.end(asked)["result"]["isError"], false);
    // An answer is used up, and can't be given again.
    assert!(fixture.server().answers().give(first.number, "once").is_err());
    let asked = open(&mut client);
    let second = question(&fixture);
    assert!(second.number > first.number);
    // An agent that has the instance's token is no person.
    let mut wire = fixture.login();
    let refused =
        wire.fail("approvals.answer", json!({"number": second.number, "answer": "always"}));
    assert!(refused.contains("only the person"), "{refused}");
    fixture.server().answers().give(second.number, "deny").unwrap();
    let denied = client.end(asked);
    let why = "The person does not let old client act. Ask them before you try again.";
    assert_eq!(denied["result"]["content"][0]["text"], why);
    assert_eq!(client.fail("pane_open", json!({})), why, "nobody is asked again");
    let log = wire.call("session.audit_log", json!({"limit": 2}));
    let entries: Vec<_> =
        log.as_array().unwrap().iter().map(|it| (&it["method"], &it["detail"])).collect();
    let tool = json!("pane_open");
    assert_eq!(entries, [(&tool, &json!("")), (&tool, &json!(r#"["sleep","1000"]"#))]);
    assert_eq!((&log[1]["outcome"], &log[1]["error"]), (&json!("refused"), &json!(why)));
    // Whoever connects again is asked about again; the last answer holds for every instance.
    let mut again = Client::old(&fixture);
    let asked = open(&mut again);
    fixture.server().answers().give(question(&fixture).number, "always").unwrap();
    assert_eq!(again.end(asked)["result"]["isError"], false);
    let listed = wire.call("approvals.list", json!({}));
    assert_eq!((&listed["rule"], &listed["pending"]), (&json!("ask"), &json!([])));
    assert_eq!(listed["allowed"][0]["client"], "old client");
    let mut third = Client::old(&fixture);
    let opened = third.call("pane_open", json!({"command": ["sleep", "1000"]}));
    wire.call("approvals.forget", json!({"client": "old client"}));
    let arguments = json!({"pane": opened["pane"]});
    let asked = third.begin("tools/call", json!({"name": "pane_close", "arguments": arguments}));
    assert_eq!(question(&fixture).session, opened["pane"].as_u64());
    // The question goes with the client that asks.
    drop(third);
    let end = std::time::Instant::now() + support::PATIENCE;
    while !fixture.server().questions().is_empty() {
        assert!(std::time::Instant::now() < end, "{asked}: the question stays");
    }
    // Another rule holds for those that wait, too.
    let mut waiting = Client::old(&fixture);
    let asked = open(&mut waiting);
    question(&fixture);
    fixture.server().set_approval(Approval::Deny);
    assert_eq!(waiting.end(asked)["result"]["content"][0]["text"], why);
    assert!(fixture.server().questions().is_empty());
    let mut fourth = Client::old(&fixture);
    assert!(fourth.fail("pane_open", json!({})).contains("does not let"));
}

#[test]
fn what_was_refused_is_logged_and_no_secret_with_it() {
    let fixture = Fixture::new();
    fixture.server().set_approval(Approval::Deny);
    let mut client = Client::old(&fixture);
    let mut wire = fixture.login();
    let script = "stty -echo; printf 'Password: '; exec cat > /dev/null";
    let asking = fixture.program(&mut wire, "sh", &["-c", script]);
    asking.wait_for_text("Password:");
    let mut logged = |tool: &str, arguments: Value| {
        client.fail(tool, arguments);
        wire.call("session.audit_log", json!({"limit": 1}))[0].take()
    };
    for typed in [
        json!({"pane": asking.id, "text": "hunter2"}),
        json!({"pane": asking.id, "keys": ["h", "enter"]}),
        json!({"text": "hunter2"}),
    ] {
        let entry = logged("input", typed);
        assert_eq!(entry["detail"], "(not shown: the program does not echo it)", "{entry}");
        assert_eq!(entry["outcome"], "refused", "{entry}");
    }
    let entry = logged("signal", json!({"pane": asking.id, "signal": "int"}));
    let session = json!(asking.id.to_string());
    assert_eq!((&entry["session_id"], &entry["detail"]), (&session, &json!("int")));
}

#[test]
fn who_waits_for_an_approval_is_told_that_it_goes_on() {
    let fixture = Fixture::new();
    fixture.server().set_approval(Approval::Ask);
    let mut client = Client::old(&fixture);
    let asked = client.begin(
        "tools/call",
        json!({
            "name": "pane_open",
            "arguments": {"command": ["sleep", "1000"]},
            "_meta": {"progressToken": "mine"},
        }),
    );
    let told = client.note("notifications/progress");
    assert_eq!(told["params"]["progressToken"], "mine", "{told}");
    assert!(told["params"]["message"].as_str().unwrap().contains("the person is asked"), "{told}");
    fixture.server().answers().give(question(&fixture).number, "once").unwrap();
    assert_eq!(client.end(asked)["result"]["isError"], false);
}

#[test]
fn an_agent_that_comes_by_another_instance_is_an_agent_here() {
    let fixture = Fixture::new();
    let mut far = fixture.connect();
    let login = json!({"token": fixture.token(), "client": "old client", "agent": true});
    far.call("auth.login", login);
    let open = json!({"program": "sleep", "args": ["1000"]});
    far.call("session.create", open.clone());
    fixture.server().set_approval(Approval::Ask);
    far.call("session.list", json!({}));
    let refused = "Not allowed: session.create needs the person's approval";
    assert_eq!(far.fail("session.create", open.clone()), refused);
    let mut near = Client::old(&fixture);
    let call = json!({"name": "pane_open", "arguments": {"command": ["sleep", "1000"]}});
    let asked = near.begin("tools/call", call);
    fixture.server().answers().give(question(&fixture).number, "always").unwrap();
    near.end(asked);
    far.call("session.create", open.clone());
    fixture.login().call("approvals.forget", json!({"client": "old client"}));
    assert_eq!(far.fail("session.create", open.clone()), refused);
    fixture.server().set_approval(Approval::Deny);
    assert_eq!(far.fail("session.create", open), refused);
}

#[test]
fn a_client_with_dialogs_asks_the_person_itself() {
    let fixture = Fixture::new();
    fixture.server().set_approval(Approval::Ask);
    let mut client = Client::old_with(&fixture, &json!({"elicitation": {}}));
    let arguments = json!({"command": ["sleep", "1000"], "cwd": fixture.home.path()});
    let call = json!({"name": "pane_open", "arguments": arguments});
    for (answer, fails) in [
        (json!({"action": "accept", "content": {"answer": "once"}}), false),
        (json!({"action": "decline"}), true),
    ] {
        let asked = client.begin("tools/call", call.clone());
        let dialog = client.note("elicitation/create");
        let choices = &dialog["params"]["requestedSchema"]["properties"]["answer"]["oneOf"];
        assert_eq!(choices[0]["const"], "once", "{dialog}");
        client.send(&json!({"jsonrpc": "2.0", "id": dialog["id"], "result": answer}));
        assert_eq!(client.end(asked)["result"]["isError"], fails);
    }
    // What the dialog does not offer is said, and the question stays.
    let mut client = Client::old_with(&fixture, &json!({"elicitation": {}}));
    let asked = client.begin("tools/call", call.clone());
    let dialog = client.note("elicitation/create");
    let answer = json!({"action": "accept", "content": {"answer": "always"}});
    client.send(&json!({"jsonrpc": "2.0", "id": dialog["id"], "result": answer}));
    let said = client.end(asked);
    let said = said["result"]["content"][0]["text"].as_str().unwrap();
    assert!(said.starts_with(r#"The dialog answered "always", which it does not offer"#), "{said}");
    assert_eq!(fixture.server().questions().len(), 1);
    drop(client);
    // The other era: the answer comes with the call that is made again.
    let mut client = Client::new(&fixture);
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    client.meta.as_mut().unwrap()[capabilities] = json!({"elicitation": {"form": {}}});
    let held = client.request("tools/call", call.clone());
    assert_eq!(held["result"]["resultType"], "input_required", "{held}");
    let mut again = call.clone();
    again["requestState"] = held["result"]["requestState"].clone();
    again["inputResponses"] =
        json!({"approval": {"action": "accept", "content": {"answer": "once"}}});
    let made = client.request("tools/call", again.clone());
    assert_eq!(made["result"]["isError"], false, "{made}");
    // The same answer again is worth nothing, and neither is one to a question of another client.
    let held = client.request("tools/call", again.clone());
    assert_eq!(held["result"]["resultType"], "input_required", "{held}");
    let mut other = Client::new(&fixture);
    other.meta.clone_from(&client.meta);
    again["requestState"] = held["result"]["requestState"].clone();
    let stolen = other.request("tools/call", again);
    assert_eq!(stolen["result"]["resultType"], "input_required", "{stolen}");
}

#[test]
fn an_agent_asks_the_person_and_waits() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let message = json!({"message": "Which branch?", "choices": ["main", "next"], "timeout_ms": 0});
    let asked = client.call("request_human", message);
    assert_eq!(asked["answered"], false);
    let open = question(&fixture);
    assert_eq!((open.client.as_str(), open.choices.len()), ("new client", 2));
    assert!(fixture.server().answers().give(open.number, "other").is_err());
    fixture.server().answers().give(open.number, "next").unwrap();
    let answered = client.call("request_human", json!({"handle": asked["handle"]}));
    assert_eq!((&answered["answered"], &answered["answer"]), (&json!(true), &json!("next")));
    let call =
        json!({"name": "request_human", "arguments": {"message": "Why?", "takes_text": true}});
    let asked = client.begin("tools/call", call);
    fixture.server().answers().give(question(&fixture).number, "because").unwrap();
    assert_eq!(client.end(asked)["result"]["structuredContent"]["answer"], "because");
    assert!(client.fail("request_human", json!({})).contains("message"));
}

#[test]
fn a_question_that_would_be_cut_or_is_about_nothing_is_refused_and_it_is_said_who_sees_it() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let many: Vec<_> = (0..20).map(|n| n.to_string()).collect();
    for (arguments, why) in [
        (
            json!({"message": "Which?", "choices": many}),
            "There are 20 choices; 9 are shown at most",
        ),
        (
            json!({"message": "x".repeat(2001)}),
            "message has 2001 characters; 2000 are shown at most",
        ),
        (
            json!({"message": "Which?", "choices": ["y".repeat(81)]}),
            "A choice has 81 characters; 80 are shown at most",
        ),
        (json!({"message": "Which?", "pane": 12345}), "Session 12345 not found"),
    ] {
        assert_eq!(client.fail("request_human", arguments), why);
    }
    assert!(fixture.server().questions().is_empty());
    // There is no window here, but a page.
    let asked = client.call("request_human", json!({"message": "Go on?", "timeout_ms": 0}));
    assert_eq!(asked["answered"], false, "{asked}");
    assert!(asked["note"].as_str().unwrap().contains("unterm-cli settings open"), "{asked}");
}

#[test]
fn tools_call_methods_that_there_are() {
    // As `Ask::method` and `Ask::begin` name them.
    let sources = concat!(
        include_str!("../src/wire/mcp/unterm/panes.rs"),
        include_str!("../src/wire/mcp/unterm/person.rs"),
        include_str!("../src/wire/mcp/unterm/run.rs"),
        include_str!("../src/wire/mcp/unterm/screen.rs"),
        include_str!("../src/wire/mcp/unterm/input.rs"),
        include_str!("../src/wire/mcp/unterm/text.rs"),
        include_str!("../src/wire/mcp/resources.rs"),
        include_str!("../src/wire/mcp/resources/recording.rs"),
        include_str!("../src/wire/mcp/iterm.rs"),
        include_str!("../src/wire/mcp/iterm/watch.rs"),
        include_str!("../src/wire/mcp/iterm/find.rs"),
        include_str!("../src/wire/mcp/tester/apps.rs"),
        include_str!("../src/wire/mcp/tester/views.rs"),
    );
    let named = sources.split('"').filter(|text| {
        let is_name = |part: &str| {
            !part.is_empty() && part.chars().all(|c| c == '_' || c.is_ascii_lowercase())
        };
        text.split_once('.').is_some_and(|(group, name)| is_name(group) && is_name(name))
    });
    let named: std::collections::BTreeSet<_> = named.collect();
    assert!(named.len() > 15, "{named:?}");
    for name in named {
        assert!(METHODS.iter().any(|method| method.name == name), "{name}");
    }
}
