//! Settings of the mouse and keyboard in the window: selections, pastes, the wheel, and suppressed questions.

use anyhow::Result;
use unterm_tests::{Area, Window};

use super::{SettingRow, TestDesktop};

/// The padding to the left of a pane's cells, in pixels.
const PADDING: i16 = 8;

/// Drags over the first letters of a row. `mark` is the area of the cell after the row's text.
fn drag(window: &Window<'_>, mark: Area, letters: i16) -> Result<()> {
    // Click elsewhere first, so that two drags do not count as a double click.
    window.click(1, (mark.left, 300))?;
    let cell = mark.right - mark.left;
    let (edge, y) = (PADDING + cell / 8, mark.middle().1);
    window.drag((edge, y), (edge + letters * cell, y))
}

/// Whether a program runs in the foreground of the last pane.
fn runs(desk: &mut TestDesktop<'_>, program: &str) -> Result<bool> {
    let last = desk.unterm.sessions()?.pop();
    let name = last.map(|last| last["shell"]["process_name"].clone()).unwrap_or_default();
    Ok(name.as_str().is_some_and(|name| name.ends_with(&format!("/{program}"))))
}

/// Checks that a tab with a running program closes without a question.
pub(super) fn closes_unasked(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    let pane = desk.open_by("new_tab")?;
    pane.type_text(&mut desk.unterm, "cat\r")?;
    desk.until("cat", |desk| runs(desk, "cat"))?;
    desk.set(row)?;
    desk.display.press(&["Control_L", "Shift_L", "w"])?;
    desk.last_of(1)?;
    desk.reset(row)
}

/// Checks that one notch of the wheel scrolls by eight lines.
pub(super) fn scrolls_far(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    const MARK: [u8; 3] = [0, 255, 0];
    let last = desk.size()?.1 + 8;
    let line = format!("clear; printf '\\033[48;2;0;255;0mfar\\033[m\\n'; seq {last}\r");
    desk.shell.type_text(&mut desk.unterm, &line)?;
    let last = last.to_string();
    desk.shell.wait(&mut desk.unterm, "the last line", |lines| lines.contains(&last))?;
    desk.shell.wait_for_prompt(&mut desk.unterm)?;
    desk.set(row)?;
    desk.until("the line out of sight", |desk| Ok(!desk.shows(MARK)?))?;
    desk.window.click(4, (300, 300))?;
    desk.until("the line in sight", |desk| desk.shows(MARK))?;
    // Typing returns to the live screen.
    desk.display.press(&["Control_L", "l"])?;
    desk.until("the line out of sight again", |desk| Ok(!desk.shows(MARK)?))?;
    desk.reset(row)
}

/// Checks that selected text is copied to the clipboard.
pub(super) fn copies_elsewhere(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    desk.display.set_selection("clipboard", "from outside")?;
    let (_, mark) = desk.print("selectme")?;
    desk.set(row)?;
    desk.until("the selection on the clipboard", |desk| {
        drag(&desk.window, mark, 8)?;
        Ok(desk.display.selection("clipboard")? == "selectme")
    })?;
    desk.reset(row)?;
    desk.go_on()
}

/// Checks that the right button pastes even if there is a selection, which it would copy by default.
pub(super) fn pastes_over_a_selection(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    let (_, mark) = desk.print("selectme")?;
    desk.until("the selection", |desk| {
        drag(&desk.window, mark, 8)?;
        Ok(desk.display.selection("primary")? == "selectme")
    })?;
    desk.display.set_selection("clipboard", "from outside")?;
    desk.set(row)?;
    desk.window.click(3, (mark.left / 2, mark.middle().1))?;
    desk.shell.wait_for_text(&mut desk.unterm, "from outside")?;
    desk.reset(row)?;
    desk.go_on()
}

/// Whether selecting the first six letters of a row copies this text.
fn is_copied(desk: &TestDesktop<'_>, mark: Area, text: &str) -> Result<bool> {
    drag(&desk.window, mark, 6)?;
    Ok(desk.display.selection("primary")? == text)
}

/// Checks that trailing blanks of a selection are copied.
pub(super) fn copies_blanks(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    let (_, mark) = desk.print("line    end")?;
    desk.until("no blanks", |desk| is_copied(desk, mark, "line"))?;
    desk.set(row)?;
    desk.until("blanks", |desk| is_copied(desk, mark, "line  "))?;
    desk.reset(row)?;
    desk.until("no blanks again", |desk| is_copied(desk, mark, "line"))?;
    desk.go_on()
}

/// Checks that typed text goes to the pane under the pointer.
pub(super) fn follows_the_pointer(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    let other = desk.open_by("split_right")?;
    desk.set(row)?;
    let right = i16::try_from(desk.window.size()?.0)? - 100;
    desk.until("what is typed", |desk| {
        desk.window.point(right, 300)?;
        desk.window.point(100, 300)?;
        desk.display.press(&["x"])?;
        Ok(desk.shell.lines(&mut desk.unterm)?.iter().any(|line| line.starts_with("ready$ x")))
    })?;
    desk.display.press(&["Control_L", "u"])?;
    desk.shell.wait_for_prompt(&mut desk.unterm)?;
    desk.reset(row)?;
    desk.close(other)
}

/// Checks that lines are pasted without a question into a program that did not enable bracketed paste.
pub(super) fn pastes_unasked(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    desk.shell.type_text(&mut desk.unterm, "clear; cat\r")?;
    desk.until("cat", |desk| runs(desk, "cat"))?;
    desk.display.set_selection("clipboard", "one\ntwo\n")?;
    desk.set(row)?;
    desk.display.press(&["Control_L", "Shift_L", "v"])?;
    // The terminal echoes the line, and `cat` prints it again.
    desk.shell.wait(&mut desk.unterm, "both lines", |lines| {
        lines.iter().filter(|line| *line == "two").count() == 2
    })?;
    desk.display.press(&["Control_L", "d"])?;
    desk.shell.wait_for_prompt(&mut desk.unterm)?;
    desk.reset(row)
}
