//! `unterm-cli explain`, `agent state`, `hooks run` and `inbox`.

use std::{
    io::{BufRead as _, BufReader},
    os::unix::fs::PermissionsExt as _,
    process::{Child, Command, Stdio},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{Instance, Pane, Start, binary};

/// The inbox without entries.
const EMPTY: &str = "INSTANCE  PANE  TITLE  KIND  SINCE  QUESTION\n";

/// Waits until the program in a pane is in a state.
fn wait_for_state(unterm: &mut Instance, pane: Pane, state: &str) -> Result<()> {
    let wait = json!({"id": pane.id, "any": [{"state": state}], "timeout_ms": 60_000});
    let reply = unterm.call("session.wait", wait)?;
    let explained = || unterm.prints(&["explain", &pane.id.to_string()]).unwrap_or_default();
    ensure!(reply["matched"] == true, "never {state}:\n{}", explained());
    Ok(())
}

#[test]
fn a_state_from_a_hook_is_explained_and_in_the_inbox() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    assert_eq!(unterm.prints(&["inbox"])?, EMPTY);
    ensure!(unterm.complains(&["inbox", "next"])?.contains("nothing needs you"));
    // The standard streams of a hook are no terminal.
    let cli = binary("unterm-cli").display().to_string();
    let hook = format!("'{cli}' agent state needs-you --kind permission --app deploy 'Deploy it?'");
    pane.type_text(&mut unterm, &format!("{hook} </dev/null >/dev/null 2>&1; read -r _\r"))?;
    wait_for_state(&mut unterm, pane, "needs_you")?;
    let explained = unterm.prints(&["explain"])?;
    ensure!(
        explained.starts_with("state     needs_you (permission)\nmessage   Deploy it?\n"),
        "{explained}"
    );
    ensure!(
        explained.contains("OSC 7501;state=blocked:kind=permission:app=deploy:msg=Deploy it?"),
        "{explained}"
    );
    ensure!(explained.contains("a program runs in the foreground"), "{explained}");
    let inbox = unterm.prints(&["inbox"])?;
    ensure!(inbox.lines().count() == 2 && inbox.contains("permission"), "{inbox}");
    let listed: Value = serde_json::from_str(&unterm.prints(&["--json", "inbox"])?)?;
    let entry = &listed["entries"][0];
    assert_eq!((&entry["session"], &entry["question"]), (&json!(pane.id), &json!("Deploy it?")));
    // The entry's pane is focused now, although another pane was focused before.
    let other = unterm.open(json!({}))?;
    other.wait_for_prompt(&mut unterm)?;
    unterm.call("session.focus", json!({"id": other.id}))?;
    ensure!(unterm.prints(&["inbox", "next"])?.contains("Deploy it?"));
    let tabs = unterm.call("tab.list", json!({}))?;
    let tabs = tabs["tabs"].as_array().context("tabs")?;
    let focused = tabs.iter().find(|tab| tab["active"] == true).context("an active tab")?;
    assert_eq!(focused["focused"], pane.id);
    pane.type_text(&mut unterm, "\r")?;
    wait_for_state(&mut unterm, pane, "idle")?;
    assert_eq!(unterm.prints(&["inbox"])?, EMPTY);
    Ok(())
}

#[test]
fn a_hook_never_fails_and_prints_nothing() -> Result<()> {
    let home = tempfile::tempdir()?;
    for words in [&["done"][..], &["dancing"], &[], &["done", "--app", "a b"], &["done", "--kind"]]
    {
        let mut command = Command::new(binary("unterm-cli"));
        command.env_clear().env("HOME", home.path()).args(["agent", "state"]).args(words);
        let output = command.stdin(Stdio::null()).output()?;
        ensure!(output.status.success() && output.stdout.is_empty(), "{words:?}: {output:?}");
    }
    Ok(())
}

