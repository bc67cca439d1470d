//! Starts and stops the recording of a pane. The control server does the recording.

use crate::window::{cx::Cx, errand::ErrandResult};

/// The `about` key of messages about recordings.
const ABOUT: &str = "recording";

/// Starts to record the focused pane. If it is already recorded, stops, and copies the path of the recording's
/// page.
pub(crate) fn toggle_recording(cx: &mut Cx<'_>) {
    let Some(pane) = cx.focused_pane() else { return };
    let Some(recordings) = cx.server.map(unterm_control::Server::recordings) else {
        let text = "Recording needs the control server, which is not running.".to_owned();
        return cx.complain(ABOUT, text);
    };
    cx.errand(ABOUT, move || match recordings.toggle(pane) {
        Ok(Some(page)) => {
            ErrandResult::Copied(ABOUT, "Recording stopped. The path of its page is copied.", page)
        }
        Ok(None) => {
            ErrandResult::Said(ABOUT, "Recording this pane. The same action stops it.".to_owned())
        }
        Err(error) => ErrandResult::Failed(ABOUT, error),
    });
}

/// Whether the focused pane is recorded.
pub(crate) fn is_recording(cx: &Cx<'_>) -> bool {
    cx.server
        .zip(cx.focused_pane())
        .is_some_and(|(server, pane)| server.recordings().has(pane.id()))
}
