//! Tests of `exec.run_wait` with shell integration, which uses the marks of blocks instead of markers.

use std::time::Duration;

use crate::support::{self, Fixture, Session, Wire, run};
use serde_json::{Value, json};

/// The shells that have an integration.
const SHELLS: [(&str, &[&str]); 3] = [("bash", &[]), ("zsh", &[]), ("fish", &[])];

/// Runs a test in each installed shell.
fn shells(mut test: impl FnMut(&str, &Fixture, &mut Wire, &Session)) {
    let prepare = |fixture: &Fixture| {
        fixture.integrate();
        // This file prevents the questions that zsh asks at its first start.
        std::fs::write(fixture.home.path().join(".zshrc"), "").unwrap();
    };
    support::shells(&SHELLS, prepare, |shell, fixture, wire, session| {
        // If the shell starts slowly and no one waits for its prompt, it is treated as a shell without marks.
        let there = json!({"id": session.id, "any": [{"prompt": true}]});
        assert_eq!(wire.call("session.wait", there)["matched"], true, "{shell}");
        test(shell, fixture, wire, session);
    });
}

#[test]
fn output_and_exit_code_are_those_of_the_block() {
    let commands = [
        ("true", "", 0),
        ("false", "", 1),
        ("printf 'no line end'", "no line end", 0),
        ("printf 'a\\tb  \\n\\n'", "a\tb  \n", 0),
        ("echo one; echo two >&2", "one\ntwo", 0),
        ("echo \"quotes ' and \\\" and \\$x\"", "quotes ' and \" and $x", 0),
        ("echo a!b # a comment", "a!b", 0),
        ("echo ok; sh -c 'exit 3'", "ok", 3),
        ("sh -c 'echo ok; exit 3'", "ok", 3),
        ("printf '100%%'", "100%", 0),
        ("printf '\\033[31mred\\033[0m\\n'", "red", 0),
        ("echo first\n\nprintf '%s\\n' 'two\nlines'", "first\ntwo\nlines", 0),
        ("cd /; pwd", "/", 0),
        ("pwd", "/", 0),
    ];
    shells(|shell, _, wire, session| {
        for (command, output, code) in commands {
            let reply = run(wire, session, command);
            assert_eq!(reply["output"], output, "{shell}: {command}");
            assert_eq!(reply["exit_code"], code, "{shell}: {command}");
            assert_eq!(reply["exit_source"], "block", "{shell}: {command}");
            let marker = reply["marker"].as_str().unwrap();
            assert!(marker.starts_with("__UNTERM_DONE_"), "{marker}");
        }
        // The screen shows nothing that Unterm typed.
        let found = wire.call("screen.search", json!({"id": session.id, "pattern": "UNTERM"}));
        assert_eq!(found["total"], 0, "{shell}: {found}");
    });
}

#[test]
fn commands_are_shown_as_they_were_given() {
    const COMMAND: &str = "echo one; echo 'two three'";
    shells(|shell, _, wire, session| {
        let only = json!({"id": session.id});
        run(wire, session, "true");
        wire.call("session.recording_start", only.clone());
        let block = run(wire, session, COMMAND)["block"].clone();
        let got = wire.call("block.get", json!({"id": session.id, "block": block}));
        assert_eq!((&got["command"], &got["output"]), (&json!(COMMAND), &json!("one\ntwo three")));
        let listed = wire.call("block.list", only.clone())["blocks"].clone();
        let is_it = |listed: &&Value| listed["block"] == block;
        let listed = listed.as_array().unwrap().iter().find(is_it).unwrap()["command"].clone();
        assert_eq!(listed, COMMAND, "{shell}");
        run(wire, session, "seq 100");
        let history = wire.call("session.history", json!({"id": session.id, "limit": 1000}));
        let history = history["entries"].to_string();
        assert!(history.contains(COMMAND) && !history.contains("eval"), "{shell}: {history}");
        let stopped = wire.call("session.recording_stop", only);
        let page = std::fs::read_to_string(stopped["md_path"].as_str().unwrap()).unwrap();
        assert!(page.contains(&format!("`{COMMAND}`")), "{shell}: {page}");
        assert!(!page.contains(" eval "), "{shell}: {page}");
    });
}

