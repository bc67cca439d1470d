//! `unterm-capture`: takes a picture of the screen, of a window, or of a region that the user drags, and writes it as
//! PNG.
//!
//! This is a separate program, which `unterm` starts when a picture is requested. xcap links PipeWire, whatever its
//! features, and the terminal must start without PipeWire. The exit status is 0 if the picture was written, 2 if the
//! user canceled, and 3 if the user took too long. For any other error, it is 1, and the reason is on stderr.
#![allow(clippy::print_stderr, reason = "errors are reported on stderr")]

mod region;

use std::{fs::OpenOptions, io::BufWriter, path::PathBuf, process::ExitCode, time::Duration};

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use image::{ImageFormat, RgbaImage};
use xcap::{Monitor, Window};

/// Takes a picture of the screen.
#[derive(Parser)]
#[command(name = "unterm-capture", version)]
struct Args {
    /// What to capture.
    #[arg(value_enum)]
    what: CaptureTarget,
    /// The file to write; it must not exist.
    #[arg(long)]
    out: PathBuf,
    /// If there are several screens: a point on the screen to capture, in pixels, as X,Y.
    #[arg(long, value_parser = point, allow_hyphen_values = true)]
    at: Option<(i32, i32)>,
    /// The number of milliseconds to wait first, until a hidden window has disappeared.
    #[arg(long, default_value_t = 0)]
    delay: u64,
    /// Capture a window whose title contains this text.
    #[arg(long)]
    title: Option<String>,
    /// Capture a window of the process with this id.
    #[arg(long)]
    pid: Option<u32>,
    /// The maximum time to drag a region, in milliseconds.
    #[arg(long)]
    timeout: Option<u64>,
}

/// The thing to capture.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CaptureTarget {
    /// A whole screen.
    Screen,
    /// A region of a screen, which the user drags.
    Region,
    /// The window that --title or --pid names.
    Window,
}

fn point(text: &str) -> Result<(i32, i32), String> {
    let parts = text.split_once(',').and_then(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)));
    parts.ok_or_else(|| format!("{text:?} is not a point, such as 100,200"))
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(2),
        Err(error) => {
            // `eprintln!` would panic if standard error is closed.
            let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("{error:#}\n"));
            ExitCode::FAILURE
        }
    }
}

/// Takes the picture. Returns false if the user canceled.
fn run(args: &Args) -> Result<bool> {
    std::thread::sleep(Duration::from_millis(args.delay.min(5_000)));
    if args.what == CaptureTarget::Window {
        write(&picture_of(&window(args)?)?, args)?;
        return Ok(true);
    }
    if let Some(timeout) = args.timeout {
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(timeout));
            std::process::exit(3);
        });
    }
    let monitor = monitor(args.at)?;
    let whole = monitor.capture_image().with_context(|| hinted("the screen can't be read"))?;
    let picture = match args.what {
        CaptureTarget::Screen | CaptureTarget::Window => Some(whole),
        CaptureTarget::Region => region::drag(whole, (monitor.x()?, monitor.y()?))?,
    };
    let Some(picture) = picture else { return Ok(false) };
    write(&picture, args)?;
    Ok(true)
}

/// The frontmost window that the arguments name.
fn window(args: &Args) -> Result<Window> {
    anyhow::ensure!(
        args.title.is_some() || args.pid.is_some(),
        "say which window: --title or --pid"
    );
    let windows = Window::all().with_context(|| {
        hinted("the windows can't be listed; on X11 a window manager has to list them (EWMH)")
    })?;
    let is_meant = |window: &Window| {
        let has_title = |part: &String| {
            window.title().is_ok_and(|title| title.contains(part))
                || old_title(window).is_some_and(|title| title.contains(part))
        };
        args.title.as_ref().is_none_or(has_title)
            && args.pid.is_none_or(|pid| window.pid().is_ok_and(|own| own == pid))
    };
    windows.into_iter().find(is_meant).with_context(|| hinted(&missing(args)))
}

/// The error message if no window matches the arguments.
fn missing(args: &Args) -> String {
    let pid = args.pid.map(|pid| format!(" of process {pid}")).unwrap_or_default();
    let title = args.title.as_ref().map(|title| format!(" with {title:?} in its title"));
    format!("there is no window{pid}{} on the display", title.unwrap_or_default())
}

