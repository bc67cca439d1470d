//! The methods `adapter.*`, with plugins, a real shell, and a program that draws the screens of Claude Code.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::wait_for;

use crate::ptywright::{
    client::{Client, Framing, PtywrightServer},
    plugins::{probe, start, started},
};

#[test]
fn a_plugin_sees_its_program_and_types() -> Result<()> {
    let probe = probe()?;
    let (served, mut client) = probe.serve(&[])?;
    assert_eq!(client.call("adapter.live", json!({}))?, json!({"adapters": []}));
    let begun = client
        .call("adapter.start", json!({"plugin": "probe", "env": {"B": "caller", "C": "caller"}}))?;
    assert_eq!(
        (&begun["adapter"], &begun["plugin"], &begun["session"]),
        (&json!("e1"), &json!("probe"), &json!("s1"))
    );
    ensure!(begun["state"]["state"].is_string(), "{begun}");
    let wait = json!({"adapter": "e1", "params": {"after": "go manifest caller required."}});
    let waited = client.call("adapter.wait", wait)?;
    assert_eq!(waited["matched"]["kind"], "any");
    let matched = json!({"kind": "lua", "plugin": "probe", "predicate": "answered",
        "evidence": "answered", "capture": "go manifest caller required."});
    assert_eq!(waited["matched"]["matched"], matched);
    ensure!(waited.get("wait_id").is_none(), "{waited}");
    let all = json!({"adapter": "e1", "intent": "all_matcher"});
    let all = client.call("adapter.wait", all)?["matched"].take();
    let parts = json!([
        {"kind": "screen_regex", "pattern": "g(o)", "capture": "o"},
        {"kind": "screen_stable", "min_ms": 1},
    ]);
    assert_eq!(all, json!({"kind": "all", "matched": parts}));

    let snapshot = client.call("adapter.snapshot", json!({"adapter": "e1"}))?;
    assert_eq!((&snapshot["size"]["rows"], &snapshot["size"]["cols"]), (&json!(20), &json!(120)));
    assert_eq!(snapshot["plain_text"], "go manifest caller required.");
    let params = json!({"text": "TOKEN=hunter2", "last": "said"});
    let turn = json!({"adapter": "e1", "send": {"intent": "say", "params": params},
        "wait": {"params": {"after": "TOKEN"}, "wait_id": "w1"}});
    let turn = client.call("adapter.turn", turn)?;
    assert_eq!(turn["wait_id"], "w1");
    let state = &turn["state"];
    assert_eq!((&state["state"], &state["last_intent"]), (&json!("shown"), &json!("said")));
    let metadata = &state["metadata"];
    assert_eq!((&metadata["needed"], &metadata["intent"]), (&json!(750), &json!("said")));
    assert_eq!(metadata["markers"]["said"], 28, "what came before the answer");
    ensure!(metadata["cursor"].as_u64() > Some(28) && metadata["stable"].is_u64(), "{metadata}");
    ensure!(metadata["markers"]["seen"].is_u64(), "a mark of an earlier classification");
    let text = metadata["transcript"].as_str().context("a transcript")?;
    ensure!(text.contains("[REDACTED]") && !turn.to_string().contains("hunter2"), "{turn}");
    // An empty intent removes the last intent. If no intent is given, the last one stays.
    let say = |last: Value| {
        let mut params = json!({"text": "x"});
        if !last.is_null() {
            params["last"] = last;
        }
        json!({"adapter": "e1", "intent": "say", "params": params})
    };
    assert_eq!(client.call("adapter.send", say(Value::Null))?["state"]["last_intent"], "said");
    assert_eq!(client.call("adapter.send", say(json!("")))?["state"]["last_intent"], Value::Null);
    let raw = client.call("adapter.transcript", json!({"adapter": "e1", "redact": false}))?;
    ensure!(raw["text"].as_str().is_some_and(|text| text.contains("TOKEN=hunter2")), "{raw}");
    let inspected = client.call("adapter.inspect", json!({"adapter": "e1"}))?;
    let mut keys: Vec<_> = inspected.as_object().context("an object")?.keys().cloned().collect();
    keys.sort();
    let expected = [
        "adapter",
        "body_text",
        "plain_text",
        "plugin",
        "sequence",
        "state",
        "status_text",
        "transcript_tail",
    ];
    assert_eq!(keys, expected);
    assert_eq!(client.call("adapter.state", json!({"adapter": "e1"}))?["state"]["state"], "shown");

    let live = client.call("adapter.live", json!({}))?["adapters"].take();
    let sequence = live[0]["sequence"].clone();
    assert_eq!(
        live,
        json!([{"adapter": "e1", "plugin": "probe", "session": "s1", "sequence": sequence, "finished": false}])
    );
    client.call("adapter.send", json!({"adapter": "e1", "intent": "stop"}))?;
    let waited =
        client.call("adapter.wait", json!({"adapter": "e1", "params": {"after": "never"}}))?;
    assert_eq!(waited["matched"], json!({"kind": "any", "matched": {"kind": "process_exited"}}));
    assert_eq!(client.call("adapter.live", json!({}))?["adapters"][0]["finished"], true);
    let (code, _) = client.fail("adapter.send", say(Value::Null))?;
    assert_eq!(code, -32002);
    let resumed =
        client.call("adapter.resume", json!({"plugin": "probe", "prior_adapter": "e1"}))?;
    assert_eq!(resumed["adapter"], "e2");
    assert_eq!(client.fail("adapter.state", json!({"adapter": "e1"}))?.0, -32602);
    assert_eq!(client.call("adapter.close", json!({"adapter": "e2"}))?, json!({"closed": true}));
    assert_eq!(client.fail("adapter.close", json!({"adapter": "e2"}))?.0, -32602);
    wait_for("the programs' end", || Ok(served.programs()?.is_empty().then_some(())), String::new)?;
    Ok(())
}

