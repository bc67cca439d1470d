//! Prompts that shells redraw after a resize (OSC 133 A, `redraw`).
//!
//! Owns the rule which rows those are, and prepares them as the shell expects. The shell moves up from the cursor by as
//! many rows as it drew at the old width, clears everything below, and draws its prompt. If the prompt's text were
//! rewrapped to the new width, every resize would leave a part of the old prompt on the screen. Source: kitty's shell
//! integration ("notes for shell developers"), and ghostty for `redraw=last`.
//!
//! A background job may have written into the rows from the prompt on, and only the shell knows how many rows above the
//! cursor it will draw again. So no text is lost here: each row is stored uncut ([`CutRows`]) until the shell marks
//! where it draws. The rows above that mark that have not changed since are then restored, wrapped to the new width.

use crate::grid::Grid;
use crate::grid::cell::Cell;
use crate::grid::reflow::{Loose, Returned, TextPlace};
use crate::grid::row::{INPUT, RowMeta, WRAPPED};
use crate::term::shell::commands::{Command, Redraw};
use crate::term::{NOWHERE, Position, ScreenKind, Term};
use crate::{LineId, Point};

/// The maximum number of rows between the first stored row and the screen. If output moves the stored rows further up
/// before the shell draws, they stay cut.
const AWAY_CAP: u64 = 4096;

/// The rows of the screen that a resize cut, as they were before the resize.
#[derive(Default)]
pub(crate) struct CutRows {
    /// The start of the first row. The other rows follow it.
    pub first: Option<Point>,
    rows: Loose,
    /// For each row: the number of columns of the screen before it was cut (`widths`), and the row's revision after it
    /// was cut (`revisions`).
    widths: Vec<usize>,
    revisions: Vec<u64>,
    /// The cursor before the first resize that cut these rows, and after the last one. If the first width returns before
    /// the shell draws, the shell does not draw, and expects the cursor where it was.
    cursor: Option<(Position, Position)>,
}

impl CutRows {
    /// Whether row `i` has not changed since it was cut.
    fn is_untouched(&self, i: usize, grid: &Grid) -> bool {
        let line = self.first.map(|first| first.line.0 + i as u64);
        let meta = line.and_then(|line| grid.line_meta(line));
        meta.is_some_and(|meta| Some(&meta.revision) == self.revisions.get(i))
    }
}

impl Term {
    /// The first row of the screen that the shell redraws. `None` if no shell waits at a prompt that it redraws.
    fn redrawn_from(&self) -> Option<usize> {
        // A command is dropped together with the line of its prompt.
        let is_there = |last: &&Command| last.is_prompting() && self.prompt_line(last).is_some();
        let prompt = self.commands.last().filter(is_there)?;
        let live = self.grid.live_top();
        let meta = |line: u64| self.grid.line_meta(line);
        // The row in which the last input begins: after the prompt, or after a continuation prompt, which the shell
        // redraws separately.
        let mut typed = (live..=live + self.cursor.row as u64)
            .rev()
            .find(|line| meta(*line).is_some_and(|meta| meta.flags & INPUT != 0))?;
        let continues = prompt.input.is_some_and(|input| typed > input.line.0);
        while typed > live && meta(typed - 1).is_some_and(|above| above.is_wrapped()) {
            typed -= 1;
        }
        let line = match prompt.options.redraw {
            Redraw::Nothing => return None,
            Redraw::Prompt if !continues => prompt.prompt?.line.0,
            Redraw::LastLine if !continues => {
                let drawn = self.last_line.of(prompt.id).map(|at| at.line.0);
                drawn.filter(|line| (live..=typed).contains(line)).unwrap_or(typed)
            }
            Redraw::Prompt | Redraw::LastLine => typed,
        };
        let row = line.saturating_sub(live) as usize;
        (self.screen == ScreenKind::Main && row <= self.cursor.row).then_some(row)
    }