/// The picture of a window. X11 provides no picture of a window that extends beyond the screen, so for such a window, the
/// picture contains the part on the screen.
///
/// # Errors
/// The window is not shown, or can't be captured.
fn picture_of(window: &Window) -> Result<RgbaImage> {
    let error = match window.capture_image() {
        Ok(picture) => return Ok(picture),
        Err(error) => anyhow::Error::from(error).context("the window can't be read"),
    };
    anyhow::ensure!(
        is_shown(window),
        "the window is not shown: it is minimized or on another desktop. Have it shown first"
    );
    let on_screen = || -> Option<RgbaImage> {
        let monitor = window.current_monitor().ok()?;
        let screen = (monitor.x().ok()?, monitor.y().ok()?);
        let whole = monitor.capture_image().ok()?;
        let side = |at: i32, length: u32, screen: i32, room: u32| {
            let first = (at - screen).clamp(0, room as i32);
            let end = (at - screen).saturating_add_unsigned(length).clamp(first, room as i32);
            (first as u32, (end - first) as u32)
        };
        let (x, width) = side(window.x().ok()?, window.width().ok()?, screen.0, whole.width());
        let (y, height) = side(window.y().ok()?, window.height().ok()?, screen.1, whole.height());
        let part = image::imageops::crop_imm(&whole, x, y, width, height).to_image();
        (width > 0 && height > 0).then_some(part)
    };
    on_screen().ok_or(error)
}

/// Whether a window is on the current screen, even if others cover it. A minimized window is not on the screen: other
/// windows are visible in its place.
#[cfg(all(unix, not(target_os = "macos")))]
fn is_shown(window: &Window) -> bool {
    use x11rb::protocol::xproto::{ConnectionExt, MapState};
    let state = || {
        let (connection, _) = x11rb::connect(None).ok()?;
        let attributes = connection.get_window_attributes(window.id().ok()?).ok()?;
        Some(attributes.reply().ok()?.map_state)
    };
    state().is_none_or(|state| state == MapState::VIEWABLE)
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn is_shown(window: &Window) -> bool {
    !window.is_minimized().unwrap_or(false)
}

/// The title of a window whose program sets only the ICCCM property, like xterm.
#[cfg(all(unix, not(target_os = "macos")))]
fn old_title(window: &Window) -> Option<String> {
    use x11rb::protocol::xproto::{AtomEnum, ConnectionExt};
    let (connection, _) = x11rb::connect(None).ok()?;
    let id = window.id().ok()?;
    let name =
        connection.get_property(false, id, AtomEnum::WM_NAME, AtomEnum::ANY, 0, 1024).ok()?;
    Some(String::from_utf8_lossy(&name.reply().ok()?.value).into_owned())
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
fn old_title(_: &Window) -> Option<String> {
    None
}

/// An error message. On Wayland, it also lists the requirements there: xcap lists screens and windows through X11, and
/// requests the picture over the session bus before it asks the compositor.
fn hinted(what: &str) -> String {
    match std::env::var_os("WAYLAND_DISPLAY") {
        Some(display) if !display.is_empty() => format!(
            "{what}; on Wayland it takes Xwayland (DISPLAY) and the session bus (DBUS_SESSION_BUS_ADDRESS), and only \
             windows of Xwayland have a picture of their own"
        ),
        _ => what.to_owned(),
    }
}

/// The screen at a point. Without a point, the primary screen.
fn monitor(at: Option<(i32, i32)>) -> Result<Monitor> {
    if let Some(monitor) = at.and_then(|(x, y)| Monitor::from_point(x, y).ok()) {
        return Ok(monitor);
    }
    let mut all = Monitor::all().with_context(|| hinted("there is no screen to be seen"))?;
    let primary = all.iter().position(|monitor| monitor.is_primary().unwrap_or(false));
    anyhow::ensure!(!all.is_empty(), "there is no screen");
    Ok(all.swap_remove(primary.unwrap_or(0)))
}

fn write(picture: &RgbaImage, args: &Args) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let name = || args.out.display().to_string();
    let mut file = BufWriter::new(options.open(&args.out).with_context(name)?);
    let written = picture.write_to(&mut file, ImageFormat::Png).with_context(name);
    let written = written.and_then(|()| std::io::Write::flush(&mut file).with_context(name));
    if written.is_err() {
        // An incomplete file is not a picture.
        let _ = std::fs::remove_file(&args.out);
    }
    written
}
