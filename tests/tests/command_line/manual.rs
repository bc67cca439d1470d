//! Tests the manual in `assets/docs`: its commands run, and its settings are valid.
//!
//! Blocks marked `sh` are run: all blocks of a page run in one shell, with a window with one pane (session 0). Blocks
//! marked `console` need a user, a host or a browser, and are not run. Blocks marked `toml` are checked as
//! configuration files.

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result, ensure};
use unterm_tests::{Display, Start, Tree, binary};

/// The blocks of a page that have this mark.
fn blocks(page: &str, mark: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else { continue };
        let indent = line.len() - line.trim_start().len();
        let inner = lines.by_ref().take_while(|line| line.trim_start() != "```");
        let text: String =
            inner.map(|line| line.get(indent..).unwrap_or_default().to_owned() + "\n").collect();
        if language == mark {
            blocks.push(text);
        }
    }
    blocks
}

/// The pages of the manual: their names and texts.
fn pages(tree: &Tree) -> impl Iterator<Item = (&str, &str)> {
    let files = tree.files.iter();
    files.filter_map(|file| Some((file.path.strip_prefix("assets/docs/")?, file.text.as_str())))
}

#[test]
fn the_manuals_commands_run() -> Result<()> {
    let tree = Tree::read();
    let display = Display::start()?;
    let programs = binary("unterm-cli").parent().context("a folder")?.to_owned();
    let path = std::env::join_paths(
        std::iter::once(programs).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    )?;
    let mut pages_with_commands = 0;
    for (name, page) in pages(&tree) {
        let blocks = blocks(page, "sh");
        if blocks.is_empty() {
            continue;
        }
        pages_with_commands += 1;
        let (unterm, _window, _pane) = Start::windowed(&display).at_prompt()?;
        let output = Command::new("timeout")
            .args(["60", "bash", "-euxo", "pipefail", "-c", &blocks.join("\n")])
            .env_clear()
            .env("PATH", &path)
            .env("HOME", unterm.home())
            .env("UNTERM_HOME", unterm.registry())
            .env("DISPLAY", display.name())
            .env("LANG", "C.UTF-8")
            // If the tests run as root, tic would otherwise install entries for the whole machine.
            .env("TERMINFO", unterm.home().join(".terminfo"))
            .current_dir(unterm.home())
            .output()?;
        let trace = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{name}: {}\n{trace}", output.status);
    }
    ensure!(pages_with_commands > 10, "the pages have another form now");
    Ok(())
}

#[test]
fn the_manuals_settings_are_valid() -> Result<()> {
    let tree = Tree::read();
    let home = tempfile::tempdir()?;
    let mut checked = 0;
    // Skip plugins.md: the blocks of that guide are manifests.
    for (name, page) in pages(&tree).filter(|(name, _)| *name != "plugins.md") {
        for block in blocks(page, "toml") {
            let file = home.path().join("config.toml");
            fs::write(&file, &block)?;
            check(&file, home.path()).with_context(|| format!("{name}:\n{block}"))?;
            checked += 1;
        }
    }
    ensure!(checked > 5, "the pages have another form now");
    Ok(())
}

fn check(file: &Path, home: &Path) -> Result<()> {
    let mut command = Command::new(binary("unterm-cli"));
    let output = command.args(["config", "check"]).arg(file).env("UNTERM_HOME", home).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

#[test]
fn help_prints_the_manuals_pages() -> Result<()> {
    let unterm = Start::headless().now()?;
    let contents = unterm.prints(&["help"])?;
    ensure!(contents.contains("scripting") && contents.contains("Drive a pane"), "{contents}");
    let page = unterm.prints(&["help", "scripting"])?;
    ensure!(page.starts_with("DRIVE A PANE FROM A SCRIPT\n"), "{page}");
    let command = unterm.prints(&["help", "session", "create"])?;
    ensure!(command.contains("--cols"), "{command}");
    let why = unterm.complains(&["help", "nothing"])?;
    ensure!(why.contains("no page or command \"nothing\""), "{why}");
    Ok(())
}
