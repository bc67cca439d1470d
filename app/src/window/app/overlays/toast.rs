//! Shows messages (toasts) to the user.

use std::time::Instant;

use unterm_mux::PaneId;

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

/// The overlay of messages.
pub(crate) struct ToastsLayer;

impl Layer for ToastsLayer {
    /// Messages can always receive presses, but handle only presses on them.
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
        self.add_toast(Toast { until: Some(Instant::now() + TIME), ..Toast::of(about, text) });
    }

    /// Shows a message about a pane. A click on the message shows the pane.
    pub(crate) fn notify_of(&mut self, pane: PaneId, about: &'static str, text: String) {
        let (until, pane) = (Some(Instant::now() + TIME), Some(pane));
        self.add_toast(Toast { until, pane, ..Toast::of(about, text) });
    }

    /// Shows a notification as a message that expires. Only a newer version of the same notification replaces the
    /// message.
    pub(crate) fn show_in_window(&mut self, notification: Key, text: String) {
        let (until, pane) = (Some(Instant::now() + TIME), Some(notification.pane()));
        let notification = Some(notification);
        self.add_toast(Toast { until, pane, notification, ..Toast::of("notification", text) });
    }

    /// Shows a message that is not an error. The message stays until [`App::settle`] removes it.
    pub(crate) fn keep_saying(&mut self, about: &'static str, text: String) {
        self.add_toast(Toast::of(about, text));
    }

    /// Shows an error. The message stays until the user dismisses it or [`App::settle`] removes it.
    pub(crate) fn complain(&mut self, about: &'static str, text: String) {
        self.overlays.toasts.complaint = Some(text.clone());
        self.add_toast(Toast { is_error: true, ..Toast::of(about, text) });
    }

    fn add_toast(&mut self, toast: Toast) {
        self.overlays.toasts.add(toast);
        self.surface.pacing.ask();
    }

    /// Shows why an action is not possible now, in a message that expires. Also records the text for a caller that
    /// requests it.
    pub(crate) fn refuse(&mut self, about: &'static str, why: String) {
        self.overlays.toasts.complaint = Some(why.clone());
        self.notify(about, why);
    }

    /// Removes the messages about a problem that no longer exists. Returns false if there were none.
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

    /// Runs `does`, and returns the error that it showed. For callers that don't see the window.
    pub(crate) fn complaint_of<T>(
        &mut self,
        does: impl FnOnce(&mut Self) -> T,
    ) -> Result<T, String> {
        self.overlays.toasts.complaint = None;
        let done = does(self);
        self.overlays.toasts.complaint.take().map_or(Ok(done), Err)
    }

    /// Dismisses the message under the pointer. Then shows the pane or opens the question that the message is about.
    /// Returns false if no message is there.
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
            .map(|(toast, ..)| (toast.about, toast.notification, toast.pane));
        match hit {
            Some((asks::ABOUT, ..)) => self.answer_agent(),
            Some((about, notification, pane)) => {
                let is_hit =
                    |toast: &Toast| (toast.about, toast.notification) == (about, notification);
                self.overlays.toasts.shown.retain(|toast| !is_hit(toast));
                if let Some(pane) = pane {
                    self.bring_to_front(pane);
                }
                self.surface.pacing.ask();
                true
            }
            None => false,
        }
    }
}
