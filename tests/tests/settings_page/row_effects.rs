//! Each row of the page is changed by its control and checked in the running terminal, in two languages. The tables
//! list how each row is checked. A row that is missing in the tables fails the test, so that every new row needs a
//! check.

mod appearance;
mod mouse;
mod next_window;
mod notifications;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use unterm_tests::{
    Area, Browser, Bus, Display, Instance, Notifier, Pane, Picture, Start, Window, wait_for,
};

use super::{TABS, check_faults, open, strings};

/// How the effect of a row is checked.
enum EffectCheck {
    /// The pane gets another size, and after a reset its first size again.
    Size,
    /// The output of a program (in the syntax of printf(1)) looks different, and after a reset as before.
    Look(&'static str),
    /// In a session opened afterward, entering the first line prints the second line.
    Session(&'static str, &'static str),
    /// This function checks the effect.
    By(fn(&mut TestDesktop<'_>, &SettingRow) -> Result<()>),
}

use EffectCheck::{By, Look, Session, Size};

/// A row of the page.
struct SettingRow {
    /// The key in the file.
    key: &'static str,
    /// The value to set: a text, a number or a choice. For a slider, the key to press. Unused for a switch, which is
    /// clicked.
    given: &'static str,
    seen: EffectCheck,
}

const fn row(key: &'static str, given: &'static str, seen: EffectCheck) -> SettingRow {
    SettingRow { key, given, seen }
}

const GENERAL: &[SettingRow] = &[
    row("language", "de-DE", By(speaks)),
    row("window.confirm_close", "never", By(mouse::closes_unasked)),
    row("window.start", "fullscreen", By(next_window::fills_the_screen)),
    row("window.restore", "", By(next_window::forgets_its_size)),
    row("window.columns", "100", By(next_window::is_of_size)),
    row("window.rows", "20", By(next_window::is_of_size)),
    row("window.reduced_motion", "true", By(appearance::stands_still)),
    row("startup.layout", "mine", By(next_window::has_two_panes)),
    row("shell.program", "sh", Session("echo $0 is it", "sh is it")),
    row("shell.integration", "", Session("echo \"[$UNTERM_SHELL_INTEGRATION] is it\"", "[] is it")),
    row("commands.marks", "", By(appearance::loses_marks)),
    row("mouse.scroll_lines", "20", By(mouse::scrolls_far)),
    row("mouse.copy_on_select", "clipboard", By(mouse::copies_elsewhere)),
    row("mouse.right_button", "paste", By(mouse::pastes_over_a_selection)),
    row("mouse.trim_copied", "", By(mouse::copies_blanks)),
    row("mouse.focus_follows_mouse", "", By(mouse::follows_the_pointer)),
    row("paste.confirm", "never", By(mouse::pastes_unasked)),
    row("bell.mark", "", By(notifications::marks_no_tab)),
    row("bell.attention", "", By(notifications::asks_for_no_attention)),
    row("bell.visual", "", By(notifications::flashes)),
    row("bell.audible", "", By(notifications::rings)),
    row("notifications.programs", "", By(notifications::keeps_from_the_desktop)),
    row("notifications.long_commands", "1", By(notifications::tells_of_a_command)),
    row("notifications.desktop", "", By(notifications::keeps_from_the_desktop)),
    row("tab_bar.show", "never", Size),
    row("tab_bar.position", "bottom", By(appearance::moves_up)),
    row("status_bar.show", "", Size),
    row("scrollbar.show", "always", By(appearance::has_a_scrollbar)),
];

const APPEARANCE: &[SettingRow] = &[
    row("font.family", "DejaVu Sans Mono", Look("letters")),
    row("font.size", "24", Size),
    row("font.ligatures", "never", Look("a != b => c")),
    row("text.minimum_contrast", "7", Look("\\033[38;2;40;40;60mhardly")),
    row("cursor.shape", "underline", Look("a cursor")),
    row("cursor.blink", "", Look("a cursor")),
    row("window.opacity", "ArrowLeft", By(next_window::is_seen_through)),
    row("window.blur", "", By(next_window::is_blurred)),
    row("window.padding", "40", Size),
    row("window.dim_unfocused", "Home", By(appearance::is_not_dimmed)),
];

const SCROLLBACK: &[SettingRow] =
    &[row("scrollback.lines", "100", By(appearance::keeps_few_lines))];

const COMPAT: &[SettingRow] = &[
    row("compat.term_program", "kitty", Session("echo $TERM_PROGRAM is it", "kitty is it")),
    row("shell.term", "xterm", Session("echo $TERM is it", "xterm is it")),
];

const AGENTS: &[SettingRow] =
    &[row("agents.approval", "allow", By(notifications::lets_agents_act))];

/// The rows of each tab, in the page's order.
fn rows(tab: &str) -> &'static [SettingRow] {
    match tab {
        "general" => GENERAL,
        "appearance" => APPEARANCE,
        "scrollback" => SCROLLBACK,
        "compat" => COMPAT,
        "agents" => AGENTS,
        _ => &[],
    }
}

/// A window, its settings page, and the simulated user's desktop.
struct TestDesktop<'a> {
    display: &'a Display,
    service: &'a Notifier,
    unterm: Instance,
    window: Window<'a>,
    /// The first tab's shell.
    shell: Pane,
    browser: Browser,
    /// The setting's value before the last change.
    before: Value,
    /// The number of marks printed so far.
    marks: u8,
}

impl TestDesktop<'_> {
    /// Waits until a condition is true.
    fn until(
        &mut self,
        what: &str,
        mut is_so: impl FnMut(&mut Self) -> Result<bool>,
    ) -> Result<()> {
        wait_for(what, || Ok(is_so(self)?.then_some(())), String::new)
    }

