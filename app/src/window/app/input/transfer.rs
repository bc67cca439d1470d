//! Programs' requests to transfer files over the terminal (OSC 5113).
//!
//! The user decides about each session, and is asked only while the window shows the pane. A session can't leave the folder
//! for downloads.

use std::path::{Path, PathBuf};

use unicode_width::UnicodeWidthChar;
use unterm_control::{escaped, shortened};
use unterm_mux::{PaneId, TransferDirection, TransferRequest};

use crate::window::{
    app::App,
    input::transfer_folder::transfer_folder,
    overlays::{
        answer::Answer,
        confirm::{Confirm, Preview},
    },
};

/// The maximum number of characters of a path and of the pane's title that a question shows.
const PATH_SHOWN: usize = 100;
const TITLE_SHOWN: usize = 80;
/// The columns of a line with a path. The question's width has room for them.
const LINE_SHOWN: usize = 50;

/// A text in one line, with invisible characters escaped, so that it can't imitate other text.
fn visible(text: &str) -> String {
    escaped(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// The lines that show a path beneath the folder. The empty path is the whole folder.
fn lines_of(path: &str, folder: &Path) -> Vec<String> {
    let text = match path.is_empty() {
        true => format!("everything in {}", folder.display()),
        false => path.to_owned(),
    };
    let mut lines = vec![String::new()];
    let mut columns = 0;
    for char in shortened(&visible(&text), PATH_SHOWN).chars() {
        let width = char.width().unwrap_or_default();
        if columns + width > LINE_SHOWN {
            lines.push("    ".to_owned());
            columns = 4;
        }
        columns += width;
        if let Some(line) = lines.last_mut() {
            line.push(char);
        }
    }
    lines
}

impl App {
    /// Handles a program's request to transfer files.
    pub(crate) fn transfer_asked(&mut self, pane: PaneId, request: &TransferRequest) {
        let Some(touches) = self.mux.pane(pane).map(|pane| pane.touches()) else { return };
        // After a denial, the user must type in the pane before the next question.
        let is_denied = self.input.transfers_denied.get(&pane) == Some(&touches);
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
                let question = self.transfer_question(pane, request, &paths, folder);
                self.ask(question);
                self.with_parts(|parts, cx| parts.system.notices.ask_attention(cx));
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
        paths: &[String],
        folder: PathBuf,
    ) -> Confirm {
        let title = self.mux.pane(pane).map(|pane| pane.title()).unwrap_or_default();
        let title = shortened(&visible(&title), TITLE_SHOWN);
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
        // A session asks for at most `TransferRequest::PATHS_CAP` paths. The user allows only the paths that the window
        // shows.
        let lines = paths.iter().flat_map(|path| lines_of(path, &folder));
        let lines = lines.map(|text| Preview { text, ..Preview::default() }).collect();
        let answer = |folder| Answer::Transfer { pane, handle: request.handle, folder };
        Confirm::new(question, about)
            .grants(lines)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_as_what_it_is() {
        let lines = |path: &str| lines_of(path, Path::new("/home/u/Downloads"));
        assert_eq!(lines(""), ["everything in /home/u/Downloads"]);
        assert_eq!(lines("a/b.txt"), ["a/b.txt"]);
        assert_eq!(lines("a\u{202e}b\u{200b}\n\t\u{1b}"), ["a\\u{202e}b\\u{200b}\\n\\t\\u{1b}"]);
        let (long, wide) = ("x".repeat(60), "\u{6f22}".repeat(26));
        assert_eq!(lines(&long), ["x".repeat(50), format!("    {}", "x".repeat(10))]);
        assert_eq!(lines(&wide), ["\u{6f22}".repeat(25), "    \u{6f22}".to_owned()]);
        assert_eq!(lines(&"x".repeat(4000)).len(), 3);
    }
}