    /// The first row of the screen that the shell redraws, if the screen was resized at this prompt. A shell that draws
    /// for a narrower screen than this one counts too many rows. If it moved above this row, it would erase output.
    #[inline]
    pub(crate) fn redrawn_after_resize(&self) -> Option<usize> {
        let last = self.commands.last()?;
        let is_resized = last.is_prompting() && self.resized > last.prompt_seq;
        is_resized.then(|| self.redrawn_from()).flatten()
    }

    /// Prepares for a width of `cols` columns. Each row that the shell may redraw becomes a separate line, cut to the
    /// new width, so that reflow does not move its text. The uncut rows are stored until the shell draws.
    pub(crate) fn hold_prompt(&mut self, cols: usize) {
        let old = self.grid.cols();
        if cols == old {
            return;
        }
        let is_above = |held: &CutRows, first: usize, live: u64| {
            held.first.is_some_and(|at| at.line.0 < live + first as u64)
        };
        let first = self.redrawn_from();
        let live = self.grid.live_top();
        if first
            .is_none_or(|first| self.held.as_ref().is_some_and(|held| is_above(held, first, live)))
        {
            // The shell no longer redraws the stored rows, so restore them.
            self.return_held();
        }
        let Some(first) = self.redrawn_from() else { return };
        let before = match self.held.as_ref().and_then(|held| held.cursor) {
            Some((before, after)) if after == self.cursor => before,
            _ => self.cursor,
        };
        if self.cursor.col >= cols {
            (self.cursor.col, self.cursor.wrap_pending) = (cols - 1, false);
        }
        self.keep_rows(first);
        for row in first.saturating_sub(1)..self.grid.rows() {
            if self.grid.meta(row).is_wrapped() {
                let (cells, meta) = self.grid.row_mut(row);
                meta.flags &= !WRAPPED;
                if let Some(last) = cells.last_mut().filter(|last| last.is_head()) {
                    *last = last.blanked();
                }
            }
            if row >= first && cols < old {
                self.grid.part_wide(row, cols, old, self.seq);
                self.grid.fill(row, cols, old, Cell::EMPTY, self.seq);
            }
        }
        if let Some(held) = &mut self.held {
            let rows = first..first + held.widths.len();
            held.revisions = rows.map(|row| self.grid.meta(row).revision).collect();
            held.cursor = Some((before, before));
        }
    }

    /// Stores the rows from `first` on before they are cut. If an earlier resize cut a row and the row has not changed
    /// since, its contents from before that resize stay stored.
    fn keep_rows(&mut self, first: usize) {
        let top = self.grid.live_top() + first as u64;
        let last =
            self.grid.last_used(&[TextPlace { row: self.cursor.row, ..TextPlace::default() }]);
        let mut held = self.held.take().unwrap_or_default();
        let before = held.first.map_or(top, |at| at.line.0);
        let untouched: Vec<bool> =
            (0..held.widths.len()).map(|i| held.is_untouched(i, &self.grid)).collect();
        let mut kept = std::mem::take(&mut held.rows.rows);
        let mut widths = Vec::new();
        for line in top..=self.grid.live_top() + last as u64 {
            let at = line.checked_sub(before).map(|at| at as usize);
            match at.filter(|at| untouched.get(*at) == Some(&true)) {
                Some(at) => {
                    held.rows.rows.push(std::mem::take(&mut kept[at]));
                    widths.push(held.widths[at]);
                }
                None => {
                    self.grid.copy_row(line, &mut held.rows);
                    widths.push(self.grid.cols());
                }
            }
        }
        held.widths = widths;
        held.first = Some(Point { line: LineId(top), col: 0 });
        self.held = Some(held);
    }

