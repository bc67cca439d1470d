//! Tests of `exec.run_wait` by several callers in one pane, and while another program or another shell is in the
//! foreground of the pane.

use std::thread;

use serde_json::{Value, json};

use crate::support::{self, Fixture, Session, Wire, client::Client, run};

/// Shells with integration, and two without it at the end.
const SHELLS: [(&str, &[&str]); 5] =
    [("bash", &[]), ("zsh", &[]), ("fish", &[]), ("bash", &["--norc"]), ("sh", &[])];

/// Runs a test at the prompt of each installed shell.
fn shells(mut test: impl FnMut(&str, &Fixture, &mut Wire, &Session)) {
    support::shells(&SHELLS, Fixture::integrate, |shell, fixture, wire, session| {
        wire.call("session.wait", json!({"id": session.id, "any": [{"prompt": true}]}));
        test(shell, fixture, wire, session);
    });
}

/// The output and the exit code of a command.
fn ended(reply: &Value) -> (&str, &Value) {
    (reply["output"].as_str().unwrap(), &reply["exit_code"])
}

#[test]
fn each_caller_of_one_pane_gets_its_own_result() {
    shells(|shell, fixture, _, session| {
        let id = session.id;
        let callers: Vec<_> = (0..6)
            .map(|caller| {
                let mut wire = fixture.login();
                thread::spawn(move || {
                    (0..5).for_each(|turn| {
                        let (text, code) = (format!("{caller} of {turn}"), caller * 10 + turn);
                        let command = format!("echo '{text}'; sh -c 'exit {code}'");
                        let is_ahead = turn % 2 == 0;
                        let params = json!({"id": id, "command": command, "type_ahead": is_ahead});
                        let reply = wire.call("exec.run_wait", params);
                        assert_eq!(ended(&reply), (text.as_str(), &json!(code)), "{reply}");
                    });
                })
            })
            .collect();
        for caller in callers {
            assert!(caller.join().is_ok(), "{shell}: a caller got another result");
        }
    });
}

#[test]
fn a_caller_that_waited_for_its_turn_too_long_types_nothing() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let id = session.id;
    let mut other = fixture.login();
    let command = json!({"id": id, "command": "echo; echo up; read -r A; echo \"got $A\""});
    let first = thread::spawn(move || other.call("exec.run_wait", command));
    session.wait_for_text("\nup");
    let late = json!({"id": id, "command": "echo late", "timeout_ms": 50});
    let refused = wire.fail("exec.run_wait", late);
    assert!(refused.contains("another caller's command"), "{refused}");
    wire.call("session.input", json!({"id": id, "input": "word\r"}));
    // The terminal's echo of the input is not output.
    assert_eq!(ended(&first.join().unwrap()), ("\nup\ngot word", &json!(0)));
    assert!(!support::screen(&session.pane).contains("late"));
    assert_eq!(ended(&run(&mut wire, &session, "echo next")), ("next", &json!(0)));
}

#[test]
fn a_running_command_whose_client_has_its_handle_keeps_no_queue() {
    let fixture = Fixture::new();
    let mut client = Client::new(&fixture);
    let pane = client.shell(&fixture);
    let command = "echo asked; read -r A; echo got $A";
    let begun = client.call("run", json!({"command": command, "timeout_ms": 0}));
    assert_eq!(begun["ended"], false, "{begun}");
    let refused = client.fail("run", json!({"command": "echo late"}));
    assert!(refused.contains("read -r A"), "{refused}");
    client.call("input", json!({"pane": pane, "text": "it\n"}));
    let over = client.call("wait", json!({"handle": begun["handle"]}));
    assert_eq!(over["run"]["output"], "asked\ngot it", "{over}");
}

#[test]
fn a_line_typed_ahead_is_quoted_for_the_shell_that_reads_it() {
    shells(|shell, _, wire, session| {
        // `sh` runs a script and does not read the line, so the outer shell reads it.
        for front in ["sh -c 'sleep 0.3; true'", "sleep 0.3", "bash -c 'sleep 0.3'"] {
            wire.call("exec.run", json!({"id": session.id, "command": front}));
            let command = "printf '%s|' 'a\tb' \"it's\" '\\n'; sh -c 'exit 5'";
            let reply = run(wire, session, command);
            assert_eq!(ended(&reply), ("a\tb|it's|\\n|", &json!(5)), "{shell}, {front}: {reply}");
        }
    });
}

