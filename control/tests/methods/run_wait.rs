//! Tests of `exec.run_wait` in real shells: the output is exact in any state of the screen, and the reply is fast.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use crate::support::{self, Fixture, Session, Wire, run};
use serde_json::{Value, json};

/// The shells that are tested, without startup files.
const SHELLS: [(&str, &[&str]); 4] = [
    ("sh", &[]),
    ("bash", &["--norc", "--noprofile"]),
    ("zsh", &["-f"]),
    ("fish", &["--no-config"]),
];

/// Runs a test in each installed shell.
fn shells(test: impl FnMut(&str, &Fixture, &mut Wire, &Session)) {
    support::shells(&SHELLS, |_| (), test);
}

#[test]
fn the_reply_has_the_documented_keys_in_every_shell() {
    shells(|shell, _, wire, session| {
        let reply = run(wire, session, "echo hello");
        assert_eq!(reply["output"], "hello", "{shell}");
        assert_eq!(reply["exit_status"], "completed", "{shell}");
        assert_eq!(reply["timed_out"], false, "{shell}");
        assert_eq!(reply["exit_code"], 0, "{shell}");
        let marker = reply["marker"].as_str().unwrap();
        assert!(marker.starts_with("__UNTERM_DONE_") && marker.ends_with("__"), "{marker}");
        assert_eq!(marker.len(), "__UNTERM_DONE___".len() + 32);
        // The marker is on the screen once, after the output. The echo does not contain it.
        let text = wire.call("screen.search", json!({"id": session.id, "pattern": marker}));
        assert_eq!(text["total"], 1, "{shell}: {text}");
    });
}

#[test]
fn the_output_is_what_the_command_printed() {
    let commands = [
        ("true", "", 0),
        ("false", "", 1),
        ("printf 'no line end'", "no line end", 0),
        ("printf 'a\\tb  \\n\\n'", "a\tb  \n", 0),
        ("echo one; echo two >&2", "one\ntwo", 0),
        ("echo \"quotes ' and \\\" and \\$x\"", "quotes ' and \" and $x", 0),
        ("echo it\\'s # a comment", "it's", 0),
        ("echo a!b", "a!b", 0),
        ("sh -c 'exit 7'", "", 7),
        ("printf '\\033[31mred\\033[0m\\n'", "red", 0),
        ("echo é ∀ 漢字 🦀", "é ∀ 漢字 🦀", 0),
        ("cd /; pwd", "/", 0),
    ];
    shells(|shell, _, wire, session| {
        for (command, output, code) in commands {
            let reply = run(wire, session, command);
            assert_eq!(reply["output"], output, "{shell}: {command}");
            assert_eq!(reply["exit_code"], code, "{shell}: {command}");
        }
        assert_eq!(run(wire, session, "pwd")["output"], "/", "{shell} is still where it went");
    });
}

/// Changes the directory repeatedly, and queries the directory immediately after each command has ended.
fn follow(wire: &mut Wire, session: &Session, home: &Path, shell: &str) {
    let folders = ["a b", "ä"].map(|name| home.join(name).canonicalize().unwrap());
    let stale: Vec<usize> = (0..200)
        .filter(|count| {
            let folder = &folders[count % 2];
            let reply = run(wire, session, &format!("cd '{}'", folder.display()));
            assert_eq!(reply["exit_code"], 0, "{shell}: {reply}");
            let cwd = wire.call("session.cwd", json!({"id": session.id}));
            let listed = wire.call("session.status", json!({"id": session.id}));
            assert_eq!(listed["shell"]["cwd"], cwd["cwd"], "{shell}");
            cwd["cwd"] != unterm_mux::file_uri(folder)
        })
        .collect();
    assert_eq!(stale, [] as [usize; 0], "{shell}");
}

/// Creates two folders in the home.
fn with_folders(fixture: &Fixture) -> &Path {
    for name in ["a b", "ä"] {
        std::fs::create_dir(fixture.home.path().join(name)).unwrap();
    }
    fixture.home.path()
}

