//! Reading what is on the screen: copy mode, labels to choose from, prompts and their commands, links. Keys are pressed in
//! the window; what came of it is read from the clipboard and the control port.

use anyhow::{Result, ensure};
use serde_json::json;
use unterm_tests::{Display, Instance, Pane, Picture, Start, wait_for};

/// Space around a pane's cells, and the height of the tab bar above them.
const PADDING: i16 = 8;
const BAR: i16 = 28;

fn wait_for_clipboard(display: &Display, wanted: &str) -> Result<()> {
    display.wait_for_selection("clipboard", wanted)
}

/// Runs a command by keys, and waits until its last line of output and the prompt behind it are there.
fn run(display: &Display, unterm: &mut Instance, pane: Pane, line: &str, last: &str) -> Result<()> {
    display.type_text(&format!("{line}\n"))?;
    pane.wait(unterm, &format!("{last:?} and a prompt"), |lines| {
        let shown: Vec<&String> = lines.iter().filter(|line| !line.is_empty()).collect();
        shown.iter().any(|line| *line == last)
            && shown.last().is_some_and(|line| line.trim_end() == "ready$")
    })?;
    Ok(())
}

#[test]
fn copy_mode_walks_to_a_word_and_copies_it() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, _, pane) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    run(&display, &mut unterm, pane, "echo alpha beta gamma", "alpha beta gamma")?;
    display.press(&["Control_L", "Shift_L", "m"])?;
    display.type_text("k0wvey")?;
    wait_for_clipboard(&display, "beta")?;
    // Left again: keys are the program's.
    run(&display, &mut unterm, pane, "echo typed", "typed")?;
    // Whole lines, by a count.
    display.press(&["Control_L", "Shift_L", "m"])?;
    display.type_text("3kVy")?;
    wait_for_clipboard(&display, "alpha beta gamma")
}

#[test]
fn a_label_copies_what_it_stands_for_and_its_capital_pastes_it() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, _, pane) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    run(
        &display,
        &mut unterm,
        pane,
        "echo see https://example.org/x.",
        "see https://example.org/x.",
    )?;
    display.press(&["Control_L", "Shift_L", " "])?;
    display.type_text("a")?;
    wait_for_clipboard(&display, "https://example.org/x")?;
    display.press(&["Control_L", "Shift_L", " "])?;
    display.type_text("A")?;
    pane.wait_for_text(&mut unterm, "ready$ https://example.org/x")?;
    Ok(())
}

#[test]
fn commands_are_jumped_to_and_their_output_is_copied() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, _, pane) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    run(&display, &mut unterm, pane, "seq 60", "60")?;
    run(&display, &mut unterm, pane, "echo short", "short")?;
    unterm.act(&["copy_output"])?;
    wait_for_clipboard(&display, "short")?;
    // The prompt of `seq` is above what is in sight.
    display.press(&["Control_L", "Shift_L", "Up"])?;
    unterm.act(&["copy_output"])?;
    let numbers: Vec<String> = (1..=60).map(|number| number.to_string()).collect();
    wait_for_clipboard(&display, &numbers.join("\n"))?;
    unterm.act(&["copy_command"])?;
    wait_for_clipboard(&display, "seq 60")?;
    unterm.act(&["rerun_command"])?;
    pane.wait(&mut unterm, "the numbers again", |lines| {
        !lines.iter().any(|line| line == "short") && lines.iter().any(|line| line == "60")
    })?;
    Ok(())
}

#[test]
fn folded_output_is_left_out_of_the_picture_and_comes_back() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    run(&display, &mut unterm, pane, "printf '\\033[?12l\\033[2 q'; seq 20", "20")?;
    // Rows that hold numbers, and nothing where they are folded: the prompt has moved up.
    let see = |what: &str, shown: bool| {
        let look = || Ok((has_ink(&window.picture()?) == shown).then_some(()));
        wait_for(what, look, String::new)
    };
    see("the numbers", true)?;
    let screen = pane.lines(&mut unterm)?;
    unterm.act(&["fold_output"])?;
    see("a picture without them", false)?;
    ensure!(pane.lines(&mut unterm)? == screen, "the wire reads what the program wrote");
    unterm.act(&["unfold_all"])?;
    see("the numbers again", true)
}

/// Whether anything stands at the left, from a third to half of the window's height.
fn has_ink(picture: &Picture) -> bool {
    let rows: Vec<&[[u8; 3]]> = picture.pixels.chunks_exact(picture.width).collect();
    let blank = rows[rows.len() / 2][picture.width / 2];
    rows[rows.len() / 3..rows.len() / 2]
        .iter()
        .any(|row| row[PADDING as usize..picture.width / 2].iter().any(|pixel| *pixel != blank))
}

#[test]
fn a_click_at_the_prompt_moves_the_cursor_there() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    display.type_text("echo xyz")?;
    let lines = pane.wait_for_text(&mut unterm, "ready$ echo xyz")?;
    let row = lines.iter().position(|line| line.contains("echo xyz")).unwrap_or_default() as i16;
    let list = unterm.call("session.list", json!({}))?;
    let cells = |key: &str| list["sessions"][0][key].as_i64().unwrap_or(1) as i16;
    let (width, height) = window.size()?;
    let cell = (width as i16 - 2 * PADDING) / cells("cols");
    let line = (height as i16 - 2 * BAR - 2 * PADDING) / cells("rows");
    // Onto the x: the 13th column.
    window.click(1, (PADDING + 12 * cell + cell / 2, BAR + PADDING + row * line + line / 2))?;
    let key = |lines: &[String]| lines.iter().any(|line| line == "ready$ echo ABxyz");
    // The arrow keys are on their way to the shell before what is typed behind them.
    pane.wait(&mut unterm, "the prompt", |lines| lines.iter().any(|line| line.contains("xyz")))?;
    display.type_text("AB")?;
    pane.wait(&mut unterm, "letters before the x", key)?;
    Ok(())
}
