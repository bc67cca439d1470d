//! Shows messages to the user.

use std::time::Instant;

use crate::desktop::Key;
use crate::window::{
    app::{App, overlays::layer::Layer},
    overlays::{
        asks,
        canvas::Canvas,
        toast::{TIME, Toast},
    },
    surface::plan::Drawn,
    ui::geometry::contains,
};

/// Messages.
pub(crate) struct ToastsLayer;

impl Layer for ToastsLayer {
    /// Messages take presses on them only.
    fn is_open(&self, _: &App) -> bool {
        true
    }

    fn lies_over_text(&self, app: &App) -> bool {
        !app.overlays.toasts.is_empty()
    }

    fn press(&self, app: &mut App) -> bool {
        app.input.pointer.position.is_some_and(|(x, y)| app.dismiss_toast(x, y))
    }

    fn draw(&self, drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
        drawn.overlays.toasts.draw(canvas.geometry, canvas.colors, canvas.scene);
    }
}

impl App {
    /// Shows a message that expires.
    pub(crate) fn notify(&mut self, about: &'static str, text: String) {
        let until = Some(Instant::now() + TIME);
        self.overlays.toasts.add(Toast { about, notification: None, text, until, is_error: false });
        self.surface.pacing.ask();
    }

    /// Shows a notification as a message that expires; only a newer version of the same notification replaces it.
    pub(crate) fn show_in_window(&mut self, notification: Key, text: String) {
        let (until, notification) = (Some(Instant::now() + TIME), Some(notification));
        let about = "notification";
        self.overlays.toasts.add(Toast { about, notification, text, until, is_error: false });
        self.surface.pacing.ask();
    }

    /// Shows a message that is not an error and stays until [`App::settle`] removes it.
    pub(crate) fn keep_saying(&mut self, about: &'static str, text: String) {
        self.overlays.toasts.add(Toast {
            about,
            notification: None,
            text,
            until: None,
            is_error: false,
        });
        self.surface.pacing.ask();
    }

    /// Shows an error, which stays until it is dismissed or [`App::settle`] removes it.
    pub(crate) fn complain(&mut self, about: &'static str, text: String) {
        self.overlays.toasts.complaint = Some(text.clone());
        self.overlays.toasts.add(Toast {
            about,
            notification: None,
            text,
            until: None,
            is_error: true,
        });
        self.surface.pacing.ask();
    }

    /// Shows, in a message that expires, why an action is not possible now; also reports it to the caller.
    pub(crate) fn refuse(&mut self, about: &'static str, why: String) {
        self.overlays.toasts.complaint = Some(why.clone());
        self.notify(about, why);
    }

    /// Removes the messages about a problem that no longer exists; false if there were none.
    pub(crate) fn settle(&mut self, about: &'static str) -> bool {
        let before = self.overlays.toasts.shown.len();
        self.overlays.toasts.shown.retain(|toast| toast.about != about);
        self.surface.pacing.ask();
        self.overlays.toasts.shown.len() < before
    }

    pub(crate) fn dismiss_toasts(&mut self) {
        self.overlays.toasts.shown.clear();
        self.surface.pacing.ask();
    }

    /// Runs `does`, and returns the error that it showed, for callers that don't see the window.
    pub(crate) fn complaint_of<T>(
        &mut self,
        does: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, String> {
        self.overlays.toasts.complaint = None;
        let done = does(self);
        self.overlays.toasts.complaint.take().map_or(Ok(done), Err)
    }

    /// Dismisses the toast under the pointer, or opens the question it shows; false if there is no toast.
    pub(crate) fn dismiss_toast(&mut self, x: f64, y: f64) -> bool {
        let Some(geometry) = self.surface.geometry else {
            return false;
        };
        let hit = self
            .overlays
            .toasts
            .placed(&geometry)
            .into_iter()
            .find(|(_, rect, _)| contains(*rect, x, y))
            .map(|(toast, ..)| (toast.about, toast.notification));
        match hit {
            Some((asks::ABOUT, _)) => self.answer_agent(),
            Some(hit) => {
                self.overlays.toasts.shown.retain(|toast| (toast.about, toast.notification) != hit);
                self.surface.pacing.ask();
                true
            }
            None => false,
        }
    }
}
