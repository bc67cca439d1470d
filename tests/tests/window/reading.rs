//! Reading the screen: copy mode, labels to choose from, prompts and their commands, links. Tests press keys in the
//! window, and read the results from the clipboard and through the control port.

use anyhow::{Result, ensure};
use unterm_tests::{Display, Instance, Pane, Picture, Start, Window, WindowManager, wait_for};

/// Padding around a pane's cells, and the height of the tab bar above them.
const PADDING: i16 = 8;
const BAR: i16 = 28;
/// The distance from the left end of the search bar's buttons to the window's right edge, in pixels.
const BUTTONS: i16 = 80;

fn wait_for_clipboard(display: &Display, wanted: &str) -> Result<()> {
    display.wait_for_selection("clipboard", wanted)
}

/// The background of the text that [`print_marked`] prints, as long as the text is not marked as a match.
const MARK: [u8; 3] = [255, 0, 255];

/// Prints a word on the background [`MARK`], and waits until it is visible.
fn print_marked(
    display: &Display,
    window: &Window<'_>,
    (unterm, pane): (&mut Instance, Pane),
    word: &str,
) -> Result<()> {
    let line = format!("printf '\\033[48;2;255;0;255m{word}\\033[m\\n'");
    run(display, unterm, pane, &line, word)?;
    wait_for_match(window, false)
}

/// Waits until the printed word is marked as a match, or is not marked.
fn wait_for_match(window: &Window<'_>, is_marked: bool) -> Result<()> {
    let is_so = || Ok(((window.picture()?.count(MARK) == 0) == is_marked).then_some(()));
    wait_for(&format!("a match: {is_marked}"), is_so, String::new)
}

/// Waits for the match, and copies it in copy mode.
fn copy_match(display: &Display, window: &Window<'_>, word: &str) -> Result<()> {
    wait_for_match(window, true)?;
    display.press(&["Tab"])?;
    display.type_text("y")?;
    wait_for_clipboard(display, word)
}

/// Types a command, and waits for its last line of output and the prompt after it.
fn run(display: &Display, unterm: &mut Instance, pane: Pane, line: &str, last: &str) -> Result<()> {
    display.type_text(&format!("{line}\n"))?;
    wait_for_output(unterm, pane, last)
}

/// Waits for a command's last line of output and the prompt after it.
fn wait_for_output(unterm: &mut Instance, pane: Pane, last: &str) -> Result<()> {
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
    // Copy mode has ended, so keys go to the program.
    run(&display, &mut unterm, pane, "echo typed", "typed")?;
    // Copy whole lines, with a count.
    display.press(&["Control_L", "Shift_L", "m"])?;
    display.type_text("3kVy")?;
    wait_for_clipboard(&display, "alpha beta gamma")
}

#[test]
fn copy_mode_goes_to_a_line_by_its_number_and_to_a_character() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, _, pane) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    // The prompt is the first line.
    run(&display, &mut unterm, pane, "seq 60", "60")?;
    let walks = [("5Gy", "4"), ("6ggy", "5"), ("7ggggy", "ready$ seq 60"), ("ggfqvf0y", "q 60")];
    for (keys, line) in walks {
        display.press(&["Control_L", "Shift_L", "m"])?;
        display.type_text(keys)?;
        wait_for_clipboard(&display, line)?;
    }
    Ok(())
}

#[test]
fn clicking_the_kind_of_search_selects_the_next_kind() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    print_marked(&display, &window, (&mut unterm, pane), "abc")?;
    let (width, _) = window.size()?;
    display.press(&["Control_L", "Shift_L", "f"])?;
    display.type_text("abc")?;
    // A picture that shows the match also shows the search bar.
    wait_for_match(&window, true)?;
    for key in ["BackSpace", "BackSpace", ".", "c"] {
        display.press(&[key])?;
    }
    wait_for_match(&window, false)?;
    // Switch the kind of search from literal to case-sensitive, and then to regular expression.
    for _ in 0..2 {
        window.click(1, (width as i16 - BUTTONS - 20, BAR + 2 * PADDING + 6))?;
    }
    copy_match(&display, &window, "abc")
}

