//! What a screen reader takes for the place of the keys.

use anyhow::Result;
use serde_json::Value;
use unterm_tests::{Bus, Display, ScreenReader, Start};

/// How many panes there are, and how many of them have the keys.
fn panes(seen: &Value) -> (usize, usize) {
    let all = seen["terminals"].as_array().map_or(&[][..], Vec::as_slice);
    (all.len(), all.iter().filter(|one| one["focused"] == true).count())
}

#[test]
fn an_open_search_gives_the_keys_back_to_another_pane() -> Result<()> {
    let display = Display::start()?;
    let bus = Bus::with_services(&display)?;
    let start = Start::windowed(&display).env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    let (unterm, _, _) = start.at_prompt()?;
    let mut reader = ScreenReader::start(&bus, &display)?;
    unterm.act(&["split_right"])?;
    reader.wait("two panes", |seen| panes(seen) == (2, 1))?;
    display.press(&["Control_L", "Shift_L", "f"])?;
    reader.wait("the search with the keys", |seen| panes(seen) == (2, 0))?;
    unterm.act(&["focus_left"])?;
    reader.wait("the other pane with the keys", |seen| panes(seen) == (2, 1))?;
    Ok(())
}
