//! Takes screenshots: saves the picture to a file in Unterm's home directory, copies the picture to the clipboard, and
//! copies the path to the primary selection.

use anyhow::Result;
use unterm_renderer::CpuPainter;

use crate::window::{
    app::App,
    effect::Effect,
    input::{buffer::Buffer, clipboard::Request},
    surface::{wayland, x_server},
    system::{
        errand::ErrandResult,
        screenshot::{SavedScreenshot, Shot, prefix, save_own, save_screen},
    },
};
use crate::{captures, local_time};

/// The folder for screenshots in Unterm's home directory.
const FOLDER: &str = "screenshots";
/// The `about` key of messages about screenshots.
const ABOUT: &str = "screenshot";

/// The message for a window that can't be hidden from the picture.
const CANT_HIDE: &str =
    "On Wayland, a window can't hide itself.\nMove this window away and choose Capture region.";

impl App {
    pub(crate) fn screenshot(&mut self, shot: Shot) {
        let Some(screen) = &self.surface.screen else { return };
        let folder = self.prefs.settings.home().join(FOLDER);
        let name = format!("{}_{}.png", prefix(shot), local_time::stamp());
        if shot == Shot::Window {
            let pixels = CpuPainter::picture(&mut self.surface.renderer);
            let frame = self.surface.renderer.last_frame();
            let size = (frame.width, frame.height);
            return self.errand(ABOUT, move || {
                errand_result(save_own(&folder, &name, &pixels, size).map(Some))
            });
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
            self.surface.hidden_at = corner;
            self.effect(Effect::Hide);
        }
        let is_region = matches!(shot, Shot::Region { .. });
        self.errand(ABOUT, move || {
            let taken = save_screen(&folder, &name, is_region, hidden, middle);
            // Request the window's position before the window is shown again. Otherwise, some window managers move it.
            window.into_iter().for_each(x_server::keep_place);
            errand_result(taken)
        });
    }

    /// Shows the hidden window again. Then copies the picture, or shows the error.
    pub(crate) fn screenshot_taken(&mut self, taken: Result<Option<SavedScreenshot>, String>) {
        let screen = self.surface.screen.as_ref();
        if screen.is_some_and(|screen| screen.window.is_visible() == Some(false)) {
            let corner = self.surface.hidden_at.take();
            self.effect(Effect::Show(corner));
            self.surface.redraw_whole();
        }
        match taken {
            Ok(Some(SavedScreenshot { path, picture })) => {
                let path = path.display().to_string();
                self.notify(ABOUT, format!("Picture copied.\n{path}"));
                self.store(Buffer::Primary, path);
                self.effect(Effect::Clipboard(Request::StorePicture(picture)));
            }
            Ok(None) => {}
            Err(why) => self.complain(ABOUT, format!("Capture failed.\n{why}")),
        }
    }
}

fn errand_result(taken: Result<Option<SavedScreenshot>>) -> ErrandResult {
    ErrandResult::Screenshot(taken.map_err(|error| format!("{error:#}")))
}
