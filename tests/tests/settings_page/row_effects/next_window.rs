//! Settings that affect the next window. The tests start that window with the same files.

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use unterm_tests::{Display, Instance, Start, Window, WindowManager, wait_for};

use super::{SettingRow, TestDesktop};

/// The window property that requests blur behind a window (KDE and picom).
const BLUR: &str = "_KDE_NET_WM_BLUR_BEHIND_REGION";

impl<'a> TestDesktop<'a> {
    /// Starts the next window. If `forgets` is set, deletes the saved state of the last window first.
    fn next(&self, forgets: bool) -> Result<(Instance, Window<'a>)> {
        self.next_on(self.display, forgets)
    }

    /// Starts the next window on another display.
    fn next_on<'d>(&self, display: &'d Display, forgets: bool) -> Result<(Instance, Window<'d>)> {
        let last = self.unterm.registry().join("last_session");
        if forgets && last.exists() {
            std::fs::remove_file(last)?;
        }
        let start = Start::windowed(display).arg("--painter").arg("cpu");
        let next = start.registry(self.unterm.registry()).now()?;
        let window = display.window_of(&next)?;
        Ok((next, window))
    }

    /// Ends the next window, and gives the keyboard focus back to the first window.
    fn end(&self, next: Instance) -> Result<()> {
        drop(next);
        self.display.window_of(&self.unterm).map(drop)
    }
}

/// Checks that the next window has as many columns or rows as the row of the table states.
pub(super) fn is_of_size(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    let name = if row.key == "window.rows" { "rows" } else { "cols" };
    desk.set(row)?;
    let wanted: u64 = row.given.parse()?;
    let (mut next, _) = desk.next(true)?;
    let is_so = || {
        let all = next.sessions()?;
        Ok((all.first().context("a session")?[name] == wanted).then_some(()))
    };
    wait_for("a window of that size", is_so, String::new)?;
    desk.end(next)?;
    desk.reset(row)
}

fn wait_for_size(window: &Window<'_>, size: (u16, u16)) -> Result<()> {
    let is_so = || Ok((window.size()? == size).then_some(()));
    wait_for(&format!("a window of {size:?}"), is_so, String::new)
}

/// Checks that the next window fills the screen except for its title bar, on a display with a window manager.
pub(super) fn fills_the_screen(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    const SCREEN: (u16, u16) = (1280, 800);
    let display = Display::start()?;
    let _manager = WindowManager::start(&display)?;
    let (next, window) = desk.next_on(&display, true)?;
    ensure!(window.size()?.0 < SCREEN.0, "it fills it unasked");
    drop(next);
    desk.set(row)?;
    let (next, window) = desk.next_on(&display, true)?;
    wait_for_size(&window, SCREEN)?;
    drop(next);
    desk.prefer(row.key, "maximized".into())?;
    let (next, window) = desk.next_on(&display, true)?;
    let is_maximized = || {
        let (width, height) = window.size()?;
        Ok((width == SCREEN.0 && (SCREEN.1 - 60..SCREEN.1).contains(&height)).then_some(()))
    };
    wait_for("a maximised window", is_maximized, String::new)?;
    drop(next);
    desk.reset(row)
}

/// Checks that the next window has the size of the first one, not of the last one.
pub(super) fn forgets_its_size(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    let whole = desk.window.size()?;
    let small = (700, 500);
    let (mut last, window) = desk.next(true)?;
    window.resize(small.0, small.1)?;
    let is_small = || {
        let columns = last.sessions()?.first().and_then(|one| one["cols"].as_u64());
        Ok(columns.is_some_and(|columns| columns < 100).then_some(()))
    };
    wait_for("its new size", is_small, String::new)?;
    desk.end(last)?;
    let (next, window) = desk.next(false)?;
    wait_for_size(&window, small)?;
    desk.end(next)?;
    desk.set(row)?;
    let (next, window) = desk.next(false)?;
    wait_for_size(&window, whole)?;
    desk.end(next)?;
    desk.reset(row)
}

/// Checks that the next window has the panes of a saved layout.
pub(super) fn has_two_panes(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    let other = desk.open_by("split_right")?;
    desk.unterm.act(&["save_layout", row.given])?;
    desk.close(other)?;
    desk.set(row)?;
    let (mut next, _) = desk.next(true)?;
    let has_two = || Ok((next.sessions()?.len() == 2).then_some(()));
    wait_for("two panes", has_two, String::new)?;
    desk.end(next)?;
    desk.reset(row)
}

/// Whether a window is transparent. Such a window has 32 bits per pixel, which `picture` does not support.
fn is_transparent(window: &Window<'_>) -> bool {
    window.picture().is_err_and(|why| why.to_string() == "depth 32")
}

/// Checks that the desktop is visible through the window.
pub(super) fn is_seen_through(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    desk.display.claim_compositor()?;
    let (next, window) = desk.next(true)?;
    ensure!(!is_transparent(&window), "it is opaque at first");
    desk.end(next)?;
    desk.set(row)?;
    let (next, window) = desk.next(true)?;
    ensure!(is_transparent(&window), "it is still opaque");
    desk.end(next)?;
    desk.reset(row)
}

/// Checks that the window requests blur while the setting is on, and withdraws the request afterward.
pub(super) fn is_blurred(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    desk.display.claim_compositor()?;
    let opaque = desk.value("window.opacity")?;
    desk.prefer("window.opacity", json!(0.5))?;
    let (next, window) = desk.next(true)?;
    ensure!(!window.has_property(BLUR)?, "it asks unasked");
    desk.set(row)?;
    desk.until("the blur", |_| window.has_property(BLUR))?;
    desk.reset(row)?;
    desk.until("its end", |_| Ok(!window.has_property(BLUR)?))?;
    desk.end(next)?;
    desk.prefer("window.opacity", opaque)
}
