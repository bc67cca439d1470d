//! The program in a window on the test's own X server. A simulated user types, uses the mouse and sees pictures.

use anyhow::Result;
use serde_json::Value;
use unterm_tests::{Area, Display, Instance, Start, Window, describe, wait_for, wait_until};

/// The panes' sizes, as session.list returns them.
fn sizes(unterm: &mut Instance) -> Result<Vec<(u64, u64)>> {
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    Ok(unterm.sessions()?.iter().map(|one| (number(&one["cols"]), number(&one["rows"]))).collect())
}

fn wait_for_panes(unterm: &mut Instance, count: usize) -> Result<Vec<(u64, u64)>> {
    wait_until(&format!("{count} panes"), || sizes(unterm), |now| now.len() == count)
}

#[test]
fn typed_text_reaches_the_shell_and_output_is_shown() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) = Start::windowed(&display).at_prompt()?;
    let blank = window.picture()?;
    display.type_text("echo \"Typed: $((40 + 2)) {~}\"\n")?;
    pane.wait(&mut unterm, "the answer", |lines| lines.iter().any(|line| line == "Typed: 42 {~}"))?;
    wait_for(
        "a picture of it",
        || Ok((window.picture()?.difference(&blank) > 100).then_some(())),
        String::new,
    )?;
    // Editing keys and control keys.
    display.type_text("echo xac")?;
    display.press(&["Left"])?;
    display.type_text("b")?;
    display.press(&["Home"])?;
    for _ in 0..5 {
        display.press(&["Right"])?;
    }
    display.press(&["Delete"])?;
    display.press(&["Control_L", "e"])?;
    display.type_text("d\n")?;
    pane.wait(&mut unterm, "the edited line", |lines| lines.iter().any(|line| line == "abcd"))?;
    Ok(())
}

#[test]
fn incremental_frames_match_a_full_repaint() -> Result<()> {
    const CURSOR: [u8; 3] = [255, 0, 255];
    const PADDING: u64 = 8;
    let display = Display::start()?;
    let (mut unterm, window, pane) =
        Start::windowed(&display).arg("--painter").arg("cpu").at_prompt()?;
    let cell = (u64::from(window.size()?.0) - 2 * PADDING) / sizes(&mut unterm)?[0].0;
    // A picture that shows the text also shows the cursor after it.
    let typed = |text: &str| {
        let left = PADDING + cell * ("ready$ ".len() + text.len()) as u64;
        let is_there = || {
            let picture = window.picture()?;
            let cursor = picture.area_of(CURSOR);
            Ok(cursor.is_some_and(|cursor| cursor.left as u64 == left).then_some(picture))
        };
        wait_for(&format!("the cursor behind {text:?}"), is_there, String::new)
    };
    display.type_text("printf '\\033]12;#ff00ff\\033\\\\\\033[2 q'\n")?;
    typed("")?;
    // Lines whose pictures change few cells, and a line that changes most of the window.
    for line in ["echo one", "i=0; while [ $i -lt 90 ]; do echo $i; i=$((i+1)); done", "pwd"] {
        for at in 1..=line.len() {
            display.type_text(&line[at - 1..at])?;
            typed(&line[..at])?;
        }
        display.press(&["Return"])?;
        typed("")?;
    }
    display.type_text("abcd")?;
    typed("abcd")?;
    display.press(&["BackSpace"])?;
    let shown = typed("abc")?;
    window.lose_picture()?;
    wait_for("the same", || Ok((window.picture()? == shown).then_some(())), String::new)?;
    pane.wait_for_text(&mut unterm, "ready$ abc")?;
    Ok(())
}

#[test]
fn other_keyboards_type_their_characters_and_dead_keys_compose() -> Result<()> {
    let display = Display::with_keyboard("de", "")?;
    let (mut unterm, _, pane) = Start::windowed(&display).at_prompt()?;
    display.type_text("echo =äöüÄÖÜß")?;
    display.press(&["ISO_Level3_Shift", "e"])?;
    display.press(&["ISO_Level3_Shift", "q"])?;
    display.press(&["dead_acute"])?;
    display.press(&["e"])?;
    display.type_text("=\n")?;
    pane.wait(&mut unterm, "the characters", |lines| {
        lines.iter().any(|line| line == "=äöüÄÖÜß€@é=")
    })?;
    display.press(&["Control_L", "Shift_L", "t"])?;
    wait_for_panes(&mut unterm, 2)?;
    Ok(())
}

