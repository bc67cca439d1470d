//! Tests of `run` at a prompt whose line editor is in a special mode, such as a search or vi's command mode.

use crate::support::{self, Fixture, client::Client};
use serde_json::json;

/// The beginning of a numeric argument.
const ARGUMENT: &str = "\x1b5";

/// Keys after which the line editor would not insert text into the line.
const KEYS: [&str; 6] = [
    "\x1b",
    // Ctrl+R searches the history, and Escape ends the search with an empty line.
    "\x12\x1b",
    // After Ctrl+V, the next key is inserted unchanged.
    "\x16",
    // This is the beginning of a key's sequence.
    "\x1b[",
    ARGUMENT,
    // These keys go back in the history and forward again.
    "\x1b[A\x1b[B",
];
/// The keys of vi's command mode after which text is not inserted: a deletion without its motion, and a search in the
/// line and a replacement without their characters.
const VI_KEYS: [&str; 3] = ["d", "f", "r"];

#[test]
fn a_command_is_run_whatever_mode_the_line_editor_is_in() {
    // An Escape counts as a key if nothing follows for a time, which is half a second by default. It is shortened here,
    // because the test waits only for half a second.
    for (shell, escape_time, modes) in [
        ("bash", "bind 'set keyseq-timeout 10'", ["set -o emacs", "set -o vi"]),
        ("zsh", "KEYTIMEOUT=1", ["bindkey -e", "bindkey -v"]),
        (
            "fish",
            "set -g fish_escape_delay_ms 10",
            [
                "set -g fish_key_bindings fish_default_key_bindings",
                "set -g fish_key_bindings fish_vi_key_bindings",
            ],
        ),
    ] {
        if !support::has(shell, &["-c", "true"]) {
            continue;
        }
        let fixture = Fixture::new();
        fixture.integrate();
        let mut wire = fixture.login();
        let session = fixture.program(&mut wire, shell, &[]);
        wire.call("session.wait", json!({"id": session.id, "any": [{"prompt": true}]}));
        let mut agent = Client::new(&fixture);
        let set = agent.call("run", json!({"pane": session.id, "command": escape_time}));
        assert_eq!(set["exit_code"], 0, "{shell}: {set}");
        for mode in modes {
            let set = agent.call("run", json!({"pane": session.id, "command": mode}));
            assert_eq!(set["exit_code"], 0, "{shell}: {set}");
            let vi_keys = if mode == modes[1] { &VI_KEYS[..] } else { &[] };
            for &keys in KEYS.iter().chain(vi_keys) {
                // Fish has no numeric arguments, and inserts the digit.
                if shell == "fish" && keys == ARGUMENT {
                    continue;
                }
                // Escape is sent separately, because together with the next key it would mean Alt with that key.
                let escape = VI_KEYS.contains(&keys).then_some("\x1b");
                for keys in escape.into_iter().chain([keys]) {
                    wire.call("session.input", json!({"id": session.id, "input": keys}));
                    // After this wait, the screen shows the effect of the keys.
                    let shown = json!({"id": session.id, "any": [{"stable_ms": 500}]});
                    wire.call("session.wait", shown);
                }
                let command = "printf '%s' it; echo ' is'";
                let ran = agent.call("run", json!({"pane": session.id, "command": command}));
                assert_eq!(ran["output"], "it is", "{shell}: {mode}: {keys:?}: {ran}");
            }
        }
    }
}

#[test]
fn a_command_is_not_typed_into_what_a_search_shows() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let session = fixture.marked_shell(&mut wire);
    let mut agent = Client::new(&fixture);
    // In bash, the text of a search is in the place of the line. The keys are Ctrl+R and Alt+P.
    for (keys, shown) in [("\x12", "(reverse-i-search)`':"), ("\x1bp", " :")] {
        wire.call("session.input", json!({"id": session.id, "input": keys}));
        session.wait_for(|screen| screen.trim_end().ends_with(shown));
        let refused = agent.fail("run", json!({"pane": session.id, "command": "touch typed"}));
        assert!(refused.contains("an unfinished line"), "{keys:?}: {refused}");
        assert!(refused.contains("ctrl+c"), "the next step: {refused}");
        agent.call(
            "input",
            json!({"pane": session.id, "keys": ["ctrl+c"], "wait_any": [{"prompt": true}]}),
        );
        let ran = agent.call("run", json!({"pane": session.id, "command": "echo well"}));
        assert_eq!(ran["output"], "well", "{keys:?}: {ran}");
    }
    assert!(!fixture.home.path().join("typed").exists());
}

#[test]
fn a_shell_without_a_line_editor_gets_no_keys() {
    let fixture = Fixture::new();
    fixture.integrate();
    let mut wire = fixture.login();
    let mut agent = Client::new(&fixture);
    for (shell, args, off) in [
        ("bash", &["--noediting"][..], "true"),
        ("zsh", &[], "unsetopt zle"),
        ("bash", &[], "set +o emacs"),
    ] {
        if !support::has(shell, &["-c", "true"]) {
            continue;
        }
        let session = fixture.program(&mut wire, shell, args);
        wire.call("session.wait", json!({"id": session.id, "any": [{"prompt": true}]}));
        for command in [off, "echo well"] {
            let ran = agent.call("run", json!({"pane": session.id, "command": command}));
            assert_eq!(ran["exit_code"], 0, "{shell}: {args:?}: {command}: {ran}");
        }
    }
}
