//! Removes old drawings of a prompt that a shell leaves above its prompt while it draws more slowly than the user resizes.
//!
//! A shell that draws for another width than the screen's moves up by too few rows when it draws again, because its text
//! took more rows than it counted. Its old drawing then stays above the new one. The engine removes an old drawing as
//! soon as the new one shows the same text. So no other text is lost: output of a background job between two drawings
//! makes their texts differ, and nothing is removed. Only the digits of a clock may differ.

use crate::anchors::Visit;
use crate::reflow::{Loose, Returned};
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
    /// The text without blanks and line breaks, which depend on the width. Each digit of a clock is `0`.
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
    /// Whether `shown` contains the text: as a whole line, or as its beginning if the text continued. A prompt on the
    /// right may have been drawn over the end of a text that continued.
    fn is_in(&self, shown: &NewDrawing) -> bool {
        let same = |(a, b): &(char, char)| a == b;
        let common = self.text.chars().zip(shown.text.chars()).take_while(same);
        let common: usize = common.map(|(char, _)| char.len_utf8()).sum();
        let rest = &self.text[common..];
        match self.continues {
            true => {
                let right = shown.right.map_or("", |at| &shown.text[at..]);
                common > 0 && right.starts_with(rest)
            }
            false => rest.is_empty() && shown.breaks.contains(&common),
        }
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
                char => {
                    if blanks > 1 {
                        shown.right = Some(shown.text.len());
                    }
                    blanks = 0;
                    shown.text.push(char);
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
        let before = self.stale_prompt.take();
        let Some(new) = self.cursor_point().filter(|_| self.screen == ScreenKind::Main) else {
            return false;
        };
        let is_drawn_again = |last: &&Command| {
            last.input.is_some() && last.is_prompting() && self.resized > last.prompt_seq
        };
        let last = self.commands.last().filter(is_drawn_again);
        let above = last.and_then(|last| last.prompt.filter(|_| self.prompt_line(last).is_some()));
        let Some(above) = above.filter(|above| above.line < new.line && new.col == 0) else {
            self.stale_prompt = before.filter(|before| before.new == Some(new));
            return false;
        };
        let mut stale = before.filter(|before| before.new == Some(above)).unwrap_or_default();
        let text = self.text_between(above, new);
        stale.old.push(Drawing { at: Some(above), text, continues });
        (stale.new, stale.input, stale.comparisons) = (Some(new), None, 0);
        let is_near = |at: Point| at.line < new.line && new.line.0 - at.line.0 <= ROWS_CAP;
        stale.old.retain(|old| old.at.is_some_and(is_near));
        if stale.old.len() > DRAWINGS_CAP {
            stale.old.remove(0);
        }
        self.stale_prompt = Some(stale);
        true
    }

    /// Input begins at the cursor.
    pub(crate) fn input_begins_in_drawing(&mut self) {
        let at = self.cursor_point();
        if let Some(stale) = &mut self.stale_prompt {
            stale.input = stale.input.or(at);
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
            last.prompt = prompt.or(last.prompt);
            last.input = input.or(last.input);
        });
        stale
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