#[test]
fn both_painters_show_the_text() -> Result<()> {
    for painter in ["cpu", "gpu"] {
        let display = Display::start()?;
        let mut unterm = Start::windowed(&display)
            .arg("--painter")
            .arg(painter)
            .arg("-e")
            .arg("sh")
            .arg("-c")
            .arg("printf '\\033[41m   \\033[42m   \\033[44m   \\033[0m text'; read x")
            .now()?;
        let window = display.window_of(&unterm)?;
        unterm.first_pane()?.wait_for_text(&mut unterm, "text")?;
        // The picture contains three backgrounds, the surface's background, and text with its edges.
        wait_for(
            &format!("a picture by the {painter} painter"),
            || Ok((window.picture()?.colors() > 6).then_some(())),
            || unterm.log(),
        )?;
    }
    Ok(())
}

#[test]
fn tabs_and_splits_open_and_close_by_keys() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, _, _) = Start::windowed(&display).at_prompt()?;
    let whole = sizes(&mut unterm)?[0];

    display.press(&["Control_L", "Shift_L", "t"])?;
    wait_for_panes(&mut unterm, 2)?;
    display.press(&["Control_L", "Shift_L", "w"])?;
    wait_for_panes(&mut unterm, 1)?;

    display.press(&["Control_L", "Shift_L", "e"])?;
    wait_for_panes(&mut unterm, 2)?;
    wait_for(
        "two panes side by side",
        || {
            let now = sizes(&mut unterm)?;
            let halved = now.iter().all(|size| size.0 <= whole.0 / 2 && size.0 >= whole.0 / 2 - 4);
            Ok((halved && now.iter().all(|size| size.1 == now[0].1)).then_some(()))
        },
        String::new,
    )?;
    display.press(&["Control_L", "Shift_L", "d"])?;
    wait_for_panes(&mut unterm, 3)?;

    // The new pane has the keyboard focus.
    display.type_text("echo in the third\n")?;
    let newest = unterm.sessions()?.iter().map(|one| one["id"].as_u64()).max();
    let newest = unterm_tests::Pane { id: newest.flatten().unwrap_or_default() };
    newest
        .wait(&mut unterm, "the answer", |lines| lines.iter().any(|line| line == "in the third"))?;
    // While a command runs, closing asks for confirmation.
    newest.wait_for_prompt(&mut unterm)?;

    display.press(&["Control_L", "Shift_L", "x"])?;
    wait_for_panes(&mut unterm, 2)?;
    display.type_text("exit\n")?;
    wait_for_panes(&mut unterm, 1)?;
    wait_for(
        "the first pane's size as before",
        || Ok((sizes(&mut unterm)?[0] == whole).then_some(())),
        String::new,
    )
}

#[test]
fn a_pane_is_not_split_into_unusable_parts() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, _, _) = Start::windowed(&display).at_prompt()?;
    let mut count = 1;
    // Each split divides the pane that the last split created.
    let said = loop {
        let output = unterm.cli(&["action", "split_right"])?;
        if !output.status.success() {
            break String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        }
        count += 1;
        assert!(count < 20, "there is always room");
    };
    assert!(said.contains("The pane is too small to split."), "{said}");
    assert!(said.contains("4 columns"), "{said}");
    let panes = wait_for_panes(&mut unterm, count)?;
    assert!(count > 2 && panes.iter().all(|size| size.0 >= 4), "{panes:?}");
    // There is still room for a split downward. Ctrl+Shift+D splits the pane.
    display.press(&["Control_L", "Shift_L", "d"])?;
    wait_for_panes(&mut unterm, count + 1)?;
    Ok(())
}

#[test]
fn the_window_gives_the_pane_its_size() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) = Start::windowed(&display).at_prompt()?;
    let before = sizes(&mut unterm)?[0];
    window.resize(640, 400)?;
    let now = wait_for(
        "a smaller pane",
        || {
            let now = sizes(&mut unterm)?[0];
            Ok((now.0 < before.0 && now.1 < before.1).then_some(now))
        },
        String::new,
    )?;
    display.type_text("stty size\n")?;
    pane.wait_for_text(&mut unterm, &format!("{} {}", now.1, now.0))?;
    Ok(())
}

/// A color that only the output of the test has.
const MARK: [u8; 3] = [255, 0, 255];