    /// The current value of a setting in the running instance.
    fn value(&mut self, key: &str) -> Result<Value> {
        Ok(self.unterm.call("config.get", json!({ "key": key }))?["value"].take())
    }

    /// Changes a preference without the page.
    fn prefer(&mut self, key: &str, value: Value) -> Result<()> {
        self.unterm.call("config.set", json!({"key": key, "value": value}))?;
        self.until(key, |desk| Ok(desk.value(key)? == value))?;
        self.catch_up()
    }

    /// Performs a window action, after which the window has applied all earlier changes. The action also dismisses the
    /// window's messages.
    fn catch_up(&self) -> Result<()> {
        match self.unterm.act(&["dismiss_messages"]) {
            Err(error) if !error.to_string().contains("nothing to do") => Err(error),
            _ => Ok(()),
        }
    }

    /// Changes a row by its control, and waits until the running instance uses the new value.
    fn set(&mut self, row: &SettingRow) -> Result<()> {
        self.before = self.value(row.key)?;
        let at = format!("#set-{}", row.key.replace('.', "-"));
        match self.browser.to("kind", &at)?.as_str().unwrap_or_default() {
            "switch" => self.browser.to("click", &at)?,
            "select" => self.browser.with("select", &at, row.given)?,
            "range" => {
                self.browser.to("focus", &at)?;
                self.browser.ask("press", json!({ "key": row.given }))?
            }
            _ => self.browser.with("fill", &at, row.given)?,
        };
        self.browser.to("wait_for", &format!("{} .reset:not([disabled])", at_row(row)))?;
        self.until("the change in force", |desk| Ok(desk.value(row.key)? != desk.before))?;
        self.catch_up()
    }

    /// Resets a row by its button, and waits until the running instance uses the default.
    fn reset(&mut self, row: &SettingRow) -> Result<()> {
        self.browser.to("click", &format!("{} .reset", at_row(row)))?;
        self.until("the default in force", |desk| Ok(desk.value(row.key)? == desk.before))?;
        self.catch_up()
    }

    fn size(&mut self) -> Result<(u64, u64)> {
        let got = self.unterm.call("session.get", json!({"id": self.shell.id}))?;
        let number = |name: &str| got[name].as_u64().context("a size");
        Ok((number("cols")?, number("rows")?))
    }

    /// The panes, oldest first.
    fn panes(&mut self) -> Result<Vec<Pane>> {
        let all = self.unterm.sessions()?;
        Ok(all.iter().filter_map(|one| Some(Pane { id: one["id"].as_u64()? })).collect())
    }

    /// Waits until there are `count` panes. Returns the newest pane.
    fn last_of(&mut self, count: usize) -> Result<Pane> {
        self.until(&format!("{count} panes"), |desk| Ok(desk.panes()?.len() == count))?;
        self.panes()?.pop().context("a pane")
    }

    /// Performs an action that opens a pane, and waits until its shell is at its prompt.
    fn open_by(&mut self, action: &str) -> Result<Pane> {
        let count = self.panes()?.len() + 1;
        self.unterm.act(&[action])?;
        let pane = self.last_of(count)?;
        pane.wait_for_prompt(&mut self.unterm)?;
        Ok(pane)
    }

    fn close(&mut self, pane: Pane) -> Result<()> {
        let count = self.panes()?.len() - 1;
        pane.close(&mut self.unterm)?;
        self.last_of(count).map(drop)
    }

    /// Makes the shell clear the screen, print a text (in the syntax of printf(1)), and wait for Enter. After the text,
    /// it prints a cell in a color that was not used before: when that cell is visible, the text is visible too.
    /// Returns the color and area of that cell.
    fn print(&mut self, text: &str) -> Result<([u8; 3], Area)> {
        self.marks += 1;
        let color = [255, self.marks, 255];
        let line = format!(
            "clear; printf '{text} shown\\033[48;2;255;{};255m \\033[m'; read x\r",
            self.marks
        );
        self.shell.type_text(&mut self.unterm, &line)?;
        let window = self.window;
        let place = wait_for("the mark", || Ok(window.picture()?.area_of(color)), String::new)?;
        Ok((color, place))
    }