#[test]
fn wrong_parameters_are_named() -> Result<()> {
    let probe = probe()?;
    let (_served, mut client) = probe.serve(&[])?;
    started(&mut client)?;
    for (method, params, named) in [
        ("adapter.list", json!({"x": 1}), "x"),
        ("adapter.start", json!({}), "plugin"),
        ("adapter.start", json!({"plugin": "nope"}), "nope"),
        ("adapter.start", json!({"plugin": "probe", "rows": 0}), "rows"),
        ("adapter.start", json!({"plugin": "probe", "program": "/no/such"}), "/no/such"),
        ("adapter.start", json!({"plugin": "probe", "prior_adapter": "e1"}), "prior_adapter"),
        ("adapter.state", json!({"adapter": "e01"}), "e01"),
        ("adapter.send", json!({"adapter": "e1"}), "intent"),
        ("adapter.send", json!({"adapter": "e1", "intent": "say", "params": 1}), "params"),
        ("adapter.wait", json!({"adapter": "e1", "timeout_ms": -1}), "timeout_ms"),
        ("adapter.wait", json!({"adapter": "e1", "colour": 1}), "colour"),
        ("adapter.wait", json!({"adapter": "e1", "wait_id": "w".repeat(300)}), "wait_id"),
        ("adapter.turn", json!({"adapter": "e1"}), "send"),
        ("adapter.cancel_wait", json!({}), "wait_id"),
        ("adapter.snapshot", json!({"adapter": "e1", "redaction": {}}), "enabled"),
    ] {
        let (code, said) = client.fail(method, params.clone())?;
        ensure!(code == -32602 && said.contains(named), "{method} {params}: {code} {said}");
    }
    assert_eq!(
        client.call("adapter.live", json!({}))?["adapters"].as_array().map(Vec::len),
        Some(1)
    );
    Ok(())
}

#[test]
fn the_plugin_for_shells_drives_bash() -> Result<()> {
    let (_served, mut client) = PtywrightServer::stdio(Framing::Ndjson, &[], &[])?;
    let args = json!(["--norc", "--noprofile"]);
    let shell =
        start(&mut client, json!({"plugin": "shell", "args": args, "env": {"PS1": "ready$ "}}))?;
    let ready = client.call("adapter.wait", json!({"adapter": shell}))?;
    assert_eq!(ready["state"]["state"], "ready");
    let snapshot = client.call("adapter.snapshot", json!({"adapter": shell}))?;
    assert_eq!((&snapshot["size"]["rows"], &snapshot["size"]["cols"]), (&json!(40), &json!(120)));
    let mut run = |command: &str| {
        let send = json!({"intent": "run_command", "params": {"command": command}});
        client.call("adapter.turn", json!({"adapter": shell, "send": send}))
    };
    assert_eq!(run("true")?["state"]["state"], "completed_turn");
    let asks = run("read -p 'Proceed? [y/n] ' x")?;
    assert_eq!(asks["state"]["state"], "waiting_for_user_input");
    let answer = json!({"intent": "answer", "params": {"text": "y"}});
    let answered = client.call("adapter.turn", json!({"adapter": shell, "send": answer}))?;
    assert_eq!(answered["state"]["state"], "completed_turn");
    Ok(())
}