#[test]
fn a_careful_caller_types_nothing_into_a_program() {
    shells(|shell, _, wire, session| {
        wire.call("exec.run", json!({"id": session.id, "command": "echo; echo up; cat"}));
        session.wait_for_text("\nup");
        let careful = json!({"id": session.id, "command": "echo secret", "type_ahead": false});
        let refused = wire.fail("exec.run_wait", careful);
        assert!(refused.starts_with("Nothing was typed"), "{shell}: {refused}");
        assert!(!support::screen(&session.pane).contains("secret"), "{shell}");
        wire.call("signal.send", json!({"id": session.id, "signal": "EOF"}));
        let reply = run(wire, session, "echo back");
        assert_eq!(ended(&reply), ("back", &json!(0)), "{shell}: {reply}");
    });
}

#[test]
fn a_new_shell_at_its_prompt_is_an_answer() {
    shells(|shell, _, wire, session| {
        // The fixture exports the prompt as `PS1`, in a form that another shell can't expand.
        for (inner, code) in [
            ("bash", json!(4)),
            ("env -u PS1 bash --norc", json!(4)),
            ("env -u PS1 sh", json!(4)),
            ("env -u PS1 dash -i", json!(4)),
            ("script -q /dev/null", Value::Null),
        ] {
            let name = inner.split(' ').next().unwrap();
            if !support::has(name, &["--version"]) {
                continue;
            }
            let reply = run(wire, session, inner);
            assert_eq!(reply["new_shell"], true, "{shell}, {inner}: {reply}");
            assert_eq!(ended(&reply), ("", &Value::Null), "{shell}, {inner}: {reply}");
            let inside = run(wire, session, "echo \"in  side\"; (exit 3)");
            assert_eq!(ended(&inside), ("in  side", &json!(3)), "{shell}, {inner}: {inside}");
            let left = run(wire, session, "exit 4");
            // If the outer shell has no marks, nothing reports the end of the inner shell.
            if session.pane.term().commands().next_back().is_some() {
                assert_eq!(left["exit_code"], code, "{shell}, {inner}: {left}");
                assert_eq!(left["timed_out"], false, "{shell}, {inner}: {left}");
            }
            let after = run(wire, session, "echo after");
            assert_eq!(ended(&after), ("after", &json!(0)), "{shell}, {inner}: {after}");
        }
    });
}

/// Queries to the terminal.
const QUERIES: [&str; 19] = [
    "[>q",
    "[c",
    "[>c",
    "[=c",
    "[6n",
    "[?996n",
    "[?2026$p",
    "[?u",
    "[14t",
    "[18t",
    "]10;?\\007",
    "]11;?\\033\\\\",
    "]4;1;?\\033\\\\",
    "P+q544e\\033\\\\",
    "P$qm\\033\\\\",
    "_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\\033\\\\",
    "]52;c;?\\007",
    // In vi's command mode, the first replies could begin its replace mode, and the last one a search.
    "[6n\\033[?u",
    "[c\\033[>q\\033[6n\\033[?u\\033P$qm\\033\\\\",
];

#[test]
fn replies_that_no_program_has_read_leave_commands_alone() {
    for (shell, keys) in [
        ("bash", "set -o emacs"),
        ("bash", "set -o vi"),
        ("zsh", "bindkey -v"),
        ("fish", "fish_vi_key_bindings"),
    ] {
        support::shells(&[(shell, &[])], Fixture::integrate, |_, _, wire, session| {
            wire.call("session.wait", json!({"id": session.id, "any": [{"prompt": true}]}));
            run(wire, session, keys);
            for query in QUERIES {
                run(wire, session, &format!("printf '\\033{query}'"));
                for (text, code) in [("in  side", 3), ("again", 0)] {
                    let command = format!("echo '{text}'; sh -c 'exit {code}'");
                    let reply = run(wire, session, &command);
                    let what = format!("{shell}, {keys}, {query}: {reply}");
                    assert_eq!(ended(&reply), (text, &json!(code)), "{what}");
                }
            }
        });
    }
}

#[test]
fn an_inner_shell_runs_commands_despite_a_lost_begin_mark() {
    support::shells(&[("fish", &[])], Fixture::integrate, |shell, _, wire, session| {
        wire.call("session.wait", json!({"id": session.id, "any": [{"prompt": true}]}));
        run(wire, session, "functions -e __unterm_preexec");
        let inner = "env -u PS1 bash --norc";
        wire.call("exec.run", json!({"id": session.id, "command": inner}));
        session.wait_for_text("bash-");
        for (text, code) in [("in  side", 3), ("again", 0)] {
            let command = format!("echo \"{text}\"; (exit {code})");
            let params = json!({"id": session.id, "command": command, "type_ahead": false});
            let inside = wire.call("exec.run_wait", params);
            assert_eq!(ended(&inside), (text, &json!(code)), "{shell}: {inside}");
        }
    });
}