#[test]
fn the_directory_is_up_to_date_when_a_command_has_ended() {
    for shell in ["bash", "zsh", "fish"] {
        let fixture = Fixture::new();
        fixture.integrate();
        let home = with_folders(&fixture);
        let mut wire = fixture.login();
        let session = fixture.program(&mut wire, shell, &[]);
        let params = json!({"id": session.id, "any": [{"prompt": true}]});
        assert_eq!(wire.call("session.wait", params)["matched"], true, "{shell}");
        follow(&mut wire, &session, home, shell);
        // The directory in which a block was started is reported in the same form.
        let blocks = wire.call("block.list", json!({"id": session.id}));
        let last = blocks["blocks"].as_array().unwrap().iter().rfind(|it| it["state"] == "done");
        let before = unterm_mux::file_uri(&home.join("a b").canonicalize().unwrap());
        assert_eq!(last.unwrap()["cwd"], before, "{shell}");
    }
}

#[test]
fn a_directory_reported_before_the_last_command_is_not_used() {
    let fixture = Fixture::new();
    let home = with_folders(&fixture);
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "bash", &["--norc", "--noprofile"]);
    // This hook is part of VTE's profile script. A marker that is typed after the command is printed before the
    // prompt's report.
    let hook = r#"PROMPT_COMMAND='sleep 0.05; printf "\e]7;file://%s%s\a" "$HOSTNAME" "$PWD"'"#;
    run(&mut wire, &session, hook);
    follow(&mut wire, &session, home, "bash without marks");
    // The shell reports the name of the link and not of its target.
    std::os::unix::fs::symlink(home.join("ä"), home.join("link")).unwrap();
    run(&mut wire, &session, &format!("cd '{}'", home.join("link").display()));
    let linked = unterm_mux::file_uri(&home.join("link"));
    support::until("the report", || {
        (wire.call("session.cwd", json!({"id": session.id}))["cwd"] == linked).then_some(())
    });
}

#[test]
fn a_command_of_many_lines_arrives_whole() {
    shells(|shell, _, wire, session| {
        let script = "echo first\n\n# a comment\nprintf '%s\\n' 'two\nlines' \"it's\"\necho last";
        assert_eq!(
            run(wire, session, script)["output"],
            "first\ntwo\nlines\nit's\nlast",
            "{shell}"
        );
        // The line is longer than what the kernel keeps of a line (4,095 bytes), and is wrapped over many rows.
        let long = "0123456789".repeat(700);
        let reply = run(wire, session, &format!("printf '%s' '{long}' | wc -c"));
        assert_eq!(reply["output"].as_str().unwrap().trim(), "7000", "{shell}");
        assert_eq!(run(wire, session, &format!("echo '{long}'"))["output"], long, "{shell}");
    });
}

#[test]
fn a_long_command_arrives_whole_also_before_the_prompt() {
    let long = "0123456789".repeat(700);
    shells(|shell, _, wire, session| {
        assert_eq!(run(wire, session, &format!("echo '{long}'"))["output"], long, "{shell}");
    });
}

#[test]
fn output_that_scrolls_wraps_or_is_cleared_is_returned() {
    shells(|shell, _, wire, session| {
        let reply = run(wire, session, "seq 1 30000");
        let expected: Vec<_> = (1..=30000).map(|n| n.to_string()).collect();
        assert_eq!(reply["output"], expected.join("\n"), "{shell}: more than the history keeps");
        assert_eq!(reply["truncated"], false);
        assert_eq!(
            run(wire, session, "echo before; clear; echo after")["output"],
            "after",
            "{shell}"
        );
        assert_eq!(run(wire, session, "printf '10%%\\r20%%\\n'")["output"], "20%", "{shell}");
        let wide = "w".repeat(500);
        assert_eq!(run(wire, session, &format!("printf '%s\\rX\\n' {wide}"))["exit_code"], 0);
    });
}

