//! Tabs and panes used with the mouse: drags, clicks and menus in the window. The results are read through the control
//! port.

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{Display, Instance, Pane, Start, Window, wait_for, wait_until};

/// The vertical center of the tab bar, which is at the top and 28 pixels high. A tab is 217 pixels wide if there is
/// room.
const BAR: i16 = 13;

/// The id and the number of columns of each pane.
fn columns(unterm: &mut Instance) -> Result<Vec<(u64, i16)>> {
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let all = unterm.sessions()?;
    Ok(all.iter().map(|one| (number(&one["id"]), number(&one["cols"]) as i16)).collect())
}

/// Waits until `wanted` accepts the panes and their columns.
fn wait_for_columns(
    unterm: &mut Instance,
    what: &str,
    wanted: impl Fn(&[(u64, i16)]) -> bool,
) -> Result<Vec<(u64, i16)>> {
    wait_until(what, || columns(unterm), |now| wanted(now))
}

/// A window with `count` tabs, in each of which a program has set the title `tab-N`.
fn with_tabs<'a>(display: &'a Display, count: u64) -> Result<(Instance, Window<'a>)> {
    let mut unterm = Start::windowed(display).now()?;
    let window = display.window_of(&unterm)?;
    for number in 0..count {
        if number > 0 {
            unterm.act(&["new_tab"])?;
        }
        let pane = Pane { id: number };
        name_tab(&mut unterm, &window, pane)?;
    }
    Ok((unterm, window))
}

/// Lets the pane's shell set the title `tab-N`, and waits until the window has drawn it.
fn name_tab(unterm: &mut Instance, window: &Window<'_>, pane: Pane) -> Result<()> {
    let title = format!("tab-{}", pane.id);
    pane.wait_for_prompt(unterm)?;
    pane.type_text(unterm, &format!("printf '\\033]2;{title}\\007'\r"))?;
    window.wait_for_title(|shown| shown.contains(&title))?;
    // The title was set after the line was echoed, so this is the next prompt, and the shell is idle.
    pane.wait_for_prompt(unterm)?;
    Ok(())
}

#[test]
fn a_program_learns_whether_its_pane_is_visible() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, _window, pane) = Start::windowed(&display).at_prompt()?;
    pane.type_text(&mut unterm, "stty -echo -icanon; printf '\\033[?2033h'; cat -v\r")?;
    pane.wait_for_text(&mut unterm, "^[[?999;1n")?;
    unterm.act(&["new_tab"])?;
    pane.wait_for_text(&mut unterm, "^[[?999;1n^[[?999;2n")?;
    // A live view in another client also counts as visible.
    unterm.call("screen.follow", json!({"id": pane.id}))?;
    pane.wait_for_text(&mut unterm, "^[[?999;2n^[[?999;1n")?;
    Ok(())
}

#[test]
fn the_plus_opens_a_tab_and_its_right_click_lists_shells() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, window) = with_tabs(&display, 1)?;
    let plus = (217 + 14, BAR);
    window.click(1, plus)?;
    wait_for_columns(&mut unterm, "a second tab", |panes| panes.len() == 2)?;
    // The plus has moved once the window has drawn the tab.
    name_tab(&mut unterm, &window, Pane { id: 1 })?;
    // The list of shells receives the keys.
    window.click(3, (2 * 217 + 14, BAR))?;
    display.type_text("bash")?;
    display.press(&["Return"])?;
    wait_for_columns(&mut unterm, "a third tab", |panes| panes.len() == 3)?;
    Ok(())
}

#[test]
fn closing_asks_only_if_a_program_runs() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, _) = with_tabs(&display, 2)?;
    // A tab with an idle shell closes without a question.
    display.press(&["Control_L", "Shift_L", "w"])?;
    wait_for_columns(&mut unterm, "one tab", |panes| panes.len() == 1)?;
    display.type_text("cat\n")?;
    wait_for(
        "cat to run",
        || {
            let first = &unterm.sessions()?[0]["shell"]["process_name"];
            Ok(first.as_str().is_some_and(|path| path.ends_with("/cat")).then_some(()))
        },
        String::new,
    )?;
    display.press(&["Control_L", "Shift_L", "w"])?;
    // The question receives the keys. This key is not an answer, and `cat` does not receive it.
    display.press(&["z"])?;
    display.press(&["Escape"])?;
    display.type_text("still here\n")?;
    let pane = Pane { id: 0 };
    let lines = pane.wait(&mut unterm, "what cat says", |lines| {
        lines.iter().filter(|line| line.contains("still here")).count() == 2
    })?;
    ensure!(!lines.iter().any(|line| line.contains('z')), "{lines:?}");
    display.press(&["Control_L", "Shift_L", "w"])?;
    display.press(&["c"])?;
    let status = unterm.wait_for_exit()?;
    assert_eq!(status.code(), Some(0), "{}", unterm.log());
    Ok(())
}