#[test]
fn a_program_like_claude_code_is_followed_through_its_states() -> Result<()> {
    let (_served, mut client) = PtywrightServer::stdio(Framing::Ndjson, &[], &[])?;
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let params = json!({
        "plugin": "claude-code",
        "program": "/bin/sh",
        "args": [root.join("tests/ptywright/claude.sh")],
        "env": {"SCREENS": root.join("../control/plugin/tests/screens/claude-code")},
    });
    let begun = client.call("adapter.start", params)?;
    assert_eq!(begun["state"]["state"], "starting");
    let adapter = begun["adapter"].clone();
    let snapshot = client.call("adapter.snapshot", json!({"adapter": adapter}))?;
    assert_eq!((&snapshot["size"]["rows"], &snapshot["size"]["cols"]), (&json!(60), &json!(200)));
    let prompt = json!({"prompt": "What is 2+2?"});
    for (intent, params, wait, expected) in [
        ("key", json!({"key": "enter"}), "wait_dialog_matcher", "waiting_for_trust"),
        ("approve_trust", json!({}), "wait_prompt_matcher", "starting"),
        ("dismiss_welcome", json!({}), "wait_turn_matcher", "waiting_for_user_input"),
        ("send_prompt", prompt, "wait_turn_matcher", "waiting_for_permission"),
        ("approve", json!({}), "wait_turn_matcher", "completed_turn"),
    ] {
        let send = json!({"intent": intent, "params": params});
        let turn = json!({"adapter": adapter, "send": send, "wait": {"intent": wait}});
        let turn = client.call("adapter.turn", turn)?;
        assert_eq!(turn["state"]["state"], expected, "{intent}: {turn}");
    }
    let state = client.call("adapter.state", json!({"adapter": adapter}))?["state"].take();
    assert_eq!(state["last_intent"], "prompt_submitted");
    assert_eq!(state["metadata"]["turn"]["text"], "The answer is 4.\nIt always was.");
    Ok(())
}

/// An adapter for a program that behaves like the input box of Claude Code. `env` is the program's environment.
fn box_of_claude(client: &mut Client, env: Value) -> Result<String> {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/ptywright/claude.py");
    let params =
        json!({"plugin": "claude-code", "program": "python3", "args": [script], "env": env});
    let adapter = start(client, params)?;
    let wait = json!({"adapter": adapter, "intent": "wait_prompt_matcher"});
    client.call("adapter.wait", wait)?;
    Ok(adapter)
}

#[test]
fn a_prompt_is_submitted_whatever_the_input_box_contains() -> Result<()> {
    let (_served, mut client) = PtywrightServer::stdio(Framing::Ndjson, &[], &[])?;
    for env in [
        json!({}),
        json!({"DEAF": "2"}),
        json!({"LEFT": "left over"}),
        json!({"LEFT": "left\nover\nlines"}),
        json!({"LEFT": "left\nover\n", "DEAF": "1"}),
    ] {
        let adapter = box_of_claude(&mut client, env.clone())?;
        let send = json!({"intent": "send_prompt", "params": {"prompt": "What is\n2+2?"}});
        let turn = client.call("adapter.turn", json!({"adapter": adapter, "send": send}))?;
        let state = &turn["state"];
        assert_eq!(state["state"], "completed_turn", "{env}: {turn}");
        assert_eq!(state["explain"], json!({"rule": "turn_end", "text": "✻ Baked for 1s"}));
        let shown = client.call("adapter.snapshot", json!({"adapter": adapter}))?;
        let shown = shown["plain_text"].as_str().context("a text")?;
        ensure!(shown.starts_with("❯ What is\n  2+2?\n"), "{env}: {shown}");
        client.call("adapter.close", json!({"adapter": adapter}))?;
    }
    Ok(())
}

#[test]
fn a_prompt_that_can_not_be_submitted_alone_is_refused() -> Result<()> {
    let (_served, mut client) = PtywrightServer::stdio(Framing::Ndjson, &[], &[])?;
    for (env, why) in [
        (
            json!({"LEFT": "left over", "STUBBORN": ""}),
            "holds another text, so nothing was submitted",
        ),
        (json!({"DEAF": "99"}), "still holds the prompt after Enter was pressed several times"),
    ] {
        let adapter = box_of_claude(&mut client, env.clone())?;
        let send =
            json!({"adapter": adapter, "intent": "send_prompt", "params": {"prompt": "Hello"}});
        let (code, said) = client.fail("adapter.send", send)?;
        ensure!(code == -32603 && said.contains(why), "{env}: {code} {said}");
        let shown = client.call("adapter.snapshot", json!({"adapter": adapter}))?;
        let shown = shown["plain_text"].as_str().context("a text")?;
        ensure!(!shown.contains("● The answer"), "{env}: {shown}");
        client.call("adapter.close", json!({"adapter": adapter}))?;
    }
    // A wait between actions is allowed only in intents.
    let wait = json!({"type": "wait_for", "value": {"predicate": "box_is_empty", "timeout_ms": 1}});
    let session = client.call("session.create", json!({"program": "cat"}))?;
    let input = json!({"session": session["session"], "action": wait});
    let (code, said) = client.fail("session.input", input)?;
    ensure!(code == -32602 && said.contains("wait_for"), "{code} {said}");
    Ok(())
}
