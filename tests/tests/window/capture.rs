//! Pictures of the screen and of other programs' windows. Tests `unterm-capture`, started by the window or for a
//! caller, and a user who drags a region.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{
    Compositing, Display, Instance, Picture, Start, WindowManager, binary, wait_for,
};

/// The title of the window that covers the screen while the user selects a region.
const OVERLAY: &str = "Unterm: drag a region";
/// The pane's color, which no theme uses.
const GREEN: [u8; 3] = [0x12, 0x54, 0x36];
/// The colors of windows of other programs.
const RED: [u8; 3] = [0x93, 0x21, 0x17];
const BLUE: [u8; 3] = [0x17, 0x21, 0x93];

/// Opens a window that shows text in a color of its own, and waits until the text is painted.
fn colored(display: &Display) -> Result<Instance> {
    binary("unterm-capture");
    let (mut unterm, window, pane) = Start::windowed(display).at_prompt()?;
    pane.type_text(&mut unterm, "clear; seq 1000000 1000018; printf '\\033]11;#125436\\007'\r")?;
    pane.wait_for_text(&mut unterm, "1000018")?;
    pane.wait_for_prompt(&mut unterm)?;
    wait_for(
        "the color",
        || Ok((window.picture()?.count(GREEN) > 100_000).then_some(())),
        || unterm.log(),
    )?;
    Ok(unterm)
}

/// Waits until a picture is on the clipboard and its path is in the primary selection. Returns both.
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
fn a_picture_of_the_screen_is_saved_and_copied() -> Result<()> {
    let display = Display::start()?;
    let unterm = colored(&display)?;
    unterm.act(&["capture_screen"])?;
    let (_, picture) = taken(&display, &unterm, "screen_")?;
    assert_eq!((picture.width, picture.height()), (1280, 800));
    let green = picture.count(GREEN);
    ensure!(green > 100_000, "{green} pixels of the pane's color");
    Ok(())
}

#[test]
fn a_region_is_dragged_and_escape_cancels() -> Result<()> {
    let display = Display::start()?;
    let unterm = colored(&display)?;
    let window = display.window_of(&unterm)?;
    // The area contains rows with different numbers, and does not change.
    let before = display.picture()?;
    let (corner, size) = ((20, 60), (200, 150));
    let wanted = before.part(corner, size);
    ensure!(wanted.colors() > 2, "there is text in it");

    unterm.act(&["capture_region_include"])?;
    let overlay = display.window_titled(OVERLAY)?;
    assert_eq!(overlay.size()?, (1280, 800));
    // The overlay darkens the screen before a region is chosen.
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

    // Esc shows the hidden window again, and no picture is taken.
    unterm.act(&["capture_region_exclude"])?;
    let overlay = display.window_titled(OVERLAY)?;
    ensure!(!window.is_shown()?, "the window is not in its own picture");
    ensure!(!overlay.picture()?.pixels.contains(&GREEN));
    display.press(&["Escape"])?;
    wait_for("the window", || Ok(window.is_shown()?.then_some(())), || unterm.log())?;
    assert_eq!(files(&unterm)?, 1);
    Ok(())
}

/// The picture whose path is in a reply.
fn pictured(reply: &Value) -> Result<Picture> {
    let image = &reply["image"];
    let picture = Picture::of_png(&std::fs::read(image["path"].as_str().unwrap_or_default())?)?;
    let size = (&image["width"], &image["height"]);
    assert_eq!(size, (&json!(picture.width), &json!(picture.height())), "{image}");
    Ok(picture)
}

