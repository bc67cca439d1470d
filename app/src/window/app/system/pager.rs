//! Shows the history of a pane or the output of a command in a pager: a tab that runs the program in
//! `scrollback.pager`.

use std::sync::Arc;

use unterm_mux::{OnExit, Pane, Spawn};
use unterm_term::{LineId, Lines, Point, TextRange};

use crate::window::{
    app::App,
    errand::{ErrandResult, Page},
    system::paged::PagedFile,
    workspace::{
        blocks::actions,
        copy::{LINES_CAP, ansi, lines},
    },
};
use crate::{cli::manual, editor, local_time};

/// The topic of messages about the pager.
const ABOUT: &str = "pager";

impl App {
    /// Shows the focused pane's history and screen in the pager, which starts at the first visible line.
    pub(crate) fn show_history(&mut self) {
        let Some(pane) = self.focused_pane() else { return };
        let Some(view) = self.fresh_view(&pane) else { return };
        let (top, _) = view.rows_in_sight();
        let mut rows = pane.term().lines();
        let Some(range) = with_text(rows.clone()) else {
            return self.notify(ABOUT, "There is no text to show.".to_owned());
        };
        let is_end = |line: &u64| !rows.is_wrapped(LineId(*line));
        let before = (range.start.line.0..top.0).filter(is_end).count();
        self.page(pane, range, before + 1, "History");
    }

    /// Shows the output of a command in the pager: of the command that the user jumped to, or else of the last
    /// command.
    pub(crate) fn show_output(&mut self) {
        let Some(pane) = self.focused_pane() else { return };
        let Some(id) = actions::command_meant(&pane, &self.workspace.views) else {
            return self.with_parts(|_, cx| actions::no_commands(cx));
        };
        let range = pane.term().output_range(id);
        match range {
            Some(range) => {
                self.with_parts(|_, cx| actions::warn_if_cut(&pane, id, cx));
                self.page(pane, range, 1, "Output");
            }
            None => self.notify(ABOUT, "The command printed nothing.".to_owned()),
        }
    }

    /// Shows a page of the manual in a tab.
    pub(crate) fn show_manual(&mut self, topic: &'static str) {
        let Some(text) = manual::text(topic) else { return };
        let home = self.prefs.settings.home().to_owned();
        let name = format!("{topic}_{}.txt", local_time::stamp());
        self.errand(ABOUT, move || match PagedFile::write(&home, &name, &text) {
            Ok(file) => ErrandResult::Paged(Page { file, line: 1, title: "Manual", cwd: None }),
            Err(error) => ErrandResult::Failed(ABOUT, format!("Can't write the text.\n{error:#}")),
        });
    }

    /// Writes text with its colors to a file, and opens the pager at a line of the file.
    fn page(&mut self, pane: Arc<Pane>, range: TextRange, line: usize, title: &'static str) {
        let home = self.prefs.settings.home().to_owned();
        let name = format!("{}_{}.txt", pane.id().0, local_time::stamp());
        self.errand(ABOUT, move || {
            let (lines, _) = lines(&pane, range, true);
            match PagedFile::write(&home, &name, &(ansi(&lines) + "\n")) {
                Ok(file) => ErrandResult::Paged(Page { file, line, title, cwd: pane.cwd_path() }),
                Err(error) => {
                    ErrandResult::Failed(ABOUT, format!("Can't write the text.\n{error:#}"))
                }
            }
        });
    }

    /// Opens a tab with the pager. The file is deleted when the tab is closed.
    pub(crate) fn open_page(&mut self, page: Page) {
        let Page { file, line, title, cwd } = page;
        let place = format!("{}:{line}", file.path().display());
        let command = editor::command(&self.prefs.config.scrollback.pager, &place, None);
        let mut words = command.into_iter();
        let cwd = cwd.filter(|cwd| cwd.is_dir());
        let spawn = Spawn { program: words.next(), args: words.collect(), cwd, ..Spawn::default() };
        match self.mux.open_tab(spawn, None, OnExit::Close) {
            Ok(pane) => {
                pane.set_name(title);
                self.system.paged.insert(pane.id(), file);
            }
            Err(error) => self.complain(ABOUT, format!("Can't start scrollback.pager.\n{error}")),
        }
    }
}

/// The range from the oldest line to the last line with text. If the history is too long, only its end.
fn with_text(mut rows: Lines) -> Option<TextRange> {
    let mut text = String::new();
    let (oldest, end) = (rows.oldest().0, rows.end().0);
    let last = (oldest..end).rev().find(|line| {
        text.clear();
        rows.row_text(LineId(*line), &mut text);
        !text.trim_end().is_empty()
    })?;
    let first = oldest.max(last.saturating_sub(LINES_CAP - 1));
    Some(TextRange {
        start: Point { line: LineId(first), col: 0 },
        end: Point { line: LineId(last), col: u16::MAX },
        block: false,
    })
}
