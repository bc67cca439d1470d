//! Tests of lines that differ on the screen from the line that the shell runs. The user must not be able to release
//! such a line.

use crate::support::{Fixture, PATIENCE, Session, Wire, block, has};
use serde_json::{Value, json};

/// Input of an agent after which the shell runs a line other than the line on the screen.
struct Trick {
    name: &'static str,
    shell: &'static str,
    /// Commands that the rules allow, and which prepare the shell.
    commands: &'static [&'static str],
    /// The text that is run but should not be visible, keys, and the beginning of the text that should be visible.
    pieces: &'static [&'static str],
}

/// This text is longer than a row of the test's pane.
const LONG: &str = "touch hidden; : aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; ";
/// This piece means that everything typed before it is sent in one call instead.
const WHOLE: &str = "";
const TRICKS: &[Trick] = &[
    Trick {
        name: "the line scrolls sideways",
        shell: "bash",
        commands: &["bind 'set horizontal-scroll-mode on'"],
        pieces: &[LONG, "\x05", ": git pu"],
    },
    Trick {
        name: "the line scrolls sideways behind an empty prompt",
        shell: "bash",
        commands: &["bind 'set horizontal-scroll-mode on'", "PS1="],
        pieces: &[LONG, "\x05", ": git pu"],
    },
    Trick {
        name: "a dumb terminal",
        shell: "bash",
        commands: &["TERM=dumb"],
        pieces: &[LONG, "\x05", ": git pu"],
    },
    Trick {
        name: "no echo",
        shell: "bash",
        commands: &["stty -echo"],
        pieces: &["touch hidden; ", "\x05", ": git pu"],
    },
    Trick {
        name: "another width",
        shell: "bash",
        commands: &["bind 'set horizontal-scroll-mode on'", "stty cols 40"],
        pieces: &[LONG, "\x05", ": git pu"],
    },
    Trick {
        name: "insert mode",
        shell: "bash",
        commands: &["PS1='\\[\\e[4h\\]p '"],
        pieces: &["touch hidden; ", "\x01", "\x05", ": git pu"],
    },
    Trick {
        name: "graphics for letters",
        shell: "bash",
        commands: &["PS1='\\[\\e(0\\]p '"],
        pieces: &["touch hidden; ", "\x05", ": git pu"],
    },
    Trick {
        name: "a key that no longer deletes",
        shell: "bash",
        commands: &[
            "bind 'set bind-tty-special-chars off'",
            "bind '\"\\C-u\": redraw-current-line'",
        ],
        pieces: &["touch hidden; ", "\x15", ": git pu"],
    },
    Trick {
        name: "a key that no longer deletes, unseen",
        shell: "bash",
        commands: &[
            "bind 'set bind-tty-special-chars off'",
            "bind '\"\\C-u\": redraw-current-line'",
            "stty -echo",
        ],
        pieces: &["touch hidden; \x15: git pu"],
    },
    Trick {
        name: "no interrupt, unseen",
        shell: "bash",
        commands: &["stty intr undef -echo"],
        pieces: &["touch hidden; \x03: git pu"],
    },
    Trick {
        name: "an ignored interrupt, unseen",
        shell: "bash",
        commands: &["trap '' INT; stty -echo"],
        pieces: &["touch hidden; \x03", ": git pu"],
    },
    Trick {
        name: "a key that no longer deletes, in the same call",
        shell: "bash",
        commands: &[
            "bind 'set bind-tty-special-chars off'",
            "bind '\"\\C-u\": redraw-current-line'",
        ],
        pieces: &["touch hidden; \x15: git pu", WHOLE],
    },
    Trick {
        name: "no interrupt, in the same call",
        shell: "bash",
        commands: &["stty intr undef"],
        pieces: &["touch hidden; \x03: git pu", WHOLE],
    },
    Trick {
        name: "a key that inserts more than itself",
        shell: "bash",
        commands: &["bind '\"u\": \"\\C-vu; >hidden; \"'"],
        pieces: &[": git pu"],
    },
    Trick {
        name: "zsh in a single row",
        shell: "zsh",
        commands: &["setopt singlelinezle"],
        pieces: &[LONG, "\x05", ": git pu"],
    },
    Trick {
        name: "zsh on a dumb terminal",
        shell: "zsh",
        commands: &["TERM=dumb"],
        pieces: &[LONG, "\x05", ": git pu"],
    },
    Trick {
        name: "zsh with text at its prompt",
        shell: "zsh",
        commands: &["print -z 'touch hidden; '"],
        pieces: &[": git pu"],
    },
    Trick {
        name: "zsh with a key that no longer deletes",
        shell: "zsh",
        commands: &["bindkey '^U' redisplay"],
        pieces: &["touch hidden; \x15: git pu"],
    },
    Trick {
        name: "fish with a key that no longer deletes",
        shell: "fish",
        commands: &["bind \\cu repaint"],
        pieces: &["touch hidden; ", "\x15: git pu"],
    },
];

