//! A display server that ends while a window is open. The window's process ends, leaves the registry, and saves its
//! layout.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;
use unterm_tests::{Compositor, Display, Instance, Pane, Start, wait_until};

/// Opens a second tab, changes the folder in it, and splits it.
fn arrange(unterm: &mut Instance) -> Result<()> {
    unterm.act(&["new_tab"])?;
    let pane = Pane { id: 1 };
    pane.wait_for_prompt(unterm)?;
    pane.type_text(unterm, "cd /usr\r")?;
    pane.wait_for_prompt(unterm)?;
    unterm.act(&["split_right"])?;
    Ok(())
}

fn last_session(home: &Path) -> Result<String> {
    Ok(std::fs::read_to_string(home.join("last_session")).unwrap_or_default())
}

fn is_arranged(kept: &str) -> bool {
    kept.contains("\"/usr\"") && kept.contains("\"split\": \"right\"")
}

/// Waits until the process ends, and checks the entries that it leaves in its registry.
fn check_end(unterm: &mut Instance, home: &Path) -> Result<()> {
    let pid = unterm.pid();
    let status = unterm.wait_for_exit()?;
    ensure!(!status.success(), "a lost display is no regular end");
    let entries = std::fs::read_dir(home.join("instances"))?;
    ensure!(entries.count() == 0, "the registry still has an entry");
    for file in ["active.json", "server.json", "auth_token", "sockets"] {
        ensure!(!home.join(file).exists(), "{file} is left");
    }
    let kept = last_session(home)?;
    ensure!(is_arranged(&kept), "{kept}");
    // The next window offers to reopen the layout, because the window was not closed by the user.
    let kept: Value = serde_json::from_str(&kept)?;
    let process = kept["process"].as_u64().context("no process")?;
    ensure!(process == u64::from(pid), "{kept}");
    Ok(())
}

#[test]
fn a_window_whose_x_server_is_killed_leaves_the_registry() -> Result<()> {
    let display = Display::start()?;
    let home = tempfile::tempdir()?;
    let (mut unterm, _, _) = Start::windowed(&display).registry(home.path()).at_prompt()?;
    arrange(&mut unterm)?;
    wait_until("the kept layout", || last_session(home.path()), |kept| is_arranged(kept))?;
    display.kill()?;
    check_end(&mut unterm, home.path())
}

#[test]
fn a_window_whose_compositor_is_killed_leaves_the_registry() -> Result<()> {
    let compositor = Compositor::start(1.0)?;
    let home = tempfile::tempdir()?;
    let mut unterm = Start::on_wayland(&compositor).registry(home.path()).now()?;
    compositor.wait_for_window()?;
    unterm.first_pane()?.wait_for_prompt(&mut unterm)?;
    arrange(&mut unterm)?;
    wait_until("the kept layout", || last_session(home.path()), |kept| is_arranged(kept))?;
    compositor.kill()?;
    check_end(&mut unterm, home.path())
}
