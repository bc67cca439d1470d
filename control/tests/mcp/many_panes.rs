//! Tests of several panes in one call, of several inputs in one call, and of a pane with a command to run.

use serde_json::{Value, json};

use crate::support::{self, Fixture, client::Client};

/// Opens a pane with a program that reads a line, prints it, and then continues to wait.
fn opened(client: &mut Client) -> Value {
    let script = "echo up; read -r A; echo \"got $A\"; exec cat";
    let pane = client.call("pane_open", json!({"command": ["sh", "-c", script]}))["pane"].take();
    client.until(json!({"pane": pane, "any": [{"text": "up"}]}));
    pane
}

#[test]
fn the_first_of_several_panes_ends_the_wait() {
    let fixture = Fixture::new();
    let (mut client, mut other) = (Client::old(&fixture), Client::old(&fixture));
    let panes: Vec<Value> = (0..3).map(|_| opened(&mut client)).collect();
    for (named, which) in [(json!(panes), 1), (json!([]), 2), (json!("all"), 0)] {
        let arguments = json!({"panes": named, "any": [{"text": format!("got {which}")}]});
        let waiting = client.begin("tools/call", json!({"name": "wait", "arguments": arguments}));
        other.call("input", json!({"pane": panes[which], "text": format!("{which}\n")}));
        let reply = client.end(waiting)["result"]["structuredContent"].take();
        assert_eq!((&reply["matched"], &reply["pane"]), (&json!(true), &panes[which]), "{reply}");
        assert_eq!(reply["conditions"][0]["text"], format!("got {which}"), "{reply}");
        assert!(support::shown(&reply).contains(&format!("got {which}")), "{reply}");
    }
    // When a pane ends, the wait for the other panes continues, until the last pane ends.
    other.call("signal", json!({"pane": panes[0], "signal": "KILL"}));
    let never = json!({"panes": panes, "any": [{"text": "never"}], "timeout_ms": 300});
    let reply = client.call("wait", never);
    assert_eq!((&reply["matched"], reply.get("pane")), (&json!(false), None), "{reply}");
    let handle = reply["handle"].clone();
    for pane in &panes[1..] {
        other.call("signal", json!({"pane": pane, "signal": "KILL"}));
    }
    let reply = client.call("wait", json!({"handle": handle}));
    assert_eq!((&reply["matched"], &reply["ended"]), (&json!(false), &json!(true)), "{reply}");
    let ended = client.call("wait", json!({"panes": panes, "any": [{"exit": true}]}));
    assert!(ended["matched"] == true && panes.contains(&ended["pane"]), "{ended}");
}

#[test]
fn several_panes_are_named_rightly_or_refused() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let any = json!([{"exit": true}]);
    let why = client.fail("wait", json!({"panes": [], "any": any}));
    assert_eq!(why, "There is no pane; open one with pane_open");
    let pane = opened(&mut client);
    for (arguments, wrong) in [
        (json!({"pane": pane, "panes": [pane]}), "Give `pane` or `panes`, not both"),
        (json!({"panes": [pane, 99]}), "There is no pane 99; pane_list lists those there are"),
        (
            json!({"panes": [pane, opened(&mut client)], "since_seq": 1}),
            "`since_seq` is of one pane",
        ),
        (
            json!({"panes": (0..65).collect::<Vec<_>>()}),
            "`panes` must name at most 64 panes, not 65",
        ),
    ] {
        let mut arguments = arguments;
        arguments["any"] = any.clone();
        let why = client.fail("wait", arguments.clone());
        assert!(why.starts_with(wrong), "{arguments}: {why}");
    }
}

#[test]
fn a_list_of_panes_reveals_none_that_the_token_does_not_reach() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let mine = fixture.program(&mut user, "cat", &[]);
    let other = fixture.program(&mut user, "cat", &[]);
    user.call("session.input", json!({"id": other.id, "input": "hidden\r"}));
    other.wait_for_text("hidden");
    let made = user.call("token.create", json!({"name": "bound", "panes": [mine.id]}));
    let login = json!({"token": made["token"], "mcp": "unterm"});
    let mut client = Client::silent_as(&fixture, login);
    client.hello("bound", "2025-11-25", &json!({}));
    let any = json!([{"text": "hidden"}]);
    let why = client.fail("wait", json!({"panes": [mine.id, other.id], "any": any}));
    assert!(why.contains(&format!("does not reach pane {}", other.id)), "{why}");
    let all = client.call("wait", json!({"panes": [], "any": any, "timeout_ms": 300}));
    assert_eq!(all["matched"], false, "{all}");
    for named in
        [json!({"panes": [mine.id, other.id]}), json!({"panes": [other.id], "states": ["x"]})]
    {
        let why = client.fail("agent_state", named);
        assert!(why.contains(&format!("does not reach pane {}", other.id)), "{why}");
    }
    user.call("session.input", json!({"id": mine.id, "input": "hidden\r"}));
    let all = client.call("wait", json!({"panes": [], "any": any}));
    assert_eq!((&all["matched"], all.get("pane")), (&json!(true), None), "the only one: {all}");
}

#[test]
fn the_states_of_several_programs_are_waited_for() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let shells = [client.shell(&fixture), client.shell(&fixture)];
    // There is no plugin for this program.
    let cat = client.call("pane_open", json!({"command": ["cat"]}))["pane"].take();
    let states = client.call("agent_state", json!({"panes": []}));
    let seen: Vec<&Value> =
        states["agents"].as_array().unwrap().iter().map(|of| &of["pane"]).collect();
    assert_eq!(seen, shells.map(|pane| json!(pane)).iter().collect::<Vec<_>>(), "{states}");
    assert!(client.tool("agent_state", json!({"panes": [shells[0], cat]}))["isError"] == true);
    let state = states["agents"][0]["state"].clone();
    let wanted = json!({"panes": shells, "states": [state]});
    let reply = client.call("agent_state", wanted);
    assert_eq!(reply["matched"], true, "{reply}");
    assert!(shells.contains(&reply["agents"][0]["pane"].as_u64().unwrap()), "{reply}");
}

