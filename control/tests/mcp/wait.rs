//! Tests of waiting: for output and not for typed text, only for new output, and only as long as the output can still
//! appear.

use serde_json::{Value, json};

use crate::support::{Fixture, client::Client};

#[test]
fn a_wait_does_not_find_the_command_line_that_was_typed() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let pane = client.shell(&fixture);
    // The command prints the text only after it receives a line.
    let ran = client.call("run", json!({"command": "read -r A; echo READY", "timeout_ms": 0}));
    let ready = json!({"any": [{"text": "READY"}], "timeout_ms": 300});
    let none = client.call("wait", ready.clone());
    assert_eq!(none["matched"], false, "the command line is on the screen: {none}");
    let mut with_typed = ready.clone();
    (with_typed["include_typed"], with_typed["timeout_ms"]) = (json!(true), json!(50_000));
    let found = client.call("wait", with_typed);
    assert_eq!(found["matched"], true, "{found}");
    let line = found["conditions"][0]["text"].as_str().unwrap();
    assert!(line.contains("echo READY"), "{found}");
    client.call("input", json!({"pane": pane, "keys": ["enter"]}));
    let mut since = ready;
    (since["since_seq"], since["timeout_ms"]) = (ran["seq"].clone(), json!(50_000));
    let found = client.call("wait", since);
    assert_eq!(found["conditions"][0]["text"], "READY", "{found}");
    // Text that `input` types is not found, either.
    client.call("wait", json!({"any": [{"prompt": true}]}));
    let typed = json!({
        "text": "read -r A; echo AGAIN\n",
        "wait_any": [{"text": "AGAIN"}],
        "timeout_ms": 300,
    });
    let typed = client.call("input", typed);
    assert_eq!(typed["wait"]["matched"], false, "{typed}");
}

#[test]
fn a_wait_does_not_find_what_was_typed_without_marks() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    // This shell has no integration.
    let opened = client.call("pane_open", json!({"command": ["sh"]}));
    let pane = opened["pane"].clone();
    client.until(json!({"pane": pane, "any": [{"regex": "^[$#] ?$"}]}));
    let line = json!({"pane": pane, "text": "read -r A; echo READY\n", "wait_any": [{"text": "READY"}],
        "timeout_ms": 300});
    let typed = client.call("input", line);
    assert_eq!(typed["wait"]["matched"], false, "{typed}");
    // A wait without `since_seq` does not find the typed text, either.
    let none = json!({"pane": pane, "any": [{"text": "READY"}], "timeout_ms": 300});
    assert_eq!(client.call("wait", none)["matched"], false);
    client.until(json!({"pane": pane, "any": [{"text": "echo READY"}], "include_typed": true}));
    let enter = json!({"pane": pane, "keys": ["enter"], "wait_any": [{"text": "READY"}]});
    let entered = client.call("input", enter);
    assert_eq!(entered["wait"]["conditions"][0]["text"], "READY", "{entered}");
    let ran = json!({"pane": pane, "command": "read -r A; echo AGAIN", "timeout_ms": 0});
    let ran = client.call("run", ran);
    client.until(json!({"pane": pane, "any": [{"text": "AGAIN"}], "include_typed": true}));
    let none = json!({"pane": pane, "any": [{"text": "AGAIN"}], "timeout_ms": 300});
    assert_eq!(client.call("wait", none)["matched"], false);
    let enter = json!({"pane": pane, "keys": ["enter"], "wait_any": [{"text": "AGAIN"}]});
    assert_eq!(client.call("input", enter)["wait"]["matched"], true);
    client.call("wait", json!({"handle": ran["handle"]}));
    // Text that a program prints counts, although it is the same as the typed text.
    let opened = client.call("pane_open", json!({"command": ["cat"]}));
    let typed = json!({"pane": opened["pane"], "text": "it\n", "wait_any": [{"regex": "^it$"}]});
    assert_eq!(client.call("input", typed)["wait"]["matched"], true);
    let script = "stty -echo -icanon; echo READY; read -r A; echo \"$A\"; exec cat";
    let opened = client.call("pane_open", json!({"command": ["sh", "-c", script]}));
    let pane = &opened["pane"];
    client.until(json!({"pane": pane, "any": [{"text": "READY"}]}));
    let typed = json!({"pane": pane, "text": "printed\n", "wait_any": [{"text": "printed"}]});
    assert_eq!(client.call("input", typed)["wait"]["matched"], true);
}

