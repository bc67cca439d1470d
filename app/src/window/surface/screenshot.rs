//! Takes screenshots: saves the picture to a file in Unterm's home directory, copies the picture to the clipboard, and
//! copies the path to the primary selection.

use anyhow::Result;
use unterm_renderer::CpuPainter;

use crate::window::{
    cx::Cx,
    effect::Effect,
    errand::ErrandResult,
    input::{buffer::Buffer, clipboard::Request},
    surface::{Surface, wayland, x_server},
    system::screenshot::{SavedScreenshot, Shot, prefix, save_own, save_screen},
};
use crate::{captures, local_time};

/// The folder for screenshots in Unterm's home directory.
const FOLDER: &str = "screenshots";
/// The `about` key of messages about screenshots.
const ABOUT: &str = "screenshot";

/// The message for a window that can't be hidden from the picture.
const CANT_HIDE: &str =
    "On Wayland, a window can't hide itself.\nMove this window away and choose Capture region.";

impl Surface {
    /// Takes a screenshot on another thread.
    pub(crate) fn take_screenshot(&mut self, shot: Shot, cx: &mut Cx<'_>) {
        let Some(screen) = &self.screen else { return };
        let folder = cx.prefs.settings.home().join(FOLDER);
        let name = format!("{}_{}.png", prefix(shot), local_time::stamp());
        if shot == Shot::Window {
            let pixels = CpuPainter::picture(&mut self.renderer);
            let frame = self.renderer.last_frame();
            let size = (frame.width, frame.height);
            return cx.errand(ABOUT, move || {
                errand_result(save_own(&folder, &name, &pixels, size).map(Some))
            });
        }
        match captures::program() {
            Ok(program) if program.is_file() => {}
            Ok(program) => return cx.complain(ABOUT, captures::missing(&program)),
            Err(error) => {
                return cx.complain(ABOUT, format!("Unterm can't find itself: {error}"));
            }
        }
        let hidden = shot == Shot::Region { hidden: true };
        if hidden && wayland::shows(&screen.window) {
            return cx.refuse(ABOUT, CANT_HIDE);
        }
        let corner = screen.window.outer_position().ok();
        let middle = corner.map(|corner| {
            let size = screen.window.outer_size();
            (corner.x + size.width as i32 / 2, corner.y + size.height as i32 / 2)
        });
        let window = x_server::id(&screen.window).filter(|_| hidden);
        if hidden {
            self.hidden_at = corner;
            cx.effects.push(Effect::Hide);
        }
        let is_region = matches!(shot, Shot::Region { .. });
        cx.errand(ABOUT, move || {
            let taken = save_screen(&folder, &name, is_region, hidden, middle);
            // Request the window's position before the window is shown again. Otherwise, some window managers move it.
            window.into_iter().for_each(x_server::keep_place);
            errand_result(taken)
        });
    }

    /// Shows the hidden window again. Then copies the picture, or shows the error.
    pub(crate) fn screenshot_taken(
        &mut self,
        taken: Result<Option<SavedScreenshot>, String>,
        cx: &mut Cx<'_>,
    ) {
        let screen = self.screen.as_ref();
        if screen.is_some_and(|screen| screen.window.is_visible() == Some(false)) {
            let corner = self.hidden_at.take();
            cx.effects.push(Effect::Show(corner));
            self.redraw_whole();
        }
        match taken {
            Ok(Some(SavedScreenshot { path, picture })) => {
                let path = path.display().to_string();
                cx.notify(ABOUT, format!("Picture copied.\n{path}"));
                cx.store(Buffer::Primary, path);
                cx.effects.push(Effect::Clipboard(Request::StorePicture(picture)));
            }
            Ok(None) => {}
            Err(why) => cx.complain(ABOUT, format!("Capture failed.\n{why}")),
        }
    }
}

fn errand_result(taken: Result<Option<SavedScreenshot>>) -> ErrandResult {
    ErrandResult::Screenshot(taken.map_err(|error| format!("{error:#}")))
}
