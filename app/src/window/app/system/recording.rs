//! Starts and stops the recording of a pane. The control server does the recording.

use crate::window::{app::App, errand::ErrandResult};

/// The `about` key of messages about recordings.
const ABOUT: &str = "recording";

impl App {
    /// Starts to record the focused pane. If it is already recorded, stops, and copies the path of the recording's
    /// page.
    pub(crate) fn toggle_recording(&mut self) {
        let Some(pane) = self.focused_pane() else { return };
        let Some(recordings) = self.server.as_ref().map(unterm_control::Server::recordings) else {
            let text = "Recording needs the control server, which is not running.".to_owned();
            return self.complain(ABOUT, text);
        };
        self.errand(ABOUT, move || match recordings.toggle(pane) {
            Ok(Some(page)) => ErrandResult::Copied(
                ABOUT,
                "Recording stopped. The path of its page is copied.",
                page,
            ),
            Ok(None) => ErrandResult::Said(
                ABOUT,
                "Recording this pane. The same action stops it.".to_owned(),
            ),
            Err(error) => ErrandResult::Failed(ABOUT, error),
        });
    }

    pub(crate) fn is_recording(&self) -> bool {
        let server = self.server.as_ref();
        server
            .zip(self.focused_pane())
            .is_some_and(|(server, pane)| server.recordings().has(pane.id()))
    }
}
