//! `unterm-cli search` and `team`.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::Start;

#[test]
fn a_text_is_found_in_every_pane_and_compared_with_its_last_run() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    let other = unterm.open(json!({}))?;
    other.wait_for_prompt(&mut unterm)?;
    let run = |unterm: &mut unterm_tests::Instance, id: u64, command: &str| {
        unterm.call("exec.run_wait", json!({"id": id, "command": command})).map(drop)
    };
    run(&mut unterm, pane.id, "echo nee''dle one > list; cat list")?;
    run(&mut unterm, other.id, "(echo nee''dle two; exit 3)")?;
    let found = unterm.prints(&["search", "needle"])?;
    let lines: Vec<_> = found.lines().collect();
    ensure!(
        lines.len() == 3 && lines[1].contains("needle two") && lines[1].contains("  3  "),
        "{found}"
    );
    let listed: Value =
        serde_json::from_str(&unterm.prints(&["--json", "search", "^needle one", "--regex"])?)?;
    assert_eq!(listed["matches"][0]["session"], pane.id, "{listed}");
    // Like grep, a search without a match fails.
    unterm.complains(&["search", "no such text"])?;
    unterm.call("session.focus", json!({"id": other.id}))?;
    unterm.prints(&["search", "needle one", "--focus"])?;
    let tabs = unterm.call("tab.list", json!({}))?;
    let focused = tabs["tabs"].as_array().context("tabs")?.iter().find(|tab| tab["active"] == true);
    assert_eq!(focused.context("an active tab")?["focused"], pane.id);
    run(&mut unterm, pane.id, "cat list")?;
    run(&mut unterm, pane.id, "echo more >> list")?;
    run(&mut unterm, pane.id, "cat list")?;
    let compared = unterm.prints(&["search", "more", "--diff-last"])?;
    ensure!(
        compared.starts_with("--- pane ") && compared.ends_with(" needle one\n+more\n"),
        "{compared}"
    );
    Ok(())
}

/// Runs git in a folder. Returns whether it succeeded.
fn git(folder: &std::path::Path, words: &[&str]) -> bool {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
    command.arg("-C").arg(folder).args(words).output().is_ok_and(|output| output.status.success())
}

#[test]
fn a_team_works_in_its_own_worktrees_with_its_own_ports() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("work");
    std::fs::create_dir(&root)?;
    if !git(&root, &["init", "--quiet"]) {
        return Ok(());
    }
    std::fs::write(root.join("file"), "one\n")?;
    ensure!(git(&root, &["add", "file"]) && git(&root, &["commit", "--quiet", "-m", "one"]));
    let (home, registry) = (unterm.home().to_owned(), unterm.registry().to_owned());
    let cli = |words: &[&str]| -> Result<std::process::Output> {
        let mut command = Command::new(unterm_tests::binary("unterm-cli"));
        command.env("HOME", &home).env("UNTERM_HOME", &registry).current_dir(&root);
        command.env_remove("UNTERM_INSTANCE").env_remove("UNTERM_PANE");
        Ok(command.arg("--json").args(words).stdin(std::process::Stdio::null()).output()?)
    };
    let line = "echo two >> file; printf 'on %s ports %s\\n' \"$PORT\" \"$UNTERM_PORTS\"";
    let started = cli(&["team", "2", "--name", "pair", "--worktrees", "--ports", "5", "--", line])?;
    ensure!(started.status.success(), "{started:?}");
    let team: Value = serde_json::from_slice(&started.stdout)?;
    let members = team["members"].as_array().context("members")?.clone();
    assert_eq!(members.len(), 2, "{team}");
    for member in &members {
        let id = member["pane"].as_u64().context("a pane")?;
        let first = member["first_port"].as_u64().context("a port")?;
        let shown = format!("on {first} ports {first}-{}", first + 4);
        let wait = json!({"id": id, "any": [{"text": shown}], "timeout_ms": 60_000});
        ensure!(unterm.call("session.wait", wait)?["matched"] == true, "{member}");
    }
    ensure!(members[0]["first_port"] != members[1]["first_port"], "{team}");
    assert_eq!(members[1]["branch"], "team/pair-2");
    let report = cli(&["team", "report", "pair"])?;
    let report: Value = serde_json::from_slice(&report.stdout)?;
    assert_eq!(report["overlaps"], json!({"file": [1, 2]}), "{report}");
    ensure!(!cli(&["team", "2", "--name", "pair", "--", "true"])?.status.success());
    // Without a terminal to ask on, worktrees with changes are kept.
    let closed = cli(&["team", "close", "pair"])?;
    ensure!(closed.status.success(), "{closed:?}");
    let closed: Value = serde_json::from_slice(&closed.stdout)?;
    assert_eq!(closed["kept"].as_array().map(Vec::len), Some(2), "{closed}");
    ensure!(folder.path().join("work.pair-1/file").exists());
    let sessions = unterm.call("session.list", json!({}))?;
    assert_eq!(sessions["sessions"].as_array().map(Vec::len), Some(1), "{sessions}");
    Ok(())
}
