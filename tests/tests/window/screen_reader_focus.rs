//! Checks where a screen reader finds the keyboard focus.

use anyhow::{Result, ensure};
use serde_json::Value;
use unterm_tests::{Bus, Display, ScreenReader, Start};

/// The number of panes, and the number of panes with the keyboard focus.
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

/// The names of the first terminal and of the window.
fn names(seen: &Value) -> (&str, Option<&str>) {
    let terminal = seen["terminals"][0]["name"].as_str().unwrap_or_default();
    let others = seen["others"].as_array().map_or(&[][..], Vec::as_slice);
    (terminal, others.iter().find(|one| one[0] == "frame").and_then(|one| one[1].as_str()))
}

fn is_announced(seen: &Value, text: &str) -> bool {
    let all = seen["announced"].as_array().map_or(&[][..], Vec::as_slice);
    all.iter().any(|one| one.as_str().is_some_and(|one| one.contains(text)))
}

#[test]
fn a_running_program_does_not_rename_the_focused_pane() -> Result<()> {
    let display = Display::start()?;
    let bus = Bus::with_services(&display)?;
    let start = Start::windowed(&display).env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    let (unterm, window, _) = start.at_prompt()?;
    let mut reader = ScreenReader::start(&bus, &display)?;
    let before = reader.wait("the pane with the keys", |seen| panes(seen) == (1, 1))?;
    display.type_text("cat\n")?;
    window.wait_until_called("cat")?;
    // Wait for one more frame.
    display.type_text("typed")?;
    let shows = |seen: &Value, text: &str| {
        seen["terminals"][0]["text"].as_str().is_some_and(|shown| shown.contains(text))
    };
    let seen = reader.wait("what is typed into it", |seen| shows(seen, "\ntyped"))?;
    ensure!(names(&seen) == names(&before), "a reader would stop reading: {seen:#}");

    unterm.act(&["new_tab"])?;
    reader.wait("the new tab's name", |seen| is_announced(seen, "Tab 2 of 2: "))?;
    unterm.act(&["previous_tab"])?;
    reader.wait("the first one's name", |seen| is_announced(seen, "Tab 1 of 2: cat"))?;
    reader.wait("the pane's name", |seen| names(seen).0 == "cat")?;

    display.press(&["Control_L", "Shift_L", "f"])?;
    display.type_text("typ")?;
    let seen = reader.wait("the match", |seen| is_announced(seen, "typed, 1 of 1"))?;
    ensure!(!is_announced(&seen, "searching"), "a reader says only the first of several: {seen:#}");
    display.press(&["Escape"])?;
    window.wait_for_input()?;
    unterm.act(&["copy_mode"])?;
    reader.wait("copy mode's name", |seen| is_announced(seen, "copy mode"))?;
    Ok(())
}
