//! `ptywright repl` on a terminal: completion, history, notifications, Ctrl+C, hostile text, and a server that ends.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::wait_for;

use crate::ptywright::{
    client::{Framing, PtywrightServer},
    outer_terminal::{OuterTerminal, checked},
};

const PROMPT: &str = "ptywright> ";

/// A prompt that is connected to a server on a socket.
fn prompt_of(served: &PtywrightServer) -> Result<OuterTerminal> {
    let mut outer =
        OuterTerminal::new(&checked(&format!("$CLI repl --socket {}", served.path().display())))?;
    outer.wait(PROMPT.trim_end())?;
    Ok(outer)
}

fn last_line(screen: &str) -> &str {
    screen.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default()
}

#[test]
fn tab_completes_methods_parameters_ids_and_intents() -> Result<()> {
    let served = PtywrightServer::socket(Framing::Ndjson)?;
    let mut client = served.connect()?;
    client.script("exec cat")?;
    client.call("adapter.start", json!({"plugin": "shell", "program": "cat", "args": []}))?;
    let mut outer = prompt_of(&served)?;
    for (typed, completed) in [
        ("session.li", "session.list"),
        ("session.snapshot se", "session.snapshot session="),
        ("session.snapshot session=", "session.snapshot session=s1"),
        ("session.input action.ty", "session.input action.type="),
        ("session.input action.type=br", "session.input action.type=bracketed_paste"),
        ("adapter.send adapter=", "adapter.send adapter=e1"),
        ("adapter.send adapter=e1 intent=run", "adapter.send adapter=e1 intent=run_command"),
        (
            "adapter.send adapter=e1 intent=run_command params.",
            "adapter.send adapter=e1 intent=run_command params.command=",
        ),
        ("adapter.wait adapter=e1 intent=wa", "adapter.wait adapter=e1 intent=wait_turn_matcher"),
        ("adapter.start plugin=claude", "adapter.start plugin=claude-code"),
    ] {
        outer.type_text(&format!("{typed}\t"))?;
        let screen = outer.wait(&format!("{PROMPT}{completed}"))?;
        ensure!(last_line(&screen).trim_end() == format!("{PROMPT}{completed}"), "{screen}");
        outer.press("ctrl_u")?;
    }
    // If there are several candidates, they are listed with their descriptions.
    outer.type_text("session.wait matcher.v\t\t")?;
    outer.wait("for `lua`: a function of the plugin")?;
    outer.press("ctrl_u")?;
    outer.press("ctrl_d")?;
    outer.ends_with(0)?;
    Ok(())
}

#[test]
fn lines_typed_ahead_run_in_order() -> Result<()> {
    let served = PtywrightServer::socket(Framing::Ndjson)?;
    let mut outer = prompt_of(&served)?;
    outer
        .type_text("session.create program=cat\rsession.list\rsession.close session=s1\rquit\r")?;
    let screen = outer.ends_with(0)?;
    let results: Vec<_> =
        screen.lines().filter(|line| !line.starts_with(PROMPT.trim_end())).collect();
    assert_eq!(results[..3], ["session  s1", "sessions  s1", "closed  yes"], "{screen}");
    Ok(())
}

#[test]
fn the_history_is_private_and_persistent() -> Result<()> {
    let served = PtywrightServer::socket(Framing::Ndjson)?;
    let script = format!(
        "$CLI repl --socket {0}; echo again; $CLI repl --socket {0}",
        served.path().display()
    );
    let mut outer = OuterTerminal::new(&checked(&script))?;
    outer.wait(PROMPT.trim_end())?;
    outer.type_text("session.list\r")?;
    outer.wait_regex("(?m)^sessions$")?;
    outer.type_text(" session.kill session=secret\r")?;
    outer.wait("unknown session")?;
    outer.type_text("quit\r")?;
    outer.wait_regex("again\nptywright>")?;
    let file = outer.served.home.path().join("registry/ptywright_history");
    assert_eq!(fs::read_to_string(&file)?, "session.list\nquit\n");
    assert_eq!(fs::metadata(&file)?.permissions().mode() & 0o777, 0o600);
    outer.press("up")?;
    outer.wait_regex("again\nptywright> quit")?;
    outer.press("up")?;
    outer.wait_regex("again\nptywright> session.list")?;
    outer.press("ctrl_u")?;
    outer.press("ctrl_d")?;
    outer.ends_with(0)?;
    Ok(())
}

#[test]
fn notifications_appear_above_the_edited_line() -> Result<()> {
    let served = PtywrightServer::socket(Framing::Ndjson)?;
    let mut client = served.connect()?;
    let session = client.script("stty -echo; exec cat")?;
    let mut outer = prompt_of(&served)?;
    outer.type_text("server.set_notifications enabled=true\r")?;
    outer.wait_regex("enabled +yes")?;
    outer.type_text("session.li")?;
    outer.wait("ptywright> session.li")?;
    client.act(&session, json!({"type": "text", "value": "news\n"}))?;
    let screen = outer
        .wait_regex("\\* session.output output=\"news\\\\r\\\\n\" sequence=[0-9]+ session=s1\n")?;
    ensure!(last_line(&screen).trim_end() == "ptywright> session.li", "{screen}");
    // The notification has not changed the line that is being edited.
    outer.type_text("st\r")?;
    outer.wait_regex("sessions +s1")?;
    Ok(())
}