#[test]
fn an_agent_starts_with_hooks_and_no_file_changes() -> Result<()> {
    let home = tempfile::tempdir()?;
    let claude = home.path().join("claude");
    std::fs::write(&claude, "#!/bin/sh\nprintf '%s\\n' \"$@\"\nexit 7\n")?;
    std::fs::set_permissions(&claude, std::fs::Permissions::from_mode(0o700))?;
    let mut command = Command::new(binary("unterm-cli"));
    command.env_clear().env("HOME", home.path()).args(["hooks", "run"]).arg(&claude);
    let output = command.args(["--resume", "a session"]).output()?;
    assert_eq!(output.status.code(), Some(7), "the status of the agent: {output:?}");
    let printed = String::from_utf8(output.stdout)?;
    let mut lines = printed.lines();
    assert_eq!(lines.next(), Some("--settings"));
    let settings: Value = serde_json::from_str(lines.next().unwrap_or_default())?;
    assert_eq!(lines.collect::<Vec<_>>(), ["--resume", "a session"]);
    // Each hook is a command that a shell can run.
    let hooks = settings["hooks"].as_object().context("hooks")?;
    ensure!(hooks.contains_key("PermissionRequest") && hooks.contains_key("Stop"), "{settings}");
    for groups in hooks.values() {
        for group in groups.as_array().context("groups")? {
            let hook = group["hooks"][0]["command"].as_str().context("a command")?;
            let output = Command::new("sh").args(["-c", hook]).stdin(Stdio::null()).output()?;
            ensure!(output.status.success() && output.stdout.is_empty(), "{hook}: {output:?}");
        }
    }
    let files: Vec<_> = std::fs::read_dir(home.path())?.collect::<Result<_, _>>()?;
    assert_eq!(files.len(), 1, "only the program itself: {files:?}");
    Ok(())
}

/// Ends a process when it is dropped.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_inbox_of_every_instance_is_watched() -> Result<()> {
    let registry = tempfile::tempdir()?;
    let start = || Start::headless().registry(registry.path());
    let mut first = start().now()?;
    let pane = first.first_pane()?;
    pane.wait_for_prompt(&mut first)?;
    let mut command = Command::new(binary("unterm-cli"));
    command.env_clear().env("HOME", first.home()).env("UNTERM_HOME", registry.path());
    let child = command.args(["--json", "inbox", "--watch"]).stdout(Stdio::piped()).spawn()?;
    let mut watch = KillOnDrop(child);
    let mut lines = BufReader::new(watch.0.stdout.take().context("a pipe")?).lines();
    let mut next = || -> Result<Value> {
        Ok(serde_json::from_str(&lines.next().context("the watch has ended")??)?)
    };
    pane.type_text(&mut first, "read -r -s -p 'Password: ' P\r")?;
    let entry = next()?;
    assert_eq!((&entry["kind"], &entry["question"]), (&json!("password"), &json!("Password:")));
    // An instance that starts later is watched, too.
    let mut second = start().now()?;
    let other = second.first_pane()?;
    other.wait_for_prompt(&mut second)?;
    other.type_text(&mut second, "read -r -p 'Overwrite it? ' A\r")?;
    let asked = next()?;
    assert_eq!((&asked["kind"], &asked["question"]), (&json!("question"), &json!("Overwrite it?")));
    ensure!(asked["instance"] != entry["instance"], "{asked}");
    let all: Value = serde_json::from_str(&first.prints(&["--json", "inbox"])?)?;
    assert_eq!(all["entries"].as_array().map(Vec::len), Some(2), "{all}");
    Ok(())
}

