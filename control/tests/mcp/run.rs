//! Tests of running commands and waiting for them, and of sending input together with a wait.

use serde_json::{Value, json};
use unterm_mux::PaneId;

use crate::support::{self, Fixture, client::Client};

#[test]
fn commands_are_run_in_a_shell_that_stays() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let pane = client.shell(&fixture);
    let ran =
        client.call("run", json!({"command": "mkdir sub; cd sub; A=5; (exit 3)", "pane": pane}));
    assert_eq!((&ran["ended"], &ran["exit_code"]), (&json!(true), &json!(3)), "{ran}");
    let ran = client.call("run", json!({"command": "echo $A \"$(basename \"$PWD\")\""}));
    assert_eq!((&ran["output"], &ran["exit_code"]), (&json!("5 sub"), &json!(0)), "{ran}");
    // The reply omits fields with their default values. `_meta` lists the untrusted fields.
    let result = client.tool("run", json!({"command": "true"}));
    let reply = result["structuredContent"].as_object().unwrap();
    assert_eq!(reply.keys().collect::<Vec<_>>(), ["block", "ended", "exit_code", "output"]);
    assert_eq!(result["_meta"]["unterm/untrusted"], json!(["output"]));

    // A long output is cut in the middle, and can be read in parts.
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
    // If the output is longer than the history, its block has only the end.
    let ran = client.call("run", json!({"command": "seq 20000", "max_chars": 1000}));
    assert_eq!(
        (ran["output"].as_str().unwrap().contains(" has them"), &ran["exit_code"]),
        (false, &json!(0))
    );
    let rest = client.call("block", json!({"block": ran["block"], "line_count": 1}));
    assert_eq!(rest["truncated"], true, "{rest}");
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
    // Only the client that started the command can use its handle.
    let mut other = Client::old(&fixture);
    let refused = other.fail("wait", json!({"handle": handle}));
    assert!(refused.starts_with("There is no handle"), "{refused}");
    client.call("input", json!({"pane": pane, "text": "it\n"}));
    let ended = client.call("wait", json!({"handle": handle}));
    assert_eq!(ended["matched"], true, "{ended}");
    assert_eq!(ended["run"]["output"], "asked\ngot it", "{ended}");
    assert_eq!(ended["run"]["exit_code"], 0);
    assert!(client.fail("wait", json!({"handle": handle})).starts_with("There is no handle"));
    // The wait's own parameters control how its output is returned.
    let command = "echo again; read -r A; printf 'a\\xe2\\x80\\x8bb\\n'; seq 100";
    let begun = client.call("run", json!({"command": command, "timeout_ms": 0}));
    client.call("wait", json!({"pane": pane, "any": [{"regex": "^again$"}]}));
    client.call("input", json!({"pane": pane, "text": "it\n"}));
    let handle = begun["handle"].as_str().unwrap();
    let ended = client.call("wait", json!({"handle": handle, "max_chars": 50, "raw": true}));
    let output = ended["run"]["output"].as_str().unwrap();
    assert!(output.contains("a\u{200b}b") && output.contains("characters in"), "{output}");
    assert_eq!(ended["run"].get("truncated"), None);
}

