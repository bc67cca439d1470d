//! Settings of bells, notifications, and the approval of agents.

use std::{fs::File, io::Write as _, process::Command};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use unterm_tests::{NotificationRequest, Pane, Picture, Relay};

use super::{SettingRow, TestDesktop};

/// A program in a background tab. It prints text that it receives through a pipe, so that no caller has to drive its
/// pane.
struct BackgroundProgram {
    pane: Pane,
    orders: File,
}

impl BackgroundProgram {
    fn start(desk: &mut TestDesktop<'_>) -> Result<Self> {
        let pipe = desk.unterm.home().join("orders");
        if !pipe.exists() {
            ensure!(Command::new("mkfifo").arg(&pipe).status()?.success(), "mkfifo");
        }
        // Open both ends of the pipe, so that neither side waits for the other.
        let orders = File::options().read(true).write(true).open(&pipe)?;
        let path = pipe.display();
        let script = format!("while IFS= read -r line; do printf \"$line\"; done < {path}");
        let pane = desk.unterm.open(json!({"program": "sh", "args": ["-c", script]}))?;
        desk.unterm.act(&["activate_tab", "1"])?;
        let mut voice = Self { pane, orders };
        voice.tell(desk, "")?;
        Ok(voice)
    }

    /// Makes the program print something, in the syntax of printf(1).
    fn say(&mut self, what: &str) -> Result<()> {
        writeln!(self.orders, "{what}").context("the program's orders")
    }

    /// Makes the program print something and then set a new title. Waits until the window shows that title, because all
    /// earlier output was processed by then.
    fn tell(&mut self, desk: &mut TestDesktop<'_>, what: &str) -> Result<()> {
        let before = bar(desk)?;
        desk.marks += 1;
        self.say(&format!("{what}\\033]2;voice {}\\007", desk.marks))?;
        desk.until("the new title", |desk| Ok(bar(desk)? != before))
    }
}

/// A picture of the tab bar.
fn bar(desk: &TestDesktop<'_>) -> Result<Picture> {
    let picture = desk.window.picture()?;
    Ok(picture.part((0, 0), (picture.width, 26)))
}

/// Checks that, with the row's value, a bell does not mark its tab. After a reset of the row, a bell must mark it.
pub(super) fn marks_no_tab(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    let mut voice = BackgroundProgram::start(desk)?;
    desk.set(row)?;
    voice.tell(desk, "\\007")?;
    desk.reset(row)?;
    let unmarked = bar(desk)?;
    voice.say("\\007")?;
    desk.until("a mark", |desk| Ok(bar(desk)? != unmarked))?;
    desk.close(voice.pane)
}

/// Checks that, with the row's value, a bell does not request attention for an unfocused window. After a reset of the
/// row, a bell must request attention.
pub(super) fn asks_for_no_attention(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    let mut voice = BackgroundProgram::start(desk)?;
    desk.display.take_keyboard()?;
    desk.set(row)?;
    voice.tell(desk, "\\007")?;
    ensure!(!desk.window.is_urgent()?, "it asks all the same");
    desk.reset(row)?;
    voice.say("\\007")?;
    desk.until("the call for attention", |desk| desk.window.is_urgent())?;
    desk.display.window_of(&desk.unterm)?;
    desk.until("its end", |desk| Ok(!desk.window.is_urgent()?))?;
    desk.close(voice.pane)
}

/// A part of the front pane that contains no text.
fn middle(desk: &TestDesktop<'_>) -> Result<Picture> {
    Ok(desk.window.picture()?.part((300, 200), (200, 200)))
}

/// Checks that a bell flashes its pane. The test rings until a picture shows the flash, because a flash is short.
pub(super) fn flashes(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    let mut voice = BackgroundProgram::start(desk)?;
    desk.unterm.act(&["activate_tab", "2"])?;
    desk.set(row)?;
    let quiet = middle(desk)?;
    ensure!(quiet.colors() == 1, "something is in the middle of the pane");
    desk.until("a flash", |desk| {
        voice.say("\\007")?;
        Ok(middle(desk)? != quiet)
    })?;
    desk.reset(row)?;
    desk.until("the end of flashes", |desk| Ok(middle(desk)? == quiet))?;
    desk.close(voice.pane)
}

/// Checks that, with the row's value, a program's bell rings the X server's bell. Before the row is set and after it is
/// reset, the X server's bell must not ring.
pub(super) fn rings(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    let bells = desk.display.bells()?;
    let mut voice = BackgroundProgram::start(desk)?;
    voice.tell(desk, "\\007")?;
    desk.set(row)?;
    ensure!(!bells.rang()?, "it rings unasked");
    voice.say("\\007")?;
    desk.until("a bell", |_| bells.rang())?;
    desk.reset(row)?;
    voice.tell(desk, "\\007")?;
    ensure!(!bells.rang()?, "it rings all the same");
    desk.close(voice.pane)
}

/// The title of the next notification on the desktop.
fn next_notice(desk: &TestDesktop<'_>) -> Result<String> {
    loop {
        if let NotificationRequest::Show(notice) = desk.service.asked()? {
            return Ok(notice.title);
        }
    }
}

/// Checks that, with the row's value, the desktop does not show a program's notification. After a reset of the row, the
/// desktop must show it.
pub(super) fn keeps_from_the_desktop(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    let mut voice = BackgroundProgram::start(desk)?;
    desk.set(row)?;
    voice.tell(desk, "\\033]9;kept\\007")?;
    desk.reset(row)?;
    voice.say("\\033]9;told\\007")?;
    assert_eq!(next_notice(desk)?, "told");
    desk.close(voice.pane)
}

/// Checks that a command that ran for a second is reported when it ends while its pane is not visible.
pub(super) fn tells_of_a_command(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    let front = desk.open_by("new_tab")?;
    desk.set(row)?;
    desk.shell.type_text(&mut desk.unterm, "sleep 3\r")?;
    assert_eq!(next_notice(desk)?, "sleep 3");
    desk.close(front)?;
    desk.reset(row)
}

/// Checks that an agent can run a command without the user's approval.
pub(super) fn lets_agents_act(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    desk.set(row)?;
    let mut agent = Relay::start(desk.unterm.home(), desk.unterm.registry(), &[])?;
    let ran = agent.call("run", json!({"command": "echo $((6 * 7))"}))?;
    assert_eq!(ran["output"], "42", "{ran}");
    desk.reset(row)
}
