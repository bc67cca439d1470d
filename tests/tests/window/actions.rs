//! Everything around the panes: actions performed from the command line, the status bar, files and folders.

use std::os::unix::fs::PermissionsExt;

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use unterm_tests::{Display, Instance, Start, wait_for, wait_until};

/// Performs an action from the command line. Returns its exit code and output.
fn action(unterm: &Instance, words: &[&str]) -> Result<(Option<i32>, String)> {
    let output = unterm.cli(&[&["action"], words].concat())?;
    let said = [output.stdout, output.stderr].concat();
    Ok((output.status.code(), String::from_utf8_lossy(&said).into_owned()))
}

fn sessions(unterm: &mut Instance) -> Result<usize> {
    Ok(unterm.sessions()?.len())
}

#[test]
fn an_action_runs_from_the_command_line() -> Result<()> {
    let display = Display::start()?;
    let mut unterm = Start::windowed(&display).now()?;
    display.window_of(&unterm)?;
    assert_eq!(action(&unterm, &["split_right"])?, (Some(0), String::new()));
    assert_eq!(action(&unterm, &["new-tab"])?.0, Some(0));
    assert_eq!(sessions(&mut unterm)?, 3);
    assert_eq!(action(&unterm, &["activate_tab", "1"])?.0, Some(0));
    assert_eq!(action(&unterm, &["focus_left"])?.0, Some(0));
    // The leftmost pane has the focus now.
    assert_eq!(action(&unterm, &["focus_left"])?, (Some(1), "there was nothing to do\n".into()));
    let (code, said) = action(&unterm, &["activate_tub", "1"])?;
    assert_eq!(code, Some(1));
    assert!(said.contains("did you mean \"activate_tab\"?"), "{said}");
    let (code, said) = action(&unterm, &["scroll_lines", "-x"])?;
    assert_eq!(code, Some(1));
    assert!(said.contains("is not the number of lines"), "{said}");
    // An error of the window is also reported on the command line. The next action dismisses it.
    let (code, said) = action(&unterm, &["save_layout", "a/../x"])?;
    assert_eq!(code, Some(1));
    assert!(said.contains("Can't save the layout."), "{said}");
    assert_eq!(action(&unterm, &["dismiss_messages"])?, (Some(0), String::new()));
    let (code, list) = action(&unterm, &["list"])?;
    assert_eq!(code, Some(0));
    assert!(list.lines().any(|line| line.starts_with("new_tab ") && line.contains("Ctrl+Shift+T")));
    Ok(())
}

#[test]
fn an_ended_programs_output_stays_readable() -> Result<()> {
    let display = Display::start()?;
    let start = Start::windowed(&display).arg("--hold").arg("-e");
    let mut unterm = start.arg("sh").arg("-c").arg("echo last words; exit 3").now()?;
    display.window_of(&unterm)?;
    let pane = unterm.first_pane()?;
    let waited =
        json!({"id": pane.id, "any": [{"exit": true}], "since_seq": 0, "timeout_ms": 60_000});
    unterm.call("session.wait", waited)?;
    assert_eq!(pane.lines(&mut unterm)?[0], "last words");
    display.press(&["Control_L", "Shift_L", "x"])?;
    assert!(unterm.wait_for_exit()?.success());
    Ok(())
}

#[test]
fn a_window_stays_open_when_its_shell_fails_to_start() -> Result<()> {
    let display = Display::start()?;
    let registry = tempfile::tempdir()?;
    let shell = registry.path().join("failing-shell");
    std::fs::write(&shell, "#!/bin/sh\necho no such thing >&2\nexit 1\n")?;
    std::fs::set_permissions(&shell, PermissionsExt::from_mode(0o755))?;
    let config = format!("[shell]\nprogram = '{}'\n", shell.display());
    std::fs::write(registry.path().join("config.toml"), config)?;
    let mut unterm = Start::windowed(&display).registry(registry.path()).now()?;
    display.window_of(&unterm)?;
    let pane = unterm.first_pane()?;
    let ended = json!({"id": pane.id, "any": [{"exit": true}], "timeout_ms": 60_000});
    unterm.call("session.wait", ended)?;
    assert_eq!(pane.lines(&mut unterm)?[0], "no such thing");
    display.press(&["Control_L", "Shift_L", "x"])?;
    assert!(unterm.wait_for_exit()?.success());
    Ok(())
}

