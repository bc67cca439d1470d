//! What a person puts into the window beside plain keys: pastes that ask first.

use anyhow::{Result, ensure};
use unterm_tests::{Display, Start, wait_for};

#[test]
fn a_paste_that_would_press_enter_asks_first() -> Result<()> {
    let display = Display::start()?;
    let script = "printf '\\033[48;2;255;0;255mready\\033[m\\n'; exec cat";
    let mut unterm = Start::windowed(&display).arg("-e").arg("sh").arg("-c").arg(script).now()?;
    let window = display.window_of(&unterm)?;
    let pane = unterm.first_pane()?;
    // Painted, not only printed: later pictures are compared with one from before the question.
    wait_for("text", || Ok(window.picture()?.area_of([255, 0, 255])), String::new)?;
    display.set_selection("clipboard", "pasted one\x1b[A\npasted two\n")?;
    // `cat` comes back with each line that it gets.
    let count = |lines: &[String], wanted: &str| lines.iter().filter(|l| *l == wanted).count();

    for (answer, ones, joined) in [("Escape", 0, 0), ("l", 0, 1), ("Return", 2, 0)] {
        let before = window.picture()?;
        display.press(&["Control_L", "Shift_L", "v"])?;
        wait_for(
            "the question",
            || Ok((window.picture()?.difference(&before) > 20_000).then_some(())),
            String::new,
        )?;
        display.press(&[answer])?;
        let typed = format!("behind {answer}");
        wait_for(
            "the question's end",
            || Ok((window.picture()?.difference(&before) < 20_000).then_some(())),
            String::new,
        )?;
        if joined > 0 {
            pane.wait_for_text(&mut unterm, "pasted one[A pasted two")?;
        }
        if ones > 0 {
            pane.wait(&mut unterm, "both lines, typed and read", |lines| {
                count(lines, "pasted one[A") == ones && count(lines, "pasted two") == ones
            })?;
        }
        display.type_text(&format!("{typed}\n"))?;
        let lines = pane.wait(&mut unterm, "what was typed behind", |lines| {
            lines.iter().filter(|line| line.contains(&typed)).count() == 2
        })?;
        let found = (count(&lines, "pasted one[A"), count(&lines, "pasted two"));
        ensure!(found == (ones, ones), "{answer}: {lines:?}");
    }
    Ok(())
}
