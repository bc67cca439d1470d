//! The inbox panel in a window: what needs the user in any instance, answered without going there.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{Bus, Display, Instance, Pane, ScreenReader, Start, wait_for};

/// A command that reports a question (OSC 7501), asks it, and prints the answer.
const ASK: &str = "printf '\\033]7501;state=blocked:kind=permission:msg=UnVuIGl0Pw==\\007Run it?\\n> 1. Yes\\n  2. No\\n'; read -r A; printf 'got <%s>\\n' \"$A\"; read -r B\r";
const INBOX: [&str; 3] = ["Control_L", "Shift_L", "i"];

/// Starts a program that asks a question, and waits until the pane needs the user.
fn ask(unterm: &mut Instance, pane: Pane) -> Result<()> {
    pane.type_text(unterm, ASK)?;
    let wait = json!({"id": pane.id, "any": [{"state": "needs_you"}], "timeout_ms": 60_000});
    let reply = unterm.call("session.wait", wait)?;
    ensure!(reply["matched"] == true, "{reply}");
    Ok(())
}

/// Presses a key until a pane shows a text. The panel takes no answer before it shows the question.
fn press_until(
    display: &Display,
    key: &str,
    unterm: &mut Instance,
    pane: Pane,
    text: &str,
) -> Result<()> {
    let mut lines = Vec::new();
    let shows = || {
        display.press(&[key])?;
        lines = pane.lines(unterm)?;
        Ok(lines.iter().any(|line| line.contains(text)).then_some(()))
    };
    wait_for(text, shows, String::new)
}

#[test]
fn a_question_of_another_instance_is_answered_in_the_panel() -> Result<()> {
    let display = Display::start()?;
    let home = tempfile::tempdir()?;
    let (mut unterm, _window, own) = Start::windowed(&display).registry(home.path()).at_prompt()?;
    let mut other = Start::headless().registry(home.path()).now()?;
    let pane = other.first_pane()?;
    pane.wait_for_prompt(&mut other)?;
    ask(&mut other, pane)?;
    display.press(&INBOX)?;
    press_until(&display, "n", &mut other, pane, "got <2>")?;
    // No key has reached the program below the panel, and later keys do.
    display.press(&["Escape"])?;
    display.type_text("true mine")?;
    own.wait_for_text(&mut unterm, "ready$ true mine")?;
    Ok(())
}

#[test]
fn a_key_goes_to_the_pane_that_needs_the_user() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, first) = Start::windowed(&display).at_prompt()?;
    let other = unterm.open(json!({}))?;
    other.wait_for_prompt(&mut unterm)?;
    unterm.call("session.focus", json!({"id": first.id}))?;
    ask(&mut unterm, other)?;
    window.wait_for_title(|title| title.starts_with("(1) "))?;
    display.press(&["Control_L", "Alt_L", "Shift_L", "i"])?;
    let focused = || {
        let tabs = unterm.call("tab.list", json!({}))?;
        let tabs = tabs["tabs"].as_array().cloned().unwrap_or_default();
        let active = tabs.iter().find(|tab| tab["active"] == true);
        Ok(active.filter(|tab| tab["focused"] == other.id).map(|_| ()))
    };
    wait_for("the pane that asks", focused, String::new)?;
    window.wait_for_title(|title| !title.starts_with('('))?;
    Ok(())
}

#[test]
fn a_caller_can_not_open_the_panel_under_the_users_keys() -> Result<()> {
    let display = Display::start()?;
    let (unterm, ..) = Start::windowed(&display).at_prompt()?;
    for action in ["inbox", "next_attention", "answer_agent"] {
        let refused = unterm.complains(&["action", action])?;
        ensure!(refused.contains("Only the user"), "{action}: {refused}");
    }
    Ok(())
}

#[test]
fn a_screen_reader_hears_what_needs_the_user() -> Result<()> {
    let display = Display::start()?;
    let bus = Bus::with_services(&display)?;
    let start = Start::windowed(&display).env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    let (mut unterm, _window, first) = start.at_prompt()?;
    let mut reader = ScreenReader::start(&bus, &display)?;
    reader.wait("the window", |seen| {
        seen["terminals"].as_array().is_some_and(|all| all.len() == 1)
    })?;
    let is_announced = |seen: &Value, text: &str| {
        let all = seen["announced"].as_array().map_or(&[][..], Vec::as_slice);
        all.iter().filter_map(Value::as_str).any(|said| said.contains(text))
    };
    let other = unterm.open(json!({}))?;
    other.wait_for_prompt(&mut unterm)?;
    unterm.call("session.focus", json!({"id": first.id}))?;
    ask(&mut unterm, other)?;
    reader.wait("who needs the user", |seen| is_announced(seen, "needs you"))?;
    display.press(&INBOX)?;
    reader.wait("the question", |seen| is_announced(seen, "Run it?"))?;
    Ok(())
}
