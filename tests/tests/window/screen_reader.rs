//! Tests of accessibility: the contents of the window that a screen reader reads, and the events that it receives.

use anyhow::{Result, ensure};
use serde_json::Value;
use unterm_tests::{Bus, Display, ScreenReader, Start, Window, wait_for};

/// The focused terminal.
fn terminal(seen: &Value) -> Option<&Value> {
    seen["terminals"].as_array()?.iter().find(|one| one["focused"] == true)
}

/// The text of the focused terminal.
fn text(seen: &Value) -> &str {
    terminal(seen).and_then(|terminal| terminal["text"].as_str()).unwrap_or_default()
}

/// The text before the focused terminal's caret.
fn before_caret(seen: &Value) -> String {
    let caret = terminal(seen).and_then(|terminal| terminal["caret"].as_u64()).unwrap_or_default();
    text(seen).chars().take(caret as usize).collect()
}

/// The events of one kind that the reader received, in order.
fn events<'a>(seen: &'a Value, of: &str) -> Vec<&'a str> {
    seen[of].as_array().map_or_else(Vec::new, |all| all.iter().filter_map(Value::as_str).collect())
}

#[test]
fn a_screen_reader_gets_text_caret_selection_and_events() -> Result<()> {
    let display = Display::start()?;
    let bus = Bus::with_services(&display)?;
    let start = Start::windowed(&display).env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    let _unterm = start.at_prompt()?;
    // The reader starts long after the window was opened.
    let mut reader = ScreenReader::start(&bus, &display)?;
    let seen = reader.wait("the prompt", |seen| before_caret(seen) == "ready$ ")?;
    ensure!(events(&seen, "tabs").len() == 1, "{seen:#}");

    // Type text, and move the caret. The caret's position is counted in characters.
    display.type_text("echo abc")?;
    display.press(&["Left"])?;
    reader.wait("the caret before the c", |seen| before_caret(seen) == "ready$ echo ab")?;
    display.press(&["Control_L", "u"])?;
    display.press(&["Control_L", "k"])?;
    display.type_text("printf 'h\\303\\251llo \\344\\270\\226 %s\\n' $((40 + 2))\n")?;
    let heard =
        |seen: &Value, what: &str| events(seen, "inserted").iter().any(|t| t.contains(what));
    reader.wait("the output to be reported", |seen| heard(seen, "héllo 世 42"))?;
    reader.wait("the next prompt", |seen| before_caret(seen).ends_with("héllo 世 42\nready$ "))?;

    // Select backward in the line above the prompt, in copy mode.
    display.press(&["Control_L", "Shift_L", "m"])?;
    for key in ["k", "0", "v", "e"] {
        display.press(&[key])?;
    }
    let seen = reader.wait("the selection", |seen| {
        let selected = || {
            let range = terminal(seen)?["selections"].get(0)?;
            let (start, end) = (range[0].as_u64()? as usize, range[1].as_u64()? as usize);
            Some(text(seen).chars().skip(start).take(end.checked_sub(start)?).collect::<String>())
        };
        selected().as_deref() == Some("héllo")
    })?;
    ensure!(
        terminal(&seen).is_some_and(|one| one["selections"].as_array().map(Vec::len) == Some(1))
    );
    display.press(&["Escape"])?;

    // When the screen scrolls, the reader receives only the new text.
    display.type_text("clear; seq -f 'line %g.' 200\n")?;
    reader.wait("the last line and the prompt", |seen| {
        before_caret(seen).ends_with("line 199.\nline 200.\nready$ ")
    })?;
    // Events contain only the differences, and the end of the last line may already have been at that position.
    let seen = reader.wait("the last lines to be reported", |seen| {
        heard(seen, "line 199.") || heard(seen, "line 200.")
    })?;
    let (inserted, removed) = (events(&seen, "inserted").len(), events(&seen, "removed").len());
    display.type_text("printf 'one %s\\n' $((10 + 1)) $((20 + 2))\n")?;
    let seen = reader.wait("two lines to be reported", |seen| {
        before_caret(seen).ends_with("\none 11\none 22\nready$ ")
            && events(seen, "inserted")[inserted..].concat().contains("one 22")
            && events(seen, "removed")[removed..].concat().contains("line ")
    })?;
    let new = events(&seen, "inserted")[inserted..].concat();
    ensure!(new.contains("one 11") && !new.contains("line 200"), "reported as new: {new:?}");
    let gone = events(&seen, "removed")[removed..].concat();
    ensure!(!gone.contains("line 200"), "reported as removed: {gone:?}");
    Ok(())
}

