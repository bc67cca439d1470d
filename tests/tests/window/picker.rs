//! The panel with its lists, which is drawn over the content that it changes.

use anyhow::Result;
use unterm_tests::{Display, Start, wait_for};

#[test]
fn a_theme_preview_ends_when_another_list_opens() -> Result<()> {
    const NORD: [u8; 3] = [0x2e, 0x34, 0x40];
    let display = Display::start()?;
    let (unterm, window, _) = Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    unterm.write_config("theme = 'nord'\n")?;
    window.wait_for_background(NORD)?;
    unterm.act(&["choose_theme"])?;
    display.press(&["Down"])?;
    wait_for(
        "another theme",
        || {
            let picture = window.picture()?;
            Ok((picture.count(NORD) * 4 < picture.pixels.len()).then_some(()))
        },
        String::new,
    )?;
    // A caller opens the command palette over the panel.
    unterm.act(&["command_palette"])?;
    display.press(&["Escape"])?;
    window.wait_for_background(NORD)
}
