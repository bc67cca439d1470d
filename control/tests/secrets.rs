//! What real programs ask for a secret with, each by its own way of reading keys.

mod support;

use std::process::Command;

use serde_json::json;
use support::{Fixture, PATIENCE};

/// As `gpg` asks for a passphrase: in a box on the alternate screen, every key read by itself.
#[test]
fn a_passphrase_in_a_box_on_the_alternate_screen_is_a_secret() {
    if Command::new("pinentry-curses").arg("--version").output().is_err() {
        eprintln!("pinentry-curses is not here: not tried");
        return;
    }
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let script = "{ printf 'OPTION ttyname=%s\\nOPTION ttytype=xterm-256color\\n' \"$(tty)\"; \
                  printf 'OPTION lc-ctype=C.UTF-8\\nSETPROMPT Passphrase:\\nGETPIN\\n'; exec tail -f /dev/null; } \
                  | pinentry-curses > /dev/null";
    let session = fixture.program(&mut wire, "bash", &["-c", script]);
    let mut until = |is_asked: bool| {
        let end = std::time::Instant::now() + PATIENCE;
        while wire.call("session.get", json!({"id": session.id}))["awaiting_secret"] != is_asked {
            assert!(std::time::Instant::now() < end, "it should be {is_asked}");
            std::thread::yield_now();
        }
    };
    // It moves its cursor after all is drawn.
    session.wait_for_text("Passphrase: ____");
    until(true);
    session.pane.write(b"abc").unwrap();
    session.wait_for_text("Passphrase: ***_");
    until(true);
    session.pane.write(b"\r").unwrap();
    until(false);
}
