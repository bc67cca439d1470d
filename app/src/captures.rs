//! Screenshots and clipboard access for control clients, with and without a window.
//!
//! The CPU painter paints panes from their live screens. The separate program `unterm-capture` captures the display.
//! Never changes the content of the window.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
};

use anyhow::{Context, bail};
use unterm_control::{Captures, Clip, OnDisplay};
use unterm_mux::Pane;
use unterm_renderer::{CpuPainter, PaneScene, PixelRect, Renderer, Scene};
use unterm_term::{Rgb, Snapshot};

use crate::{config, local_time, own_program};

/// The program that captures the display. It is in the same folder as this program.
const PROGRAM: &str = "unterm-capture";
/// The space between panes that are painted side by side, in pixels, and its color.
const GAP: u32 = 8;
const GAP_COLOR: Rgb = Rgb { r: 0x30, g: 0x30, b: 0x30 };
/// The maximum number of pixels in a picture of panes. Such a picture takes 256 MB.
const LARGEST: u64 = 64 << 20;
/// The error messages without a display, for captures and for the clipboard.
const NO_DISPLAY: &str = "this Unterm was started without a display; start it on a desktop (with DISPLAY or \
     WAYLAND_DISPLAY set), or take a session's picture by screen.png";
const NO_CLIPBOARD: &str = "There is no clipboard: this Unterm was started without a display. Start it on a desktop (with \
     DISPLAY or WAYLAND_DISPLAY set), or read sessions by screen.text";

/// The path of the capture program.
pub(crate) fn program() -> std::io::Result<PathBuf> {
    own_program::beside(PROGRAM)
}

/// The error message if the capture program is missing.
pub(crate) fn missing(program: &Path) -> String {
    format!(
        "{PROGRAM}, which captures the screen, is not installed.\nPut it at {}; packaging/run builds it.",
        program.display()
    )
}

/// Runs the capture program, which writes a picture to `file`. Returns false if the user canceled the selection.
pub(crate) fn take(args: &[String], file: &Path) -> anyhow::Result<bool> {
    let program = program()?;
    let mut command = Command::new(&program);
    command.args(args).arg("--out").arg(file);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let output = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            bail!("{}", missing(&program))
        }
        output => output.with_context(|| program.display().to_string())?,
    };
    match output.status.code() {
        Some(0) => Ok(true),
        Some(2) => Ok(false),
        Some(3) => bail!("nobody chose a region in time"),
        _ => bail!("{}", String::from_utf8_lossy(&output.stderr).trim()),
    }
}

/// Takes captures with the preferences in a home directory.
pub(crate) struct AppCaptures {
    /// Unterm's home directory.
    pub(crate) home: PathBuf,
}

impl Captures for AppCaptures {
    fn panes(&self, panes: &[Arc<Pane>]) -> Result<Vec<u8>, String> {
        let config = config::load(&self.home.join(config::FILE), &self.home).unwrap_or_default();
        let mut renderer = Renderer::new(config.font.options());
        renderer.set_text(config.text.options());
        paint(&mut renderer, panes)
    }

    fn display(&self, what: &OnDisplay, file: &Path) -> Result<bool, String> {
        if !has_display() {
            return Err(NO_DISPLAY.to_owned());
        }
        let mut args = Vec::new();
        let mut add = |arg: &str| args.push(arg.to_owned());
        match what {
            OnDisplay::Screen => add("screen"),
            OnDisplay::Window { title, pid } => {
                add("window");
                if let Some(title) = title {
                    add(&format!("--title={title}"));
                }
                if let Some(pid) = pid {
                    add(&format!("--pid={pid}"));
                }
            }
            OnDisplay::Region(time) => {
                add("region");
                add(&format!("--timeout={}", time.as_millis()));
            }
        }
        take(&args, file).map_err(|error| format!("{error:#}"))
    }