#[test]
fn input_that_an_interpreter_echoes_is_not_its_output() {
    if !crate::support::has("python3", &["--version"]) {
        return;
    }
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let opened = client.call("pane_open", json!({"command": ["python3", "-q"]}));
    let pane = &opened["pane"];
    client.until(json!({"pane": pane, "any": [{"text": ">>>"}]}));
    let line = "_ = input('Go? '); print('DONE')\n";
    let typed =
        json!({"pane": pane, "text": line, "wait_any": [{"text": "DONE"}], "timeout_ms": 500});
    let typed = client.call("input", typed);
    assert_eq!(typed["wait"]["matched"], false, "{typed}");
    client.until(json!({"pane": pane, "any": [{"regex": r"^Go\?"}]}));
    let typed = json!({"pane": pane, "text": "y\n", "wait_any": [{"text": "DONE"}]});
    let typed = client.call("input", typed);
    assert_eq!(typed["wait"]["conditions"][0]["text"], "DONE", "{typed}");
    let lines = "for _ in [1]:\n    input('Go? '); print('MORE')\n\n";
    let wait = json!([{"text": "MORE"}]);
    let typed = json!({"pane": pane, "text": lines, "wait_any": wait, "timeout_ms": 500});
    let typed = client.call("input", typed);
    assert_eq!(typed["wait"]["matched"], false, "{typed}");
    let typed = json!({"pane": pane, "text": "y\n", "wait_any": wait});
    let typed = client.call("input", typed);
    assert_eq!(typed["wait"]["conditions"][0]["text"], "MORE", "{typed}");
}

#[test]
fn a_run_that_goes_on_says_from_where_on_its_output_counts() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    client.shell(&fixture);
    client.call("run", json!({"command": "echo READY"}));
    let ran = client.call("run", json!({"command": "echo READY; read -r A", "timeout_ms": 0}));
    let found = json!({"any": [{"text": "READY"}], "since_seq": ran["seq"]});
    let found = client.call("wait", found);
    assert_eq!(found["matched"], true, "what it printed before the reply counts: {found}");
    client.call("input", json!({"keys": ["enter"]}));
    client.call("wait", json!({"handle": ran["handle"]}));
    let ran = client.call("run", json!({"command": "read -r A", "timeout_ms": 0}));
    let none = json!({"any": [{"text": "READY"}], "since_seq": ran["seq"], "timeout_ms": 300});
    let none = client.call("wait", none);
    assert_eq!(none["matched"], false, "what was printed before it does not: {none}");
}

#[test]
fn old_text_below_new_text_does_not_count() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let script = "printf '\\nold\\n'; read -r A; printf '\\033[Hnew\\n'; exec cat";
    client.call("pane_open", json!({"command": ["sh", "-c", script], "cols": 40, "rows": 8}));
    client.until(json!({"any": [{"text": "old"}]}));
    let typed = json!({
        "keys": ["enter"], "wait_any": [{"text": "new"}], "timeout_ms": 50_000,
    });
    let typed = client.call("input", typed);
    let none = json!({"any": [{"text": "old"}], "since_seq": typed["seq"], "timeout_ms": 300});
    let none = client.call("wait", none);
    assert_eq!(none["matched"], false, "{none}");
    // A resize does not make old text new.
    client.call("pane_resize", json!({"cols": 20, "rows": 6}));
    let none = json!({"any": [{"text": "old"}], "since_seq": typed["seq"], "timeout_ms": 300});
    assert_eq!(client.call("wait", none)["matched"], false);
}

