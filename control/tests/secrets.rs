//! What real programs ask for a secret with, each by its own way of reading keys.

mod support;

use std::{path::PathBuf, process::Command};

use serde_json::json;
use support::{Fixture, PATIENCE, Wire};

/// Asks until a session's program asks for a secret, or does not.
fn until(wire: &mut Wire, session: u64, is_asked: bool) {
    let end = std::time::Instant::now() + PATIENCE;
    while wire.call("session.get", json!({"id": session}))["awaiting_secret"] != is_asked {
        assert!(std::time::Instant::now() < end, "it should be {is_asked}");
        std::thread::yield_now();
    }
}

/// As `gpg` asks for a passphrase: in a box on the alternate screen, every key read by itself.
#[test]
fn a_passphrase_in_a_box_on_the_alternate_screen_is_a_secret() {
    if !support::has("pinentry-curses", &["--version"]) {
        return;
    }
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let script = "{ printf 'OPTION ttyname=%s\\nOPTION ttytype=xterm-256color\\n' \"$(tty)\"; \
                  printf 'OPTION lc-ctype=C.UTF-8\\nSETPROMPT Passphrase:\\nGETPIN\\n'; exec tail -f /dev/null; } \
                  | pinentry-curses > /dev/null";
    let session = fixture.program(&mut wire, "bash", &["-c", script]);
    let mut until = |is_asked: bool| until(&mut wire, session.id, is_asked);
    // It moves its cursor after all is drawn.
    session.wait_for_text("Passphrase: ____");
    until(true);
    session.pane.write(b"abc").unwrap();
    session.wait_for_text("Passphrase: ***_");
    until(true);
    session.pane.write(b"\r").unwrap();
    until(false);
}

/// A server of tmux of the test's own, which outlives its clients.
struct Tmux(PathBuf);

impl Tmux {
    fn command(&self) -> Command {
        let mut command = Command::new("tmux");
        command.arg("-S").arg(&self.0);
        command
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let _ = self.command().arg("kill-server").output();
    }
}

/// Its own pty has every key read by itself, whatever the one within does.
#[test]
fn a_password_within_tmux_is_a_secret() {
    if !support::has("tmux", &["-V"]) {
        return;
    }
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let tmux = Tmux(fixture.home.path().join("tmux"));
    const ABOVE_TEXT: &str = "printf '\\nPassword: \\n\\nbelow it\\033[2A\\r\\033[10C'";
    let script = format!(
        "stty -echo; printf 'Password: '; read X; stty echo; echo it was read; {ABOVE_TEXT}; read X; \
         stty -echo; {ABOVE_TEXT}; read X; stty echo; echo all was read; exec cat"
    );
    let socket = tmux.0.to_str().unwrap();
    let args = ["-S", socket, "-f", "/dev/null", "new-session", &script];
    let session = fixture.program(&mut wire, "tmux", &args);
    session.wait_for_text("Password:");
    until(&mut wire, session.id, true);
    let split = tmux.command().args(["split-window", "-h", "cat"]).output().unwrap();
    assert!(split.status.success(), "{split:?}");
    until(&mut wire, session.id, false);
    let back = tmux.command().args(["select-pane", "-L"]).output().unwrap();
    assert!(back.status.success(), "{back:?}");
    until(&mut wire, session.id, true);
    session.pane.write(b"abc\r").unwrap();
    // With something below, only where its answer is not shown.
    session.wait_for_text("below it");
    until(&mut wire, session.id, false);
    session.pane.write(b"\r").unwrap();
    until(&mut wire, session.id, true);
    session.pane.write(b"abc\r").unwrap();
    session.wait_for_text("all was read");
    until(&mut wire, session.id, false);
}
