//! Shows the history of a pane or the output of a command in a pager: a tab that runs the program in
//! `scrollback.pager`.

use std::sync::Arc;

use unterm_mux::{OnExit, Pane, Spawn};
use unterm_term::{LineId, Lines, Point, TextRange};

use crate::window::{
    cx::Cx,
    errand::{ErrandResult, Page},
    system::paged::{PagedFile, PagedFiles},
    workspace::{
        blocks::actions,
        copy::{LINES_CAP, ansi, lines},
    },
};
use crate::{cli::manual, editor, local_time};

/// The topic of messages about the pager.
const ABOUT: &str = "pager";

/// Shows the focused pane's history and screen in the pager, which starts at the first visible line.
pub(crate) fn show_history(cx: &mut Cx<'_>) {
    let Some(pane) = cx.focused_pane() else { return };
    let Some(view) = cx.fresh_view(&pane) else { return };
    let (top, _) = view.rows_in_sight();
    let mut rows = pane.term().lines();
    let Some(range) = with_text(rows.clone()) else {
        return cx.notify(ABOUT, "There is no text to show.");
    };
    let is_end = |line: &u64| !rows.is_wrapped(LineId(*line));
    let before = (range.start.line.0..top.0).filter(is_end).count();
    page(pane, range, before + 1, "History", cx);
}

/// Shows the output of a command in the pager: of the command that the user jumped to, or else of the last
/// command.
pub(crate) fn show_output(cx: &mut Cx<'_>) {
    let Some(pane) = cx.focused_pane() else { return };
    let Some(id) = actions::command_meant(&pane, cx.views) else {
        return actions::no_commands(cx);
    };
    let range = pane.term().output_range(id);
    match range {
        Some(range) => {
            actions::warn_if_cut(&pane, id, cx);
            page(pane, range, 1, "Output", cx);
        }
        None => cx.notify(ABOUT, "The command printed nothing."),
    }
}

/// Shows a page of the manual in a tab.
pub(crate) fn show_manual(topic: &'static str, cx: &mut Cx<'_>) {
    let Some(text) = manual::text(topic) else { return };
    let home = cx.prefs.settings.home().to_owned();
    let name = format!("{topic}_{}.txt", local_time::stamp());
    cx.errand(ABOUT, move || match PagedFile::write(&home, &name, &text) {
        Ok(file) => ErrandResult::Paged(Page { file, line: 1, title: "Manual", cwd: None }),
        Err(error) => ErrandResult::Failed(ABOUT, format!("Can't write the text.\n{error:#}")),
    });
}

/// Writes text with its colors to a file, and opens the pager at a line of the file.
fn page(pane: Arc<Pane>, range: TextRange, line: usize, title: &'static str, cx: &mut Cx<'_>) {
    let home = cx.prefs.settings.home().to_owned();
    let name = format!("{}_{}.txt", pane.id().0, local_time::stamp());
    cx.errand(ABOUT, move || {
        let (lines, _) = lines(&pane, range, true);
        match PagedFile::write(&home, &name, &(ansi(&lines) + "\n")) {
            Ok(file) => ErrandResult::Paged(Page { file, line, title, cwd: pane.cwd_path() }),
            Err(error) => ErrandResult::Failed(ABOUT, format!("Can't write the text.\n{error:#}")),
        }
    });
}

/// Opens a tab with the pager. The file is deleted when the tab is closed.
pub(crate) fn open_page(page: Page, paged: &mut PagedFiles, cx: &mut Cx<'_>) {
    let Page { file, line, title, cwd } = page;
    let place = format!("{}:{line}", file.path().display());
    let command = editor::command(&cx.prefs.config.scrollback.pager, &place, None);
    let mut words = command.into_iter();
    let cwd = cwd.filter(|cwd| cwd.is_dir());
    let spawn = Spawn { program: words.next(), args: words.collect(), cwd, ..Spawn::default() };
    match cx.mux.open_tab(spawn, None, OnExit::Close) {
        Ok(pane) => {
            pane.set_name(title);
            paged.insert(pane.id(), file);
        }
        Err(error) => cx.complain(ABOUT, format!("Can't start scrollback.pager.\n{error}")),
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