#[test]
fn without_a_window_an_action_reports_an_error() -> Result<()> {
    let unterm = Start::headless().now()?;
    let (code, said) = action(&unterm, &["new_tab"])?;
    assert_eq!(code, Some(1));
    assert!(said.contains("this instance runs headless"), "{said}");
    // The list of actions still works, and shows the user's own keys.
    unterm.write_config("[keys]\n'ctrl+shift+n' = 'new_tab'\n")?;
    let listed = || {
        let (code, list) = action(&unterm, &["list"])?;
        ensure!(code == Some(0), "{list}");
        let row = list.lines().find(|line| line.starts_with("new_tab "));
        Ok(row.is_some_and(|row| row.contains("Ctrl+Shift+N")).then_some(()))
    };
    wait_for("the table of actions", listed, || unterm.log())
}

#[test]
fn the_status_bar_copies_the_directory_and_turns_the_proxy_off() -> Result<()> {
    let display = Display::start()?;
    let registry = tempfile::tempdir()?;
    let proxy = registry.path().join("proxy.json");
    std::fs::write(&proxy, r#"{"enabled": true, "mode": "manual", "own": [1]}"#)?;
    let (unterm, window, _) = Start::windowed(&display).registry(registry.path()).at_prompt()?;
    let (width, height) = window.size()?;
    let foot = height as i16 - 14;
    // The status bar shows `pane 0` and `bash` on the left, and then the directory: home, shown as `~`.
    window.click(1, (125, foot))?;
    let home = unterm.home().display().to_string();
    display.wait_for_selection("clipboard", &home)?;
    // The proxy is the last item on the right, because the theme is not shown while it is the default one.
    window.click(1, (width as i16 - 30, foot))?;
    let text = || std::fs::read_to_string(&proxy).unwrap_or_default();
    wait_for(
        "the proxy to be off",
        || {
            let now: serde_json::Value = serde_json::from_str(&text())?;
            assert_eq!(now["own"], json!([1]), "what else is in the file stays");
            Ok((now["enabled"] == false).then_some(()))
        },
        text,
    )?;
    Ok(())
}

#[test]
fn a_picture_of_the_window_is_saved_and_copied() -> Result<()> {
    let display = Display::start()?;
    let (unterm, window, _) = Start::windowed(&display).at_prompt()?;
    unterm.act(&["capture_window"])?;
    let folder = unterm.registry().join("screenshots");
    let path = wait_for(
        "the path in the primary selection",
        || {
            let path = std::path::PathBuf::from(display.selection("primary")?);
            Ok((path.parent() == Some(&folder)).then_some(path))
        },
        || unterm.log(),
    )?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    assert!(name.is_some_and(|name| name.starts_with("window_") && name.ends_with(".png")));
    // Width and height follow the PNG signature, in the chunk IHDR.
    let png = std::fs::read(&path)?;
    let number = |at: usize| png[at..at + 4].iter().fold(0, |n, byte| n << 8 | u32::from(*byte));
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    let (width, height) = window.size()?;
    assert_eq!((number(16), number(20)), (u32::from(width), u32::from(height)));
    Ok(())
}

#[test]
fn size_tabs_and_splits_are_restored() -> Result<()> {
    let display = Display::start()?;
    let registry = tempfile::tempdir()?;
    let start = || Start::windowed(&display).registry(registry.path()).now();
    // Never ask before closing: shells may still be starting when the window closes, which this test does not cover.
    let config = "window.confirm_close = 'never'\n[startup]\nlayout = 'last'\n";
    std::fs::write(registry.path().join("config.toml"), config)?;
    let mut unterm = start()?;
    let window = display.window_of(&unterm)?;
    window.resize(900, 500)?;
    window.wait_for_input()?;
    for name in ["split_right", "new_tab"] {
        unterm.act(&[name])?;
    }
    let last = unterm.open(json!({"program": "sh", "cwd": unterm.home()}))?;
    last.type_text(&mut unterm, "stty size\r")?;
    // When the panes have their new size, the window has it too.
    last.wait(&mut unterm, "the new size", |lines| {
        let cols = |line: &String| line.split(' ').nth(1).and_then(|cols| cols.parse().ok());
        lines.iter().filter_map(cols).any(|cols: u32| cols < 100)
    })?;
    window.close()?;
    unterm.wait_for_exit()?;

    // A window that is closed while it fills the screen reopens with its earlier size.
    for leaves_full in [true, false] {
        let mut unterm = start()?;
        let window = display.window_of(&unterm)?;
        assert_eq!(window.size()?, (900, 500));
        assert_eq!(sessions(&mut unterm)?, 4);
        if leaves_full {
            unterm.act(&["fullscreen"])?;
        }
        window.close()?;
        unterm.wait_for_exit()?;
    }
    Ok(())
}

#[test]
fn the_layout_is_restored_after_a_killed_window() -> Result<()> {
    let display = Display::start()?;
    let registry = tempfile::tempdir()?;
    let start = || Start::windowed(&display).registry(registry.path()).now();
    std::fs::write(registry.path().join("config.toml"), "[startup]\nlayout = 'last'\n")?;
    let unterm = start()?;
    display.window_of(&unterm)?;
    for name in ["split_right", "new_tab"] {
        unterm.act(&[name])?;
    }
    let file = registry.path().join("last_session");
    let kept = || Ok(std::fs::read_to_string(&file).unwrap_or_default());
    wait_until("the second tab to be kept", kept, |text| {
        let last: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
        last["layout"]["tabs"].as_array().map(Vec::len) == Some(2)
    })?;
    let pid = rustix::process::Pid::from_raw(unterm.pid() as i32).context("its id")?;
    rustix::process::kill_process(pid, rustix::process::Signal::KILL)?;
    drop(unterm);
    let mut unterm = start()?;
    display.window_of(&unterm)?;
    assert_eq!(sessions(&mut unterm)?, 3);
    Ok(())
}

#[test]
fn the_new_window_action_opens_one_shell() -> Result<()> {
    let display = Display::start()?;
    let unterm = Start::windowed(&display).now()?;
    display.window_of(&unterm)?;
    unterm.write_config("window.confirm_close = 'never'\n[startup]\nlayout = 'two'\n")?;
    unterm.act(&["split_right"])?;
    unterm.act(&["save_layout", "two"])?;
    unterm.act(&["new_window"])?;
    let listed = || unterm.prints(&["--instance", "bravo", "--json", "session", "list"]);
    let list = wait_for(
        "the other window's sessions",
        || Ok(listed().ok()),
        || format!("{:?}", listed()),
    )?;
    let list: serde_json::Value = serde_json::from_str(&list)?;
    assert_eq!(list["sessions"].as_array().map(Vec::len), Some(1), "{list}");
    // The instance may end before it answers.
    unterm.cli(&["--instance", "bravo", "action", "close_window"])?;
    let entry = unterm.registry().join("instances/bravo.json");
    wait_for("its end", || Ok((!entry.exists()).then_some(())), String::new)
}

#[test]
fn a_recording_is_started_and_stopped_in_the_window() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, _, pane) = Start::windowed(&display).at_prompt()?;
    let wait = |unterm: &mut Instance, wanted: bool| {
        let probe = || {
            let status = unterm.call("session.recording_status", json!({"id": 0}))?;
            Ok((status["enabled"] == wanted).then_some(()))
        };
        wait_for("the recording's change", probe, String::new)
    };
    wait(&mut unterm, false)?;
    assert_eq!(action(&unterm, &["toggle_recording"])?, (Some(0), String::new()));
    wait(&mut unterm, true)?;
    pane.type_text(&mut unterm, "echo kept$((40 + 2))\r")?;
    pane.wait_for_text(&mut unterm, "kept42")?;
    assert_eq!(action(&unterm, &["toggle_recording"])?, (Some(0), String::new()));
    wait(&mut unterm, false)?;
    let page = wait_for(
        "the page's path on the clipboard",
        || {
            let path = std::path::PathBuf::from(display.selection("clipboard")?);
            Ok(path.is_file().then_some(path))
        },
        || unterm.log(),
    )?;
    assert!(std::fs::read_to_string(page)?.contains("kept42"));
    Ok(())
}