#[test]
fn a_cut_output_reports_what_is_missing() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    client.shell(&fixture);
    // Escapes are longer than the characters that they replace.
    let command = "printf 'a\\xe2\\x80\\x8b%.0s' {1..9}";
    let escaped = client.call("run", json!({"command": command, "max_chars": 50}));
    let output = escaped["output"].as_str().unwrap();
    assert!(output.contains(&format!("; block {} has them", escaped["block"])), "{escaped}");
    // The output is longer than the output that the pane keeps, so its block does not have the lines that were left
    // out.
    let long = client.call("run", json!({"command": "seq 1000000 2500000", "max_chars": 40}));
    assert!(long["truncated"] == true && long["block"].is_u64(), "{long}");
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
            "whole": true,
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
    // The changes since that `seq`, as cells.
    let seq = seen["seq"].as_u64().unwrap();
    client.call("run", json!({"command": "printf '\\033[1;31mred\\033[m\\n'"}));
    let diff = client.call("screen", json!({"format": "diff", "since_seq": seq}));
    let rows = diff["changes"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["text"] == "red"), "{diff}");
    assert!(!rows.iter().any(|row| row["text"] == "now 42"), "{diff}");
    let cells = client.call("screen", json!({"format": "cells"}));
    let rows = cells["cells"].as_array().unwrap().iter();
    let mut runs = rows.flat_map(|row| row["runs"].as_array().unwrap());
    let red = runs.find(|run| run["text"] == "red").unwrap_or_else(|| panic!("{cells}"));
    let look = &cells["looks"][red["look"].as_u64().unwrap() as usize];
    assert_eq!(look, &json!({"foreground": "idx:1", "attributes": ["bold"]}));
    let found =
        client.call("search", json!({"pattern": "NOW \\d", "regex": true, "ignore_case": true}));
    assert_eq!(found["matches"][0]["pane"], pane);
    let all = client.call("transcript", json!({}));
    assert!(all["text"].as_str().unwrap().contains("now 42"), "{all}");
    for signal in ["INT", "SIGINT", "sigint"] {
        assert_eq!(client.call("signal", json!({"signal": signal}))["sent"], true);
    }
    assert_eq!(client.call("pane_resize", json!({"cols": 100, "rows": 30}))["pane"], pane);
    let split = client.call("pane_split", json!({"command": ["cat"], "direction": "down"}));
    assert_ne!(split["pane"], pane);
    let which = client.fail("screen", json!({}));
    assert!(which.starts_with("Say which `pane`: there are ["), "{which}");
    client.call("pane_close", json!({"pane": split["pane"]}));
    assert!(fixture.mux.pane(PaneId(split["pane"].as_u64().unwrap())).is_none());
}

#[test]
fn a_run_that_is_cancelled_interrupts_its_command_or_leaves_it() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let pane = client.shell(&fixture);
    let command =
        "trap 'echo interrupted; trap - INT; false' INT; sh -c 'echo begun; exec sleep 1000'";
    let mut cancelled = |more: Value| {
        let seq = client.call("screen", json!({}))["seq"].clone();
        let mut arguments = more;
        arguments["command"] = json!(command);
        let params = json!({"name": "run", "arguments": arguments});
        let given_up = client.begin("tools/call", params);
        fixture.login().call(
            "session.watch",
            json!({"id": pane, "any": [{"regex": "^begun"}], "since_seq": seq}),
        );
        let params = json!({"requestId": given_up, "reason": "enough"});
        let note = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        client.send(&note);
        seq
    };
    let left = cancelled(json!({"on_cancel": "leave"}));
    let typed = cancelled_by_hand(&fixture, pane, &left);
    assert!(!typed, "nobody typed Ctrl+C");
    let seq = cancelled(json!({}));
    let ended = json!({"id": pane, "any": [{"prompt": true}], "since_seq": seq});
    assert_eq!(fixture.login().call("session.watch", ended)["matched"], true);
    let ran = client.call("run", json!({"command": "echo here"}));
    assert_eq!(ran["output"], "here", "{ran}");
    let log = fixture.login().call("session.audit_log", json!({"id": pane}));
    let entries = log.as_array().unwrap().iter();
    let interrupts = entries.filter(|entry| entry["method"] == "exec.cancel");
    assert_eq!(interrupts.map(|it| &it["client"]).collect::<Vec<_>>(), ["old client"]);
}

/// Whether the command was interrupted. If it was not, interrupts it and waits for its end.
fn cancelled_by_hand(fixture: &Fixture, pane: u64, since: &Value) -> bool {
    let mut wire = fixture.login();
    let still = json!({"id": pane, "any": [{"stable_ms": 500}]});
    wire.call("session.watch", still);
    // Searches for the text in a separate row, and not in the command line.
    let screen = wire.call("screen.text", json!({"id": pane})).to_string();
    let is_interrupted = screen.contains("\"interrupted\"");
    wire.call("session.input", json!({"id": pane, "input": "\u{3}"}));
    let ended = json!({"id": pane, "any": [{"prompt": true}], "since_seq": since});
    assert_eq!(wire.call("session.watch", ended)["matched"], true);
    is_interrupted
}

