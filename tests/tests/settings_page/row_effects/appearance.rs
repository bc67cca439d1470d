//! Settings of the window's appearance.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{SettingRow, TestDesktop};

/// Checks that nothing blinks any more. While a program sleeps for longer than a blink, all pictures are equal.
pub(super) fn stands_still(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    desk.print("a cursor")?;
    let steady = desk.text()?;
    desk.prefer("cursor.blink", true.into())?;
    desk.until("a blink", |desk| Ok(desk.text()? != steady))?;
    desk.set(row)?;
    desk.until("the cursor", |desk| Ok(desk.text()? == steady))?;
    let sleeper = desk.unterm.run("sleep", &["2"])?;
    desk.until("the end of a sleep", |desk| {
        ensure!(desk.text()? == steady, "something moves");
        let got = desk.unterm.call("session.get", json!({"id": sleeper.id}))?;
        Ok(got["is_dead"] == true)
    })?;
    desk.close(sleeper)?;
    desk.reset(row)?;
    desk.until("a blink", |desk| Ok(desk.text()? != steady))?;
    desk.prefer("cursor.blink", false.into())?;
    desk.until("the cursor", |desk| Ok(desk.text()? == steady))?;
    desk.go_on()
}

fn has_marks(desk: &mut TestDesktop<'_>) -> Result<bool> {
    let left = desk.window.picture()?.part((0, 30), (8, 300));
    Ok(left.colors() > 1)
}

/// Checks that the prompts have no marks any more.
pub(super) fn loses_marks(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    desk.shell.type_text(&mut desk.unterm, "false\r")?;
    desk.until("a mark", has_marks)?;
    desk.set(row)?;
    desk.until("no mark", |desk| Ok(!has_marks(desk)?))?;
    desk.reset(row)?;
    desk.until("a mark again", has_marks)
}

/// The top edge of the area with this color.
fn top_of(desk: &TestDesktop<'_>, color: [u8; 3]) -> Result<Option<i16>> {
    Ok(desk.window.picture()?.area_of(color).map(|area| area.top))
}

/// Checks that the pane moves up, because the tab bar has moved to the bottom.
pub(super) fn moves_up(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    let (color, before) = desk.print("up")?;
    desk.set(row)?;
    desk.until("the text further up", |desk| {
        Ok(top_of(desk, color)?.is_some_and(|y| y < before.top))
    })?;
    desk.reset(row)?;
    desk.until("the text where it was", |desk| Ok(top_of(desk, color)? == Some(before.top)))?;
    desk.go_on()
}

fn has_bar(desk: &mut TestDesktop<'_>) -> Result<bool> {
    let picture = desk.window.picture()?;
    let right = picture.part((picture.width - 8, 40), (8, picture.height() - 120));
    Ok(right.colors() > 1)
}

/// Checks that a scrollbar is visible on the right, although the user has not scrolled and the pointer is elsewhere.
pub(super) fn has_a_scrollbar(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    desk.window.point(300, 300)?;
    desk.shell.type_text(&mut desk.unterm, "seq 200\r")?;
    desk.shell.wait_for_text(&mut desk.unterm, "200")?;
    desk.until("no bar", |desk| Ok(!has_bar(desk)?))?;
    desk.set(row)?;
    desk.until("the bar", has_bar)?;
    desk.reset(row)?;
    desk.until("no bar again", |desk| Ok(!has_bar(desk)?))
}

/// Checks that an unfocused pane keeps its colors.
pub(super) fn is_not_dimmed(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    let (color, _) = desk.print("bright")?;
    let other = desk.open_by("split_right")?;
    desk.until("a dimmed pane", |desk| Ok(!desk.shows(color)?))?;
    desk.set(row)?;
    desk.until("a bright pane", |desk| desk.shows(color))?;
    desk.reset(row)?;
    desk.until("a dimmed pane again", |desk| Ok(!desk.shows(color)?))?;
    desk.close(other)?;
    desk.go_on()
}

/// Checks that a session stores only a hundred of a thousand lines.
pub(super) fn keeps_few_lines(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    desk.set(row)?;
    let pane = desk.unterm.open(json!({}))?;
    pane.wait_for_prompt(&mut desk.unterm)?;
    pane.type_text(&mut desk.unterm, "seq 1000\r")?;
    pane.wait(&mut desk.unterm, "the last line", |lines| lines.iter().any(|line| line == "1000"))?;
    pane.wait_for_prompt(&mut desk.unterm)?;
    let got = desk.unterm.call("session.get", json!({"id": pane.id}))?;
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    assert_eq!(number(&got["scrollback_rows"]), number(&got["rows"]) + 100, "{got}");
    desk.close(pane)?;
    desk.reset(row)
}
