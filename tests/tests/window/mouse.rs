//! Mouse actions over panes that open links in other programs.

use std::os::unix::fs::PermissionsExt as _;

use anyhow::Result;
use tempfile::TempDir;
use unterm_tests::{Display, Pane, Start, WindowManager, wait_for};

/// The background color of the link's text.
const MARK: [u8; 3] = [255, 0, 255];

/// A replacement for the program that opens links on a desktop. It comes first in `PATH`, and records its arguments.
struct LinkOpener(TempDir);

impl LinkOpener {
    fn new() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let (opener, given) = (folder.path().join("xdg-open"), folder.path().join("given"));
        std::fs::write(&opener, format!("#!/bin/sh\necho \"$1\" >> '{}'\n", given.display()))?;
        std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755))?;
        Ok(Self(folder))
    }

    /// A value for `PATH` that begins with the folder of the program.
    fn path(&self) -> Result<String> {
        Ok(format!("{}:{}", self.0.path().display(), std::env::var("PATH")?))
    }

    /// The recorded arguments, one per line. Waits until there are any.
    fn given(&self) -> Result<String> {
        let file = self.0.path().join("given");
        let read = || Ok(std::fs::read_to_string(&file).ok().filter(|text| text.ends_with('\n')));
        wait_for("a link that is opened", read, String::new)
    }
}

#[test]
fn a_click_opens_a_link_and_a_double_click_only_selects_it() -> Result<()> {
    let display = Display::start()?;
    let opener = LinkOpener::new()?;
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
fn the_click_that_focuses_the_window_opens_no_link() -> Result<()> {
    let display = Display::start()?;
    let _manager = WindowManager::start(&display)?;
    let opener = LinkOpener::new()?;
    // The program shows the keys that it receives, and shows when the window gains or loses the keyboard focus (mode
    // 1004).
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

    // Click on the first link.
    window.click(1, (x, 2 * second.top - y))?;
    ends_with("^[[I")?;
    // A key pressed after the click shows that the next click is not part of a double click.
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
    // Use an editor that shows the file and keeps running.
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

#[test]
fn each_press_of_a_wheel_button_counts_once() -> Result<()> {
    let display = Display::start()?;
    let script = "stty raw -echo; printf '\\033[?1000h\\033[?1006hready'; exec cat -v";
    let start = Start::windowed(&display).arg("-e").arg("sh").arg("-c").arg(script);
    let mut unterm = start.now()?;
    let window = display.window_of(&unterm)?;
    let pane = unterm.first_pane()?;
    pane.wait_for_text(&mut unterm, "ready")?;
    window.point(100, 100)?;
    // Turn the wheel up, down, left and right.
    for (button, count) in [(4, 3), (5, 2), (6, 1), (7, 4), (4, 1)] {
        for _ in 0..count {
            window.button(button, true)?;
            window.button(button, false)?;
        }
    }
    // Hold two buttons at the same time.
    for (button, down) in [(4, true), (5, true), (4, false), (5, false)] {
        window.button(button, down)?;
    }
    display.press(&["k"])?;
    let lines = pane.wait(&mut unterm, "the key", |lines| lines.concat().ends_with('k'))?;
    let counts =
        [64, 65, 66, 67].map(|code| lines.concat().matches(&format!("^[[<{code};")).count());
    assert_eq!(counts, [5, 3, 1, 4], "{lines:?}");
    Ok(())
}

#[test]
fn a_partly_hidden_url_opens_completely() -> Result<()> {
    let display = Display::start()?;
    let opener = LinkOpener::new()?;
    let url = format!("https://a.example/{}", "abcdefghij".repeat(60));
    // The visible rows of the URL have a color. The beginning of the URL is above the view.
    let script = format!(
        "printf '\\033[?25l\\033[48;2;255;0;255m%s\\033[m\\n' '{url}'; i=0; \
         while [ $i -lt 27 ]; do echo; i=$((i + 1)); done; read x"
    );
    let start = Start::windowed(&display).env("PATH", &opener.path()?);
    let unterm = start.arg("-e").arg("sh").arg("-c").arg(&script).now()?;
    let window = display.window_of(&unterm)?;
    let seen = wait_for("the URL", || Ok(window.picture()?.area_of(MARK)), String::new)?;
    // Click on the link's row, at a point that certainly has the URL's color.
    window.click(1, (seen.left + 5, seen.top + 5))?;
    assert_eq!(opener.given()?, format!("{url}\n"));
    window.point(seen.left + 30, seen.top + 5)?;
    window.double_click()?;
    display.wait_for_selection("primary", &url)?;
    Ok(())
}