#[test]
fn a_wait_for_what_never_comes_ends_with_its_pane() {
    let fixture = Fixture::new();
    let mut client = Client::old(&fixture);
    let opened = client.call("pane_open", json!({"command": ["sh", "-c", "read -r A; echo over"]}));
    let pane = &opened["pane"];
    let never = |more: Value| json!({"pane": pane, "all": [{"text": "never"}, more]});
    let waiting = client
        .begin("tools/call", json!({"name": "wait", "arguments": never(json!({"text": "over"}))}));
    fixture.login().call("session.input", json!({"id": pane, "input": "\n"}));
    let mut ended = client.end(waiting);
    let ended = ended["result"]["structuredContent"].take();
    assert_eq!((&ended["matched"], &ended["ended"]), (&json!(false), &json!(true)), "{ended}");
    assert_eq!(ended.get("handle"), None, "there is nothing to go on waiting for: {ended}");
    // A wait for a program that ended earlier returns immediately, too. Conditions that become true without the program
    // are still met.
    for more in [json!({"text": "x"}), json!({"stable_ms": 10}), json!({"exit": true})] {
        let ended = client.call("wait", never(more));
        assert_eq!((&ended["matched"], &ended["ended"]), (&json!(false), &json!(true)), "{ended}");
    }
    client.until(json!({"pane": pane, "any": [{"text": "never"}, {"stable_ms": 10}]}));
    client.until(json!({"pane": pane, "any": [{"text": "over"}]}));
}

#[test]
fn a_prompt_that_can_not_be_told_is_refused() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let opened = client.call("pane_open", json!({"command": ["cat"]}));
    let pane = &opened["pane"];
    for condition in [json!({"prompt": true}), json!({"command_done": true})] {
        let why = client.fail("wait", json!({"pane": pane, "any": [condition]}));
        let right = format!("Pane {pane} reports no prompts and no ends of commands: “cat”");
        assert!(why.starts_with(&right) && why.contains("Wait for text, stable_ms"), "{why}");
    }
    let typed = json!({"pane": pane, "text": "x\n", "wait_any": [{"prompt": true}]});
    let why = client.fail("input", typed);
    assert!(why.contains("has no shell integration"), "{why}");
    let shown = client.call("screen", json!({"pane": pane}));
    assert!(!shown["text"].as_str().unwrap().contains('x'), "nothing was typed: {shown}");
    client.call("input", json!({"pane": pane, "text": "x\n"}));
    // The other condition may still be met.
    let or_else = json!({"pane": pane, "any": [{"prompt": true}, {"text": "x"}]});
    client.until(or_else);
    // A question of a script is not a prompt, even if the script uses the shell's line editor.
    let script = json!(["bash", "-c", "read -e -p 'go: ' A"]);
    let opened = client.call("pane_open", json!({"command": script}));
    let pane = &opened["pane"];
    client.until(json!({"pane": pane, "any": [{"text": "go: "}]}));
    client.until(json!({"pane": pane, "any": [{"stable_ms": 100}]}));
    let why = client.fail("wait", json!({"pane": pane, "any": [{"prompt": true}]}));
    assert!(why.contains("has no shell integration"), "{why}");
    // A program that reads keys is not a shell at its prompt.
    for program in [&["less", "/etc/passwd"][..], &["python3", "-q"]] {
        if !crate::support::has(program[0], &["--version"]) {
            continue;
        }
        let opened = client.call("pane_open", json!({"command": program}));
        let pane = &opened["pane"];
        client.until(json!({"pane": pane, "any": [{"regex": "^(>>>|root:)"}]}));
        client.until(json!({"pane": pane, "any": [{"stable_ms": 100}]}));
        let why = client.fail("wait", json!({"pane": pane, "any": [{"prompt": true}]}));
        assert!(why.contains("has no shell integration"), "{program:?}: {why}");
    }
}