#[test]
fn syntax_that_is_none_is_an_answer() {
    shells(|shell, _, wire, session| {
        for command in ["echo (", "echo 'open", "if true; then"] {
            let reply = run(wire, session, command);
            assert_eq!(reply["timed_out"], false, "{shell}: {command}");
            assert_ne!(reply["exit_code"], 0, "{shell}: {command}");
        }
        assert_eq!(run(wire, session, "echo well")["output"], "well", "{shell}");
    });
}

#[test]
fn a_lone_reserved_word_is_a_command_error_in_marked_shells() {
    let marked = [("bash", &[][..]), ("zsh", &[]), ("fish", &[])];
    support::shells(&marked, Fixture::integrate, |shell, _, wire, session| {
        let id = session.id;
        wire.call("session.wait", json!({"id": id, "any": [{"prompt": true}]}));
        for command in ["done", "fi", "then", "end", "else", "do echo", "in"] {
            let reply = run(wire, session, command);
            assert_eq!(reply["timed_out"], false, "{shell}: {command}");
            assert_ne!(reply["exit_code"], 0, "{shell}: {command}: {reply}");
            assert_eq!(reply["reason"], Value::Null, "{shell}: {command}: {reply}");
        }
        assert_eq!(run(wire, session, "echo well")["output"], "well", "{shell}");
    });
}

#[test]
fn a_nul_in_a_command_is_refused() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.shell(&mut wire);
    let error = wire
        .fail("exec.run_wait", json!({"id": session.id, "command": "echo a; echo b\0; echo c"}));
    assert!(error.contains("'command'") && error.contains("NUL"), "{error}");
    let reply = run(&mut wire, &session, "echo well");
    assert_eq!(reply["output"], "well", "{reply}");
}

#[test]
fn a_command_that_ctrl_c_ends_is_interrupted() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let id = session.id;
    let mut other = fixture.login();
    let command = json!({"id": id, "command": "echo; echo up; sleep 1000"});
    let waiting = std::thread::spawn(move || other.call("exec.run_wait", command));
    session.wait_for_text("\nup");
    while wire.call("session.idle", json!({"id": id}))["idle"] == true {}
    wire.call("exec.cancel", json!({"id": id}));
    let reply = waiting.join().unwrap();
    assert_eq!(
        (&reply["interrupted"], &reply["exit_code"]),
        (&json!(true), &json!(130)),
        "{reply}"
    );
    // A command that exits with the same code by itself was not interrupted.
    assert_eq!(run(&mut wire, &session, "sh -c 'exit 130'")["interrupted"], false);
    let other = fixture.shell(&mut wire);
    let error = wire.fail("block.get", json!({"id": other.id}));
    assert!(error.contains("keeps no command"), "{error}");
}

#[test]
fn a_command_that_waits_is_waited_for() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.shell(&mut wire);
    let start = Instant::now();
    let reply = run(&mut wire, &session, "sleep 3; echo slept");
    assert_eq!(reply["output"], "slept");
    assert!(start.elapsed() >= Duration::from_secs(3));
}

#[test]
fn a_command_that_takes_too_long_is_left_running() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.shell(&mut wire);
    run(&mut wire, &session, "true");
    // The command ends when the test opens the gate.
    let gate = fixture.home.path().join("gate");
    assert!(std::process::Command::new("mkfifo").arg(&gate).status().unwrap().success());
    let command = "echo begun; read -r go < gate; echo over";
    let reply = wire
        .call("exec.run_wait", json!({"id": session.id, "command": command, "timeout_ms": 5000}));
    assert_eq!(reply["timed_out"], true);
    assert_eq!(reply["exit_status"], "timeout");
    assert_eq!(reply["output"], "begun");
    assert_eq!(reply["exit_code"], Value::Null);
    // The shell prints the marker when the command ends later.
    std::fs::write(&gate, "go\n").unwrap();
    session.wait_for_text(reply["marker"].as_str().unwrap());
    session.wait_for_text("over");
    let nothing = wire
        .call("exec.run_wait", json!({"id": session.id, "command": "sleep 1", "timeout_ms": 0}));
    assert_eq!(nothing["timed_out"], true);
}