#[test]
fn a_question_is_answered_at_the_command_line() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    let ask = "clear; printf '\\033]7501;state=blocked:kind=permission:msg=UnVuIGl0Pw==\\007Run it?\\r\\n> 1. Yes\\r\\n  2. No\\r\\n'; read -r A; printf 'got <%s>\\n' \"$A\"; read -r _";
    pane.type_text(&mut unterm, &format!("{ask}\r"))?;
    pane.wait_for_text(&mut unterm, "2. No")?;
    wait_for_state(&mut unterm, pane, "needs_you")?;
    let id = pane.id.to_string();
    let shown = unterm.prints(&["inbox", "show", &id])?;
    ensure!(shown.contains("permission: Run it?\n  1  Yes\n  2  No\ndialog "), "{shown}");
    let dialog = shown.trim_end().rsplit(' ').next().context("a dialog")?.to_owned();
    // Without a terminal, the dialog must be named.
    ensure!(unterm.complains(&["inbox", "answer", &id, "deny"])?.contains("--dialog"));
    unterm.prints(&["inbox", "answer", &id, "deny", "--dialog", &dialog])?;
    pane.wait_for_text(&mut unterm, "got <2>")?;
    let refused = unterm.complains(&["inbox", "answer", &id, "1", "--dialog", &dialog])?;
    ensure!(refused.starts_with("nothing was typed: "), "{refused}");
    unterm.prints(&["inbox", "dismiss", &id])?;
    assert_eq!(unterm.prints(&["inbox"])?, EMPTY);
    assert_eq!(unterm.prints(&["inbox", "--all"])?.lines().count(), 2);
    unterm.prints(&["inbox", "snooze", &id, "1h"])?;
    unterm.prints(&["inbox", "restore", &id])?;
    assert_eq!(unterm.prints(&["inbox"])?.lines().count(), 2);
    Ok(())
}

#[test]
fn a_program_does_not_answer_its_own_question() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    let cli = binary("unterm-cli").display().to_string();
    let id = pane.id;
    // Also without its terminal, and without the variables that name its pane.
    let prefixes = ["", "setsid -w ", "env -u UNTERM_PANE -u UNTERM_INSTANCE "];
    for (number, prefix) in prefixes.into_iter().enumerate() {
        // The number tells the outputs apart, and the typed line does not contain it behind these words. The first part
        // of the message is cut, so that the rest fits into a row.
        let answer = format!(
            "{prefix}'{cli}' inbox answer {id} 1 --dialog 0 2>&1 | sed 's/.*: a/a/; s/own pane/& {number}/'\r"
        );
        pane.type_text(&mut unterm, &answer)?;
        let refused = format!("does not answer a question of its own pane {number}");
        pane.wait_for_text(&mut unterm, &refused)?;
        pane.wait_for_prompt(&mut unterm)?;
    }
    // A program of another pane may answer.
    let other = unterm.open(json!({}))?;
    other.wait_for_prompt(&mut unterm)?;
    let answer = format!("'{cli}' inbox answer {id} 1 --dialog 0\r");
    other.type_text(&mut unterm, &answer)?;
    other.wait_for_text(&mut unterm, "nothing was typed: ")?;
    Ok(())
}

#[test]
fn a_watch_of_states_prints_each_change() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    wait_for_state(&mut unterm, pane, "idle")?;
    let id = pane.id.to_string();
    let one = unterm.prints(&["watch", "--states", "--count", "1"])?;
    assert_eq!(one.split_whitespace().collect::<Vec<_>>(), [&*id, "idle"]);
    let mut command = Command::new(binary("unterm-cli"));
    command.args(["--json", "watch", "--states", "--id", &id]).env_clear();
    command.env("HOME", unterm.home()).env("UNTERM_HOME", unterm.registry());
    let mut watch = KillOnDrop(command.stdout(Stdio::piped()).spawn()?);
    let mut lines = BufReader::new(watch.0.stdout.take().context("a pipe")?).lines();
    let mut wait = |wanted: &str| -> Result<Value> {
        loop {
            let line = lines.next().context("the watch has ended")??;
            let change: Value = serde_json::from_str(&line)?;
            if change["state"] == wanted {
                return Ok(change);
            }
        }
    };
    wait("idle")?;
    let ask = "printf '\\033]7501;state=blocked:kind=question\\007'; read -r _\r";
    pane.type_text(&mut unterm, ask)?;
    let asks = wait("needs_you")?;
    assert_eq!((&asks["session"], &asks["kind"]), (&json!(pane.id), &json!("question")));
    pane.type_text(&mut unterm, "\r")?;
    wait("idle")?;
    ensure!(unterm.complains(&["watch", "--states", "--id", "77"])?.contains("77 not found"));
    Ok(())
}