#[test]
fn a_prompt_without_marks_is_seen_on_the_screen() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    for shell in [&["bash", "--norc", "--noprofile"][..], &["sh"], &["zsh", "-f"]] {
        if !crate::support::has(shell[0], &["-c", "true"]) {
            continue;
        }
        let opened = client.call("pane_open", json!({"command": shell}));
        let pane = &opened["pane"];
        client.until(json!({"pane": pane, "any": [{"prompt": true}]}));
        // The prompt at which the line was entered does not count.
        let typed = json!({"pane": pane, "text": "sleep .2; echo IT\n", "wait_any": [{"prompt": true}], "whole": true});
        let typed = client.call("input", typed);
        assert_eq!(typed["wait"]["matched"], true, "{shell:?}: {typed}");
        let screen = typed["screen"].as_str().unwrap();
        assert!(screen.lines().any(|line| line == "IT"), "{shell:?}: {typed}");
        let asks = json!({"pane": pane, "text": "printf 'go: '; read -r A\n",
            "wait_any": [{"input": true}]});
        client.call("input", asks);
        let none = json!({"pane": pane, "any": [{"prompt": true}], "timeout_ms": 100});
        assert_eq!(client.call("wait", none)["matched"], false, "{shell:?}");
        // In a shell without integration, the end of a command can't be recognized.
        let why = client.fail("wait", json!({"pane": pane, "any": [{"command_done": true}]}));
        assert!(why.contains("has no shell integration"), "{shell:?}: {why}");
    }
}

#[test]
fn conditions_are_refused_before_anything_is_typed() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let opened = client.call("pane_open", json!({"command": ["cat"]}));
    let pane = &opened["pane"];
    for (conditions, why) in [
        (
            json!([{"regex": "("}]),
            "[0].regex` must be a regular expression (unclosed group), not \"(\"",
        ),
        (
            json!([{"text": "it"}, {"prompt": false}]),
            "[1].prompt` must be true, since only what comes true is waited for, not false",
        ),
        (json!([{"text": ""}]), "[0].text` must be text that is not empty, not \"\""),
        (json!([{"command_done": true}]), "has no shell integration"),
    ] {
        for name in ["wait_any", "wait_all"] {
            let mut typed = json!({"pane": pane, "text": "typed\n"});
            typed[name] = conditions.clone();
            let refused = client.fail("input", typed);
            assert!(refused.contains(why), "{refused}");
            let names_it = refused.starts_with(&format!("`{name}["));
            assert!(names_it || why.contains("integration"), "{refused}");
        }
    }
    client.call("input", json!({"pane": pane, "text": "end\n", "wait_any": [{"text": "end"}]}));
    let shown = client.call("screen", json!({"pane": pane}));
    assert_eq!(shown["text"].as_str().unwrap().trim(), "end\nend");
}

#[test]
fn typed_ahead_text_that_an_editor_redraws_is_not_output() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    for shell in [&["bash", "--norc", "--noprofile"][..], &["zsh", "-f"], &["python3", "-q"]] {
        if !crate::support::has(shell[0], &["--version"]) {
            continue;
        }
        let is_python = shell[0] == "python3";
        let opened = client.call("pane_open", json!({"command": shell}));
        let pane = &opened["pane"];
        client.until(json!({"pane": pane, "any": [{"regex": "[#$%>] ?$"}]}));
        let (busy, asks) = match is_python {
            true => ("import time; time.sleep(1)\n", "_ = input('Go? '); print('DONE')\n"),
            false => ("sleep 1\n", "read -r A; echo DONE\n"),
        };
        client.call("input", json!({"pane": pane, "text": busy}));
        let typed = json!({"pane": pane, "text": asks, "wait_any": [{"text": "DONE"}],
            "timeout_ms": 2500});
        let typed = client.call("input", typed);
        assert_eq!(typed["wait"]["matched"], false, "{shell:?}: {typed}");
        let answer = json!({"pane": pane, "text": "y\n", "wait_any": [{"regex": "^DONE$"}]});
        assert_eq!(client.call("input", answer)["wait"]["matched"], true, "{shell:?}");
    }
}