#[test]
fn a_drop_down_is_hidden_and_shown_by_a_second_start() -> Result<()> {
    let display = Display::start()?;
    let unterm = Start::windowed(&display).arg("--quake").now()?;
    let window = display.window_of(&unterm)?;
    assert_eq!(window.size()?, (1280, 360));
    let is_shown = || Ok(window.is_shown()?.then_some(()));
    let is_hidden = || Ok((!window.is_shown()?).then_some(()));
    assert_eq!(action(&unterm, &["toggle_quake"])?, (Some(0), String::new()));
    wait_for("it to be hidden", is_hidden, || unterm.log())?;
    let second = std::process::Command::new(unterm_tests::binary("unterm"))
        .arg("--quake")
        .env_clear()
        .env("HOME", unterm.home())
        .env("UNTERM_HOME", unterm.registry())
        .env("DISPLAY", display.name())
        .status()?;
    assert!(second.success(), "the second start ends at once");
    wait_for("it to be shown", is_shown, || unterm.log())?;
    Ok(())
}

#[test]
fn a_session_is_exported_and_a_folder_opened_in_a_new_tab() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, _, pane) = Start::windowed(&display).at_prompt()?;
    pane.type_text(&mut unterm, "seq -f 'line %g' 500\r")?;
    pane.wait_for_text(&mut unterm, "line 500")?;
    unterm.act(&["export_session"])?;
    let exports = unterm.registry().join("exports");
    let path = wait_for(
        "the path on the clipboard",
        || {
            let path = std::path::PathBuf::from(display.selection("clipboard")?);
            Ok((path.parent() == Some(&exports)).then_some(path))
        },
        || display.selection("clipboard").unwrap_or_default(),
    )?;
    let text = std::fs::read_to_string(path)?;
    let lines = text.lines().filter(|line| line.starts_with("line ")).count();
    assert_eq!(lines, 500, "the history is there");

    let folder = unterm.home().join("it's here");
    std::fs::create_dir(&folder)?;
    let name = folder.display().to_string();
    unterm.act(&["new_tab_in", &name])?;
    assert_eq!(sessions(&mut unterm)?, 2);
    unterm.act(&["previous_tab"])?;
    unterm.act(&["change_directory_to", &name])?;
    pane.type_text(&mut unterm, "pwd\r")?;
    pane.wait(&mut unterm, "the directory", |lines| lines.contains(&name))?;
    Ok(())
}

#[test]
fn select_all_clear_history_and_reset_work() -> Result<()> {
    let display = Display::start()?;
    let (mut unterm, _, pane) = Start::windowed(&display).at_prompt()?;
    pane.type_text(&mut unterm, "seq -f 'line %g' 200\r")?;
    pane.wait_for_text(&mut unterm, "line 200")?;
    let copied = |what: &str, is_it: &dyn Fn(&str) -> bool| -> Result<()> {
        unterm.act(&["select_all"])?;
        unterm.act(&["copy"])?;
        wait_until(what, || display.selection("clipboard"), |text| is_it(text)).map(drop)
    };
    copied("the history and the screen", &|text| {
        text.contains("line 1\nline 2\n") && text.contains("line 199\nline 200")
    })?;
    unterm.act(&["clear_history"])?;
    copied("the screen alone", &|text| !text.contains("line 1\n") && text.contains("line 200"))?;
    unterm.act(&["reset_terminal"])?;
    pane.wait(&mut unterm, "an empty screen", |lines| lines.iter().all(String::is_empty))?;
    pane.type_text(&mut unterm, "echo goes $((40 + 2))\r")?;
    pane.wait_for_text(&mut unterm, "goes 42")?;
    Ok(())
}