    /// After a resize, shows as much of the stored rows as fits in the new width.
    pub(crate) fn show_held(&mut self) {
        let Some(held) = &self.held else { return };
        let Some(first) = held.first else { return };
        let cols = self.grid.cols();
        let count = held.widths.len();
        let untouched: Vec<bool> = (0..count).map(|i| held.is_untouched(i, &self.grid)).collect();
        let mut is_whole = true;
        for i in 0..count {
            let (cells, kept) = &held.rows.rows[i];
            is_whole &= untouched[i] && held.widths[i] == cols;
            let line = first.line.0 + i as u64;
            let row = line.checked_sub(self.grid.live_top()).map(|row| row as usize);
            let Some(row) = row.filter(|row| untouched[i] && *row < self.grid.rows()) else {
                continue;
            };
            let meta = *self.grid.meta(row);
            if kept.has_multicells() || cells.len() <= meta.occ as usize && held.widths[i] != cols {
                continue;
            }
            // A row continues in the next row again if both rows are uncut and unchanged.
            let goes_on = held.widths[i] == cols && untouched.get(i + 1) == Some(&true);
            let wrapped = if goes_on { kept.flags & WRAPPED } else { 0 };
            let meta = RowMeta { flags: meta.flags | wrapped, ..meta };
            self.grid.settle_row(row, cells, meta, &held.rows.tables);
        }
        let cursor = held.cursor.map(|(before, _)| {
            let fits = before.col < cols;
            self.cursor.col = if fits { before.col } else { cols - 1 };
            self.cursor.wrap_pending = before.wrap_pending && fits && is_whole;
            (before, self.cursor)
        });
        match &mut self.held {
            Some(held) if !is_whole => held.cursor = cursor,
            held => *held = None,
        }
    }

    /// Whether the row above `row` continued in `row`, now or before a resize cut it.
    pub(crate) fn continues_row_above(&self, row: usize) -> bool {
        let Some(above) = row.checked_sub(1) else { return false };
        let line = self.grid.live_top() + above as u64;
        let held = self.held.as_ref().and_then(|held| {
            let i = line.checked_sub(held.first?.line.0)? as usize;
            held.rows.rows.get(i).filter(|_| held.is_untouched(i, &self.grid))
        });
        self.grid.meta(above).is_wrapped() || held.is_some_and(|(_, meta)| meta.is_wrapped())
    }

    /// Restores the stored rows that the shell does not draw again: those above the row in which it marks its prompt,
    /// up to the first row that has changed since.
    pub(crate) fn return_held(&mut self) {
        let Some(mut held) = self.held.take() else { return };
        let Some(first) = held.first.filter(|_| self.screen == ScreenKind::Main) else { return };
        let (first, cols) = (first.line.0, self.grid.cols());
        let above = (self.grid.live_top() + self.cursor.row as u64).saturating_sub(first) as usize;
        let count = held.widths.len().min(above);
        let count = (0..count).take_while(|i| held.is_untouched(*i, &self.grid)).count();
        held.rows.rows.truncate(count);
        held.widths.truncate(count);
        let is_cut = |(cells, meta): &(Vec<Cell>, RowMeta)| cells.len() > cols || meta.is_wrapped();
        if !held.rows.rows.iter().any(is_cut)
            || first + AWAY_CAP < self.grid.live_top()
            || first < self.grid.oldest()
        {
            return;
        }
        let CutRows { rows, widths, .. } = *held;
        self.replace_rows(Returned { first, rows, widths });
    }

    /// Replaces rows of the main screen and its history. The cursor and all anchors follow their text.
    pub(crate) fn replace_rows(&mut self, returned: Returned) {
        self.flush_scrolled_images();
        let is_behind_text = self.printed_to == self.cursor.key();
        let place = |at: Position| TextPlace { row: at.row, col: at.col, past: at.wrap_pending };
        let mut places = [place(self.cursor), place(self.saved.position)];
        let mut anchors = self.collect_anchors(ScreenKind::Main);
        let tiles = &self.graphics.shown.tiles;
        self.grid.return_rows(returned, &mut places, &mut anchors, tiles, self.seq);
        self.place_anchors(ScreenKind::Main, &anchors);
        (self.cursor.row, self.saved.position.row) = (places[0].row, places[1].row);
        self.saved.rows_have_moved();
        self.printed_to = if is_behind_text { self.cursor.key() } else { NOWHERE };
        self.resized = self.seq;
        self.graphics.changed();
        self.pen.forget_ids();
    }
}