/// A script that asks three questions.
const ASKS: &str =
    "read -r -p 'name: ' A; read -r -p 'version: ' B; read -r -p 'sure? ' C; echo \"$A $B $C\"";

#[test]
fn several_inputs_are_one_call() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    client.shell(&fixture);
    let asked = client.call("run", json!({"command": ASKS}));
    assert_eq!(asked["awaiting_input"], true, "{asked}");
    let steps = json!([
        {"text": "it\n", "wait_any": [{"text": "version:"}]},
        {"text": "2", "keys": ["enter"]},
        {"wait_any": [{"text": "sure?"}]},
        {"keys": ["y", "enter"], "wait_any": [{"regex": "^it 2 y$"}]},
    ]);
    let reply = client.call("input", json!({"steps": steps, "timeout_ms": 50_000}));
    assert_eq!(reply.get("stopped"), None, "{reply}");
    assert_eq!(reply["wait"]["conditions"][0]["text"], "it 2 y", "{reply}");
    let ended = client.call("wait", json!({"handle": asked["handle"]}));
    assert_eq!(ended["run"]["exit_code"], 0, "{ended}");
}

#[test]
fn a_step_that_fails_stops_the_rest_and_is_named() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    client.shell(&fixture);
    client.call("run", json!({"command": ASKS}));
    let steps = json!([
        {"text": "it\n", "wait_any": [{"text": "version:"}], "timeout_ms": 50_000},
        {"wait_any": [{"text": "what never comes"}], "timeout_ms": 300},
        {"text": "never typed\n"},
    ]);
    let reply = client.call("input", json!({"steps": steps}));
    assert_eq!(reply["stopped"], json!({"step": 1, "why": "The wait timed out"}), "{reply}");
    assert_eq!(reply["wait"]["matched"], false, "{reply}");
    assert!(!support::shown(&reply).contains("never typed"), "{reply}");
    // An input is refused because the program asks for a password.
    client.call("input", json!({"keys": ["ctrl+c"], "wait_any": [{"prompt": true}]}));
    let command = "read -r -p 'user: ' A; read -r -s -p 'Password: ' P";
    client.call("run", json!({"command": command}));
    let steps = json!([
        {"text": "me\n", "wait_any": [{"secret": true}], "timeout_ms": 50_000},
        {"text": "a guess\n"},
    ]);
    let reply = client.call("input", json!({"steps": steps}));
    assert_eq!(reply["stopped"]["step"], 1, "{reply}");
    let why = reply["stopped"]["why"].as_str().unwrap();
    assert!(why.contains("only the user may type"), "{reply}");
    assert_eq!(reply["awaiting_secret"], true, "{reply}");
}

#[test]
fn steps_are_checked_before_anything_is_typed() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let pane = opened(&mut client);
    for (steps, wrong) in [
        (json!([]), "`steps` must have from 1 to 100 steps, not 0"),
        (json!([{"text": "x"}, {}]), "`steps[1]` must type, press or wait for something"),
        (json!([{"text": "x"}, {"txt": "y"}]), "`steps[1]` takes no `txt`; did you mean `text`?"),
        (json!([{"text": "x"}, {"wait_any": [{"txt": "y"}]}]), "`steps[1].wait_any[0]`"),
        (
            json!([{"text": "x"}, {"wait_any": [{"regex": "("}]}]),
            "steps[1]: `wait_any[0].regex` must be a regular expression",
        ),
    ] {
        let why = client.fail("input", json!({"pane": pane, "steps": steps}));
        assert!(why.starts_with(wrong), "{steps}: {why}");
    }
    let both = json!({"pane": pane, "text": "x", "steps": [{"text": "y"}]});
    assert!(client.fail("input", both).starts_with("Give `steps` or one input"));
    let seen = client.call("screen", json!({"pane": pane}));
    assert_eq!(seen["text"], "up", "nothing was typed");
}

#[test]
fn a_pane_runs_a_line_and_keeps_its_shell() {
    let fixture = Fixture::new();
    fixture.integrate();
    let mut client = Client::new(&fixture);
    for shell in ["bash", "zsh", "fish", "sh"] {
        if !support::has(shell, &["-c", "true"]) {
            continue;
        }
        let line = "cd /; read A; sh -c 'exit 7'";
        let opened = client.call("pane_open", json!({"command": [shell], "run": line}));
        let pane = &opened["pane"];
        client.until(json!({"pane": pane, "any": [{"input": true}]}));
        client.call("input", json!({"pane": pane, "text": "x\n"}));
        let ended = client.call("wait", json!({"handle": opened["handle"]}));
        assert_eq!(ended["run"]["exit_code"], 7, "{shell}: {ended}");
        client.until(json!({"pane": pane, "any": [{"prompt": true}]}));
        let ran = client.call("run", json!({"pane": pane, "command": "pwd"}));
        assert_eq!(ran["output"], "/", "{shell}: {ran}");
        client.call("pane_close", json!({"pane": pane}));
    }
    // A program that is not a shell can't run a command line, and the pane is closed again.
    client.fail("pane_open", json!({"command": ["sleep", "600"], "run": "true"}));
    assert_eq!(client.call("pane_list", json!({}))["panes"], json!([]));
}