#[test]
fn overlays_are_read_and_hidden_input_is_not() -> Result<()> {
    let display = Display::start()?;
    let bus = Bus::with_services(&display)?;
    // The reader runs before the window is opened.
    let mut reader = ScreenReader::start(&bus, &display)?;
    let start = Start::windowed(&display).env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    let (unterm, _, _) = start.at_prompt()?;
    reader.wait("the prompt", |seen| before_caret(seen) == "ready$ ")?;

    let has = |seen: &Value, role: &str, name: &str| {
        let is_it =
            |one: &Value| one[0] == role && one[1].as_str().is_some_and(|n| n.contains(name));
        seen["others"].as_array().is_some_and(|all| all.iter().any(is_it))
    };
    display.press(&["Control_L", "Shift_L", "p"])?;
    display.type_text("splitright")?;
    reader.wait("the palette's items", |seen| has(seen, "list item", "Split right"))?;
    display.press(&["Escape"])?;
    reader.wait("its end", |seen| !has(seen, "list item", ""))?;
    unterm.act(&["main_menu"])?;
    reader.wait("the menu's items", |seen| has(seen, "menu item", "Split right"))?;
    display.press(&["Escape"])?;
    reader.wait("its end", |seen| !has(seen, "menu item", ""))?;

    // A password prompt doesn't show the password, and nothing else reveals it.
    display.type_text("read -rsp 'password: ' word; printf 'it has %s\\n' ${#word}\n")?;
    reader.wait("the question", |seen| before_caret(seen).ends_with("\npassword: "))?;
    display.type_text("hunter2\n")?;
    let seen = reader.wait("what comes behind", |seen| {
        text(seen).contains("it has 7\nready$ ")
            && events(seen, "inserted").concat().contains("it has 7")
    })?;
    ensure!(!seen.to_string().contains("hunter"), "{seen:#}");
    Ok(())
}

/// The cursor's color in the theme.
const CURSOR: [u8; 3] = [0xf5, 0xe0, 0xdc];

fn wait_for_cursor(window: &Window<'_>, what: &str, is_shown: bool) -> Result<()> {
    let is_shown_now = || anyhow::Ok(window.picture()?.area_of(CURSOR).is_some());
    wait_for(what, || Ok((is_shown_now()? == is_shown).then_some(())), String::new)
}

#[test]
fn nothing_blinks_with_reduced_motion() -> Result<()> {
    let display = Display::start()?;
    display.publish_setting("Gtk/EnableAnimations", 0)?;
    let start = Start::windowed(&display).env("UNTERM_LOG", "unterm=debug");
    let (mut unterm, window, pane) = start.at_prompt()?;
    wait_for(
        "the desktop's answer",
        || Ok(unterm.log().contains("is_motion_reduced: Some(true)").then_some(())),
        || unterm.log(),
    )?;
    // Run `cat`, because a prompt would reset the cursor's shape.
    pane.type_text(&mut unterm, "printf '\\033[1 qit blinks\\n'; cat\r")?;
    pane.wait_for_text(&mut unterm, "it blinks")?;
    wait_for_cursor(&window, "the cursor", true)?;
    // Wait longer than the visible or hidden phase of a blink.
    let begun = std::time::Instant::now();
    while begun.elapsed() < std::time::Duration::from_millis(1600) {
        ensure!(window.picture()?.area_of(CURSOR).is_some(), "it blinks all the same");
    }
    // The user's setting takes precedence over the desktop's.
    let config = unterm.registry().join("config.toml");
    std::fs::write(&config, "[window]\nreduced_motion = false\n")?;
    wait_for_cursor(&window, "a blink", false)?;
    std::fs::write(&config, "[window]\nreduced_motion = 'auto'\n")?;
    wait_for_cursor(&window, "the cursor again", true)?;
    // Later changes of the desktop's setting also take effect.
    display.publish_setting("Gtk/EnableAnimations", 1)?;
    wait_for_cursor(&window, "a blink again", false)
}
