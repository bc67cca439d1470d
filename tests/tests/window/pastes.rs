//! Input into the window besides plain keys: pastes that ask for confirmation.

use anyhow::{Result, ensure};
use unterm_tests::{Display, Pane, Start, wait_for};

#[test]
fn a_paste_that_would_press_enter_asks_first() -> Result<()> {
    let display = Display::start()?;
    let script = "printf '\\033[48;2;255;0;255mready\\033[m\\n'; exec cat";
    let mut unterm = Start::windowed(&display).arg("-e").arg("sh").arg("-c").arg(script).now()?;
    let window = display.window_of(&unterm)?;
    let pane = unterm.first_pane()?;
    // Painted, not only printed, because later pictures are compared with one from before the question.
    wait_for("text", || Ok(window.picture()?.area_of([255, 0, 255])), String::new)?;
    display.set_selection("clipboard", "pasted one\x1b[A\npasted two\n")?;
    // `cat` prints each line that it receives.
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

#[test]
fn a_paste_into_many_panes_asks_once_and_goes_to_all_of_them() -> Result<()> {
    let display = Display::start()?;
    let registry = tempfile::tempdir()?;
    // `cat` does not enable bracketed paste, and prints each line that it receives.
    std::fs::write(registry.path().join("config.toml"), "[shell]\nprogram = 'cat'\n")?;
    let mut unterm = Start::windowed(&display).registry(registry.path()).now()?;
    let window = display.window_of(&unterm)?;
    // More panes than questions may be pending.
    let panes: Vec<Pane> = (0..10).map(|id| Pane { id }).collect();
    for _ in 1..panes.len() {
        unterm.act(&["new_tab"])?;
    }
    unterm.act(&["broadcast_all"])?;
    let twice = |unterm: &mut _, line: &str| -> Result<()> {
        for pane in &panes {
            pane.wait(unterm, line, |lines| lines.iter().filter(|own| *own == line).count() == 2)?;
        }
        Ok(())
    };
    display.type_text("typed\n")?;
    twice(&mut unterm, "typed")?;
    display.set_selection("clipboard", "first\nsecond\n")?;
    let before = window.picture()?;
    let differs = |by: bool| -> Result<()> {
        let is_so = || Ok(((window.picture()?.difference(&before) > 20_000) == by).then_some(()));
        wait_for("the question to come or to go", is_so, String::new)
    };
    display.press(&["Control_L", "Shift_L", "v"])?;
    differs(true)?;
    display.press(&["Return"])?;
    twice(&mut unterm, "first")?;
    twice(&mut unterm, "second")?;
    differs(false)?;
    // No question remains, and the next text goes to all panes again.
    display.type_text("over\n")?;
    twice(&mut unterm, "over")
}