#[test]
fn a_caller_captures_a_session_and_the_screen() -> Result<()> {
    let display = Display::start()?;
    let mut unterm = colored(&display)?;
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
fn a_caller_lets_the_user_choose_a_region() -> Result<()> {
    let display = Display::start()?;
    let unterm = colored(&display)?;
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

    let canceled = choose(600_000)?;
    display.window_titled(OVERLAY)?;
    display.press(&["Escape"])?;
    let error = canceled.join().expect("no panic").expect_err("it was canceled").to_string();
    ensure!(error.contains("The selection was canceled"), "{error}");
    let late = choose(1)?.join().expect("no panic").expect_err("nobody chose").to_string();
    ensure!(late.contains("nobody chose a region in time"), "{late}");
    Ok(())
}

/// An Unterm that has no window but can access the display.
fn without_a_window(display: &Display) -> Result<Instance> {
    binary("unterm-capture");
    Start::headless().env("DISPLAY", &display.name()).now()
}

#[test]
fn a_caller_reads_an_image_from_the_clipboard() -> Result<()> {
    let display = Display::start()?;
    let mut unterm = Start::headless().env("DISPLAY", &display.name()).now()?;
    let screen = unterm.call("capture.window", json!({}))?;
    let path = screen["image"]["path"].as_str().unwrap_or_default();
    let picture = Picture::of_png(&std::fs::read(path)?)?;
    // xclip also serves the picture to programs that request text.
    display.set_clipboard("image/png", &std::fs::read(path)?)?;
    let reply = unterm.call("capture.clipboard", json!({}))?;
    let format = ["type", "format", "width", "height", "bit_depth"].map(|key| reply[key].clone());
    let size = (picture.width, picture.height());
    assert_eq!(format, [json!("image"), json!("png"), json!(size.0), json!(size.1), json!(8)]);
    let path = PathBuf::from(reply["image_path"].as_str().unwrap_or_default());
    assert_eq!(path.parent(), Some(&*unterm.registry().join("clipboard")));
    let file = std::fs::read(path)?;
    assert_eq!(reply["size_bytes"], file.len());
    ensure!(Picture::of_png(&file)? == picture, "it is what was copied");

    display.set_clipboard("text/html", b"<p>neither")?;
    let error = unterm.call("capture.clipboard", json!({})).expect_err("it is no text").to_string();
    ensure!(
        error.contains("What is on the clipboard can't be read as text or as an image"),
        "{error}"
    );
    Ok(())
}

/// The picture of a window that is not the instance's own session.
fn foreign(unterm: &mut Instance, named: Value) -> Result<Picture> {
    let reply = unterm.call("capture.window", named)?;
    assert_eq!(reply["text_snapshot"], false, "{reply}");
    assert_eq!(reply["image"]["source"], "window", "{reply}");
    ensure!(reply.get("session_id").is_none(), "{reply}");
    pictured(&reply)
}

/// Checks that there is no picture of a window, and that the reply contains the reason. The reply contains a picture of
/// the sessions instead.
fn refused(unterm: &mut Instance, named: Value, why: &str) -> Result<()> {
    let reply = unterm.call("capture.window", named)?;
    assert_eq!(reply["text_snapshot"], false, "{reply}");
    assert_eq!(reply["image"]["source"], "sessions", "{reply}");
    let message = reply["message"].as_str().unwrap_or_default();
    ensure!(message.contains(&format!("No picture could be taken: {why}")), "{reply}");
    pictured(&reply).map(drop)
}

#[test]
fn a_caller_captures_windows_of_another_instance() -> Result<()> {
    let display = Display::start()?;
    let _manager = WindowManager::start(&display)?;
    let mut other = colored(&display)?;
    let window = display.window_of(&other)?;
    other.call("instance.set_title", json!({"title": "the foreign one"}))?;
    window.wait_for_title(|title| title.contains("the foreign one"))?;
    // The area contains rows with different numbers, and does not change.
    let (corner, size) = ((20, 60), (200, 150));
    let shown = window.picture()?;
    let wanted = shown.part(corner, size);
    ensure!(wanted.colors() > 2, "there is text in it");

    let mut unterm = without_a_window(&display)?;
    let pid = other.pid();
    for named in [
        json!({"title": "foreign one"}),
        json!({ "pid": pid }),
        json!({"title": "foreign one", "pid": pid}),
    ] {
        let picture = foreign(&mut unterm, named)?;
        assert_eq!((picture.width, picture.height()), (shown.width, shown.height()));
        ensure!(picture.count(GREEN) > 100_000);
        assert_eq!(picture.part(corner, size).difference(&wanted), 0, "it is what was there");
    }

    let none = r#"there is no window with "Foreign one" in its title on the display"#;
    refused(&mut unterm, json!({"title": "Foreign one"}), none)?;
    let own = unterm.pid();
    let none = format!("there is no window of process {own} on the display");
    refused(&mut unterm, json!({ "pid": own }), &none)?;
    let none = format!(r#"there is no window of process {own} with "foreign" in its title"#);
    refused(&mut unterm, json!({"title": "foreign", "pid": own}), &none)
}

#[test]
fn hidden_windows_are_captured_as_far_as_possible() -> Result<()> {
    let display = Display::start()?;
    let mut unterm = without_a_window(&display)?;
    let unlisted = "the windows can't be listed; on X11 a window manager has to list them";
    refused(&mut unterm, json!({"title": "below"}), unlisted)?;

    let _manager = WindowManager::start(&display)?;
    let size = (300, 200);
    let below = display.open_window("the one below", RED, size)?;
    let above = display.open_window("the one above", BLUE, size)?;
    let (below_it, above_it) = (json!({"title": "below"}), json!({"title": "above"}));
    let whole = |picture: &Picture, color| {
        let (width, height) = (usize::from(size.0), usize::from(size.1));
        assert_eq!((picture.width, picture.height()), (width, height));
        assert_eq!(picture.count(color), width * height);
    };

    // The other window covers half of the window. The other window is in front of all windows of this process.
    below.move_to(100, 100)?;
    above.move_to(250, 100)?;
    whole(&foreign(&mut unterm, above_it.clone())?, BLUE);
    whole(&foreign(&mut unterm, json!({"pid": std::process::id()}))?, BLUE);
    let picture = foreign(&mut unterm, below_it.clone())?;
    assert_eq!((picture.width, picture.height()), (300, 200));
    let in_sight = picture.part((0, 0), (100, 200));
    assert_eq!(in_sight.count(RED), in_sight.pixels.len());
    assert_eq!(picture.count(BLUE), 0, "the other one is in its picture");

    // The picture omits the parts beyond the screen's edges.
    below.move_to(1180, 700)?;
    let (x, y) = below.corner()?;
    let picture = foreign(&mut unterm, below_it.clone())?;
    assert_eq!((picture.width, picture.height()), ((1280 - x) as usize, (800 - y) as usize));
    assert_eq!(picture.count(RED), picture.pixels.len());

    // If the desktop composites windows, each window keeps its full contents.
    let composed = Compositing::start(&display)?;
    whole(&foreign(&mut unterm, below_it.clone())?, RED);
    below.move_to(100, 100)?;
    whole(&foreign(&mut unterm, below_it.clone())?, RED);
    drop(composed);

    // A minimized window is not visible, and another window is visible in its place.
    below.minimize()?;
    refused(&mut unterm, below_it, "the window is not shown: it is minimized")?;
    whole(&foreign(&mut unterm, above_it)?, BLUE);
    Ok(())
}
