//! Runs popular programs in panes of the real program, and reads their screens as text.

use std::{fs, process::Command};

use anyhow::{Result, ensure};
use serde_json::json;
use unterm_tests::{Instance, PROMPT, Pane, Start};

/// A new instance with one pane of 80×24 cells at bash's prompt, in the instance's home.
fn at_prompt() -> Result<(Instance, Pane)> {
    let mut unterm = Start::headless().now()?;
    let home = unterm.home().to_string_lossy().into_owned();
    let pane = unterm.open(json!({"cwd": home, "cols": 80, "rows": 24}))?;
    pane.wait_for_prompt(&mut unterm)?;
    Ok((unterm, pane))
}

/// The first of these programs that is installed.
fn installed(names: &[&str]) -> Result<String> {
    let path = std::env::var("PATH").unwrap_or_default();
    let found = names.iter().find(|name| {
        path.split(':').any(|folder| std::path::Path::new(folder).join(name).exists())
    });
    ensure!(found.is_some(), "none of {names:?} is installed; packaging/test installs them");
    Ok(found.unwrap_or(&"").to_string())
}

fn has_line(lines: &[String], wanted: &str) -> bool {
    lines.iter().any(|line| line == wanted)
}

#[test]
fn bash_edits_a_line_and_recalls_it() -> Result<()> {
    let (mut unterm, pane) = at_prompt()?;
    // Move left, insert a letter, then recall the line with the up key.
    pane.type_text(&mut unterm, "echo onetwo\x1b[D\x1b[D\x1b[D-\r")?;
    pane.wait(&mut unterm, "the output", |lines| has_line(lines, "one-two"))?;
    pane.type_text(&mut unterm, "clear\r")?;
    pane.wait(&mut unterm, "a clear screen", |lines| {
        lines[0] == PROMPT.trim_end() && lines[1].is_empty()
    })?;
    pane.type_text(&mut unterm, "\x1b[A\x1b[A\r")?;
    pane.wait(&mut unterm, "the output again", |lines| has_line(lines, "one-two"))?;
    Ok(())
}

#[test]
fn zsh_and_fish_run_commands_and_complete_names() -> Result<()> {
    for (shell, sum) in [("zsh", "echo sum=$((20 + 3))"), ("fish", "echo sum=(math 20 + 3)")] {
        let mut unterm = Start::headless().now()?;
        let home = unterm.home().to_string_lossy().into_owned();
        fs::write(unterm.home().join("a-file-with-a-long-name"), "its text\n")?;
        let pane = unterm.open(json!({"program": shell, "cwd": home, "cols": 80, "rows": 24}))?;
        pane.wait_for_prompt(&mut unterm)?;
        pane.type_text(&mut unterm, &format!("{sum}\r"))?;
        pane.wait(&mut unterm, "the sum", |lines| has_line(lines, "sum=23"))?;
        pane.wait_for_prompt(&mut unterm)?;
        pane.type_text(&mut unterm, "cat a-file-w\t")?;
        pane.wait_for_text(&mut unterm, "cat a-file-with-a-long-name")?;
        pane.type_text(&mut unterm, "\r")?;
        pane.wait(&mut unterm, "the file", |lines| has_line(lines, "its text"))?;
    }
    Ok(())
}

#[test]
fn zsh_integration_survives_hooks_set_by_the_startup_file() -> Result<()> {
    let mut unterm = Start::headless().now()?;
    let zshrc = unterm.home().join(".zshrc");
    let hooks = "mine() { print '<mine>' }\nprecmd_functions=(mine)\npreexec_functions=()\n";
    fs::write(&zshrc, format!("{}{hooks}", fs::read_to_string(&zshrc)?))?;
    let home = unterm.home().to_string_lossy().into_owned();
    let pane = unterm.open(json!({"program": "zsh", "cwd": home, "cols": 80, "rows": 24}))?;
    pane.wait_for_prompt(&mut unterm)?;
    let params = json!({"id": pane.id, "command": "print one; (exit 6)"});
    let done = unterm.call("exec.run_wait", params)?;
    ensure!(done["exit_code"] == 6 && done["exit_source"] == "block", "{done}");
    pane.wait_for_text(&mut unterm, "<mine>")?;
    Ok(())
}

#[test]
fn vim_edits_saves_and_restores_the_screen() -> Result<()> {
    let vim = installed(&["vim", "vim.tiny"])?;
    edit_with(&format!("{vim} -u NONE -c 'set nocompatible showmode ruler' note.txt"))
}

