//! Removes old drawings of a prompt that a shell leaves above its prompt while it draws more slowly than the user resizes.
//!
//! A shell that draws for another width than the screen's moves up by too few rows when it draws again, because its text
//! took more rows than it counted. Its old drawing then stays above the new one. The engine removes an old drawing as
//! soon as the new one shows the same text. So no other text is lost: output of a background job between two drawings
//! makes their texts differ, and nothing is removed. Only the digits of a clock may differ, and the length of a line
//! across the width.

use crate::grid::reflow::{Loose, Returned};
use crate::grid::row::PROMPT;
use crate::term::shell::anchors::Visit;
use crate::term::shell::commands::Redraw;
use crate::term::{ScreenKind, Term, TextRange};
use crate::{Command, LineId, Point};

/// The maximum number of rows from the first old drawing to the cursor.
const ROWS_CAP: u64 = 32;
/// The maximum number of old drawings.
const DRAWINGS_CAP: usize = 8;
/// The maximum number of comparisons with one new drawing. Shells draw a prompt in fewer pieces of text.
const COMPARISONS_CAP: u32 = 128;

/// Old drawings of the current prompt, directly above the new one.
#[derive(Default)]
pub(crate) struct StalePrompt {
    /// The old drawings, from top to bottom.
    old: Vec<Drawing>,
    /// Where the new drawing begins, and where the input begins in it, once known. A point is `None` if its text is no
    /// longer stored.
    new: Option<Point>,
    input: Option<Point>,
    comparisons: u32,
}

/// The last line of a prompt whose shell redraws only that line after a resize (`redraw=last`, readline).
///
/// Only the end of that line is marked: the mark of the prompt's beginning may be in a line above, which readline does
/// not draw again, and readline's mode string comes before that mark. But before readline draws, it erases each row that
/// the line took, the first row last. Versions before 8.2 erase the last row, and then move up to the first.
#[derive(Default)]
pub(crate) struct LastLine {
    /// The number of the prompt's command.
    command: u64,
    /// Where the line begins, as drawn last.
    at: Option<Point>,
    /// The row in which the next drawing begins: the row of the prompt's mark or, without that mark, the row in which the
    /// cursor last stood in the first column after EL or CUU.
    next: Option<Point>,
    /// Whether the prompt's mark is in the row `next`.
    is_marked: bool,
    /// If `is_marked`: where the drawing before begins, and whether the row above the mark continued in its row.
    above: Option<Point>,
    continues: bool,
}

impl LastLine {
    pub fn visit_anchors(&mut self, visit: &mut Visit<'_>) {
        visit(&mut self.at);
        visit(&mut self.next);
        visit(&mut self.above);
    }

    /// Where the last line of a command's prompt begins.
    pub fn of(&self, command: u64) -> Option<Point> {
        self.at.filter(|_| self.command == command)
    }
}

/// An old drawing of a prompt. It ends where the next drawing begins.
struct Drawing {
    /// Where it begins. `None` if its text is no longer stored.
    at: Option<Point>,
    /// Its text as in [`NewDrawing`].
    text: String,
    /// Whether its last row continued in the row in which the next drawing begins.
    continues: bool,
}

/// The text of the new drawing.
#[derive(Default)]
struct NewDrawing {
    /// The text without blanks, line breaks and ellipses, which depend on the width. Each digit of a clock is `0`. A sign
    /// that is repeated, such as in a line across the width, stands once.
    text: String,
    /// The lengths of `text` at its line breaks.
    breaks: Vec<usize>,
    /// The length of `text` before the prompt on the right, which follows two or more blanks.
    right: Option<usize>,
}

impl StalePrompt {
    pub fn visit_anchors(&mut self, visit: &mut Visit<'_>) {
        self.old.iter_mut().for_each(|old| visit(&mut old.at));
        visit(&mut self.new);
        visit(&mut self.input);
    }