/// The beginning of a format for printf(1) that prints text on a background with the color [`MARK`].
const MARKED: &str = "\\033[48;2;255;0;255m";

/// Waits until something in the color [`MARK`] is visible.
fn wait_for_mark(window: &Window<'_>) -> Result<Area> {
    wait_for("the mark's color", || Ok(window.picture()?.area_of(MARK)), String::new)
}

/// Opens a window whose program shows `selectme` in the middle. Returns the word's area too.
fn with_a_word(display: &Display) -> Result<(Instance, Window<'_>, Area)> {
    let script = format!(
        "stty -echo; printf '\\033[?25l\\033[10;20H{MARKED}selectme\\033[m'; read x; stty echo; \
         printf '\\nnow:\\n'; cat"
    );
    let unterm = Start::windowed(display).arg("-e").arg("sh").arg("-c").arg(&script).now()?;
    let window = display.window_of(&unterm)?;
    let word = wait_for_mark(&window)?;
    Ok((unterm, window, word))
}

#[test]
fn a_double_click_copies_a_word_and_enter_waits_for_its_paste() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, word) = with_a_word(&display)?;
    let (x, y) = word.middle();
    window.point(x, y)?;
    window.double_click()?;
    display.wait_for_selection("primary", "selectme")?;
    display.press(&["Control_L", "Shift_L", "c"])?;
    display.wait_for_selection("clipboard", "selectme")?;

    // The terminal echoes the pasted text, and `cat` prints it again.
    let pane = unterm.first_pane()?;
    let shown = |lines: &[String]| lines.iter().filter(|line| *line == "selectme").count();
    pane.type_text(&mut unterm, "\r")?;
    pane.wait_for_text(&mut unterm, "now:")?;
    // Enter is pressed before the clipboard has answered, but the program receives it after the word.
    display.press(&["Control_L", "Shift_L", "v"])?;
    display.press(&["Return"])?;
    pane.wait(&mut unterm, "the word and its echo", |lines| shown(lines) == 2)?;
    Ok(())
}

#[test]
fn a_program_can_write_the_clipboard_and_the_title() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) = Start::windowed(&display).at_prompt()?;
    pane.type_text(
        &mut unterm,
        "printf '\\033]52;c;Y29waWVkIGJ5IGEgcHJvZ3JhbQ==\\007\\033]2;a new title\\007'\r",
    )?;
    display.wait_for_selection("clipboard", "copied by a program")?;
    window.wait_until_called("a new title")
}

#[test]
fn the_window_closes_with_its_last_shell() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, _, _) = Start::windowed(&display).at_prompt()?;
    let entry = unterm.entry_path();
    display.type_text("exit\n")?;
    let status = unterm.wait_for_exit()?;
    assert_eq!(status.code(), Some(0), "ended by {}: {}", describe(status), unterm.log());
    assert!(!entry.exists(), "its registry entry is left");
    Ok(())
}

#[test]
fn the_close_button_and_sigterm_end_it_cleanly() -> Result<()> {
    for by_button in [true, false] {
        let display = Display::start()?;
        let mut unterm = Start::windowed(&display).now()?;
        let window = display.window_of(&unterm)?;
        unterm.first_pane()?.wait_for_prompt(&mut unterm)?;
        let entry = unterm.entry_path();
        if by_button {
            window.close()?;
        } else {
            unterm.terminate()?;
        }
        let status = unterm.wait_for_exit()?;
        assert_eq!(status.code(), Some(0), "ended by {}: {}", describe(status), unterm.log());
        assert!(!entry.exists(), "its registry entry is left");
    }
    Ok(())
}

#[test]
fn the_window_stays_usable_during_a_flood() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window, pane) = Start::windowed(&display).at_prompt()?;
    let before = window.picture()?;
    display.type_text("yes a line of the flood\n")?;
    pane.wait(&mut unterm, "the flood", |lines| {
        lines.iter().filter(|line| *line == "a line of the flood").count() > lines.len() / 2
    })?;
    wait_for(
        "a picture of the flood",
        || Ok((window.picture()?.difference(&before) > 5000).then_some(())),
        String::new,
    )?;
    display.press(&["Control_L", "c"])?;
    pane.wait_for_prompt(&mut unterm)?;
    display.type_text("echo back again\n")?;
    pane.wait(&mut unterm, "the prompt's answer", |lines| {
        lines.iter().any(|line| line == "back again")
    })?;
    Ok(())
}
