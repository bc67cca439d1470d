//! The window's title while programs come and go: read from the window itself.

use anyhow::Result;
use unterm_tests::{Display, Start, Window};

/// Waits until the window's title ends with a pane's.
fn called(window: &Window<'_>, name: &str) -> Result<()> {
    window.wait_for_title(|title| title.ends_with(&format!(" — {name}"))).map(drop)
}

#[test]
fn a_title_that_a_program_left_behind_gives_way_to_the_shells() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) = Start::windowed(&display).at_prompt()?;
    called(&window, "~")?;
    let program = "sh -c 'printf \"\\033]2;left behind\\007\"; exec cat'\r";
    // The shell has set none: it is called by its place again.
    pane.type_text(&mut unterm, program)?;
    called(&window, "left behind")?;
    display.press(&["Control_L", "c"])?;
    called(&window, "~")?;
    // What the shell itself has set stays, and comes back.
    pane.type_text(&mut unterm, "printf '\\033]2;my shell\\007'\r")?;
    called(&window, "my shell")?;
    pane.type_text(&mut unterm, program)?;
    called(&window, "left behind")?;
    display.press(&["Control_L", "c"])?;
    called(&window, "my shell")
}