    /// The index of an old drawing whose text the new drawing shows, and the points where it begins and ends.
    fn find_shown_in(&self, shown: &NewDrawing) -> Option<(usize, Point, Point)> {
        let next = |i: usize| self.old.get(i + 1).map_or(self.new, |next| next.at);
        let point = |i: usize| {
            let (from, to) = (self.old[i].at?, next(i)?);
            (from.line < to.line).then_some((i, from, to))
        };
        (0..self.old.len()).rev().filter(|i| self.old[*i].is_in(shown)).find_map(point)
    }
}

impl Drawing {
    /// Whether `shown` contains the text: as a whole line, or as its beginning if the text continued. The prompt on the
    /// right may have been drawn over a part of the text.
    fn is_in(&self, shown: &NewDrawing) -> bool {
        let ends = |at: usize| match self.continues {
            true => at > 0,
            false => shown.breaks.contains(&at),
        };
        let same = |(a, b): &(char, char)| a == b;
        let common = self.text.chars().zip(shown.text.chars()).take_while(same);
        let common: usize = common.map(|(char, _)| char.len_utf8()).sum();
        let rest = &self.text[common..];
        if rest.is_empty() && ends(common) {
            return true;
        }
        let Some(right) = shown.right else { return false };
        let (left, right) = shown.text.split_at(right);
        if self.continues && common > 0 && right.starts_with(rest) {
            return true;
        }
        // Blanks are no part of the texts, so the prompt on the right covers at most as many characters as it has.
        let covered = right.chars().count();
        self.text.match_indices(right).take_while(|(at, _)| *at <= common).any(|(at, _)| {
            let rest = &self.text[at + right.len()..];
            let mut places = left.get(at..).unwrap_or_default().char_indices().take(covered + 1);
            places.any(|(i, _)| left[at + i..].starts_with(rest) && ends(at + i + rest.len()))
        })
    }
}

impl NewDrawing {
    fn new(text: &str) -> Self {
        let mut shown = Self::default();
        let mut blanks = 0;
        for char in stop_clocks(text).chars() {
            match char {
                '\n' => shown.breaks.push(shown.text.len()),
                ' ' => blanks += 1,
                // fish writes it for the part of a line that does not fit.
                '…' => {}
                char => {
                    if blanks > 1 {
                        shown.right = Some(shown.text.len());
                    }
                    blanks = 0;
                    if char.is_alphanumeric() || !shown.text.ends_with(char) {
                        shown.text.push(char);
                    }
                }
            }
        }
        shown
    }
}

/// Replaces each digit of numbers that a colon joins, such as `12:34:56`.
fn stop_clocks(text: &str) -> String {
    let is_of_clock = |c: char| c.is_ascii_digit() || c == ':';
    let mut stopped = String::with_capacity(text.len());
    for piece in text.split_inclusive(|c| !is_of_clock(c)) {
        let is_clock = piece.contains(':');
        stopped.extend(piece.chars().map(|c| if is_clock && c.is_ascii_digit() { '0' } else { c }));
    }
    stopped
}

impl Term {
    /// The shell draws the prompt of a command again, at the cursor. Stores the drawing above, if there is one.
    /// `continues`: the row above continued in the cursor's row. Returns whether there is an old drawing.
    pub(crate) fn find_stale_prompt(&mut self, continues: bool) -> bool {
        let Some(new) = self.cursor_point() else {
            self.stale_prompt = None;
            return false;
        };
        let is_drawn_again = |last: &&Command| {
            last.is_prompting()
                && self.resized > last.prompt_seq
                && last.options.redraw != Redraw::LastLine
        };
        let last = self.commands.last().filter(is_drawn_again);
        let above = last.and_then(|last| last.prompt.filter(|_| self.prompt_line(last).is_some()));
        self.find_old_drawing(above, new, continues)
    }