#[test]
fn a_line_that_is_drawn_again_elsewhere_is_not_output() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let shell = json!({"command": ["bash", "--norc", "--noprofile"]});
    let pane = client.call("pane_open", shell)["pane"].take();
    client.until(json!({"pane": pane, "any": [{"prompt": true}]}));
    // Ctrl+L moves the prompt up.
    let lower =
        json!({"pane": pane, "text": "printf '\\n\\n\\n'\n", "wait_any": [{"prompt": true}]});
    client.call("input", lower);
    // The lines of a paste are in consecutive rows.
    let pasted = json!({"pane": pane, "paste": "read -r A\necho READY", "wait_any": [{"text": "READY"}],
        "timeout_ms": 300});
    assert_eq!(client.call("input", pasted)["wait"]["matched"], false);
    let cancelled = json!({"pane": pane, "keys": ["ctrl+c"], "wait_any": [{"prompt": true}]});
    client.call("input", cancelled);
    client.call("input", json!({"pane": pane, "text": "echo READY"}));
    client.until(json!({"pane": pane, "any": [{"text": "echo READY"}], "include_typed": true}));
    let cleared = json!({"pane": pane, "keys": ["ctrl+l"], "wait_any": [{"text": "READY"}],
        "timeout_ms": 300});
    let cleared = client.call("input", cleared);
    assert_eq!(cleared["wait"]["matched"], false, "{cleared}");
    let entered = json!({"pane": pane, "keys": ["enter"], "wait_any": [{"text": "READY"}]});
    let entered = client.call("input", entered);
    assert_eq!(entered["wait"]["conditions"][0]["text"], "READY", "{entered}");
}

#[test]
fn a_command_that_is_typed_in_several_lines_is_not_output() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let pane = client.call("pane_open", json!({"command": ["sh"]}))["pane"].take();
    client.until(json!({"pane": pane, "any": [{"prompt": true}]}));
    let command = format!("read -r A; : '{}'; echo READY", "x".repeat(3000));
    client.call("run", json!({"pane": pane, "command": command, "timeout_ms": 0}));
    client.until(json!({"pane": pane, "any": [{"text": "READY"}], "include_typed": true}));
    let none = json!({"pane": pane, "any": [{"text": "READY"}], "timeout_ms": 300});
    assert_eq!(client.call("wait", none)["matched"], false);
    let answer = json!({"pane": pane, "text": "\n", "wait_any": [{"text": "READY"}]});
    let answer = client.call("input", answer);
    assert_eq!(answer["wait"]["conditions"][0]["text"], "READY", "{answer}");
}

#[test]
fn lines_that_the_terminal_echoes_are_not_output() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let script = "read -r A; read -r A; exec cat";
    let opened = client.call("pane_open", json!({"command": ["sh", "-c", script], "cols": 40}));
    let pane = &opened["pane"];
    let lines = json!({"pane": pane, "text": "one\nREADY\n", "wait_any": [{"text": "READY"}],
        "timeout_ms": 300});
    let typed = client.call("input", lines);
    assert_eq!(typed["wait"]["matched"], false, "{typed}");
    // The lines remain echoes when a resize moves them. The same text as the program's output is not an echo.
    client.call("pane_resize", json!({"pane": pane, "cols": 3, "rows": 12}));
    let none = json!({"pane": pane, "any": [{"text": "READY"}], "timeout_ms": 300});
    assert_eq!(client.call("wait", none)["matched"], false);
    let typed = json!({"pane": pane, "text": "READY\n", "wait_any": [{"text": "READY"}]});
    let typed = client.call("input", typed);
    assert_eq!(typed["wait"]["conditions"][0]["text"], "READY", "{typed}");
}

#[test]
fn a_wait_ends_with_its_token() {
    let fixture = Fixture::new();
    let mut user = fixture.login();
    let made = user.call("token.create", json!({"name": "agent"}));
    let login = json!({"token": made["token"], "mcp": ""});
    let mut client = Client::silent_as(&fixture, login);
    client.hello("agent", "2025-11-25", &json!({}));
    client.call("pane_open", json!({"command": ["cat"]}));
    let call = json!({
        "name": "wait",
        "arguments": {"any": [{"text": "never"}]},
        "_meta": {"progressToken": "mine"},
    });
    let waiting = client.begin("tools/call", call);
    // A call that has not started would be refused immediately.
    client.note("notifications/progress");
    user.call("token.revoke", json!({"number": made["number"]}));
    let ended = client.end(waiting);
    let why = ended["result"]["content"][0]["text"].as_str().unwrap_or_default();
    assert!(why.starts_with("Not allowed: your token has ended, or was taken back"), "{ended}");
}
