//! The window's title while programs come and go: read from the window itself.

use anyhow::Result;
use unterm_tests::{Display, Start};

#[test]
fn the_shells_title_returns_after_a_program_exits_without_resetting_its_own() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) = Start::windowed(&display).at_prompt()?;
    window.wait_until_called("~")?;
    let program = "sh -c 'printf \"\\033]2;left behind\\007\"; exec cat'\r";
    // The shell has set no title, so the directory becomes the title again.
    pane.type_text(&mut unterm, program)?;
    window.wait_until_called("left behind")?;
    display.press(&["Control_L", "c"])?;
    window.wait_until_called("~")?;
    // A title that the shell itself has set stays, and returns.
    pane.type_text(&mut unterm, "printf '\\033]2;my shell\\007'\r")?;
    window.wait_until_called("my shell")?;
    pane.type_text(&mut unterm, program)?;
    window.wait_until_called("left behind")?;
    display.press(&["Control_L", "c"])?;
    window.wait_until_called("my shell")
}

#[test]
fn a_window_is_called_by_its_project_and_by_its_instance_where_several_run() -> Result<()> {
    let display = Display::start()?;
    let registry = tempfile::tempdir()?;
    let start = || Start::windowed(&display).registry(registry.path());
    let (mut first, window, pane) = start().at_prompt()?;
    std::fs::create_dir_all(first.home().join("atlas/.git"))?;
    pane.type_text(&mut first, "cd ~/atlas\r")?;
    window.wait_for_title(|title| title == "atlas")?;
    pane.type_text(&mut first, "cat\r")?;
    window.wait_for_title(|title| title == "cat — atlas")?;
    let second = start().now()?;
    window.wait_for_title(|title| title == "cat — atlas — alpha")?;
    drop(second);
    window.wait_for_title(|title| title == "cat — atlas")?;
    Ok(())
}
