//! Programs' requests to transfer files over the terminal (OSC 5113).
//!
//! The user decides about each session, and is asked only while the window shows the pane. A session can't leave the folder
//! for downloads.

use std::path::PathBuf;

use unterm_control::shortened;
use unterm_mux::{PaneId, TransferDirection, TransferRequest};

use crate::window::{
    app::App,
    input::transfer_folder::transfer_folder,
    overlays::confirm::{Answer, Confirm, Preview},
};

/// The maximum number of paths, and of characters of a path and of the pane's title, that a question shows.
const PATHS_SHOWN: usize = 6;
const PATH_SHOWN: usize = 100;
const TITLE_SHOWN: usize = 80;

impl App {
    /// Handles a program's request to transfer files.
    pub(crate) fn transfer_asked(&mut self, pane: PaneId, request: &TransferRequest) {
        let Some(touches) = self.mux.pane(pane).map(|pane| pane.touches()) else { return };
        // After a denial, the user must type in the pane before the next question.
        let is_denied = self.input.transfers_denied.get(&pane) == Some(&touches);
        let questions = &self.overlays.questions;
        let is_busy = questions.are_full() || questions.asks_for_transfer(pane);
        let folder = transfer_folder();
        match folder {
            Some(folder) if self.is_in_sight(pane) && !is_denied && !is_busy => {
                let question = self.transfer_question(pane, request, folder);
                self.ask(question);
                self.ask_attention();
            }
            _ => self.answer_transfer(pane, request.handle, None),
        }
    }

    /// The question whether a program may transfer files. The button that denies it is marked, and no letter allows it,
    /// because the question can appear while the user types.
    fn transfer_question(
        &self,
        pane: PaneId,
        request: &TransferRequest,
        folder: PathBuf,
    ) -> Confirm {
        let title = self.mux.pane(pane).map(|pane| pane.title()).unwrap_or_default();
        let title = shortened(&title, TITLE_SHOWN);
        let shown = folder.display();
        let (question, about) = match request.direction {
            TransferDirection::ToHere => (
                "Let a program put files on this machine?",
                format!(
                    "The program in the pane “{title}” may then write new files to {shown}. It can't replace files, \
                     and can't write anywhere else."
                ),
            ),
            TransferDirection::FromHere => (
                "Let a program read files of this machine?",
                format!(
                    "The program in the pane “{title}” may then read these paths in {shown}, with all that they \
                     contain. If it runs on another machine, the files go there."
                ),
            ),
        };
        let more = request.paths.len().saturating_sub(PATHS_SHOWN);
        let line = |text: String| Preview { text, ..Preview::default() };
        let paths = request.paths.iter().take(PATHS_SHOWN);
        let mut lines: Vec<_> = paths.map(|path| line(shortened(path, PATH_SHOWN))).collect();
        if more > 0 {
            lines.push(line(format!("and {more} more")));
        }
        let answer = |folder| Answer::Transfer { pane, handle: request.handle, folder };
        Confirm::new(question, about)
            .preview(lines)
            .button_without_key("Allow", answer(Some(folder.clone())))
            .marked_last("Deny", answer(None))
    }

    /// Carries out the user's answer.
    pub(crate) fn transfer_answered(&mut self, pane: PaneId, handle: u64, folder: Option<PathBuf>) {
        if folder.is_none()
            && let Some(touches) = self.mux.pane(pane).map(|pane| pane.touches())
        {
            self.input.transfers_denied.insert(pane, touches);
        }
        self.answer_transfer(pane, handle, folder);
    }

    fn answer_transfer(&self, pane: PaneId, handle: u64, folder: Option<PathBuf>) {
        if let Some(pane) = self.mux.pane(pane) {
            tracing::info!(pane = pane.id().0, allowed = folder.is_some(), "file transfer");
            pane.answer_transfer(handle, folder);
        }
    }
}
