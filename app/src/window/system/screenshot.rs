//! Saves pictures of the window and of the screen as files.
//!
//! The picture of the window is painted from its last frame, so other windows in front of it do not appear. The
//! separate program `unterm-capture` takes pictures of the screen.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use unterm_mux::private;

use crate::captures;
use crate::window::input::picture::Picture;

/// The time that a hidden window needs to disappear from the screen, in milliseconds.
const GONE: &str = "250";

/// The subject of a screenshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shot {
    /// A region of the screen that the user selects with the mouse.
    Region {
        /// Whether the window is hidden while the picture is taken.
        hidden: bool,
    },
    /// This window.
    Window,
    /// The whole screen that shows the window.
    Screen,
}

/// Whether `unterm-capture` is installed.
pub(crate) fn sees_screen() -> bool {
    static FOUND: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *FOUND.get_or_init(|| captures::program().is_ok_and(|program| program.is_file()))
}

/// The prefix of the picture's file name.
pub(crate) fn prefix(shot: Shot) -> &'static str {
    match shot {
        Shot::Region { hidden: true } => "region_hidden",
        Shot::Region { hidden: false } => "region_visible",
        Shot::Window => "window",
        Shot::Screen => "screen",
    }
}

#[derive(Debug)]
pub(crate) struct SavedScreenshot {
    pub(crate) path: PathBuf,
    pub(crate) picture: Picture,
}

/// Saves a picture of the window; each pixel is `0x00RRGGBB`.
pub(crate) fn save_own(
    folder: &Path,
    name: &str,
    pixels: &[u32],
    size: (u32, u32),
) -> Result<SavedScreenshot> {
    private::create_folder(folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(name);
    let rgba = pixels.iter().flat_map(|pixel| {
        let [_, r, g, b] = pixel.to_be_bytes();
        [r, g, b, 255]
    });
    let image = image::RgbaImage::from_raw(size.0, size.1, rgba.collect()).context("no frame")?;
    let png = captures::png(&image)?;
    private::replace(&path, |file| std::io::Write::write_all(file, &png))
        .with_context(|| path.display().to_string())?;
    Ok(SavedScreenshot { path, picture: Picture::from(image) })
}

/// Runs `unterm-capture`. Returns `None` if the user canceled the selection.
pub(crate) fn save_screen(
    folder: &Path,
    name: &str,
    is_region: bool,
    hidden: bool,
    at: Option<(i32, i32)>,
) -> Result<Option<SavedScreenshot>> {
    private::create_folder(folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(name);
    let mut args = vec![if is_region { "region" } else { "screen" }.to_owned()];
    if let Some((x, y)) = at {
        args.extend(["--at".to_owned(), format!("{x},{y}")]);
    }
    if hidden {
        args.extend(["--delay", GONE].map(str::to_owned));
    }
    Ok(match captures::take(&args, &path)? {
        true => {
            let image = image::open(&path).with_context(|| path.display().to_string())?;
            Some(SavedScreenshot { path, picture: Picture::from(image.into_rgba8()) })
        }
        false => None,
    })
}
