//! The window's title while programs start and end, read from the window itself.

use anyhow::Result;
use serde_json::{Value, json};
use unterm_tests::{Display, Instance, Start, wait_until};

#[test]
fn the_shells_title_returns_after_a_program_without_a_reset() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) = Start::windowed(&display).at_prompt()?;
    window.wait_until_called("~")?;
    let program = "sh -c 'printf \"\\033]2;left behind\\007\"; exec cat'\r";
    // The shell has not set a title, so the directory becomes the title again.
    pane.type_text(&mut unterm, program)?;
    window.wait_until_called("left behind")?;
    display.press(&["Control_L", "c"])?;
    window.wait_until_called("~")?;
    // A title that the shell itself has set returns after the program.
    pane.type_text(&mut unterm, "printf '\\033]2;my shell\\007'\r")?;
    window.wait_until_called("my shell")?;
    pane.type_text(&mut unterm, program)?;
    window.wait_until_called("left behind")?;
    display.press(&["Control_L", "c"])?;
    window.wait_until_called("my shell")
}

#[test]
fn a_windows_title_has_instance_project_and_program() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) = Start::windowed(&display).at_prompt()?;
    window.wait_for_title(|title| title == "Unterm — alpha — ~")?;
    std::fs::create_dir_all(unterm.home().join("atlas/.git"))?;
    pane.type_text(&mut unterm, "cd ~/atlas\r")?;
    window.wait_for_title(|title| title == "Unterm — alpha — atlas — atlas")?;
    // The registry contains the same title.
    wait_for_registry(&mut unterm, "Unterm — alpha — atlas")?;
    pane.type_text(&mut unterm, "cat - # a comment\r")?;
    window.wait_for_title(|title| title == "Unterm — alpha — atlas — cat - # a comment")?;
    unterm.call("instance.set_title", json!({"title": "Mine"}))?;
    window.wait_for_title(|title| title == "Unterm — Mine — atlas — cat - # a comment")?;
    wait_for_registry(&mut unterm, "Mine")?;
    unterm.call("instance.set_title", json!({}))?;
    wait_for_registry(&mut unterm, "Unterm — alpha — atlas")?;
    unterm.write_config("[window]\ntitle_format = \"{title} in {project} — {program}\"\n")?;
    window.wait_for_title(|title| title == "cat - # a comment in atlas — cat")?;
    display.press(&["Control_L", "c"])?;
    window.wait_for_title(|title| title == "atlas in atlas — bash")?;
    pane.wait_for_prompt(&mut unterm)?;
    pane.type_text(&mut unterm, "cd /\r")?;
    window.wait_for_title(|title| title == "/ in  — bash")?;
    wait_for_registry(&mut unterm, "Unterm — alpha")
}

#[test]
fn both_title_properties_are_utf_8() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) = Start::windowed(&display).at_prompt()?;
    let titles = "for n in $(seq 50); do printf '\\033]2;%s Größe 日本\\007' $n; done\r";
    pane.type_text(&mut unterm, titles)?;
    let title = window.wait_for_title(|title| title.ends_with("50 Größe 日本"))?;
    wait_until("WM_NAME", || window.wm_name(), |name| name.as_deref() == Some(&*title))?;
    Ok(())
}

/// Waits until the registry contains this title for the instance.
fn wait_for_registry(unterm: &mut Instance, title: &str) -> Result<()> {
    let read = || {
        let record: Value = serde_json::from_slice(&std::fs::read(unterm.entry_path())?)?;
        Ok(record["title"].as_str().unwrap_or_default().to_owned())
    };
    wait_until("the registry's title", read, |now| now == title).map(drop)
}

#[test]
fn titles_name_the_running_command_and_then_the_directory() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) = Start::windowed(&display).at_prompt()?;
    for (line, title) in [
        ("sleep 1000\r", "sleep 1000"),
        // A builtin, a pipe, a program without output, and a program that sets a title.
        ("read -r answer\r", "read -r answer"),
        ("cat | cat\r", "cat | cat"),
        ("sh -c 'printf \"\\033]2;its own\\007\"; exec sleep 1000'\r", "its own"),
    ] {
        pane.type_text(&mut unterm, line)?;
        window.wait_until_called(title)?;
        display.press(&["Control_L", "c"])?;
        window.wait_until_called("~")?;
        pane.wait_for_prompt(&mut unterm)?;
    }
    Ok(())
}
