//! Takes the pictures of the manual in a window, and compares them with the committed pictures, so that the manual
//! shows the present window.
//!
//! After a change of the window's look, `UPDATE_EXPECT=1 cargo test -p unterm-tests --test end_to_end pictures` takes
//! new pictures. Look at each of them before you commit it.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use unterm_tests::{Display, Instance, Pane, Picture, Relay, Start, Window, wait_for};

const WIDTH: u16 = 860;
const HEIGHT: u16 = 400;
/// The number of rows of cells in a window of this height.
const ROWS: u64 = 15;
/// How long a window must look the same before a new picture is taken. Only updating the pictures needs this wait.
const STILL: Duration = Duration::from_secs(1);

/// A window whose pictures are taken.
struct Scene<'a> {
    display: &'a Display,
    unterm: Instance,
    window: Window<'a>,
    pane: Pane,
}

impl<'a> Scene<'a> {
    /// Opens the window.
    fn open(display: &'a Display) -> Result<Self> {
        let start = Start::windowed(display).arg("--painter").arg("cpu");
        let (mut unterm, window, pane) = start.at_prompt()?;
        window.resize(WIDTH, HEIGHT)?;
        // A new size may close panels and menus, so resize first.
        let is_sized = || {
            let rows = unterm.sessions()?[0]["rows"].as_u64();
            Ok((rows == Some(ROWS)).then_some(()))
        };
        wait_for("the window's size", is_sized, String::new)?;
        Ok(Self { display, unterm, window, pane })
    }

    /// Types a line like a user, and waits for a text on the screen.
    fn enter(&mut self, line: &str, text: &str) -> Result<()> {
        self.display.type_text(&format!("{line}\n"))?;
        self.pane.wait_for_text(&mut self.unterm, text)?;
        self.pane.wait_for_prompt(&mut self.unterm)?;
        Ok(())
    }

