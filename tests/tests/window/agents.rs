//! Agents in the window: the window shows which agent drives a pane, the user's first key takes over the pane, and
//! another key pauses agents.

use anyhow::Result;
use serde_json::json;
use unterm_tests::{Display, Relay, Start, Window, wait_for};

/// Accent and danger color of the default theme.
const ACCENT: [u8; 3] = [0x89, 0xb4, 0xfa];
const DANGER: [u8; 3] = [0xf3, 0x8b, 0xa8];
/// The minimum number of pixels of a badge. Everything else in that color is smaller.
const BADGE: usize = 1500;

fn wait_for_badge(window: &Window<'_>, there: bool) -> Result<()> {
    let looks = || Ok(((window.picture()?.count(ACCENT) > BADGE) == there).then_some(()));
    wait_for(if there { "the badge" } else { "no badge" }, looks, String::new)
}

/// Waits until the status bar shows that agents are paused or request approval (`paused`), or shows neither.
fn wait_for_pause(window: &Window<'_>, paused: bool) -> Result<()> {
    let (width, height) = window.size()?;
    let looks = || {
        let bar = (0, usize::from(height) - 24);
        let bar = window.picture()?.part(bar, (usize::from(width), 20));
        Ok(((bar.count(DANGER) > 0) == paused).then_some(()))
    };
    wait_for(if paused { "the pause" } else { "no pause" }, looks, String::new)
}

#[test]
fn a_pane_shows_its_agent_until_the_user_types() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) = Start::windowed(&display).at_prompt()?;
    wait_for_badge(&window, false)?;
    let lease = json!({"id": pane.id, "ttl_ms": 3_600_000});
    assert_eq!(unterm.call("session.lease", lease.clone())?["leased"], true);
    wait_for_badge(&window, true)?;
    display.press(&["x"])?;
    wait_for_badge(&window, false)?;
    // The holder releases the lease.
    unterm.call("session.lease", lease)?;
    wait_for_badge(&window, true)?;
    unterm.call("session.release", json!({"id": pane.id}))?;
    wait_for_badge(&window, false)
}

#[test]
fn one_key_pauses_and_resumes_agents() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) = Start::windowed(&display).at_prompt()?;
    display.press(&["Control_L", "Shift_L", "a"])?;
    wait_for_pause(&window, true)?;
    let mut wire = unterm.connect()?;
    let command = json!({"id": pane.id, "command": "echo went $((40 + 2))", "timeout_ms": 60_000});
    let held = std::thread::spawn(move || wire.call("exec.run_wait", command));
    // A client that only reads does not have to wait.
    unterm.call("session.status", json!({"id": pane.id}))?;
    display.press(&["Control_L", "Shift_L", "a"])?;
    let reply = held.join().expect("no panic")?;
    assert_eq!(reply["output"], "went 42", "{reply}");
    wait_for_pause(&window, false)
}

#[test]
fn an_unknown_agent_acts_after_the_users_approval() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) = Start::windowed(&display).at_prompt()?;
    let mut agent = Relay::start(unterm.home(), unterm.registry(), &[])?;
    let run = json!({"pane": pane.id, "command": "echo went $((40 + 2))"});
    let held = std::thread::spawn(move || agent.call("run", run));
    let asked = |unterm: &mut unterm_tests::Instance, count| {
        let asks = || {
            let listed = unterm.call("approvals.list", json!({}))?;
            Ok(listed["pending"].as_array().is_some_and(|all| all.len() == count).then_some(()))
        };
        wait_for("the question", asks, String::new)
    };
    asked(&mut unterm, 1)?;
    wait_for_pause(&window, true)?;
    // Keys that the user types meanwhile, even Enter, go to the shell.
    display.type_text("echo mine")?;
    display.press(&["Return"])?;
    pane.wait_for_text(&mut unterm, "mine")?;
    asked(&mut unterm, 1)?;
    display.press(&["Control_L", "Shift_L", "y"])?;
    display.press(&["Return"])?;
    let reply = held.join().expect("no panic")?;
    assert_eq!(reply["output"], "went 42", "{reply}");
    asked(&mut unterm, 0)?;
    wait_for_pause(&window, false)
}