    /// Ends the wait that [`TestDesktop::print`] has begun.
    fn go_on(&mut self) -> Result<()> {
        self.shell.type_text(&mut self.unterm, "\r")?;
        self.shell.wait_for_prompt(&mut self.unterm).map(drop)
    }

    /// A picture of the text: the left half of the pane's first rows, which messages never cover.
    fn text(&self) -> Result<Picture> {
        let picture = self.window.picture()?;
        Ok(picture.part((0, 30), (picture.width / 2, 120)))
    }

    /// Whether a color is visible anywhere in the window.
    fn shows(&self, color: [u8; 3]) -> Result<bool> {
        Ok(self.window.picture()?.area_of(color).is_some())
    }

    /// Changes a row, checks its effect, and resets it.
    fn see(&mut self, row: &SettingRow) -> Result<()> {
        match row.seen {
            Size => {
                let before = self.size()?;
                self.set(row)?;
                self.until("another size", |desk| Ok(desk.size()? != before))?;
                self.reset(row)?;
                self.until("the first size", |desk| Ok(desk.size()? == before))
            }
            Look(text) => {
                self.print(text)?;
                let before = self.text()?;
                self.set(row)?;
                self.until("another look", |desk| Ok(desk.text()? != before))?;
                self.reset(row)?;
                self.until("the first look", |desk| Ok(desk.text()? == before))?;
                self.go_on()
            }
            Session(line, answer) => {
                self.set(row)?;
                let pane = self.unterm.open(json!({}))?;
                // Wait for the prompt, because text typed before it would be echoed twice.
                pane.wait(&mut self.unterm, "a prompt of any shell", |lines| {
                    lines.iter().any(|line| !line.is_empty())
                })?;
                pane.type_text(&mut self.unterm, &format!("{line}\r"))?;
                pane.wait(&mut self.unterm, answer, |lines| lines.iter().any(|l| l == answer))?;
                self.close(pane)?;
                self.reset(row)
            }
            By(look) => look(self, row),
        }
    }
}

fn at_row(row: &SettingRow) -> String {
    format!("[data-setting=\"{}\"]", row.key)
}

/// Checks that the page appears in another language.
fn speaks(desk: &mut TestDesktop<'_>, row: &SettingRow) -> Result<()> {
    desk.set(row)?;
    desk.browser.with("wait_text", "#tab-appearance", "Darstellung")?;
    desk.reset(row)?;
    desk.browser.with("wait_text", "#tab-appearance", "Appearance")?;
    Ok(())
}

/// Checks each row of a tab, with the page in two languages.
fn check(tab: &str) -> Result<()> {
    let (display, bus) = (Display::start()?, Bus::start()?);
    let service = Notifier::start(&bus, &["actions", "body"])?;
    let start = Start::windowed(&display).arg("--painter").arg("cpu");
    let start = start.env("DBUS_SESSION_BUS_ADDRESS", bus.address());
    let (unterm, window, shell) = start.at_prompt()?;
    let browser = open(&unterm)?;
    let (before, marks) = (Value::Null, 0);
    let service = &service;
    let display = &display;
    let mut desk = TestDesktop { display, service, unterm, window, shell, browser, before, marks };
    desk.browser.to("click", &format!("#tab-{tab}"))?;
    for language in ["en-US", "fr-FR"] {
        if language != "en-US" {
            desk.prefer("language", language.into())?;
        }
        desk.browser.to("wait_there", &format!("html[lang={language}]"))?;
        for row in rows(tab) {
            // The check of this row covers both languages, so run it once.
            if row.key == "language" && language != "en-US" {
                continue;
            }
            desk.see(row).with_context(|| format!("{language}, {}", row.key))?;
        }
    }
    check_faults(&mut desk.browser)
}

#[test]
fn each_row_of_the_page_has_a_check() -> Result<()> {
    let unterm = Start::headless().now()?;
    let mut browser = open(&unterm)?;
    for tab in TABS {
        browser.to("click", &format!("#tab-{tab}"))?;
        browser.to("wait_for", &format!("#tab-{tab}[aria-selected=true]"))?;
        let known: Vec<&str> = rows(tab).iter().map(|row| row.key).collect();
        // The tab is selected before its contents change, so wait until the contents match the table.
        let mut listed = Vec::new();
        let as_known = || {
            let list = json!({"at": "[data-setting]:visible", "attribute": "data-setting"});
            listed = strings(&browser.ask("list", list)?);
            Ok((listed == known).then_some(()))
        };
        let found = wait_for("the rows that are known", as_known, String::new);
        found.with_context(|| format!("{tab}: {listed:?} instead of {known:?}"))?;
    }
    Ok(())
}

#[test]
fn general_rows_have_visible_effects() -> Result<()> {
    check("general")
}

#[test]
fn appearance_rows_have_visible_effects() -> Result<()> {
    check("appearance")
}

#[test]
fn scrollback_compatibility_and_agents_rows_have_effects() -> Result<()> {
    ["scrollback", "compat", "agents"].into_iter().try_for_each(check)
}