    /// Checks that the window looks like the picture in the manual.
    fn is(&self, name: &str) -> Result<()> {
        let file = folder().join(format!("{name}.png"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            return Ok(fs::write(file, still(&self.window)?.to_png()?)?);
        }
        let wanted = fs::read(&file).with_context(|| file.display().to_string())?;
        let wanted = Picture::of_png(&wanted)?;
        let looks = || Ok((self.window.picture()? == wanted).then_some(()));
        let seen = || match self.window.picture() {
            Ok(now) => format!("{} of {} pixels differ", now.difference(&wanted), now.pixels.len()),
            Err(error) => error.to_string(),
        };
        wait_for(&format!("the picture {name}.png"), looks, seen)
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../assets/docs/pictures")
}

/// A command whose output is the same on every machine.
const LISTING: &str = r"printf '%s\n' Cargo.toml README.md src tests";

#[test]
fn splits() -> Result<()> {
    let display = Display::start()?;
    let mut scene = Scene::open(&display)?;
    scene.enter(LISTING, "tests")?;
    scene.unterm.act(&["split_right"])?;
    scene.unterm.act(&["split_down"])?;
    wait_for(
        "three panes",
        || Ok((scene.unterm.sessions()?.len() == 3).then_some(())),
        String::new,
    )?;
    scene.is("splits")
}

#[test]
fn search() -> Result<()> {
    let display = Display::start()?;
    let mut scene = Scene::open(&display)?;
    scene.enter("seq -f 'line %g of the log' 8", "line 8 of the log")?;
    display.press(&["Control_L", "Shift_L", "f"])?;
    display.type_text("log")?;
    scene.is("search")
}

#[test]
fn labels() -> Result<()> {
    let display = Display::start()?;
    let mut scene = Scene::open(&display)?;
    scene.enter(
        "echo see https://example.org/docs, commit 3f2a9c1d and ./src/main.rs:42",
        "main.rs:42",
    )?;
    display.press(&["Control_L", "Shift_L", " "])?;
    scene.is("labels")
}

#[test]
fn copy_mode() -> Result<()> {
    let display = Display::start()?;
    let mut scene = Scene::open(&display)?;
    scene.enter("echo alpha beta gamma", "alpha beta gamma")?;
    display.press(&["Control_L", "Shift_L", "m"])?;
    display.type_text("k0wve")?;
    scene.is("copy-mode")
}

#[test]
fn palette() -> Result<()> {
    let display = Display::start()?;
    let scene = Scene::open(&display)?;
    display.press(&["Control_L", "Shift_L", "p"])?;
    display.type_text("split")?;
    scene.is("palette")
}

#[test]
fn themes() -> Result<()> {
    let display = Display::start()?;
    let mut scene = Scene::open(&display)?;
    scene.enter(r"printf '\e[3%dm ## \e[m' 1 2 3 4 5 6; echo colors", "colors")?;
    scene.unterm.act(&["choose_theme"])?;
    display.type_text("nord")?;
    scene.is("themes")
}

#[test]
fn marks_of_commands() -> Result<()> {
    let display = Display::start()?;
    let mut scene = Scene::open(&display)?;
    scene.enter("echo done", "done")?;
    scene.enter("ls missing", "missing")?;
    scene.is("marks")
}

#[test]
fn a_question_about_an_agent() -> Result<()> {
    let display = Display::start()?;
    let mut scene = Scene::open(&display)?;
    let mut agent = Relay::start(scene.unterm.home(), scene.unterm.registry(), &[])?;
    let run = json!({"pane": scene.pane.id, "command": "make test"});
    let held = std::thread::spawn(move || agent.call("run", run));
    wait_for(
        "the question",
        || {
            let listed = scene.unterm.call("approvals.list", json!({}))?;
            Ok(listed["pending"].as_array().is_some_and(|all| all.len() == 1).then_some(()))
        },
        String::new,
    )?;
    display.press(&["Control_L", "Shift_L", "y"])?;
    let shown = scene.is("approval");
    display.press(&["Escape"])?;
    drop(scene);
    drop(held);
    shown
}

#[test]
fn the_tour() -> Result<()> {
    let display = Display::start()?;
    let scene = Scene::open(&display)?;
    scene.unterm.act(&["tour"])?;
    scene.is("tour")
}

#[test]
fn large_text() -> Result<()> {
    let display = Display::start()?;
    let mut scene = Scene::open(&display)?;
    let heading = r"printf '\e]66;s=2;A heading\a\n\n'; printf 'x\e]66;n=1:d=2:w=1;10\a\n'";
    scene.enter(heading, "A heading")?;
    scene.is("large-text")
}

#[test]
fn a_menu() -> Result<()> {
    let display = Display::start()?;
    let mut scene = Scene::open(&display)?;
    scene.enter("echo alpha beta gamma", "alpha beta gamma")?;
    scene.window.click(3, (120, 60))?;
    scene.is("menu")
}

#[test]
fn progress_and_a_bell() -> Result<()> {
    let display = Display::start()?;
    let mut scene = Scene::open(&display)?;
    scene.enter(
        r"build() { printf '\e]9;4;1;60\a'; echo building; cat; }; clear; echo here",
        "here",
    )?;
    display.type_text("build\n")?;
    scene.pane.wait_for_text(&mut scene.unterm, "building")?;
    scene.unterm.act(&["new_tab"])?;
    let tabs = |scene: &mut Scene<'_>, count| {
        let is_there = || Ok((scene.unterm.sessions()?.len() == count).then_some(()));
        wait_for("the tab", is_there, String::new)
    };
    tabs(&mut scene, 2)?;
    display.type_text("sleep 1; printf '\\a'\n")?;
    scene.unterm.act(&["new_tab"])?;
    tabs(&mut scene, 3)?;
    let second = scene.unterm.sessions()?[1]["id"].clone();
    let rings = || {
        let blocks = scene.unterm.call("block.list", json!({"id": second}))?;
        let is_done = |blocks: &Vec<_>| blocks.iter().any(|it: &Value| it["state"] == "done");
        Ok(blocks["blocks"].as_array().is_some_and(is_done).then_some(()))
    };
    wait_for("the bell", rings, String::new)?;
    scene.is("progress")
}

#[test]
fn a_recording() -> Result<()> {
    let display = Display::start()?;
    let mut scene = Scene::open(&display)?;
    scene.unterm.act(&["toggle_recording"])?;
    scene.enter("echo recorded", "recorded")?;
    scene.is("recording")
}

#[test]
fn folded_output() -> Result<()> {
    let display = Display::start()?;
    let mut scene = Scene::open(&display)?;
    scene.enter("seq 200", "200")?;
    scene.unterm.act(&["fold_output"])?;
    scene.enter(LISTING, "tests")?;
    scene.is("folded")
}

#[test]
fn a_proxy() -> Result<()> {
    let display = Display::start()?;
    let scene = Scene::open(&display)?;
    scene.unterm.prints(&["proxy", "set", "http://127.0.0.1:7890"])?;
    scene.is("proxy")
}

/// The picture of the window after it has stopped changing.
fn still(window: &Window<'_>) -> Result<Picture> {
    let mut last = (window.picture()?, Instant::now());
    let is_still = || {
        let now = window.picture()?;
        if now != last.0 {
            last = (now, Instant::now());
        }
        Ok((last.1.elapsed() >= STILL).then(|| last.0.clone()))
    };
    wait_for("a picture that stays", is_still, String::new)
}