#[test]
fn a_program_that_a_pane_was_opened_for_reads_no_command() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    for (command, name) in [
        (json!(["cat"]), "cat”"),
        (json!(["sh", "-c", "read -r A; echo \"got $A\"; read -r A"]), "sh”"),
    ] {
        let opened = client.call("pane_open", json!({"command": command}));
        let pane = &opened["pane"];
        support::until("the program to read", || {
            let pane = fixture.mux.pane(PaneId(pane.as_u64()?))?;
            (pane.process().awaits_input() == Some(true)).then_some(())
        });
        let why = client.fail("run", json!({"pane": pane, "command": "echo typed"}));
        assert!(why.starts_with("Nothing was typed: pane "), "{why}");
        let screen = client.call("screen", json!({"pane": pane}));
        assert_eq!(screen["text"], "", "{screen}");
        let is_named = why.contains(name) || name == "sh”" && why.contains("dash”");
        assert!(is_named, "{why}");
    }
    // In a shell without marks, the command is typed.
    let opened = client.call("pane_open", json!({"command": ["sh"]}));
    let ran = client.call("run", json!({"pane": opened["pane"], "command": "echo typed"}));
    assert_eq!(ran["output"], "typed", "{ran}");
}

#[test]
fn a_program_that_has_ended_reads_no_command() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let opened = client.call("pane_open", json!({"command": ["sh", "-c", "exit 3"]}));
    let pane = &opened["pane"];
    client.until(json!({"pane": pane, "any": [{"exit": true}]}));
    let why = client.fail("run", json!({"pane": pane, "command": "echo typed"}));
    let right = format!("Nothing was typed: pane {pane} has ended (exit code 3). ");
    assert!(why.starts_with(&right), "{why}");
}

#[test]
fn a_handle_is_for_one_tool() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let pane = client.shell(&fixture);
    let ran = client.call("run", json!({"command": "read -r A; echo $A", "timeout_ms": 0}));
    let handle = &ran["handle"];
    let why = client.fail("request_human", json!({"handle": handle}));
    assert!(why.contains("Call wait with the handle"), "{why}");
    let asked = json!({"message": "Go on?", "timeout_ms": 0});
    let asked = client.call("request_human", asked);
    let why = client.fail("wait", json!({"handle": asked["handle"]}));
    assert!(why.contains("Call request_human with the handle"), "{why}");
    // Neither result is lost.
    let number = crate::support::question(fixture.server()).number;
    fixture.server().answers().give(number, "Done").unwrap();
    let answered = client.call("request_human", json!({"handle": asked["handle"]}));
    assert_eq!(answered["answered"], true, "{answered}");
    client.call("input", json!({"pane": pane, "text": "it\n"}));
    let ended = client.call("wait", json!({"handle": handle}));
    assert_eq!(ended["run"]["ended"], true, "{ended}");
}

#[test]
fn a_background_job_is_the_first_in_every_shell() {
    for shell in ["bash", "zsh"] {
        if !crate::support::has(shell, &["-c", "exit"]) {
            continue;
        }
        let fixture = Fixture::new();
        fixture.integrate();
        let mut client = Client::new(&fixture);
        let opened = client.call("pane_open", json!({"command": [shell]}));
        let pane = &opened["pane"];
        client.until(json!({"pane": pane, "any": [{"prompt": true}]}));
        let mut run = |command: &str| client.call("run", json!({"pane": pane, "command": command}));
        run("sleep 1000 &");
        let killed = run("kill %1 && wait %1");
        assert_eq!(killed["exit_code"], 143, "{shell}: {killed}");
    }
}

#[test]
fn an_unfinished_command_is_not_typed_into_nushell() {
    // No package of the system contains Nushell, so it is tested only where it is installed.
    if std::process::Command::new("nu").arg("--version").output().is_err() {
        return;
    }
    let fixture = Fixture::new();
    fixture.integrate();
    let mut client = Client::new(&fixture);
    let opened = client.call("pane_open", json!({"command": ["nu"]}));
    let pane = &opened["pane"];
    client.until(json!({"pane": pane, "any": [{"prompt": true}]}));
    let why = client.fail("run", json!({"pane": pane, "command": "if true {"}));
    assert!(why.ends_with("the command is unfinished, it needs a closing }"), "{why}");
    let ran = client.call("run", json!({"pane": pane, "command": "if true { print whole }"}));
    assert_eq!(ran["output"], "whole", "{ran}");
}