fn refused_lines(wire: &mut Wire) -> Vec<String> {
    let lines = wire.call("policy.refused", json!({}))["lines"].take();
    let lines = lines.as_array().unwrap().iter();
    lines.map(|line| line["line"].as_str().unwrap().to_owned()).collect()
}

/// Waits until a pane shows the effect of its input.
fn settle(session: &Session) {
    let start = std::time::Instant::now();
    while !(session.pane.is_settled() && session.pane.compose(b"").is_shown) {
        assert!(start.elapsed() < PATIENCE, "it never settles");
        std::thread::yield_now();
    }
}

fn type_in(wire: &mut Wire, session: &Session, text: &str) -> Value {
    wire.reply("session.input", json!({"id": session.id, "input": text}))
}

#[test]
fn no_line_is_released_that_the_screen_shows_otherwise() {
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let hidden = fixture.registry().parent().unwrap().join("hidden");
    fixture.integrate();
    for Trick { name, shell, commands, pieces } in TRICKS {
        if !has(shell, &["-c", "true"]) {
            continue;
        }
        let session = fixture.program(&mut wire, shell, &[]);
        let prompt = json!({"id": session.id, "any": [{"prompt": true}]});
        assert_eq!(wire.call("session.wait", prompt)["matched"], true, "{name}");
        for command in *commands {
            let ran = wire.call("exec.run_wait", json!({"id": session.id, "command": command}));
            assert_eq!(ran["exit_code"], 0, "{name}: {ran}");
        }
        block(&mut wire, json!(["git push"]));
        let (begun, last) = match pieces.split_last() {
            Some((&WHOLE, pieces)) => (&[][..], pieces.concat() + "sh\r"),
            _ => (*pieces, "sh\r".to_owned()),
        };
        for piece in begun {
            settle(&session);
            let typed = type_in(&mut wire, &session, piece);
            assert!(typed.get("error").is_none(), "{name}: {piece:?} {typed}");
        }
        settle(&session);
        let refused = type_in(&mut wire, &session, &last);
        let why = refused["error"]["message"].as_str().unwrap_or_default();
        assert!(why.starts_with("Command blocked by policy: "), "{name}: {refused}");
        // The lines that the user could release include the hidden command.
        for line in refused_lines(&mut wire) {
            assert!(line.contains("touch hidden"), "{name}: {line}");
        }
        // A user who releases the visible text releases no other line.
        let release = json!({"id": session.id, "line": ": git push"});
        wire.call("policy.release", release);
        let refused = type_in(&mut wire, &session, &last);
        assert!(refused.get("error").is_some(), "{name}: {refused}");
        wire.call("policy.release", json!({"id": session.id, "withdraw": true}));
        wire.call("session.destroy", json!({"id": session.id}));
        assert!(!hidden.exists(), "{name}");
    }
}