    /// EL or CUU has moved the cursor or erased text. See [`LastLine`].
    #[inline]
    pub(crate) fn note_row_start(&mut self) {
        if self.cursor.col == 0 && self.screen == ScreenKind::Main {
            (self.last_line.next, self.last_line.is_marked) = (self.cursor_point(), false);
        }
    }

    /// The beginning of a prompt is marked at the cursor. `continues`: the row above continued in the cursor's row.
    pub(crate) fn mark_last_line(&mut self, continues: bool) {
        self.last_line.above = self.drawn_last_line();
        self.last_line.next = self.cursor_point().map(|at| Point { col: 0, ..at });
        (self.last_line.is_marked, self.last_line.continues) = (true, continues);
    }

    /// Where the last line of the current prompt begins, if a resize may let the shell draw it again.
    fn drawn_last_line(&self) -> Option<Point> {
        let last = self.commands.last()?;
        let is_drawn_again = last.is_prompting() && self.resized > last.prompt_seq;
        self.last_line.of(last.id).filter(|_| is_drawn_again)
    }

    /// The last line of a prompt ends at the cursor. Finds where it begins.
    pub(crate) fn find_last_line(&mut self) {
        let live = self.grid.live_top();
        let next = self.last_line.next.and_then(|next| next.line.0.checked_sub(live));
        let next = next.map(|row| row as usize).filter(|row| *row <= self.cursor.row);
        let is_marked = self.last_line.is_marked;
        let drawn = self.drawn_last_line();
        let row = match next {
            Some(next) if !is_marked && drawn.is_some() => next,
            next => {
                // The line may be below other lines of its prompt, and begins where the text before the cursor does.
                let first = next.filter(|_| is_marked).unwrap_or(0);
                let begins = |row: &usize| *row == first || !self.grid.meta(*row - 1).is_wrapped();
                (first..=self.cursor.row).rev().find(begins).unwrap_or(self.cursor.row)
            }
        };
        if !is_marked {
            (self.last_line.above, self.last_line.continues) =
                (drawn, self.continues_row_above(row));
        } else if next != Some(row) {
            self.last_line.above = None;
        }
        self.last_line.next = Some(Point { line: LineId(live + row as u64), col: 0 });
    }

    /// The last line of a prompt is drawn up to the cursor, where the input begins. If the shell draws only that line
    /// again and an earlier drawing is above, it is stored. Returns whether the prompt is that of a command, and not a
    /// continuation prompt or a prompt on the right.
    pub(crate) fn draw_last_line(&mut self) -> bool {
        let line = std::mem::take(&mut self.last_line);
        let is_open = |last: &&Command| {
            let is_last_line = last.options.redraw == Redraw::LastLine && !last.is_continued;
            last.output_seq == 0 && last.end_seq == 0 && is_last_line
        };
        let last = self.commands.last().filter(is_open);
        let Some((command, new)) = last.map(|last| last.id).zip(line.next) else {
            return line.is_marked;
        };
        self.find_old_drawing(line.above, new, line.continues);
        self.last_line = LastLine { command, at: Some(new), ..LastLine::default() };
        true
    }

    /// Stores the drawing that begins at `above`, if it is above the new drawing, which begins at `new`. Returns whether
    /// there is one.
    fn find_old_drawing(&mut self, above: Option<Point>, new: Point, continues: bool) -> bool {
        let before = self.stale_prompt.take();
        let Some(above) = above.filter(|above| above.line < new.line && new.col == 0) else {
            self.stale_prompt = before.filter(|before| before.new == Some(new));
            return false;
        };
        let is_at = |before: &StalePrompt, at: Point| before.new == Some(at);
        let mut stale = match before {
            // The shell marks or draws the prompt at the same point again.
            Some(before) if is_at(&before, new) => before,
            before => {
                let mut stale = before.filter(|before| is_at(before, above)).unwrap_or_default();
                let text = self.text_between(above, new);
                stale.old.push(Drawing { at: Some(above), text, continues });
                stale
            }
        };
        (stale.new, stale.input, stale.comparisons) = (Some(new), None, 0);
        let is_near = |at: Point| at.line < new.line && new.line.0 - at.line.0 <= ROWS_CAP;
        stale.old.retain(|old| old.at.is_some_and(is_near));
        if stale.old.len() > DRAWINGS_CAP {
            stale.old.remove(0);
        }
        self.stale_prompt = Some(stale);
        true
    }