#[test]
fn a_shell_that_was_typed_ahead_of_a_prompt_gets_its_own_line() {
    let shells: [(&str, &[&str]); 3] = [("bash", &[]), ("zsh", &[]), ("fish", &[])];
    support::shells(&shells, Fixture::integrate, |shell, _, wire, session| {
        let id = session.id;
        wire.call("session.wait", json!({"id": id, "any": [{"prompt": true}]}));
        // After the short command, the next prompt looks free, but the shell has not read the line that starts `sh`.
        // While the long one runs, the line is typed ahead, when no shell reads the terminal.
        for busy in ["sleep .5", "sleep 3"] {
            wire.call("exec.run", json!({"id": id, "command": busy}));
            wire.call("session.input", json!({"id": id, "input": "sh\r"}));
            for (command, text, code) in
                [("echo one\necho \"it's\"; (exit 3)", "one\nit's", 3), ("echo two", "two", 0)]
            {
                let run = wire.call("exec.run_wait", json!({"id": id, "command": command}));
                assert_eq!(ended(&run), (text, &json!(code)), "{shell}, {busy}: {run}");
            }
            wire.call("session.input", json!({"id": id, "input": "exit\r"}));
            wire.call("session.wait", json!({"id": id, "any": [{"prompt": true}]}));
        }
    });
}

#[test]
fn zsh_gets_every_character_in_a_locale_that_has_only_ascii() {
    // With shell integration, and without.
    let arguments: [&[&str]; 2] = [&[], &["-f"]];
    for args in arguments {
        support::shells(&[("zsh", args)], Fixture::integrate, |_, _, wire, session| {
            run(wire, session, "LC_ALL=C");
            let shown = run(wire, session, "echo 'é∀🦀'");
            assert_eq!(ended(&shown), ("é∀🦀", &json!(0)), "{args:?}: {shown}");
        });
    }
}

/// Changes to a shell that remove its integration or a part of it.
const REMOVALS: [(&str, &[&str]); 3] = [
    (
        "bash",
        &[
            "PS1='$ '; PROMPT_COMMAND=",
            "PS1='$ '; PS0=; unset PROMPT_COMMAND",
            "PROMPT_COMMAND=",
            "unset PROMPT_COMMAND PS0",
            "unset PROMPT_COMMAND PS0 PS1",
            "PS1= PS0=; PROMPT_COMMAND=",
            "PROMPT_COMMAND=(true true)",
            "PROMPT_COMMAND=(true 'PS1=\"❯ \"')",
            "PROMPT_COMMAND=\"history -a; $PROMPT_COMMAND\"",
            "exec bash --norc",
            "unset -f _unterm_after",
            // The prompt after this one is announced, but has no mark at its end.
            "x() { PS1='now> '; }; PROMPT_COMMAND+=(x)",
        ],
    ),
    (
        "zsh",
        &[
            "precmd_functions=()",
            "precmd_functions=() preexec_functions=() PS1='%% '",
            "unset precmd_functions; PS1='%% '",
            "unfunction _unterm_precmd _unterm_preexec; PS1='%% '",
            "exec zsh -f",
        ],
    ),
    ("fish", &["functions -e fish_prompt", "functions -e __unterm_prompt"]),
];

#[test]
fn a_shell_that_lost_its_integration_runs_commands() {
    for (shell, removals) in REMOVALS {
        for (removal, is_typed) in removals.iter().flat_map(|it| [(it, false), (it, true)]) {
            support::shells(&[(shell, &[])], Fixture::integrate, |shell, _, wire, session| {
                wire.call("session.wait", json!({"id": session.id, "any": [{"prompt": true}]}));
                if is_typed {
                    let keys = json!({"id": session.id, "text": format!("{removal}\r")});
                    wire.call("session.send_text", keys);
                } else {
                    let removed = run(wire, session, removal);
                    assert_eq!(removed["timed_out"], false, "{shell}: {removal}: {removed}");
                    assert_eq!(removed["output"], "", "{shell}: {removal}: {removed}");
                }
                for _ in 0..2 {
                    for (text, code) in [("one", 0), ("two  three", 7)] {
                        let command = format!("echo '{text}'; sh -c 'exit {code}'");
                        let params =
                            json!({"id": session.id, "command": command, "type_ahead": false});
                        let reply = wire.call("exec.run_wait", params);
                        let what = format!("{shell}: {removal}, typed {is_typed}: {reply}");
                        assert_eq!(ended(&reply), (text, &json!(code)), "{what}");
                    }
                }
            });
        }
    }
}
