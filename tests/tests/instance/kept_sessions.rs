//! Programs that outlive their instance (`sessions.keep`): they are shown again by `--attach`.

use std::{fs, path::Path};

use anyhow::{Context as _, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use unterm_tests::{Instance, Start, binary, wait_for};

/// A headless instance that keeps its programs. The keeper must lie beside it.
fn kept(registry: &Path) -> Start<'static> {
    binary("unterm-keeper");
    Start::headless().registry(registry).arg("-o").arg("sessions.keep=true")
}

fn kill(unterm: &mut Instance) -> Result<()> {
    let pid = Pid::from_raw(unterm.pid() as i32).context("no process")?;
    kill_process(pid, Signal::KILL)?;
    unterm.wait_for_exit().map(drop)
}

/// Waits until the keeper of this home has ended.
fn wait_for_keeper_end(registry: &Path) -> Result<()> {
    let socket = registry.join("keeper.sock");
    let log = || fs::read_to_string(registry.join("keeper.log")).unwrap_or_default();
    wait_for("the keeper's end", || Ok((!socket.exists()).then_some(())), log)
}

#[test]
fn programs_of_a_killed_instance_continue_and_are_attached() -> Result<()> {
    let home = tempfile::tempdir()?;
    let mut first = kept(home.path()).now()?;
    let pane = first.first_pane()?;
    pane.wait_for_prompt(&mut first)?;
    pane.type_text(&mut first, "secret=kept; echo ready=$?=\r")?;
    pane.wait(&mut first, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    let name = first.entry()["id"].as_str().context("no id")?.to_owned();
    kill(&mut first)?;

    let mut refused = Start::headless().registry(home.path()).arg("--attach=nobody").alone()?;
    ensure!(!refused.wait_for_exit()?.success(), "there was nothing to attach");
    let log = refused.log();
    let existing = format!("programs continue of: {name} (1 program)");
    ensure!(log.contains("no program of the instance \"nobody\" continues"), "{log}");
    ensure!(log.contains(&existing), "{log}");
    // A window is not opened either, so no display is needed.
    let mut refused = Start::default().registry(home.path()).arg("--attach=nobody").alone()?;
    ensure!(!refused.wait_for_exit()?.success(), "there was nothing to attach");
    ensure!(refused.log().contains(&existing), "{}", refused.log());
    let error = refused.complains(&["attach", "nobody"])?;
    ensure!(error.contains(&existing), "{error}");

    let mut second = Start::headless().registry(home.path()).arg("--attach").arg(&name).now()?;
    let sessions = second.sessions()?;
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    let pane = second.first_pane()?;
    // What it printed before is there.
    pane.wait(&mut second, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    // The same shell, with its variables.
    pane.type_text(&mut second, "echo $secret\r")?;
    pane.wait(&mut second, "the variable", |lines| lines.iter().any(|line| line == "kept"))?;
    second.terminate()?;
    second.wait_for_exit()?;
    wait_for_keeper_end(home.path())
}

#[test]
fn programs_of_an_instance_that_detaches_continue() -> Result<()> {
    let home = tempfile::tempdir()?;
    let mut first = kept(home.path()).now()?;
    let pane = first.first_pane()?;
    pane.wait_for_prompt(&mut first)?;
    pane.type_text(&mut first, "secret=kept; echo ready=$?=\r")?;
    pane.wait(&mut first, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    // The instance may end before the reply has arrived.
    let _ = first.cli(&["detach"]);
    ensure!(first.wait_for_exit()?.success(), "it ends well");
    let mut second = Start::headless().registry(home.path()).arg("--attach").now()?;
    let pane = second.first_pane()?;
    pane.wait(&mut second, "the output", |lines| lines.iter().any(|line| line == "ready=0="))?;
    pane.type_text(&mut second, "echo $secret\r")?;
    pane.wait(&mut second, "the variable", |lines| lines.iter().any(|line| line == "kept"))?;
    second.terminate()?;
    second.wait_for_exit()?;
    wait_for_keeper_end(home.path())
}

#[test]
fn stopping_an_instance_ends_its_kept_programs() -> Result<()> {
    let home = tempfile::tempdir()?;
    let mut unterm = kept(home.path()).now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    pane.type_text(&mut unterm, "echo pid=$$=\r")?;
    let is_pid = |line: &String| line.starts_with("pid=") && !line.contains('$');
    let lines = pane.wait(&mut unterm, "the shell's id", |lines| lines.iter().any(is_pid))?;
    let pid = lines.iter().find(|line| is_pid(line)).context("no id")?;
    let pid = pid.trim_start_matches("pid=").trim_end_matches('=').to_owned();
    unterm.terminate()?;
    ensure!(unterm.wait_for_exit()?.success(), "it ends well");
    wait_for_keeper_end(home.path())?;
    ensure!(!Path::new(&format!("/proc/{pid}")).exists(), "{pid} runs");
    Ok(())
}

#[test]
fn without_a_keeper_an_instance_works_and_warns_once() -> Result<()> {
    let home = tempfile::tempdir()?;
    // The keeper cannot lock a folder.
    fs::create_dir(home.path().join("keeper.lock"))?;
    let mut unterm = kept(home.path()).now()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    unterm.wait_for_log("Programs do not outlive this window: ")?;
    ensure!(unterm.log().matches("do not outlive").count() == 1, "{}", unterm.log());
    Ok(())
}