#[test]
fn neovim_edits_saves_and_restores_the_screen() -> Result<()> {
    edit_with("nvim --clean note.txt")
}

fn edit_with(command: &str) -> Result<()> {
    let (mut unterm, pane) = at_prompt()?;
    pane.type_text(&mut unterm, "echo shown before\r")?;
    pane.wait(&mut unterm, "the text before", |lines| has_line(lines, "shown before"))?;
    pane.wait_for_prompt(&mut unterm)?;
    pane.type_text(&mut unterm, &format!("{command}\r"))?;
    pane.wait(&mut unterm, "an empty buffer", |lines| lines[1] == "~" && lines[20] == "~")?;
    pane.type_text(&mut unterm, "i")?;
    pane.wait_for_text(&mut unterm, "-- INSERT --")?;
    pane.type_text(&mut unterm, "first line\rsecond: äöü 漢字")?;
    pane.wait(&mut unterm, "the typed text", |lines| {
        lines[0] == "first line" && lines[1] == "second: äöü 漢字" && lines[2] == "~"
    })?;
    pane.type_text(&mut unterm, "\x1b:wq\r")?;
    let lines = pane.wait_for_prompt(&mut unterm)?;
    assert!(has_line(&lines, "shown before"), "the screen before it is back: {lines:?}");
    assert!(!has_line(&lines, "~"), "{lines:?}");
    let saved = fs::read_to_string(unterm.home().join("note.txt"))?;
    assert_eq!(saved, "first line\nsecond: äöü 漢字\n");
    Ok(())
}

#[test]
fn less_pages_searches_and_restores_the_screen() -> Result<()> {
    let (mut unterm, pane) = at_prompt()?;
    let text: String = (1..=500).map(|number| format!("row {number} of the file\n")).collect();
    fs::write(unterm.home().join("long.txt"), text)?;
    pane.type_text(&mut unterm, "less long.txt\r")?;
    pane.wait(&mut unterm, "the first page", |lines| {
        lines[0] == "row 1 of the file" && lines[22] == "row 23 of the file"
    })?;
    pane.type_text(&mut unterm, " ")?;
    pane.wait(&mut unterm, "the second page", |lines| lines[0] == "row 24 of the file")?;
    pane.type_text(&mut unterm, "k")?;
    pane.wait(&mut unterm, "one row back", |lines| lines[0] == "row 23 of the file")?;
    pane.type_text(&mut unterm, "G")?;
    pane.wait(&mut unterm, "the end", |lines| lines[22] == "row 500 of the file")?;
    pane.type_text(&mut unterm, "?row 77 \r")?;
    pane.wait(&mut unterm, "the found row", |lines| lines[0] == "row 77 of the file")?;
    pane.type_text(&mut unterm, "q")?;
    let lines = pane.wait_for_prompt(&mut unterm)?;
    assert!(!lines.iter().any(|line| line.starts_with("row ")), "{lines:?}");
    Ok(())
}

#[test]
fn htop_draws_its_table_and_quits() -> Result<()> {
    let (mut unterm, pane) = at_prompt()?;
    pane.type_text(&mut unterm, "htop\r")?;
    pane.wait(&mut unterm, "its meters, header and keys", |lines| {
        let shows = |text: &str| lines.iter().any(|line| line.contains(text));
        shows("Load average") && shows("PID") && shows("F10") && shows("Quit")
    })?;
    // Send F1 like xterm, in both cursor key modes. Any key closes the help.
    pane.type_text(&mut unterm, "\x1bOP")?;
    pane.wait_for_text(&mut unterm, "Released under")?;
    pane.type_text(&mut unterm, " ")?;
    pane.wait_for_text(&mut unterm, "Load average")?;
    pane.type_text(&mut unterm, "q")?;
    pane.wait_for_prompt(&mut unterm)?;
    Ok(())
}

