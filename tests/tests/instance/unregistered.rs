//! Starts without a writable registry: on a full disk, with another file in place of the registry, and without a home.
//! Unterm still runs, reports what is missing, and ends on request.

use std::{fs, path::Path};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{Bus, Display, Instance, ScreenReader, Start, describe, wait_for};

const UNREGISTERED: &str = "This Unterm is not in the registry of instances";

/// Starts an instance that can't register, and whose program creates a file. The instance ends on SIGTERM like any
/// other.
fn runs_and_ends(start: Start<'_>, why: &[&str]) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let made = folder.path().join("made");
    let script = format!(": > '{}'; exec cat", made.display());
    let mut unterm = start.arg("-e").arg("sh").arg("-c").arg(&script).alone()?;
    unterm.wait_for_log(UNREGISTERED)?;
    let log = unterm.log();
    for why in why {
        ensure!(log.contains(why), "{why}: {log}");
    }
    wait_for("its program", || Ok(made.exists().then_some(())), || unterm.log())?;
    unterm.terminate()?;
    let status = unterm.wait_for_exit()?;
    ensure!(status.success(), "ended by {}: {}", describe(status), unterm.log());
    Ok(())
}

#[test]
fn on_a_full_disk_an_instance_runs_unregistered() -> Result<()> {
    runs_and_ends(Start::headless().on_full_disk(), &["/instances/alpha.json: "])
}

#[test]
fn on_a_full_disk_a_window_opens_with_a_warning() -> Result<()> {
    let display = Display::start()?;
    let bus = Bus::with_services(&display)?;
    let start = Start::windowed(&display).env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    let mut unterm = start.on_full_disk().alone()?;
    display.window_of(&unterm)?;
    let mut reader = ScreenReader::start(&bus, &display)?;
    let is_told = |seen: &Value| {
        let mut others = seen["others"].as_array().into_iter().flatten();
        others.any(|one| one[1].as_str().is_some_and(|text| text.contains(UNREGISTERED)))
    };
    reader.wait("the message", is_told)?;
    // The shell works as usual after the tour of the first window.
    display.press(&["Escape"])?;
    display.type_text("echo $((40 + 2))\n")?;
    let answers = |seen: &Value| {
        seen["terminals"][0]["text"].as_str().is_some_and(|text| text.contains("\n42"))
    };
    reader.wait("the shell's answer", answers)?;
    unterm.terminate()?;
    let status = unterm.wait_for_exit()?;
    ensure!(status.success(), "ended by {}: {}", describe(status), unterm.log());
    Ok(())
}

#[test]
fn with_an_unusable_home_an_instance_runs_unregistered() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("file");
    fs::write(&file, "mine")?;
    let why = format!("{}: ", file.display());
    runs_and_ends(Start::headless().registry(&file), &[&why])?;
    assert_eq!(fs::read_to_string(&file)?, "mine");
    let nowhere = Path::new("/proc/no/home");
    runs_and_ends(Start::headless().registry(nowhere), &["/proc/no/home: "])
}

#[test]
fn an_unwritable_log_is_not_fatal() -> Result<()> {
    let mut unterm = Start::headless().log_to(Path::new("/dev/full")).now()?;
    assert_eq!(unterm.sessions()?.len(), 1);
    unterm.terminate()?;
    let status = unterm.wait_for_exit()?;
    ensure!(status.success(), "ended by {}", describe(status));
    Ok(())
}

/// An instance whose home contains a folder named `active.json`.
fn beside_a_folder() -> Result<(tempfile::TempDir, Instance)> {
    let home = tempfile::tempdir()?;
    fs::create_dir(home.path().join("active.json"))?;
    let unterm = Start::headless().registry(home.path()).now()?;
    Ok((home, unterm))
}

#[test]
fn a_blocked_pointer_keeps_the_entry() -> Result<()> {
    let (home, mut unterm) = beside_a_folder()?;
    unterm.wait_for_log("active.json: ")?;
    ensure!(!unterm.log().contains(UNREGISTERED), "{}", unterm.log());
    // The instance's entry and the other pointers exist, so the command line finds the instance.
    for file in ["server.json", "instances/alpha.json"] {
        let record: Value = serde_json::from_slice(&fs::read(home.path().join(file))?)?;
        assert_eq!(record["pid"], unterm.pid(), "{file}");
    }
    assert_eq!(unterm.prints(&["run", "echo found"])?, "found\n");
    let second = Start::headless().registry(home.path()).now()?;
    assert_eq!(second.entry()["id"], "bravo");
    drop(second);
    unterm.call("server.info", json!({}))?;
    unterm.terminate()?;
    unterm.wait_for_exit()?;
    for file in ["server.json", "auth_token", "instances/alpha.json"] {
        ensure!(!home.path().join(file).exists(), "{file} is left");
    }
    Ok(())
}

#[test]
fn an_agent_learns_why_its_instance_is_unregistered() -> Result<()> {
    let home = tempfile::tempdir()?;
    let file = home.path().join("file");
    fs::write(&file, "")?;
    let output = std::process::Command::new(unterm_tests::binary("unterm"))
        .args(["--headless", "--with-stdin"])
        .env("UNTERM_HOME", &file)
        .stdin(std::process::Stdio::piped())
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    ensure!(said.contains(UNREGISTERED) && output.stdout.is_empty(), "{said}");
    Ok(())
}