    /// Input begins at the cursor, after the new drawing if `is_drawn`.
    pub(crate) fn input_begins_in_drawing(&mut self, is_drawn: bool) {
        let at = self.cursor_point();
        if let Some(stale) = &mut self.stale_prompt {
            stale.input = stale.input.filter(|_| !is_drawn).or(at);
        }
    }

    /// Removes old drawings of the prompt that the new one, up to the cursor, shows. Called after each piece of text.
    #[inline]
    pub(crate) fn drop_stale_prompt(&mut self) {
        if self.stale_prompt.is_some() {
            self.compare_stale_prompt();
        }
    }

    #[cold]
    fn compare_stale_prompt(&mut self) {
        let Some(mut stale) = self.stale_prompt.take() else { return };
        let at = self.cursor_point().filter(|_| self.screen == ScreenKind::Main);
        let Some((new, at)) = stale.new.zip(at) else { return };
        stale.comparisons += 1;
        if at.line < new.line
            || at.line.0 - new.line.0 > ROWS_CAP
            || stale.comparisons > COMPARISONS_CAP
        {
            return;
        }
        let end = match at.col {
            _ if self.cursor.wrap_pending => at,
            0 => Point { line: LineId(at.line.0.saturating_sub(1)), col: u16::MAX },
            col => Point { col: col - 1, ..at },
        };
        let shown = match end.line < new.line {
            true => NewDrawing::default(),
            false => NewDrawing::new(&self.text(TextRange { start: new, end, block: false })),
        };
        while let Some((i, from, to)) = stale.find_shown_in(&shown) {
            let old = stale.old.remove(i);
            if self.text_between(from, to) == old.text {
                stale = self.remove_drawing(stale, from, to);
            }
        }
        self.stale_prompt = Some(stale).filter(|stale| !stale.old.is_empty());
    }

    /// Removes the rows from `from` to the row above `to`. Returns `stale` with its new points.
    fn remove_drawing(
        &mut self,
        stale: Box<StalePrompt>,
        from: Point,
        to: Point,
    ) -> Box<StalePrompt> {
        let widths = vec![self.grid.cols(); (to.line.0 - from.line.0) as usize];
        self.stale_prompt = Some(stale);
        self.replace_rows(Returned { first: from.line.0, rows: Loose::default(), widths });
        let stale = self.stale_prompt.take().unwrap_or_default();
        let (prompt, input) = (stale.new, stale.input);
        self.commands.change(|last| {
            last.prompt = match last.options.redraw {
                // The lines above the last line are not drawn again, so the prompt still begins there.
                Redraw::LastLine => last.prompt.or(prompt),
                _ => prompt.or(last.prompt),
            };
            last.input = input.or(last.input);
        });
        self.mark_moved_prompt();
        stale
    }

    /// Marks the row in which the current prompt begins.
    fn mark_moved_prompt(&mut self) {
        let prompt = self.commands.last().and_then(|last| last.prompt);
        let row = prompt.and_then(|at| at.line.0.checked_sub(self.grid.live_top()));
        if let Some(row) = row.filter(|row| *row < self.grid.rows() as u64) {
            self.grid.meta_mut(row as usize).flags |= PROMPT;
        }
    }

    /// The text from the row of `from` to the row above `to`, as in [`NewDrawing`].
    fn text_between(&self, from: Point, to: Point) -> String {
        let end = Point { line: LineId(to.line.0.saturating_sub(1)), col: u16::MAX };
        NewDrawing::new(&self.text(TextRange {
            start: Point { col: 0, ..from },
            end,
            block: false,
        }))
        .text
    }
}
