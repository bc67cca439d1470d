//! The window on Wayland, in a headless compositor that belongs to the test.

use anyhow::Result;
use serde_json::json;
use unterm_tests::{Compositor, Instance, Pane, Start, describe, wait_until};

/// Unterm with a focused window, at its prompt.
fn at_prompt(compositor: &Compositor) -> Result<(Instance, Pane)> {
    let mut unterm = Start::on_wayland(compositor).now()?;
    compositor.wait_for_window()?;
    let pane = unterm.first_pane()?;
    pane.wait_for_prompt(&mut unterm)?;
    Ok((unterm, pane))
}

#[test]
fn a_window_receives_keys_has_a_title_and_closes() -> Result<()> {
    let compositor = Compositor::start(1.0)?;
    let (mut unterm, pane) = at_prompt(&compositor)?;
    compositor.press(&["echo \"Typed: $((40 + 2)) {ÄÖ€}\"", "-k", "Return"])?;
    pane.wait(&mut unterm, "the answer", |lines| {
        lines.iter().any(|line| line == "Typed: 42 {ÄÖ€}")
    })?;
    // Closing asks for confirmation while the command runs.
    pane.wait_for_prompt(&mut unterm)?;
    let title = compositor.wait_for_window()?;
    assert_eq!(title, "Unterm — alpha — ~");
    compositor.close_window()?;
    let status = unterm.wait_for_exit()?;
    assert!(status.success(), "{}", describe(status));
    Ok(())
}

#[test]
fn a_window_opens_with_the_configured_grid_at_every_scale() -> Result<()> {
    for scale in [1.0, 1.5, 2.0] {
        let compositor = Compositor::start(scale)?;
        let mut unterm = Start::on_wayland(&compositor).now()?;
        compositor.wait_for_window()?;
        let grid = || {
            let list = unterm.call("session.list", json!({}))?;
            let one = &list["sessions"][0];
            Ok(json!([one["cols"], one["rows"]]))
        };
        let what = format!("a grid of 120×30 at scale {scale}");
        wait_until(&what, grid, |now| *now == json!([120, 30]))?;
    }
    Ok(())
}

#[test]
fn text_is_copied_and_pasted() -> Result<()> {
    let compositor = Compositor::start(1.0)?;
    let (mut unterm, pane) = at_prompt(&compositor)?;
    let _owner = compositor.copy("echo from another")?;
    compositor.press(&["-M", "ctrl", "-M", "shift", "v", "-m", "shift", "-m", "ctrl"])?;
    pane.wait_for_text(&mut unterm, "echo from another")?;
    compositor.press(&["-k", "Return"])?;
    pane.wait(&mut unterm, "the answer", |lines| lines.iter().any(|line| line == "from another"))?;
    compositor.press(&[
        "printf '\\e]52;c;%s\\a' $(printf 'from Unterm' | base64)",
        "-k",
        "Return",
    ])?;
    compositor.wait_for_clipboard("from Unterm")
}

#[test]
fn a_picture_without_the_window_is_refused() -> Result<()> {
    let compositor = Compositor::start(1.0)?;
    let (unterm, _) = at_prompt(&compositor)?;
    let refused = unterm.act(&["capture_region_exclude"]).expect_err("the window can't hide");
    assert!(refused.to_string().contains("can't hide itself"), "{refused:#}");
    Ok(())
}