#[test]
fn a_session_that_ends_meanwhile_is_an_error_at_once() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.shell(&mut wire);
    let id = session.id;
    let reply = wire.call("exec.run_wait", json!({"id": id, "command": "echo ok; exit 3"}));
    assert_eq!(
        (&reply["output"], &reply["exit_code"], &reply["exit_source"]),
        (&json!("ok"), &json!(3), &json!("process"))
    );

    let session = fixture.shell(&mut wire);
    let id = session.id;
    let mut other = fixture.login();
    let waiting = std::thread::spawn(move || {
        other.fail("exec.run_wait", json!({"id": id, "command": "echo; echo up; sleep 1000"}))
    });
    session.wait_for_text("\nup");
    wire.call("session.destroy", json!({"id": id}));
    let message = waiting.join().unwrap();
    assert!(message.starts_with(&format!("Session {id} ended before")), "{message}");
}

#[test]
fn many_sessions_are_waited_for_at_once() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let sessions: Vec<_> = (0..8).map(|_| fixture.shell(&mut wire).id).collect();
    // Each command waits for input, so that all commands run at the same time.
    let waiting: Vec<_> = sessions
        .iter()
        .map(|&id| {
            let mut wire = fixture.login();
            std::thread::spawn(move || {
                wire.call(
                    "exec.run_wait",
                    json!({"id": id, "command": format!("read line; echo \"$line {id}\"")}),
                )
            })
        })
        .collect();
    for &id in &sessions {
        let pane = fixture.mux.pane(unterm_mux::PaneId(id)).unwrap();
        support::Session { id, pane: pane.clone() }.wait_for_text("read line");
        // The shell echoes no input until it begins the line.
        support::until("the echo", || (pane.process().echo() == Some(true)).then_some(()));
        wire.call("session.input", json!({"id": id, "input": "told\r"}));
    }
    for (id, waiting) in sessions.iter().zip(waiting) {
        let reply = waiting.join().unwrap();
        assert_eq!(reply["output"], format!("told {id}"), "without the terminal's echo");
    }
}

#[test]
fn a_connection_that_waits_holds_up_no_other() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.shell(&mut wire);
    let id = session.id;
    let mut other = fixture.login();
    // The two requests are in one write. The first is answered while the second waits.
    other.send(format!(
        "{}\n{}\n",
        json!({"id": 1, "method": "server.info"}),
        json!({"id": 2, "method": "exec.run_wait", "params": {"id": id, "command": "read line"}})
    ));
    let first: Value = serde_json::from_str(&other.receive().unwrap()).unwrap();
    assert_eq!(first["id"], 1);
    session.wait_for_text("read line");
    wire.call("session.input", json!({"id": id, "input": "\r"}));
    let second: Value = serde_json::from_str(&other.receive().unwrap()).unwrap();
    assert_eq!((&second["id"], &second["result"]["timed_out"]), (&json!(2), &json!(false)));
}

#[test]
fn a_shell_that_never_marks_its_prompts_is_not_waited_for() {
    let fixture = Fixture::new();
    fixture.integrate();
    let mut wire = fixture.login();
    let session = fixture.shell(&mut wire);
    session.wait_for_text("$");
    for word in ["one", "two"] {
        // The time is shorter than the time in which a shell must mark its first prompt.
        let command =
            json!({"id": session.id, "command": format!("echo {word}"), "timeout_ms": 1990});
        let reply = wire.call("exec.run_wait", command);
        assert_eq!((&reply["output"], &reply["timed_out"]), (&json!(word), &json!(false)));
        assert_eq!(reply["exit_source"], "marker");
    }
    // Later output leaves the cursor in the first column, where it also is before the first prompt.
    let gate = fixture.home.path().join("gate");
    assert!(std::process::Command::new("mkfifo").arg(&gate).status().unwrap().success());
    run(&mut wire, &session, &format!("(read -r text < '{}'; echo \"$text\") &", gate.display()));
    std::fs::write(&gate, "late output\n").unwrap();
    session.wait_for(|screen| screen.trim_end().ends_with("late output"));
    let command = json!({"id": session.id, "command": "echo three", "timeout_ms": 1990});
    let reply = wire.call("exec.run_wait", command);
    assert_eq!((&reply["output"], &reply["timed_out"]), (&json!("three"), &json!(false)));
}