    fn clipboard(&self) -> Result<Clip, String> {
        if !has_display() {
            return Err(NO_CLIPBOARD.to_owned());
        }
        let mut clipboard = arboard::Clipboard::new().map_err(unreachable)?;
        let text = match clipboard.get_text() {
            Ok(text) if !text.is_empty() => return Ok(Clip::Text(text)),
            text => text,
        };
        // If reading text fails, the clipboard may still contain an image: some programs, such as xclip, offer only an
        // image but send its bytes when text is requested.
        let image = clipboard.get_image().map_err(|error| match (error, text) {
            (arboard::Error::ContentNotAvailable, Err(of_text)) => unreadable(of_text),
            (error, _) => unreadable(error),
        })?;
        let (width, height) = (image.width, image.height);
        let png = png_of(width, height, image.bytes.into_owned())
            .ok_or_else(|| unreadable(arboard::Error::ConversionFailure))?;
        Ok(Clip::Image { width, height, png })
    }

    fn stamp(&self) -> String {
        local_time::stamp()
    }
}

/// Whether the environment names a display. Always true on systems that have no such variables.
fn has_display() -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(not(all(unix, not(target_os = "macos")))) || is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")
}

/// The error message if no clipboard can be reached.
fn unreachable(error: arboard::Error) -> String {
    tracing::debug!(%error, "the clipboard");
    match error {
        arboard::Error::ClipboardNotSupported => {
            "On this display, a program without a window can't read the clipboard: call an Unterm that has a window"
        }
        _ => {
            "The clipboard can't be reached: the display that DISPLAY or WAYLAND_DISPLAY names does \
             not answer. Restart Unterm on a display that does"
        }
    }
    .to_owned()
}

/// The error message if the clipboard's content can't be read.
fn unreadable(error: arboard::Error) -> String {
    tracing::debug!(%error, "the clipboard");
    match error {
        arboard::Error::ContentNotAvailable => {
            "The clipboard is empty, or holds neither text nor an image: copy one of these first"
        }
        arboard::Error::ClipboardOccupied => {
            "Another program holds the clipboard just now: ask again"
        }
        arboard::Error::ClipboardNotSupported => return unreachable(error),
        _ => "What is on the clipboard can't be read as text or as an image: copy it anew",
    }
    .to_owned()
}

/// Encodes an image as PNG.
pub(crate) fn png(image: &image::RgbaImage) -> image::ImageResult<Vec<u8>> {
    let mut png = std::io::Cursor::new(Vec::new());
    image.write_to(&mut png, image::ImageFormat::Png)?;
    Ok(png.into_inner())
}

/// Encodes RGBA pixels as PNG. `None` if the number of bytes does not match the size.
pub(crate) fn png_of(width: usize, height: usize, rgba: Vec<u8>) -> Option<Vec<u8>> {
    let (width, height) = (u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    png(&image::RgbaImage::from_raw(width, height, rgba)?).ok()
}

/// Paints panes side by side, from left to right. Returns the picture as PNG.
fn paint(renderer: &mut Renderer, panes: &[Arc<Pane>]) -> Result<Vec<u8>, String> {
    let metrics = renderer.metrics();
    let snapshots: Vec<Snapshot> = panes
        .iter()
        .map(|pane| {
            let mut snapshot = Snapshot::default();
            pane.term().snapshot(&mut snapshot, None);
            snapshot
        })
        .collect();
    let size = |snapshot: &Snapshot| {
        let (cols, rows) = (u32::from(snapshot.size.cols), u32::from(snapshot.size.rows));
        (cols * metrics.width, rows * metrics.height)
    };
    let sizes: Vec<_> = snapshots.iter().map(size).collect();
    let gaps = u64::from(GAP) * (sizes.len().saturating_sub(1)) as u64;
    let width = sizes.iter().map(|size| u64::from(size.0)).sum::<u64>() + gaps;
    let height = sizes.iter().map(|size| size.1).max().unwrap_or(0);
    if width == 0 || height == 0 {
        return Err("there is no session to take a picture of; open one first".to_owned());
    }
    if width * u64::from(height) > LARGEST {
        return Err(format!(
            "a picture of {width}x{height} pixels is too large; capture one session at a time with screen.png"
        ));
    }
    let mut x = 0;
    let mut scene =
        Scene { width: width as u32, height, background: GAP_COLOR, ..Scene::default() };
    for (index, (snapshot, (width, height))) in snapshots.iter().zip(sizes).enumerate() {
        let area = PixelRect { x, y: 0, width, height };
        scene.panes.push(PaneScene::new(index as u64, snapshot, area, (x, 0)));
        x += (width + GAP) as i32;
    }
    renderer.complete_frame(&scene);
    CpuPainter::png(renderer).map_err(|error| error.to_string())
}
