//! The user's mouse over panes: the events that programs receive, and the links under the pointer.

use std::os::unix::fs::PermissionsExt as _;

use anyhow::Result;
use serde_json::json;
use tempfile::TempDir;
use unterm_tests::{Display, Pane, Picture, Start, Window, WindowManager, wait_for};

/// The mouse events in output of `cat -v` (SGR, mode 1006): the button, and whether it was pressed.
fn events(lines: &[String]) -> Vec<(String, bool)> {
    let text = lines.concat();
    let told = text.split("^[[<").skip(1).filter_map(|event| {
        let end = event.find(['M', 'm'])?;
        let button = event.split(';').next()?.to_owned();
        Some((button, event[end..].starts_with('M')))
    });
    told.collect()
}

#[test]
fn a_program_is_told_of_every_button_that_is_let_go() -> Result<()> {
    let display = Display::start()?;
    let script = "stty raw -echo; printf '\\033[?1000h\\033[?1006hlistens'; exec cat -v";
    let start = Start::windowed(&display).arg("-e").arg("sh").arg("-c").arg(script);
    let mut unterm = start.now()?;
    let window = display.window_of(&unterm)?;
    let pane = unterm.first_pane()?;
    pane.wait_for_text(&mut unterm, "listens")?;
    window.point(200, 200)?;
    // Press the left and the right button, then release both.
    for (button, down) in [(1, true), (3, true), (1, false), (3, false)] {
        window.button(button, down)?;
    }
    let lines = pane.wait(&mut unterm, "four events", |lines| events(lines).len() >= 4)?;
    let expected = [("0", true), ("2", true), ("0", false), ("2", false)];
    assert_eq!(events(&lines), expected.map(|(button, down)| (button.to_owned(), down)));
    Ok(())
}

/// The background of a link's text.
const MARK: [u8; 3] = [255, 0, 255];

#[test]
fn shift_selects_anew_each_time_where_a_program_has_the_mouse() -> Result<()> {
    let display = Display::start()?;
    let script = "stty raw -echo; \
                  printf '\\033[?25l\\033[?1000h\\033[10;20H\\033[48;2;255;0;255mselectme\\033[m'; exec cat -v";
    let unterm = Start::windowed(&display).arg("-e").arg("sh").arg("-c").arg(script).now()?;
    let window = display.window_of(&unterm)?;
    let word = wait_for("the word", || Ok(window.picture()?.area_of(MARK)), String::new)?;
    let (_, y) = word.middle();
    let letter = (word.right - word.left) / 8;
    let edge = |index: i16| (word.left + letter * index + letter / 8, y);
    display.one_key("Shift_L", true)?;
    for (from, to, selected) in [(0, 3, "sel"), (4, 6, "ct")] {
        window.drag(edge(from), edge(to))?;
        display.wait_for_selection("primary", selected)?;
    }
    let (x, y) = edge(1);
    window.point(x, y)?;
    window.double_click()?;
    display.wait_for_selection("primary", "selectme")?;
    display.one_key("Shift_L", false)
}

#[test]
fn a_right_click_opens_a_menu_for_what_is_at_the_pointer() -> Result<()> {
    let display = Display::start()?;
    let script = "printf '\\033[10;20H\\033[48;2;255;0;255mselectme\\033[m\\r\\n'; exec cat";
    let mut unterm = Start::windowed(&display).arg("-e").arg("sh").arg("-c").arg(script).now()?;
    let window = display.window_of(&unterm)?;
    let pane = unterm.first_pane()?;
    let word = wait_for("the word", || Ok(window.picture()?.area_of(MARK)), String::new)?;
    let (x, y) = word.middle();
    window.point(x, y)?;
    window.double_click()?;
    display.wait_for_selection("primary", "selectme")?;
    window.click(3, (x, y))?;
    display.press(&["c"])?;
    display.press(&["Return"])?;
    display.wait_for_selection("clipboard", "selectme")?;
    window.click(3, (x, y))?;
    display.press(&["p"])?;
    display.press(&["Return"])?;
    display.press(&["Return"])?;
    pane.wait(&mut unterm, "what cat prints", |lines| {
        lines.iter().filter(|line| line.trim() == "selectme").count() >= 3
    })?;
    Ok(())
}

