//! Pictures of the screen: the program that takes them, started by the real window, and a person who drags a region.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use serde_json::json;
use unterm_tests::{Display, Instance, Picture, Start, binary, wait_for};

/// What the window that lies over the screen is called.
const OVERLAY: &str = "Unterm: drag a region";
/// The pane's colour, which no theme has.
const GREEN: [u8; 3] = [0x12, 0x54, 0x36];

/// A window with text in a colour of its own, painted.
fn coloured(display: &Display) -> Result<Instance> {
    binary("unterm-capture");
    let (mut unterm, window, pane) = Start::windowed(display).at_prompt()?;
    pane.type_text(&mut unterm, "clear; seq 1000000 1000018; printf '\\033]11;#125436\\007'\r")?;
    pane.wait_for_text(&mut unterm, "1000018")?;
    pane.wait_for_prompt(&mut unterm)?;
    wait_for(
        "the colour",
        || Ok((window.picture()?.count(GREEN) > 100_000).then_some(())),
        || unterm.log(),
    )?;
    Ok(unterm)
}

/// Waits until the path of a picture is in the primary selection and the picture on the clipboard; gives both.
fn taken(display: &Display, unterm: &Instance, kind: &str) -> Result<(PathBuf, Picture)> {
    let folder = unterm.registry().join("screenshots");
    let path = wait_for(
        "the path in the primary selection",
        || {
            let path = PathBuf::from(display.selection("primary")?);
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
            let is_one = name.is_some_and(|name| name.starts_with(kind) && name.ends_with(".png"));
            Ok((is_one && path.parent() == Some(&folder)).then_some(path))
        },
        || unterm.log(),
    )?;
    let file = Picture::of_png(&std::fs::read(&path)?)?;
    wait_for(
        "the picture on the clipboard",
        || Ok(Picture::of_png(&display.clipboard_png()?).is_ok_and(|it| it == file).then_some(())),
        || unterm.log(),
    )?;
    Ok((path, file))
}

fn files(unterm: &Instance) -> Result<usize> {
    Ok(std::fs::read_dir(unterm.registry().join("screenshots"))?.count())
}

#[test]
fn a_picture_of_the_screen_is_a_file_and_on_the_clipboard() -> Result<()> {
    let display = Display::start()?;
    let unterm = coloured(&display)?;
    unterm.act(&["capture_screen"])?;
    let (_, picture) = taken(&display, &unterm, "screen_")?;
    assert_eq!((picture.width, picture.height()), (1280, 800));
    let green = picture.count(GREEN);
    ensure!(green > 100_000, "{green} pixels of the pane's colour");
    Ok(())
}

#[test]
fn a_region_is_dragged_out_and_escape_cancels() -> Result<()> {
    let display = Display::start()?;
    let unterm = coloured(&display)?;
    let window = display.window_of(&unterm)?;
    // Rows of numbers: no two of them are alike, and nothing changes there.
    let before = display.picture()?;
    let (corner, size) = ((20, 60), (200, 150));
    let wanted = before.part(corner, size);
    ensure!(wanted.colors() > 2, "there is text in it");

    unterm.act(&["capture_region_include"])?;
    let overlay = display.window_titled(OVERLAY)?;
    assert_eq!(overlay.size()?, (1280, 800));
    // It darkens the screen before anything is chosen.
    let dark = GREEN.map(|channel| channel / 2);
    wait_for(
        "the darkened screen",
        || Ok(overlay.picture()?.pixels.contains(&dark).then_some(())),
        || unterm.log(),
    )?;
    overlay.drag((219, 209), (20, 60))?;
    let (_, picture) = taken(&display, &unterm, "region_visible_")?;
    assert_eq!((picture.width, picture.height()), size);
    assert_eq!(picture.difference(&wanted), 0, "it is what was there");

    // Esc: the window that was hidden comes back, and there is no picture.
    unterm.act(&["capture_region_exclude"])?;
    let overlay = display.window_titled(OVERLAY)?;
    ensure!(!window.is_shown()?, "the window is not in its own picture");
    ensure!(!overlay.picture()?.pixels.contains(&GREEN));
    display.press(&["Escape"])?;
    wait_for("the window", || Ok(window.is_shown()?.then_some(())), || unterm.log())?;
    assert_eq!(files(&unterm)?, 1);
    Ok(())
}

/// The picture that a reply names.
fn pictured(reply: &serde_json::Value) -> Result<Picture> {
    let image = &reply["image"];
    let picture = Picture::of_png(&std::fs::read(image["path"].as_str().unwrap_or_default())?)?;
    let size = (&image["width"], &image["height"]);
    assert_eq!(size, (&json!(picture.width), &json!(picture.height())), "{image}");
    Ok(picture)
}

#[test]
fn a_caller_has_pictures_of_a_session_and_of_the_screen() -> Result<()> {
    let display = Display::start()?;
    let mut unterm = coloured(&display)?;
    let reply = unterm.call("capture.window", json!({}))?;
    assert_eq!(reply["text_snapshot"], true, "{reply}");
    let text = reply["screen"].as_str().unwrap_or_default();
    ensure!(text.contains("1000018"), "{text}");
    let picture = pictured(&reply)?;
    ensure!(picture.count(GREEN) > 100_000 && picture.colors() > 2, "{reply}");

    let reply = unterm.call("capture.screen", json!({}))?;
    assert_eq!(reply["image"]["source"], "screen", "{reply}");
    let picture = pictured(&reply)?;
    assert_eq!((picture.width, picture.height()), (1280, 800));
    ensure!(picture.count(GREEN) > 100_000);

    display.set_selection("clipboard", "from elsewhere")?;
    let reply = unterm.call("capture.clipboard", json!({}))?;
    assert_eq!(reply, json!({"type": "text", "content": "from elsewhere"}));
    unterm.act(&["capture_screen"])?;
    taken(&display, &unterm, "screen_")?;
    let reply = unterm.call("capture.clipboard", json!({}))?;
    assert_eq!((&reply["type"], &reply["width"]), (&json!("image"), &json!(1280)));
    let file = std::fs::read(reply["image_path"].as_str().unwrap_or_default())?;
    ensure!(Picture::of_png(&file)?.count(GREEN) > 100_000);
    Ok(())
}

#[test]
fn a_caller_lets_the_person_choose_a_region() -> Result<()> {
    let display = Display::start()?;
    let unterm = coloured(&display)?;
    let wanted = display.picture()?.part((20, 60), (200, 150));
    let choose = |timeout: u64| -> Result<_> {
        let mut wire = unterm.connect()?;
        let params = json!({"interactive": true, "timeout_ms": timeout});
        Ok(std::thread::spawn(move || wire.call("capture.select", params)))
    };
    let chosen = choose(600_000)?;
    let overlay = display.window_titled(OVERLAY)?;
    overlay.drag((219, 209), (20, 60))?;
    let reply = chosen.join().expect("no panic")?;
    assert_eq!(reply["mode"], "region", "{reply}");
    assert_eq!(pictured(&reply)?.difference(&wanted), 0, "it is what was there");

    let cancelled = choose(600_000)?;
    display.window_titled(OVERLAY)?;
    display.press(&["Escape"])?;
    let error = cancelled.join().expect("no panic").expect_err("it was cancelled").to_string();
    ensure!(error.contains("The selection was cancelled"), "{error}");
    let late = choose(1)?.join().expect("no panic").expect_err("nobody chose").to_string();
    ensure!(late.contains("nobody chose a region in time"), "{late}");
    Ok(())
}