#[test]
fn hostile_text_is_escaped() -> Result<()> {
    let served = PtywrightServer::socket(Framing::Ndjson)?;
    let mut client = served.connect()?;
    let script = r"printf '\033]0;evil\007\033[?1049h\302\233ready\n'; exec cat";
    let session = client.script(script)?;
    client.wait(&session, json!({"type": "transcript_contains", "value": "ready"}))?;
    let mut outer = prompt_of(&served)?;
    outer.type_text("server.set_notifications enabled=true\r")?;
    outer.wait_regex("enabled +yes")?;
    outer.type_text("session.transcript session=s1\r")?;
    outer.wait(r"│ \u{1b}]0;evil\u{7}\u{1b}[?1049h\u{9b}ready")?;
    // Hostile text is also escaped in an error and in a notification.
    outer.type_text("session.kill session=\"\\u001b[2J\"\r")?;
    outer.wait("unknown session")?;
    client.act(&session, json!({"type": "text", "value": "\u{1}\n"}))?;
    outer.wait("session.output")?;
    let snapshot = outer.snapshot()?;
    assert_eq!((&snapshot["title"], &snapshot["alternate_screen"]), (&Value::Null, &json!(false)));
    let text = snapshot["plain_text"].as_str().context("text")?;
    ensure!(text.contains("enabled"), "{text}");
    Ok(())
}

#[test]
fn ctrl_c_cancels_a_running_call() -> Result<()> {
    let served = PtywrightServer::socket(Framing::Ndjson)?;
    let mut client = served.connect()?;
    let session = client.script("stty -echo -icanon; printf up; exec cat")?;
    client.wait_text(&session, "up")?;
    // The signal reaches the shell that runs the prompt, too.
    let prompt = format!("$CLI repl --socket {}", served.path().display());
    let mut outer = OuterTerminal::new(&format!("trap : INT; {}", checked(&prompt)))?;
    outer.wait(PROMPT.trim_end())?;
    let stream = json!({"text": "z".repeat(600), "chunk_chars": 1, "delay_ms": 100});
    outer.type_text(&format!(
        "session.input session=s1 action={{\"type\":\"stream_text\",\"value\":{stream}}}\r"
    ))?;
    // The call is running when the signal arrives.
    client.wait_text(&session, "zzz")?;
    outer.press("ctrl_c")?;
    outer.wait("session.input: the request was canceled (canceled, -32005)")?;
    outer.type_text("quit\r")?;
    outer.ends_with(0)?;
    Ok(())
}

#[test]
fn a_server_that_vanishes_ends_the_prompt_with_a_reason() -> Result<()> {
    // The server ends while a line is being edited.
    let mut served = PtywrightServer::socket(Framing::Ndjson)?;
    let mut outer = prompt_of(&served)?;
    outer.type_text("session.li")?;
    outer.wait("ptywright> session.li")?;
    served.process.kill()?;
    let screen = outer.ends_with(1)?;
    ensure!(screen.contains("\nthe server has closed the connection\n"), "{screen}");
    // The server ends during a call.
    let mut served = PtywrightServer::socket(Framing::Ndjson)?;
    let mut client = served.connect()?;
    let session = client.script("stty -echo -icanon; printf up; exec cat")?;
    client.wait_text(&session, "up")?;
    let mut outer = prompt_of(&served)?;
    let stream = json!({"text": "z".repeat(600), "chunk_chars": 1, "delay_ms": 100});
    outer.type_text(&format!(
        "session.input session=s1 action={{\"type\":\"stream_text\",\"value\":{stream}}}\r"
    ))?;
    client.wait_text(&session, "zzz")?;
    served.process.kill()?;
    outer.ends_with(1)?;
    Ok(())
}

#[test]
fn a_server_of_its_own_ends_with_the_prompt() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("pid");
    let mut outer = OuterTerminal::new(&checked("$CLI repl --stdio"))?;
    outer.wait(PROMPT.trim_end())?;
    let program = format!("echo $$ >{}; exec sleep 600", file.display());
    outer.type_text(&format!("session.create program=sh args=[\"-c\",\"{program}\"]\r"))?;
    outer.wait_regex("session +s1")?;
    let pid = wait_for("the program", || Ok(pid_in(&file)), String::new)?;
    // Ctrl+C at the prompt ends neither the prompt nor the server.
    outer.press("ctrl_c")?;
    outer.wait_regex("ptywright> *\nptywright> *$")?;
    outer.type_text("session.list\r")?;
    outer.wait_regex("sessions +s1")?;
    outer.press("ctrl_d")?;
    outer.ends_with(0)?;
    ensure!(!Path::new("/proc").join(pid).exists());
    Ok(())
}

fn pid_in(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    text.ends_with('\n').then(|| text.trim().to_owned())
}

#[test]
fn terminal_modes_are_restored_when_the_prompt_is_killed() -> Result<()> {
    let served = PtywrightServer::socket(Framing::Ndjson)?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("pid");
    let script = format!(
        "sh -c 'echo $$ >{}; exec \"$@\"' - $CLI repl --socket {}",
        file.display(),
        served.path().display()
    );
    let mut outer = OuterTerminal::new(&checked(&script))?;
    outer.wait(PROMPT.trim_end())?;
    outer.type_text("session.li")?;
    outer.wait("ptywright> session.li")?;
    let pid = pid_in(&file).context("pid")?;
    std::process::Command::new("kill").arg(pid).status()?;
    outer.ends_with(143)?;
    Ok(())
}
