//! Tests of commands at prompts that keys, questions and hooks of the user have changed.

use std::thread;

use serde_json::json;

use crate::support::{self, Fixture, Session, Wire, run, until};

/// Runs a test at the prompt of a shell with integration, if the shell is installed.
fn at_prompt(shell: &str, mut test: impl FnMut(&Fixture, &mut Wire, &Session)) {
    support::shells(&[(shell, &[])], Fixture::integrate, |_, fixture, wire, session| {
        wire.call("session.wait", json!({"id": session.id, "any": [{"prompt": true}]}));
        test(fixture, wire, session);
    });
}

/// Checks that a command returns its output and exit code.
fn check_shell(wire: &mut Wire, session: &Session) {
    let reply = run(wire, session, "echo 'in  side'; sh -c 'exit 3'");
    assert_eq!((&reply["output"], &reply["exit_code"]), (&json!("in  side"), &json!(3)), "{reply}");
}

#[test]
fn no_command_answers_the_question_of_zsh_about_a_word() {
    at_prompt("zsh", |_, wire, session| {
        let id = session.id;
        run(wire, session, "setopt correct");
        // The first line is typed at the prompt, the second one before the prompt is shown.
        for (before, word) in [("", "ecoh"), ("sleep 1\r", "ehco")] {
            let line = format!("{before}{word} typed\r");
            wire.call("session.input", json!({"id": id, "input": line}));
            session.wait_for_text(&format!("correct '{word}' to 'echo' [nyae]?"));
            for is_ahead in [false, true] {
                let params = json!({"id": id, "command": "echo late", "type_ahead": is_ahead});
                let refused = wire.fail("exec.run_wait", params);
                assert!(refused.starts_with("Nothing was typed"), "{refused}");
                assert!(refused.contains("ctrl+c"), "{refused}");
            }
            assert!(!support::screen(&session.pane).contains("late"));
            wire.call("session.input", json!({"id": id, "input": "\x03"}));
            check_shell(wire, session);
        }
    });
}

#[test]
fn keys_that_begin_like_a_reply_swallow_no_command() {
    let begun = ["\x1bP", "\x1b]", "\x1b[?", "\x1b\x1b]"];
    // In bash's emacs mode and in zsh, a bracket after two escapes is text: an unfinished line.
    let cases = [
        ("bash", "set -o vi", &begun[..]),
        ("bash", "set -o emacs", &begun[..3]),
        ("zsh", "bindkey -v", &begun[..3]),
    ];
    for (shell, keys, begun) in cases {
        at_prompt(shell, |_, wire, session| {
            run(wire, session, keys);
            for begun in begun {
                wire.call("session.input", json!({"id": session.id, "input": begun}));
                check_shell(wire, session);
            }
        });
    }
}

#[test]
fn a_blocked_line_editor_gets_its_line_at_once() {
    at_prompt("zsh", |fixture, wire, session| {
        let id = session.id;
        run(wire, session, "mkfifo hold; hold() { : <hold }; zle -N hold; bindkey '^T' hold");
        let before = session.pane.inputs();
        wire.call("session.input", json!({"id": id, "input": "\x14"}));
        let process = session.pane.process();
        until("the blocked editor", || (process.awaits_input() == Some(false)).then_some(()));
        let mut other = fixture.login();
        // Less than the longest wait for a shell that does not read its terminal.
        let params = json!({"id": id, "command": "echo held", "timeout_ms": 9000});
        let held = thread::spawn(move || other.call("exec.run_wait", params));
        until("the typed line", || (session.pane.inputs() > before + 1).then_some(()));
        std::fs::write(fixture.home.path().join("hold"), "").unwrap();
        let held = held.join().unwrap();
        assert_eq!((&held["output"], &held["exit_code"]), (&json!("held"), &json!(0)), "{held}");
    });
}

#[test]
fn no_command_is_typed_into_a_program_that_a_key_of_zsh_started() {
    at_prompt("zsh", |_, wire, session| {
        let id = session.id;
        run(wire, session, "pick() { BUFFER=$(cat </dev/tty) }; zle -N pick; bindkey '^T' pick");
        wire.call("session.input", json!({"id": id, "input": "\x14"}));
        until("the program", || session.pane.process().reader_behind_leader());
        let params = json!({"id": id, "command": "echo late", "type_ahead": false});
        let refused = wire.fail("exec.run_wait", params);
        assert!(refused.contains("cat"), "{refused}");
        wire.call("session.input", json!({"id": id, "input": "\x03"}));
        check_shell(wire, session);
    });
}

