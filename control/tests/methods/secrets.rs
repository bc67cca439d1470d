//! Tests of real programs that ask for a secret, each of which reads keys in a different way.

use std::{path::PathBuf, process::Command};

use crate::support::{self, Fixture, PATIENCE, Wire};
use serde_json::json;

/// Waits until a session reports that its program asks for a secret, or that it does not.
fn until(wire: &mut Wire, session: u64, is_asked: bool) {
    let end = std::time::Instant::now() + PATIENCE;
    while wire.call("session.get", json!({"id": session}))["awaiting_secret"] != is_asked {
        assert!(std::time::Instant::now() < end, "it should be {is_asked}");
        std::thread::yield_now();
    }
}

/// `gpg` asks for a passphrase in this way: in a box on the alternate screen, reading single keys.
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
    // The program moves the cursor after it has drawn everything.
    session.wait_for_text("Passphrase: ____");
    until(true);
    session.pane.write(b"abc").unwrap();
    session.wait_for_text("Passphrase: ***_");
    until(true);
    session.pane.write(b"\r").unwrap();
    until(false);
}

/// A tmux server of the test, which outlives its clients.
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

/// tmux reads single keys from its pty, whatever the program inside does.
#[test]
fn a_password_within_tmux_is_a_secret() {
    if !support::has("tmux", &["-V"]) {
        return;
    }
    let fixture = Fixture::new();
    let mut wire = fixture.login();
    let tmux = Tmux(fixture.home.path().join("tmux"));
    // A masked answer makes it certain that this is a question. Without it, the text could be in an editor.
    let script = "stty -echo; printf 'Password: *'; read X; stty echo; echo it was read; exec cat";
    let socket = tmux.0.to_str().unwrap();
    let args = ["-S", socket, "-f", "/dev/null", "new-session", script];
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
    session.wait_for_text("it was read");
    until(&mut wire, session.id, false);
}

/// This box is drawn in parts on the main screen.
#[test]
fn a_password_in_a_box_without_an_alternate_screen_is_a_secret() {
    for (program, mut args) in [
        ("dialog", vec!["--insecure", "--passwordbox", "Enter your password", "8", "40"]),
        ("dialog", vec!["--passwordbox", "Your password\nfor the disk", "10", "40"]),
        ("dialog", vec!["--ascii-lines", "--passwordbox", "Enter your password", "8", "40"]),
        ("whiptail", vec!["--passwordbox", "Enter your password", "8", "40"]),
    ] {
        if !support::has(program, &["--version"]) {
            continue;
        }
        let fixture = Fixture::new();
        let mut wire = fixture.login();
        let session = fixture.program(&mut wire, program, &args);
        session.wait_for_text("our password");
        until(&mut wire, session.id, true);
        session.pane.write(b"abc").unwrap();
        until(&mut wire, session.id, true);
        // A button is not an input field.
        session.pane.write(b"\t").unwrap();
        until(&mut wire, session.id, false);
        // The same box asks for something that is not a secret.
        for arg in &mut args {
            *arg = match *arg {
                "--passwordbox" => "--inputbox",
                "Enter your password" | "Your password\nfor the disk" => "Your name, please",
                other => other,
            };
        }
        let other = fixture.program(&mut wire, program, &args);
        other.wait_for_text("Your name");
        other.wait_for(|screen| screen.to_lowercase().contains("ok"));
        until(&mut wire, other.id, false);
    }
}

/// A shell that turns off echo at its own prompt does not ask for a secret.
#[test]
fn a_shell_without_echo_asks_for_nothing_at_its_prompt() {
    let shells: [(&str, &[&str]); 4] =
        [("sh", &[]), ("bash", &["--norc"]), ("zsh", &["-f"]), ("fish", &["--no-config"])];
    let check = |shell: &str, _: &Fixture, wire: &mut Wire, session: &support::Session| {
        let ran = support::run(wire, session, "stty -echo");
        assert_eq!(ran["timed_out"], false, "{shell}: {ran}");
        support::until("the prompt", || session.pane.process().awaits_input().filter(|it| *it));
        until(wire, session.id, false);
        let ran = support::run(wire, session, "echo well");
        assert!(ran["output"].as_str().unwrap().ends_with("well"), "{shell}: {ran}");
        until(wire, session.id, false);
    };
    support::shells(&shells, |_| (), check);
    support::shells(&[("bash", &[]), ("zsh", &[]), ("fish", &[])], Fixture::integrate, check);
}
