//! The program without a window: its start and end, its registry entry, and the command line that drives it.

use std::{fs, os::unix::fs::PermissionsExt as _};

use anyhow::Result;
use serde_json::{Value, json};
use unterm_tests::{PROMPT, Start, describe, wait_for, wait_until};

#[test]
fn it_starts_with_one_pane_and_needs_no_display() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    assert_eq!(unterm.sessions()?.len(), 1);
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    pane.type_text(&mut unterm, "echo $((6 * 7)) ok\r")?;
    pane.wait(&mut unterm, "the sum", |lines| lines.iter().any(|line| line == "42 ok"))?;
    assert_eq!(unterm.stdout(), "", "stdout carries a protocol");
    Ok(())
}

#[test]
fn without_a_display_the_clipboard_error_helps() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let error = unterm.call("capture.clipboard", json!({})).expect_err("there is none").to_string();
    assert!(error.contains("[-32603]: There is no clipboard: this Unterm was started"), "{error}");
    assert!(error.contains("Start it on a desktop"), "{error}");

    let mut unterm = Start::headless().env("DISPLAY", ":nowhere").now()?;
    let error = unterm.call("capture.clipboard", json!({})).expect_err("it is none").to_string();
    assert!(error.contains("[-32603]: The clipboard can't be reached: the display"), "{error}");
    Ok(())
}

#[test]
fn without_a_display_a_picture_request_explains_why() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let window = unterm.call("capture.window", json!({"title": "nowhere"}))?;
    assert_eq!(window["image"]["source"], "sessions", "{window}");
    let why = window["message"].as_str().unwrap_or_default();
    assert!(why.contains("this Unterm was started without a display; start it on"), "{window}");
    assert!(why.contains("a session's picture by screen.png"), "{window}");
    Ok(())
}

#[test]
fn sigterm_ends_the_instance_its_programs_and_its_entry() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    pane.type_text(&mut unterm, "sleep 1000 & echo child=$!=\r")?;
    let lines = pane.wait(&mut unterm, "the child's id", |lines| {
        lines.iter().any(|line| line.starts_with("child="))
    })?;
    let child = lines.iter().find_map(|line| line.strip_prefix("child=")).unwrap_or_default();
    let child = child.trim_end_matches('=').to_owned();
    let entry = unterm.entry_path();
    assert!(entry.exists(), "{}", entry.display());

    unterm.terminate()?;
    let status = unterm.wait_for_exit()?;
    assert!(status.success(), "ended by {}", describe(status));
    assert!(!entry.exists(), "its registry entry is left");
    let instances = unterm.registry().join("instances");
    assert_eq!(fs::read_dir(instances)?.count(), 0, "the registry is not empty");
    // When a shell loses its terminal, it ends its jobs.
    let stat = format!("/proc/{child}/stat");
    wait_for("the end of its programs", || Ok((!is_alive(&stat)).then_some(())), String::new)
}

/// Whether a process exists and is not a zombie.
fn is_alive(stat: &str) -> bool {
    fs::read_to_string(stat)
        .is_ok_and(|text| !text.rsplit_once(')').is_some_and(|(_, rest)| rest.starts_with(" Z")))
}

#[test]
fn a_dead_processs_entry_is_removed_at_the_next_start() -> Result<()> {
    let mut first = Start::headless().now()?;
    let entry = first.entry().clone();
    let home = tempfile::tempdir()?;
    let instances = home.path().join("instances");
    fs::create_dir_all(&instances)?;
    first.terminate()?;
    first.wait_for_exit()?;
    // Write an entry whose process no longer exists.
    fs::write(instances.join("alpha.json"), entry.to_string())?;

    let second = Start::headless().registry(home.path()).now()?;
    assert_eq!(second.entry()["id"], "alpha", "the dead one's name is free again");
    assert_eq!(fs::read_dir(&instances)?.count(), 1);
    Ok(())
}

#[test]
fn instances_of_one_home_have_their_own_names_ports_and_tokens() -> Result<()> {
    let first = Start::headless().now()?;
    let second = Start::headless().registry(first.registry()).now()?;
    for field in ["id", "pid", "mcp_port", "auth_token"] {
        assert_ne!(first.entry()[field], second.entry()[field], "{field}");
    }
    let mut wire = second.connect()?;
    let list = wire.call("instance.list", json!({}))?;
    let list = list["instances"].as_array().cloned().unwrap_or_default();
    assert_eq!(list.len(), 2, "{list:?}");
    assert!(list.iter().all(|instance| instance.get("auth_token").is_none()), "{list:?}");
    Ok(())
}

#[test]
fn only_the_user_can_read_what_it_writes() -> Result<()> {
    let unterm = Start::headless().now()?;
    let mut folders = vec![unterm.registry().to_path_buf()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let mode = fs::metadata(&folder)?.permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{} is {mode:o}", folder.display());
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let mode = fs::metadata(&path)?.permissions().mode() & 0o777;
            assert_eq!(mode, 0o600, "{} is {mode:o}", path.display());
            seen += 1;
        }
    }
    assert!(seen >= 3, "instances/<id>.json, server.json and active.json, but {seen} files");
    Ok(())
}