#[test]
fn tabs_show_the_directory_or_the_running_program() -> Result<()> {
    let display = Display::start()?;
    let (_unterm, window, _) = Start::windowed(&display).at_prompt()?;
    window.wait_until_called("~")?;
    display.type_text("cd /usr\n")?;
    window.wait_until_called("usr")?;
    display.type_text("cat\n")?;
    window.wait_until_called("cat")?;
    display.press(&["Control_L", "d"])?;
    window.wait_until_called("usr")
}

#[test]
fn a_start_can_set_layout_title_and_class() -> Result<()> {
    let display = Display::start()?;
    let registry = tempfile::tempdir()?;
    std::fs::create_dir(registry.path().join("layouts"))?;
    let layout = "[[tabs]]\n[tabs.panes]\ncwd = \"/usr\"\n[[tabs]]\n[tabs.panes]\ncwd = \"/\"\n";
    std::fs::write(registry.path().join("layouts/work.toml"), layout)?;
    let start = Start::windowed(&display).registry(registry.path());
    let start = start.arg("--layout").arg("work").arg("--title").arg("My title");
    let mut unterm = start.arg("--class").arg("tool").now()?;
    let window = display.window_of(&unterm)?;
    window.wait_for_title(|title| title == "My title")?;
    let listed = unterm.call("instance.list", json!({}))?;
    ensure!(listed["instances"][0]["title"] == "My title", "{listed}");
    wait_for_columns(&mut unterm, "two tabs", |panes| panes.len() == 2)?;
    let class = std::process::Command::new("xprop")
        .args(["-display", &display.name(), "-name", "My title", "WM_CLASS"])
        .output();
    if let Ok(class) = class {
        let said = String::from_utf8_lossy(&class.stdout);
        ensure!(said.contains("\"unterm\", \"tool\""), "{said}");
    }
    Ok(())
}

#[test]
fn the_last_window_is_restored_after_an_unclean_end() -> Result<()> {
    let display = Display::start()?;
    let registry = tempfile::tempdir()?;
    let start = || Start::windowed(&display).registry(registry.path());
    let (mut first, _window, _) = start().at_prompt()?;
    first.act(&["new_tab"])?;
    let pane = Pane { id: 1 };
    pane.wait_for_prompt(&mut first)?;
    pane.type_text(&mut first, "cd /usr\r")?;
    first.act(&["split_right"])?;
    let file = registry.path().join("last_session");
    let kept = || Ok(std::fs::read_to_string(&file).unwrap_or_default());
    wait_until("the kept tabs", kept, |kept| {
        kept.contains("\"/usr\"") && kept.contains("\"split\": \"right\"")
    })?;
    std::process::Command::new("kill").arg("-9").arg(first.pid().to_string()).status()?;
    first.wait_for_exit()?;

    let (mut second, _window, _) = start().at_prompt()?;
    second.act(&["reopen_last_window"])?;
    let places = |unterm: &mut Instance| -> Result<Vec<String>> {
        let cwd = |one: &Value| one["shell"]["cwd"].as_str().unwrap_or_default().to_owned();
        Ok(unterm.sessions()?.iter().map(cwd).collect())
    };
    wait_until(
        "the panes",
        || places(&mut second),
        |places| {
            places.len() == 4 && places.iter().filter(|place| place.ends_with("/usr")).count() >= 1
        },
    )?;
    let again = second.act(&["reopen_last_window"]).expect_err("it is open");
    ensure!(again.to_string().contains("nothing to do"), "{again:#}");
    Ok(())
}
