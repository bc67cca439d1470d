//! Screenshots: files in Unterm's home directory, the picture on the clipboard, the path in the primary selection.
//!
//! The window's own picture is painted from its last frame, so windows in front of it do not appear. The separate
//! program `unterm-capture` takes pictures of the screen.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use unterm_mux::private;
use unterm_renderer::CpuPainter;

use super::{
    App,
    clipboard::{Buffer, Picture},
    errand::Done,
    wayland, x_server,
};
use crate::{action::Shot, captures, local_time};

/// The folder in Unterm's home directory.
const FOLDER: &str = "screenshots";
/// The time for a hidden window to disappear from the screen, in milliseconds.
const GONE: &str = "250";
/// The `about` key of messages.
const ABOUT: &str = "screenshot";
/// The message when the window can't be hidden from the picture.
const CANT_HIDE: &str =
    "On Wayland, a window can't hide itself.\nMove this window away and choose Capture region.";

/// Whether `unterm-capture` is installed.
pub(super) fn sees_screen() -> bool {
    static FOUND: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *FOUND.get_or_init(|| captures::program().is_ok_and(|program| program.is_file()))
}

/// The prefix of the file name.
fn prefix(shot: Shot) -> &'static str {
    match shot {
        Shot::Region { hidden: true } => "region_hidden",
        Shot::Region { hidden: false } => "region_visible",
        Shot::Window => "window",
        Shot::Screen => "screen",
    }
}

#[derive(Debug)]
pub(super) struct Taken {
    path: PathBuf,
    picture: Picture,
}

impl App {
    pub(super) fn screenshot(&mut self, shot: Shot) {
        let Some(screen) = &self.screen else { return };
        let folder = self.settings.home().join(FOLDER);
        let name = format!("{}_{}.png", prefix(shot), local_time::stamp());
        if shot == Shot::Window {
            let pixels = CpuPainter::picture(&mut self.renderer);
            let frame = self.renderer.last_frame();
            let size = (frame.width, frame.height);
            return self
                .errand(ABOUT, move || told(save_own(&folder, &name, &pixels, size).map(Some)));
        }
        match captures::program() {
            Ok(program) if program.is_file() => {}
            Ok(program) => return self.complain(ABOUT, captures::missing(&program)),
            Err(error) => {
                return self.complain(ABOUT, format!("Unterm can't find itself: {error}"));
            }
        }
        let hidden = shot == Shot::Region { hidden: true };
        if hidden && wayland::shows(&screen.window) {
            return self.refuse(ABOUT, CANT_HIDE.to_owned());
        }
        let corner = screen.window.outer_position().ok();
        let middle = corner.map(|corner| {
            let size = screen.window.outer_size();
            (corner.x + size.width as i32 / 2, corner.y + size.height as i32 / 2)
        });
        let window = x_server::id(&screen.window).filter(|_| hidden);
        if hidden {
            screen.window.set_visible(false);
            self.hidden_at = corner;
        }
        let is_region = matches!(shot, Shot::Region { .. });
        self.errand(ABOUT, move || {
            let taken = save_screen(&folder, &name, is_region, hidden, middle);
            // Before the window is shown again: window managers may move a window that does not request a position.
            window.into_iter().for_each(x_server::keep_place);
            told(taken)
        });
    }

    /// Shows the hidden window again, then copies the picture or shows the error.
    pub(super) fn screenshot_taken(&mut self, taken: Result<Option<Taken>, String>) {
        if let Some(screen) = &self.screen
            && screen.window.is_visible() == Some(false)
        {
            screen.window.set_visible(true);
            if let Some(corner) = self.hidden_at.take() {
                screen.window.set_outer_position(corner);
            }
            screen.window.focus_window();
            self.redraw_whole();
        }
        match taken {
            Ok(Some(Taken { path, picture })) => {
                let path = path.display().to_string();
                self.notify(ABOUT, format!("Picture copied.\n{path}"));
                self.clipboard.store(Buffer::Primary, path);
                self.clipboard.store_picture(picture);
            }
            Ok(None) => {}
            Err(why) => self.complain(ABOUT, format!("Capture failed.\n{why}")),
        }
    }
}

fn told(taken: Result<Option<Taken>>) -> Done {
    Done::Screenshot(taken.map_err(|error| format!("{error:#}")))
}

/// Saves a picture of the window; each pixel is `0x00RRGGBB`.
fn save_own(folder: &Path, name: &str, pixels: &[u32], size: (u32, u32)) -> Result<Taken> {
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
    Ok(Taken { path, picture: Picture::from(image) })
}

/// Runs `unterm-capture`; `None` if the user cancelled.
fn save_screen(
    folder: &Path,
    name: &str,
    is_region: bool,
    hidden: bool,
    at: Option<(i32, i32)>,
) -> Result<Option<Taken>> {
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
            Some(Taken { path, picture: Picture::from(image.into_rgba8()) })
        }
        false => None,
    })
}