#[test]
fn tmux_splits_and_detaches() -> Result<()> {
    let (mut unterm, pane) = at_prompt()?;
    // Start a separate tmux server in this home, so that the user's other tmux servers are not affected. tmux would
    // treat keys that arrive this fast as a paste.
    fs::write(unterm.home().join("tmux.conf"), "set -g assume-paste-time 0\n")?;
    pane.type_text(&mut unterm, "export TMUX_TMPDIR=$HOME; tmux -f tmux.conf -u new-session\r")?;
    pane.wait(&mut unterm, "its status line", |lines| lines[23].starts_with("[0] 0:bash*"))?;
    pane.wait(&mut unterm, "the prompt in it", |lines| lines[0] == PROMPT.trim_end())?;
    pane.type_text(&mut unterm, "\x02%")?;
    pane.wait(&mut unterm, "the divider", |lines| {
        lines[..23].iter().all(|line| line.chars().nth(40) == Some('│'))
    })?;
    pane.type_text(&mut unterm, "echo right $((3 * 5))\r")?;
    pane.wait(&mut unterm, "the output on the right", |lines| {
        lines[..23].iter().any(|line| line.ends_with("│right 15"))
    })?;
    pane.type_text(&mut unterm, "\x02:")?;
    pane.wait(&mut unterm, "its prompt", |lines| lines[23] == ":")?;
    pane.type_text(&mut unterm, "kill-server\r")?;
    let lines = pane.wait_for_prompt(&mut unterm)?;
    assert!(!lines.iter().any(|line| line.contains('│')), "{lines:?}");
    Ok(())
}

#[test]
fn mc_draws_its_panels_and_changes_folder() -> Result<()> {
    let (mut unterm, pane) = at_prompt()?;
    fs::create_dir(unterm.home().join("a-folder"))?;
    fs::write(unterm.home().join("a-folder/inside.txt"), "")?;
    pane.type_text(&mut unterm, "mc --nosubshell\r")?;
    pane.wait(&mut unterm, "its panels", |lines| {
        lines[0].contains("Left")
            && lines[0].contains("Command")
            && lines[1].contains('┌')
            && lines[23].contains("Help")
    })?;
    pane.wait_for_text(&mut unterm, "a-folder")?;
    // Move down past `..` and the dot folders, until the panel's footer shows the name of the folder.
    for _ in 0..12 {
        let lines = pane.lines(&mut unterm)?;
        if lines[19].contains("/a-folder") {
            break;
        }
        // Midnight Commander has enabled application cursor keys.
        pane.type_text(&mut unterm, "\x1bOB")?;
        pane.wait(&mut unterm, "the bar to move", |now| now[18..] != lines[18..])?;
    }
    pane.type_text(&mut unterm, "\r")?;
    pane.wait_for_text(&mut unterm, "inside.txt")?;
    pane.type_text(&mut unterm, "\x1b[21~")?;
    pane.wait_for_prompt(&mut unterm)?;
    Ok(())
}

#[test]
fn gits_pager_shows_the_log() -> Result<()> {
    let (mut unterm, pane) = at_prompt()?;
    let git = |args: &[&str]| -> Result<()> {
        let done = Command::new("git")
            .args(args)
            .current_dir(unterm.home())
            .env("HOME", unterm.home())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .output()?;
        ensure!(done.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&done.stderr));
        Ok(())
    };
    git(&["init", "--quiet", "repository"])?;
    for number in 1..=40 {
        git(&[
            "-C",
            "repository",
            "commit",
            "--quiet",
            "--allow-empty",
            "--message",
            &format!("change {number} made"),
        ])?;
    }
    pane.type_text(&mut unterm, "cd repository; git log --oneline\r")?;
    pane.wait(&mut unterm, "the first page", |lines| {
        lines[0].ends_with("change 40 made") && lines[23] == ":"
    })?;
    pane.type_text(&mut unterm, "G")?;
    pane.wait(&mut unterm, "the end", |lines| lines[22].ends_with("change 1 made"))?;
    pane.type_text(&mut unterm, "q")?;
    pane.wait_for_prompt(&mut unterm)?;
    Ok(())
}

#[test]
fn a_long_line_reflows_when_the_pane_is_resized() -> Result<()> {
    let (mut unterm, pane) = at_prompt()?;
    pane.type_text(&mut unterm, "clear; printf '%0100d\\n' 7\r")?;
    let wide = "0".repeat(80);
    pane.wait(&mut unterm, "two rows", |lines| lines[0] == wide && lines[1].ends_with("0007"))?;
    unterm.call("session.resize", json!({"id": pane.id, "cols": 120, "rows": 24}))?;
    let whole = format!("{}7", "0".repeat(99));
    pane.wait(&mut unterm, "one row", |lines| has_line(lines, &whole))?;
    unterm.call("session.resize", json!({"id": pane.id, "cols": 80, "rows": 24}))?;
    pane.wait(&mut unterm, "two rows again", |lines| has_line(lines, &wide))?;
    Ok(())
}