/// The lower left corner of the panes' area, where a link's target is shown.
fn foot(window: &Window<'_>) -> Result<Picture> {
    let picture = window.picture()?;
    // Above the status bar.
    let top = picture.height() - 28 - 24;
    Ok(picture.part((0, top), (300, 24)))
}

fn wait_for_foot(window: &Window<'_>, what: &str, is_it: impl Fn(&Picture) -> bool) -> Result<()> {
    wait_for(what, || Ok(is_it(&foot(window)?).then_some(())), String::new)
}

#[test]
fn a_links_target_is_shown_as_long_as_it_is_pointed_at() -> Result<()> {
    let display = Display::start()?;
    let link = "\\033]8;;https://example.org/where\\033\\\\\\033[48;2;255;0;255mlinked\\033[m\\033]8;;\\033\\\\";
    let script = format!("printf '\\033[?25l{link}'; read x");
    let start = Start::windowed(&display).arg("-e").arg("sh").arg("-c").arg(&script);
    let unterm = start.now()?;
    let window = display.window_of(&unterm)?;
    // Over the tab bar, to the right of the only tab.
    let away = || window.point(600, 13);
    away()?;
    let link = wait_for("the link", || Ok(window.picture()?.area_of(MARK)), String::new)?;
    let before = foot(&window)?;
    let (x, y) = link.middle();

    window.point(x, y)?;
    wait_for_foot(&window, "the target", |foot| foot.difference(&before) > 100)?;
    away()?;
    wait_for_foot(&window, "no target", |foot| foot.difference(&before) == 0)?;

    // Another tab covers the link while the pointer stays in place.
    window.point(x, y)?;
    wait_for_foot(&window, "the target again", |foot| foot.difference(&before) > 100)?;
    unterm.act(&["new_tab"])?;
    wait_for_foot(&window, "no target in another tab", |foot| foot.difference(&before) == 0)
}

#[test]
fn a_links_target_goes_with_its_text() -> Result<()> {
    let display = Display::start()?;
    let link = "\\033]8;;https://example.org/where\\033\\\\\\033[48;2;255;0;255mlinked\\033[m\\033]8;;\\033\\\\";
    let script = format!("printf '\\033[?25l{link}'; read x; clear; read x");
    let start = Start::windowed(&display).arg("-e").arg("sh").arg("-c").arg(&script);
    let mut unterm = start.now()?;
    let pane = unterm.first_pane()?;
    let window = display.window_of(&unterm)?;
    window.point(600, 13)?;
    let link = wait_for("the link", || Ok(window.picture()?.area_of(MARK)), String::new)?;
    let before = foot(&window)?;
    let (x, y) = link.middle();
    window.point(x, y)?;
    wait_for_foot(&window, "the target", |foot| foot.difference(&before) > 100)?;
    // The pointer stays in place.
    unterm.call("session.input", json!({"id": pane.id, "input": "\n"}))?;
    wait_for_foot(&window, "no target of cleared text", |foot| foot.difference(&before) == 0)
}

/// A replacement for the program with which a desktop opens links, found first in `PATH`. It records its arguments.
struct Opener(TempDir);

impl Opener {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (opener, given) = (folder.path().join("xdg-open"), folder.path().join("given"));
        std::fs::write(&opener, format!("#!/bin/sh\necho \"$1\" >> '{}'\n", given.display()))?;
        std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755))?;
        Ok(Self(folder))
    }

    /// A `PATH` that begins with its folder.
    fn path(&self) -> Result<String> {
        Ok(format!("{}:{}", self.0.path().display(), std::env::var("PATH")?))
    }

    /// The recorded arguments, one per line, once there are any.
    fn given(&self) -> Result<String> {
        let file = self.0.path().join("given");
        let read = || Ok(std::fs::read_to_string(&file).ok().filter(|text| text.ends_with('\n')));
        wait_for("a link that is opened", read, String::new)
    }
}