#[test]
fn it_runs_a_program_in_its_first_pane() -> Result<()> {
    let mut unterm = Start::headless()
        .arg("-e")
        .arg("sh")
        .arg("-c")
        .arg("printf '%s here\\n' \"$1\"; read x")
        .arg("sh")
        .arg("-n")
        .now()?;
    let pane = unterm.first_pane()?;
    pane.wait(&mut unterm, "its output", |lines| lines[0] == "-n here")?;
    Ok(())
}

#[test]
fn it_runs_without_panes_until_it_is_stopped() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    pane.type_text(&mut unterm, "exit\r")?;
    wait_until("the pane's end", || unterm.sessions(), Vec::is_empty)?;
    let pane = unterm.open(json!({}))?;
    pane.wait_for_prompt(&mut unterm)?;
    Ok(())
}

#[test]
fn programs_get_a_terminals_environment() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm
        .open(json!({"env": {"EXTRA": "of this pane"}, "cwd": "/usr", "cols": 100, "rows": 20}))?;
    pane.wait_for_prompt(&mut unterm)?;
    pane.type_text(&mut unterm, "clear; echo \"<$TERM|$COLORTERM|$EXTRA|$PWD>\"; stty size\r")?;
    let lines = pane.wait_for_text(&mut unterm, "20 100")?;
    assert!(
        lines.iter().any(|line| line == "<xterm-256color|truecolor|of this pane|/usr>"),
        "{lines:?}"
    );

    unterm.call("session.resize", json!({"id": pane.id, "cols": 91, "rows": 17}))?;
    pane.type_text(&mut unterm, "stty size\r")?;
    let lines = pane.wait_for_text(&mut unterm, "17 91")?;
    assert_eq!(lines.len(), 17);
    Ok(())
}

#[test]
fn the_command_line_drives_it() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    unterm.first_pane()?.wait_for_prompt(&mut unterm)?;

    assert_eq!(unterm.prints(&["run", "echo hello"])?, "hello\n");
    let list: Value = serde_json::from_str(&unterm.prints(&["--json", "session", "list"])?)?;
    assert_eq!(list["sessions"].as_array().map(Vec::len), Some(1), "{list}");
    let screen = unterm.prints(&["screen", "text"])?;
    assert!(screen.contains(PROMPT.trim_end()), "{screen:?}");
    unterm.prints(&["--json", "session", "create"])?;
    assert_eq!(unterm.sessions()?.len(), 2);
    Ok(())
}

#[test]
fn the_command_line_reports_that_no_instance_runs() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    unterm.terminate()?;
    unterm.wait_for_exit()?;
    let run = unterm.cli(&["session", "list"])?;
    assert_eq!(run.status.code(), Some(1), "{run:?}");
    assert!(run.stdout.is_empty(), "{run:?}");
    assert!(!run.stderr.is_empty(), "{run:?}");
    Ok(())
}

#[test]
fn the_command_line_does_not_wait_for_the_pane_it_runs_in() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    let cli = unterm_tests::binary("unterm-cli");
    pane.type_text(&mut unterm, &format!("{} run true\r", cli.display()))?;
    pane.wait_for_text(&mut unterm, "pane 0 is the pane that this command runs in")?;
    Ok(())
}

#[test]
fn run_wait_waits_for_the_command_and_not_for_its_echo() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;

    let started = std::time::Instant::now();
    let done = unterm.call(
        "exec.run_wait",
        json!({"id": pane.id, "command": "sleep 3; echo slept", "timeout_ms": 60_000}),
    )?;
    assert_eq!(done["output"].as_str().map(str::trim_end), Some("slept"), "{done}");
    assert_eq!(done["exit_status"], "completed", "{done}");
    assert_eq!(done["timed_out"], false, "{done}");
    // `sleep` never ends early, however fast the machine is.
    assert!(started.elapsed().as_secs() >= 3, "returned after {:?}", started.elapsed());

    let late = unterm
        .call("exec.run_wait", json!({"id": pane.id, "command": "sleep 4", "timeout_ms": 500}))?;
    assert_eq!(late["timed_out"], true, "{late}");
    assert_eq!(late["exit_status"], "timeout", "{late}");
    Ok(())
}

#[test]
fn a_flood_of_output_ends_at_ctrl_c_with_a_prompt() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    // The output is endless, so it can't end before the test stops it.
    pane.type_text(&mut unterm, "yes 'a line of the flood'\r")?;
    pane.wait(&mut unterm, "the flood", |lines| {
        lines.iter().all(|line| line == "a line of the flood" || line.is_empty())
    })?;
    // Another pane still works.
    let other = unterm.open(json!({}))?;
    other.wait_for_prompt(&mut unterm)?;
    other.type_text(&mut unterm, "echo still $((1 + 1)) here\r")?;
    other.wait_for_text(&mut unterm, "still 2 here")?;

    pane.type_text(&mut unterm, "\u{3}")?;
    pane.wait_for_prompt(&mut unterm)?;
    pane.type_text(&mut unterm, "echo and $((2 + 2)) here\r")?;
    pane.wait_for_text(&mut unterm, "and 4 here")?;
    Ok(())
}