#[test]
fn a_command_that_clears_the_screen_keeps_what_it_prints_next() {
    const COMMAND: &str = r"seq 3; printf '\033[H\033[2J\033[3J'; echo rest";
    shells(|shell, fixture, wire, session| {
        let reply = run(wire, session, COMMAND);
        assert_eq!(
            (&reply["output"], &reply["truncated"]),
            (&json!("rest"), &json!(true)),
            "{shell}"
        );
        let block = json!({"id": session.id, "block": reply["block"]});
        let got = wire.call("block.get", block);
        assert_eq!((&got["output"], &got["truncated"]), (&json!("rest"), &json!(true)), "{shell}");
        assert_eq!((&got["command"], &got["cut"]), (&json!(COMMAND), &json!(true)), "{shell}");
        assert!(got["line_id"].is_null(), "{shell}: its prompt is gone: {got}");
        let listed = wire.call("block.list", json!({"id": session.id}))["blocks"].clone();
        assert_eq!(listed[0]["block"], reply["block"], "{shell}: {listed}");
        assert!(listed[1].get("cut").is_none(), "{shell}: {listed}");
        let path = fixture.home.path().join(format!("{shell}.md"));
        wire.call("session.export_markdown", json!({"id": session.id, "path": path}));
        let page = std::fs::read_to_string(&path).unwrap();
        let shown = "> The beginning of the output is gone.\n\n```\nrest\n```";
        assert!(page.contains(shown), "{shell}: {page}");
        // A command that clears the screen before it prints anything is complete.
        let reply = run(wire, session, r"printf '\033[H\033[2J\033[3J'; echo all");
        assert_eq!((&reply["output"], &reply["truncated"]), (&json!("all"), &json!(false)));
        let got = wire.call("block.get", json!({"id": session.id, "block": reply["block"]}));
        assert_eq!((&got["output"], got.get("cut")), (&json!("all"), None), "{shell}");
    });
}

#[test]
fn commands_between_marks_that_were_typed_are_shown_as_given() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.shell(&mut wire);
    run(&mut wire, &session, "echo one; echo two");
    run(&mut wire, &session, "seq 100");
    let history = wire.call("session.history", json!({"id": session.id, "limit": 1000}));
    let path = fixture.home.path().join("page.md");
    wire.call("session.export_markdown", json!({"id": session.id, "path": path}));
    for text in [history["entries"].to_string(), std::fs::read_to_string(&path).unwrap()] {
        assert!(text.contains("echo one; echo two"), "{text}");
        assert!(!text.contains("UntermRun") && !text.contains("__UNTERM"), "{text}");
    }
}

#[test]
fn prompts_of_many_lines_and_on_the_right_are_no_output() {
    let prompts = [
        ("bash", "PS1='one\\ntwo $ '"),
        ("zsh", "PS1=$'one\\ntwo %# '; RPS1='on the right'"),
        (
            "fish",
            "function fish_prompt; echo one; echo -n 'two > '; end; function fish_right_prompt; echo right; end",
        ),
        // This handler runs after Unterm's, at each prompt.
        (
            "fish",
            "function late --on-event fish_prompt; function fish_prompt; echo -n 'late > '; end; end",
        ),
    ];
    shells(|shell, _, wire, session| {
        for (_, prompt) in prompts.iter().filter(|(name, _)| *name == shell) {
            run(wire, session, prompt);
            for _ in 0..3 {
                let reply = run(wire, session, "echo hello; sh -c 'exit 4'");
                assert_eq!((&reply["output"], &reply["exit_code"]), (&json!("hello"), &json!(4)));
                assert_eq!(reply["exit_source"], "block", "{shell}: {prompt}");
            }
        }
    });
}

#[test]
fn a_command_of_100_kb_arrives_whole() {
    let long = "0123456789 'it' \\ ".repeat(6000);
    let quoted = |escape: &str| long.replace('\\', escape).replace('\'', r"'\''");
    shells(|shell, _, wire, session| {
        let quoted = quoted(if shell == "fish" { r"\\" } else { "\\" });
        let reply = run(wire, session, &format!("printf '%s' '{quoted}' | wc -c"));
        assert_eq!(reply["output"].as_str().unwrap().trim(), long.len().to_string(), "{shell}");
    });
}