#[test]
fn a_click_opens_a_link_and_a_double_click_only_selects_it() -> Result<()> {
    let display = Display::start()?;
    let opener = Opener::new()?;
    let script = "printf '\\033[?25lhttps://a.example/one\\n\\033[48;2;255;0;255mhttps://a.example/two\\033[m'; read x";
    let start = Start::windowed(&display).env("PATH", &opener.path()?);
    let unterm = start.arg("-e").arg("sh").arg("-c").arg(script).now()?;
    let window = display.window_of(&unterm)?;
    let second = wait_for("the links", || Ok(window.picture()?.area_of(MARK)), String::new)?;
    let (x, y) = second.middle();
    // The first link is in the row above.
    window.point(x, 2 * second.top - y)?;
    window.double_click()?;
    display.wait_for_selection("primary", "https://a.example/one")?;
    window.click(1, (x, y))?;
    assert_eq!(opener.given()?, "https://a.example/two\n");
    Ok(())
}

#[test]
fn the_click_that_gives_the_window_the_keyboard_opens_no_link() -> Result<()> {
    let display = Display::start()?;
    let _manager = WindowManager::start(&display)?;
    let opener = Opener::new()?;
    // The program shows the keys it receives, and when the window gains and loses the keyboard focus (mode 1004).
    let script = "stty raw -echo; printf '\\033[?25l\\033[?1004hhttps://a.example/one\\r\\n\
                  \\033[48;2;255;0;255mhttps://a.example/two\\033[m\\r\\n'; exec cat -v";
    let start = Start::windowed(&display).env("PATH", &opener.path()?);
    let mut unterm = start.arg("-e").arg("sh").arg("-c").arg(script).now()?;
    let window = display.window_of(&unterm)?;
    let pane = unterm.first_pane()?;
    let second = wait_for("the links", || Ok(window.picture()?.area_of(MARK)), String::new)?;
    let (x, y) = second.middle();
    let other = display.open_window("another one", [0; 3], (100, 100))?;
    other.move_to(1100, 650)?;
    let mut ends_with =
        |end: &str| pane.wait(&mut unterm, end, |lines| lines.concat().ends_with(end)).map(drop);
    ends_with("^[[O")?;

    // On the first link.
    window.click(1, (x, 2 * second.top - y))?;
    ends_with("^[[I")?;
    // With a key pressed in between, a click does not have to wait for a second click.
    display.press(&["k"])?;
    ends_with("^[[Ik")?;
    window.click(1, (x, y))?;
    assert_eq!(opener.given()?, "https://a.example/two\n");
    Ok(())
}

#[test]
fn a_click_with_ctrl_on_a_files_name_opens_it_in_the_editor() -> Result<()> {
    let display = Display::start()?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("my notes.txt");
    std::fs::write(&file, "what is in it\n")?;
    let script = format!(
        "printf '\\033[?25l\\033[48;2;255;0;255m\"%s\", line 1\\033[m' '{}'; read x",
        file.display()
    );
    // An editor that shows the file and keeps running.
    let start = Start::windowed(&display).env("VISUAL", "tail -f");
    let mut unterm = start.arg("-e").arg("sh").arg("-c").arg(&script).now()?;
    let window = display.window_of(&unterm)?;
    let name = wait_for("the name", || Ok(window.picture()?.area_of(MARK)), String::new)?;
    let before = unterm.first_pane()?;
    display.one_key("Control_L", true)?;
    window.click(1, (name.left + 60, name.middle().1))?;
    display.one_key("Control_L", false)?;
    let editor = wait_for(
        "the editor's pane",
        || {
            let sessions = unterm.sessions()?;
            let ids = sessions.iter().filter_map(|session| session["id"].as_u64());
            Ok(ids.map(|id| Pane { id }).find(|pane| *pane != before))
        },
        String::new,
    )?;
    editor.wait_for_text(&mut unterm, "what is in it")?;
    Ok(())
}