#[test]
fn a_line_that_the_terminal_has_dropped_keeps_no_prompt() {
    for shell in ["bash", "zsh", "fish"] {
        at_prompt(shell, |_, wire, session| {
            for _ in 0..5 {
                wire.call("session.input", json!({"id": session.id, "input": "sleep 60\r\x03"}));
                check_shell(wire, session);
            }
        });
    }
}

#[test]
fn a_mode_in_the_prompt_hides_no_unfinished_line() {
    for mode in ["emacs", "vi"] {
        at_prompt("bash", |_, wire, session| {
            let id = session.id;
            run(wire, session, "env -u PS1 bash --norc");
            run(wire, session, &format!("set -o {mode}; bind 'set show-mode-in-prompt on'"));
            wire.call("session.input", json!({"id": id, "input": "echo 'open\r"}));
            session.wait_for(|screen| screen.trim_end().ends_with('>'));
            for is_ahead in [false, true] {
                let params = json!({"id": id, "command": "echo late", "type_ahead": is_ahead});
                let refused = wire.fail("exec.run_wait", params);
                assert!(refused.starts_with("Nothing was typed"), "{mode}: {refused}");
            }
            wire.call("session.input", json!({"id": id, "input": "\x03"}));
            check_shell(wire, session);
        });
    }
}

#[test]
fn fish_shows_a_plain_line_and_expands_no_abbreviation() {
    for keys in ["fish_default_key_bindings", "fish_vi_key_bindings"] {
        at_prompt("fish", |_, wire, session| {
            run(wire, session, keys);
            run(wire, session, "function g; echo plain; end; abbr -a g echo abbreviated");
            let reply = run(wire, session, "g one; sh -c 'exit 3'");
            assert_eq!((&reply["output"], &reply["exit_code"]), (&json!("plain"), &json!(3)));
            let screen = support::screen(&session.pane);
            let line = screen.lines().find(|line| line.contains("g one"));
            assert!(line.is_some_and(|line| !line.contains("eval")), "{keys}: {screen}");
            // The user's own keys expand it, also after a command.
            wire.call("session.input", json!({"id": session.id, "input": "g two\r"}));
            session.wait_for_text("abbreviated two");
        });
    }
}

#[test]
fn keys_of_a_user_work_after_the_reset_key_in_fish() {
    const RESET: &str = "\x1e\x1f\x1e\x1f";
    for mode in ["fish_default_key_bindings", "fish_vi_key_bindings"] {
        at_prompt("fish", |_, wire, session| {
            run(wire, session, mode);
            for (keys, shown) in [
                ("echo b-one\x7fX", "\nb-onX"),
                ("echo l-one\x1b[DX", "\nl-onXe"),
                ("junk\x15echo u-new", "\nu-new"),
                ("cho h-ome\x1b[He", "\nh-ome"),
                ("echo /usr/shar\t", "\n/usr/share/"),
                // The keys after the first one are the user's as well.
                ("echo w-two words\x17\x7f\x7f\x7fo", "\nw-to\n"),
            ] {
                let input = format!("{RESET}{keys}\r");
                wire.call("session.input", json!({"id": session.id, "input": input}));
                session.wait_for(|screen| screen.contains(shown));
            }
            check_shell(wire, session);
        });
    }
}

#[test]
fn nothing_is_typed_into_an_unfinished_line_of_fish() {
    at_prompt("fish", |_, wire, session| {
        let id = session.id;
        for unfinished in ["echo 'open", "begin", "for i in 1 2"] {
            wire.call("session.input", json!({"id": id, "input": format!("{unfinished}\r")}));
            for is_ahead in [false, true] {
                let params = json!({"id": id, "command": "echo late", "type_ahead": is_ahead});
                // If the line was typed before its prompt, Unterm's key empties it, and the command runs alone.
                let reply = wire.reply("exec.run_wait", params);
                let refused = reply["error"]["message"].as_str();
                let is_right = match refused {
                    Some(refused) => refused.starts_with("Nothing was typed"),
                    None => reply["result"]["output"] == "late",
                };
                assert!(is_right, "{unfinished}: {reply}");
            }
            // The refusal names Ctrl+C as the way out.
            wire.call("session.input", json!({"id": id, "input": "\x03"}));
            check_shell(wire, session);
        }
    });
}