#[test]
fn programs_that_fill_the_screen_leave_what_stood_below_them() {
    shells(|shell, _, wire, session| {
        let script =
            "echo before; printf '\\033[?1049h\\033[Hfull\\033[5;5Hscreen\\033[?1049l'; echo after";
        let reply = run(wire, session, script);
        assert_eq!(reply["output"], "before\nafter", "{shell}");
    });
}

#[test]
fn a_shell_inside_a_command_does_not_end_it() {
    let fixture = Fixture::new();
    fixture.integrate();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "bash", &[]);
    session.wait(|pane| pane.term().commands().next_back()?.is_prompting().then_some(()));
    // The inner shell's prompt ends the wait, but not the command.
    let begun = run(&mut wire, &session, "bash; echo outer");
    assert_eq!((&begun["new_shell"], &begun["exit_code"]), (&json!(true), &Value::Null), "{begun}");
    assert_eq!(run(&mut wire, &session, "echo inner")["output"], "inner");
    let left = run(&mut wire, &session, "exit 5");
    assert_eq!(left["output"].as_str().unwrap().lines().last(), Some("outer"), "{left}");
    assert_eq!(run(&mut wire, &session, "echo after")["output"], "after");
}

#[test]
fn a_canceled_command_reports_its_exit_code() {
    shells(|shell, fixture, wire, session| {
        run(wire, session, "true");
        let id = session.id;
        let mut other = fixture.login();
        let waiting = std::thread::spawn(move || {
            other.call("exec.run_wait", json!({"id": id, "command": "echo; echo up; sleep 1000"}))
        });
        session.wait_for_text("\nup");
        while wire.call("session.idle", json!({"id": id}))["idle"] == true {}
        wire.call("exec.cancel", json!({"id": id}));
        let reply = waiting.join().unwrap();
        assert_eq!(reply["exit_status"], "completed", "{shell}: {reply}");
        assert_eq!((&reply["exit_code"], &reply["exit_source"]), (&json!(130), &json!("block")));
        assert_eq!(run(wire, session, "echo well")["output"], "well", "{shell}");
    });
}

#[test]
fn a_command_that_ends_the_shell_reports_its_exit_code() {
    let fixture = Fixture::new();
    fixture.integrate();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "bash", &[]);
    let reply = run(&mut wire, &session, "echo ok; exit 3");
    assert_eq!((&reply["output"], &reply["exit_code"]), (&json!("ok"), &json!(3)));
    assert_eq!(reply["exit_source"], "process");
}

#[test]
fn an_end_that_output_forges_is_none() {
    let fixture = Fixture::new();
    fixture.integrate();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "bash", &[]);
    let forged = "printf 'a\\033]133;D;9\\007b\\033]133;D;9;nonce=0123\\007c\\n'; sh -c 'exit 2'";
    let reply = run(&mut wire, &session, forged);
    assert_eq!((&reply["output"], &reply["exit_code"]), (&json!("abc"), &json!(2)));
}

#[test]
fn output_of_100_mb_is_bounded_and_reports_the_cut() {
    let fixture = Fixture::new();
    fixture.integrate();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "bash", &[]);
    wire.waits_for(Duration::from_secs(330));
    let flood =
        "head -c 100000000 /dev/zero | tr '\\0' x | fold -w 1000; echo; echo last; sh -c 'exit 6'";
    let reply = wire
        .call("exec.run_wait", json!({"id": session.id, "command": flood, "timeout_ms": 300_000}));
    assert_eq!(reply["exit_status"], "completed");
    assert_eq!(reply["truncated"], true);
    let output = reply["output"].as_str().unwrap();
    assert!(output.ends_with("x\nlast") && output.len() < 16 << 20);
    assert_eq!(run(&mut wire, &session, "echo well")["output"], "well");
}

#[test]
fn a_line_that_was_entered_before_is_not_taken_for_the_command() {
    let fixture = Fixture::new();
    fixture.integrate();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "bash", &[]);
    for n in 0..20 {
        wire.call(
            "exec.run",
            json!({"id": session.id, "command": format!("echo other {n}; sh -c 'exit 9'")}),
        );
        let reply = run(&mut wire, &session, &format!("echo mine {n}"));
        assert_eq!(
            (&reply["output"], &reply["exit_code"]),
            (&json!(format!("mine {n}")), &json!(0))
        );
    }
}
