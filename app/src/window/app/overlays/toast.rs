//! Shows messages (toasts) to the user.

use unterm_mux::PaneId;

use crate::desktop::Key;
use crate::window::{
    app::App,
    overlays::toast::{TIME, Toast},
};

impl App {
    /// Shows a message that expires.
    pub(crate) fn notify(&mut self, about: &'static str, text: String) {
        self.add_toast(Toast { until: Some(self.now + TIME), ..Toast::of(about, text) });
    }

    /// Shows a message about a pane. A click on the message shows the pane.
    pub(crate) fn notify_of(&mut self, pane: PaneId, about: &'static str, text: String) {
        let (until, pane) = (Some(self.now + TIME), Some(pane));
        self.add_toast(Toast { until, pane, ..Toast::of(about, text) });
    }

    /// Shows a notification as a message that expires. Only a newer version of the same notification replaces the
    /// message.
    pub(crate) fn show_in_window(&mut self, notification: Key, text: String) {
        let (until, pane) = (Some(self.now + TIME), Some(notification.pane()));
        let notification = Some(notification);
        self.add_toast(Toast { until, pane, notification, ..Toast::of("notification", text) });
    }

    /// Shows a message that is not an error. The message stays until [`Toasts::settle`](crate::window::overlays::toast::Toasts::settle) removes it.
    pub(crate) fn keep_saying(&mut self, about: &'static str, text: String) {
        self.add_toast(Toast::of(about, text));
    }

    /// Shows an error. The message stays until the user dismisses it or [`Toasts::settle`](crate::window::overlays::toast::Toasts::settle) removes it.
    pub(crate) fn complain(&mut self, about: &'static str, text: String) {
        self.overlays.toasts.complaint = Some(text.clone());
        self.add_toast(Toast { is_error: true, ..Toast::of(about, text) });
    }

    fn add_toast(&mut self, toast: Toast) {
        self.overlays.toasts.add(toast);
    }

    /// Shows why an action is not possible now, in a message that expires. Also records the text for a caller that
    /// requests it.
    pub(crate) fn refuse(&mut self, about: &'static str, why: String) {
        self.overlays.toasts.complaint = Some(why.clone());
        self.notify(about, why);
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
}