#[test]
fn a_command_that_ends_its_marked_shell_returns_a_result() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    // The quotes ensure that the prompt's text does not appear in the typed command.
    wire.call("exec.run", json!({"id": session.id, "command": "PS1='in''ner> ' sh"}));
    session.wait_for_text("inner>");
    let inside = run(&mut wire, &session, "echo inside");
    assert_eq!((&inside["output"], &inside["exit_source"]), (&json!("inside"), &json!("marker")));
    let reply = run(&mut wire, &session, "echo bye; exit 4");
    assert_eq!(
        (&reply["exit_status"], &reply["exit_code"], &reply["exit_source"], &reply["output"]),
        (&json!("completed"), &json!(4), &json!("block"), &json!("bye")),
    );
    let outside = run(&mut wire, &session, "echo outside");
    assert_eq!((&outside["output"], &outside["exit_source"]), (&json!("outside"), &json!("block")));
}

#[test]
fn xtrace_and_errexit_do_not_change_the_result() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "bash", &["--norc", "--noprofile"]);
    run(&mut wire, &session, "set -x");
    let reply = run(&mut wire, &session, "echo traced");
    let output = reply["output"].as_str().unwrap();
    assert!(output.contains("+ echo traced\ntraced"), "{output}");
    assert_eq!(reply["exit_code"], 0);
}

#[test]
fn a_command_that_is_cancelled_is_an_answer() {
    shells(|shell, fixture, wire, session| {
        let id = session.id;
        for command in
            ["echo; echo up; sleep 1000; echo no", "echo; echo up; while true; do sleep 1000; done"]
        {
            if shell == "fish" && command.contains("done") {
                continue;
            }
            let mut other = fixture.login();
            let waiting = std::thread::spawn(move || {
                other.call("exec.run_wait", json!({"id": id, "command": command}))
            });
            session.wait_for_text("\nup");
            // This interrupts `sleep` itself. A shell that is between two commands might continue with the next one.
            while wire.call("session.idle", json!({"id": id}))["idle"] == true {}
            wire.call("exec.cancel", json!({"id": id}));
            let reply = waiting.join().unwrap();
            assert_eq!(reply["timed_out"], false, "{shell}: {reply}");
            assert_eq!(reply["exit_status"], "completed", "{shell}: {reply}");
            // Some shells abort the whole line, and others report the exit code of the interrupted command.
            let code = reply["exit_code"].as_i64();
            assert!(reply["interrupted"] == true || code.is_some_and(|code| code != 0), "{reply}");
            assert_eq!(
                reply["output"].as_str().unwrap().trim().trim_end_matches("^C").trim(),
                "up",
                "{shell}"
            );
            run(wire, session, "clear");
        }
    });
}

#[test]
fn nothing_is_lost_however_the_output_is_cut() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.program(&mut wire, "bash", &["--norc", "--noprofile"]);
    for n in 0..300 {
        let reply = run(&mut wire, &session, &format!("seq 1 {n}; echo done"));
        assert_eq!(reply["truncated"], false, "{reply}");
        assert_eq!(reply["output"].as_str().unwrap().lines().count(), n + 1, "{reply}");
    }
}

#[test]
fn a_flood_of_output_still_ends() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.shell(&mut wire);
    wire.waits_for(Duration::from_secs(330));
    let flood = "head -c 60000000 /dev/zero | tr '\\0' x; echo; echo last";
    let reply = wire
        .call("exec.run_wait", json!({"id": session.id, "command": flood, "timeout_ms": 300_000}));
    assert_eq!(reply["exit_status"], "completed");
    assert_eq!(reply["truncated"], true);
    assert!(reply["output"].as_str().unwrap().ends_with("x\nlast"));
}
