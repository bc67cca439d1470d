//! Programs' requests to transfer files over the terminal (OSC 5113).
//!
//! The user decides about each session, and is asked only while the window shows the pane. A session can't leave the folder
//! for downloads.

use std::path::PathBuf;

use unterm_mux::{PaneId, TransferDirection, TransferRequest};

use crate::window::{
    app::App, input::transfer_folder::transfer_folder, overlays::transfer_question::question,
};

impl App {
    /// Handles a program's request to transfer files.
    pub(crate) fn transfer_asked(&mut self, pane: PaneId, request: &TransferRequest) {
        let Some(shown) = self.mux.pane(pane) else { return };
        // After a denial, the user must type in the pane before the next question.
        let is_denied = self.input.transfers_denied.get(&pane) == Some(&shown.touches());
        let questions = &self.overlays.questions;
        let is_busy = questions.are_full() || questions.asks_for_transfer(pane);
        let folder = transfer_folder();
        // Don't ask about files that the program can't read.
        let paths = folder.as_deref().map(|folder| request.paths_in(folder)).unwrap_or_default();
        let asks_for_nothing = request.direction == TransferDirection::FromHere && paths.is_empty();
        match folder {
            Some(folder)
                if !asks_for_nothing
                    && self.surface.has_in_sight(pane, &self.mux.layout())
                    && !is_denied
                    && !is_busy =>
            {
                self.ask(question(&shown, request, &paths, &folder));
                self.with_parts(|parts, cx| parts.system.notices.ask_attention(cx));
            }
            _ => self.answer_transfer(pane, request.handle, None),
        }
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