#[test]
fn enter_in_an_empty_search_repeats_the_last_search() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    print_marked(&display, &window, (&mut unterm, pane), "beta")?;
    display.press(&["Control_L", "Shift_L", "f"])?;
    display.type_text("beta")?;
    wait_for_match(&window, true)?;
    display.press(&["Escape"])?;
    wait_for_match(&window, false)?;
    display.press(&["Control_L", "Shift_L", "f"])?;
    display.press(&["Return"])?;
    copy_match(&display, &window, "beta")
}

#[test]
fn a_label_copies_its_text_and_its_capital_pastes_it() -> Result<()> {
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
fn jumping_to_commands_and_copying_their_output_works() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    run(&display, &mut unterm, pane, "seq 60", "60")?;
    run(&display, &mut unterm, pane, "echo short", "short")?;
    unterm.act(&["copy_output"])?;
    wait_for_clipboard(&display, "short")?;
    // The prompt of `seq` is above the visible part.
    display.press(&["Control_L", "Shift_L", "Up"])?;
    window.wait_for_input()?;
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
fn a_jump_in_an_unseen_window_counts_new_output() -> Result<()> {
    let display = Display::start()?;
    let _manager = WindowManager::start(&display)?;
    let (mut unterm, window, pane) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    window.minimize()?;
    pane.type_text(&mut unterm, "seq 60\r")?;
    wait_for_output(&mut unterm, pane, "60")?;
    pane.type_text(&mut unterm, "echo short\r")?;
    wait_for_output(&mut unterm, pane, "short")?;
    unterm.act(&["previous_prompt"])?;
    unterm.act(&["copy_command"])?;
    wait_for_clipboard(&display, "seq 60")
}

#[test]
fn folded_output_is_hidden_until_it_is_unfolded() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    run(&display, &mut unterm, pane, "printf '\\033[?12l\\033[2 q'; seq 20", "20")?;
    // The rows contain numbers. When the output is folded, they are empty, because the prompt has moved up.
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

/// Whether anything is drawn at the left edge, between a third and half of the window's height.
fn has_ink(picture: &Picture) -> bool {
    let rows: Vec<&[[u8; 3]]> = picture.pixels.chunks_exact(picture.width).collect();
    let blank = rows[rows.len() / 2][picture.width / 2];
    rows[rows.len() / 3..rows.len() / 2]
        .iter()
        .any(|row| row[PADDING as usize..picture.width / 2].iter().any(|pixel| *pixel != blank))
}

/// Clicks on a cell of the only pane.
fn click(window: &Window<'_>, unterm: &mut Instance, col: i16, row: i16) -> Result<()> {
    let all = unterm.sessions()?;
    let cells = |key: &str| all[0][key].as_i64().unwrap_or(1) as i16;
    let (width, height) = window.size()?;
    let cell = (width as i16 - 2 * PADDING) / cells("cols");
    let line = (height as i16 - 2 * BAR - 2 * PADDING) / cells("rows");
    let (x, y) = (PADDING + col * cell + cell / 2, BAR + PADDING + row * line + line / 2);
    window.click(1, (x, y))
}

#[test]
fn a_click_at_the_prompt_moves_the_cursor_there() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    display.type_text("echo xyz")?;
    let lines = pane.wait_for_text(&mut unterm, "ready$ echo xyz")?;
    let row = lines.iter().position(|line| line.contains("echo xyz")).unwrap_or_default() as i16;
    // Click on the x, in the 13th column.
    click(&window, &mut unterm, 12, row)?;
    let key = |lines: &[String]| lines.iter().any(|line| line == "ready$ echo ABxyz");
    // The arrow keys must reach the shell before the text typed after them.
    pane.wait(&mut unterm, "the prompt", |lines| lines.iter().any(|line| line.contains("xyz")))?;
    display.type_text("AB")?;
    pane.wait(&mut unterm, "letters before the x", key)?;
    Ok(())
}

#[test]
fn a_click_moves_the_cursor_between_pasted_lines() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    display.set_selection("clipboard", "echo one\necho two")?;
    display.press(&["Control_L", "Shift_L", "v"])?;
    let lines = pane.wait_for_text(&mut unterm, "echo two")?;
    let row = lines.iter().position(|line| line.contains("echo one")).unwrap_or_default() as i16;
    // Click on the n of the first line, in the 14th column.
    click(&window, &mut unterm, 13, row)?;
    display.type_text("x")?;
    pane.wait_for_text(&mut unterm, "ready$ echo oxne")?;
    Ok(())
}
