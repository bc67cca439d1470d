//! Tests callers other than the user that raise the window.

use anyhow::Result;
use serde_json::json;
use unterm_tests::{Display, Start, wait_for};

#[test]
fn a_caller_can_show_a_hidden_drop_down() -> Result<()> {
    let display = Display::start()?;
    let mut unterm = Start::windowed(&display).arg("--quake").now()?;
    let window = display.window_of(&unterm)?;
    unterm.act(&["toggle_quake"])?;
    let is_hidden = || Ok((!window.is_shown()?).then_some(()));
    wait_for("it to be hidden", is_hidden, || unterm.log())?;
    unterm.call("instance.focus", json!({}))?;
    let is_shown = || Ok(window.is_shown()?.then_some(()));
    wait_for("it to be shown", is_shown, || unterm.log())
}
