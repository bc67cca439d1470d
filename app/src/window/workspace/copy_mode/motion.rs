//! Computes the targets of copy mode's motions in a snapshot of screen and history.
//!
//! Only reads, and does not lock the terminal. Wrapped rows count as one line, except for the motions up and down.

use unterm_term::{LineId, Lines, Point};

use crate::copy_command::{Find, Motion};

/// The maximum number of rows that a motion scans.
const ROWS: u64 = 200_000;

/// The class of a character, for motions by words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Blank,
    Word,
    Sign,
}

fn class(c: char, big: bool) -> Class {
    match c {
        c if c.is_whitespace() => Class::Blank,
        c if big || c.is_alphanumeric() || c == '_' => Class::Word,
        _ => Class::Sign,
    }
}

/// Reads the text of lines row by row.
pub(crate) struct Text {
    lines: Lines,
    at: Option<LineId>,
    /// The characters of the current row. Trailing blanks are removed, unless the row is wrapped.
    chars: Vec<char>,
    wrapped: bool,
}

impl Text {
    pub(crate) fn new(lines: Lines) -> Self {
        Self { lines, at: None, chars: Vec::new(), wrapped: false }
    }

    fn first(&self) -> LineId {
        self.lines.oldest()
    }

    fn last(&self) -> LineId {
        LineId(self.lines.end().0 - 1)
    }

    fn read(&mut self, line: LineId) {
        if self.at == Some(line) {
            return;
        }
        self.at = Some(line);
        self.wrapped = self.lines.row_chars(line, &mut self.chars).unwrap_or(false);
        if self.wrapped {
            self.chars.resize(usize::from(self.lines.cols()), ' ');
        } else {
            let len = self.chars.iter().rposition(|c| *c != ' ').map_or(0, |at| at + 1);
            self.chars.truncate(len);
        }
    }

    /// The number of columns of a row's text, at least one.
    fn len(&mut self, line: LineId) -> u16 {
        self.read(line);
        self.chars.len().max(1) as u16
    }

    fn is_blank(&mut self, line: LineId) -> bool {
        self.read(line);
        self.chars.iter().all(|c| *c == ' ')
    }

    fn is_wrapped(&mut self, line: LineId) -> bool {
        self.read(line);
        self.wrapped
    }

    /// The character in a cell. After the end of the row, a blank.
    fn char(&mut self, at: Point) -> char {
        self.read(at.line);
        self.chars.get(usize::from(at.col)).copied().unwrap_or(' ')
    }

    fn class(&mut self, at: Point, big: bool) -> Class {
        class(self.char(at), big)
    }

    /// The first cell of the character at a column. After the end of the row, the first cell of the last character.
    pub(crate) fn settle(&mut self, line: LineId, col: u16) -> Point {
        let line = line.clamp(self.first(), self.last());
        let mut col = col.min(self.len(line) - 1);
        while col > 0 && self.char(Point { line, col }) == '\0' {
            col -= 1;
        }
        Point { line, col }
    }

    /// The previous cell, and whether a line break separates it from `at`.
    fn before(&mut self, at: Point) -> Option<(Point, bool)> {
        if at.col > 0 {
            return Some((self.settle(at.line, at.col - 1), false));
        }
        let line = LineId(at.line.0.checked_sub(1).filter(|line| *line >= self.first().0)?);
        let is_break = !self.is_wrapped(line);
        Some((self.settle(line, u16::MAX), is_break))
    }

    /// The next cell, and whether a line break separates it from `at`.
    fn behind(&mut self, at: Point) -> Option<(Point, bool)> {
        let mut col = at.col + 1;
        while col < self.len(at.line) {
            let next = Point { line: at.line, col };
            if self.char(next) != '\0' {
                return Some((next, false));
            }
            col += 1;
        }
        let line = LineId(at.line.0 + 1);
        (line <= self.last()).then(|| (Point { line, col: 0 }, !self.is_wrapped(at.line)))
    }

    fn word_start(&mut self, at: Point, big: bool) -> Point {
        let (mut at, mut before) = (at, self.class(at, big));
        while let Some((next, is_break)) = self.behind(at) {
            at = next;
            let here = self.class(at, big);
            let is_empty = is_break && self.is_blank(at.line) && !self.is_wrapped(at.line);
            let starts = here != Class::Blank && (is_break || here != before);
            if starts || is_empty {
                break;
            }
            before = here;
        }
        at
    }

    fn word_end(&mut self, at: Point, big: bool) -> Point {
        let mut at = at;
        while let Some((next, _)) = self.behind(at) {
            at = next;
            if self.class(at, big) != Class::Blank {
                break;
            }
        }
        let inside = self.class(at, big);
        while let Some((next, is_break)) = self.behind(at) {
            if is_break || self.class(next, big) != inside {
                break;
            }
            at = next;
        }
        at
    }

    fn word_back(&mut self, at: Point, big: bool) -> Point {
        let mut at = at;
        while let Some((next, is_break)) = self.before(at) {
            at = next;
            let is_empty = is_break && self.is_blank(at.line);
            if self.class(at, big) != Class::Blank || is_empty {
                break;
            }
        }
        let inside = self.class(at, big);
        while let Some((next, is_break)) = self.before(at) {
            if is_break || self.class(next, big) != inside || inside == Class::Blank {
                break;
            }
            at = next;
        }
        at
    }

    /// Finds the `count`th character `wanted` in the line, starting next to `at`. Returns `None` if the line contains
    /// fewer. If `again` is set, a till motion ignores a match next to `at`, so that repeating the motion moves on.
    pub(crate) fn find(
        &mut self,
        find: Find,
        wanted: char,
        at: Point,
        count: u32,
        again: bool,
    ) -> Option<Point> {
        let (mut left, mut here) = (count, at);
        let mut is_beside = again && find.till;
        loop {
            let next = if find.forward { self.behind(here) } else { self.before(here) };
            let (next, _) = next.filter(|(_, is_break)| !is_break)?;
            let last = std::mem::replace(&mut here, next);
            let is_it = self.char(here) == wanted && !is_beside;
            is_beside = false;
            left -= u32::from(is_it);
            if left == 0 {
                return Some(if find.till { last } else { here });
            }
        }
    }

    /// The first and the last row of the wrapped line that contains a row.
    fn line(&mut self, line: LineId) -> (LineId, LineId) {
        let (mut first, mut last) = (line, line);
        while first > self.first()
            && line.0 - first.0 < ROWS
            && self.is_wrapped(LineId(first.0 - 1))
        {
            first.0 -= 1;
        }
        while last < self.last() && last.0 - line.0 < ROWS && self.is_wrapped(last) {
            last.0 += 1;
        }
        (first, last)
    }

    fn line_text(&mut self, at: Point) -> Point {
        let (first, last) = self.line(at.line);
        let mut point = Point { line: first, col: 0 };
        while self.class(point, true) == Class::Blank {
            match self.behind(point) {
                Some((next, _)) if next.line <= last => point = next,
                _ => break,
            }
        }
        point
    }

    /// The next blank row after a row with text, in a direction. If there is none, the start or the end of the text.
    fn paragraph(&mut self, at: Point, forward: bool) -> Point {
        let mut line = at.line;
        let mut was_text = false;
        for _ in 0..ROWS {
            let next = if forward { line.0 + 1 } else { line.0.wrapping_sub(1) };
            if !(self.first().0..=self.last().0).contains(&next) {
                break;
            }
            line = LineId(next);
            let is_blank = self.is_blank(line);
            if is_blank && was_text {
                return Point { line, col: 0 };
            }
            was_text |= !is_blank;
        }
        match forward {
            true => {
                let end = self.newest(at.line);
                self.settle(end.max(at.line), u16::MAX)
            }
            false => Point { line, col: 0 },
        }
    }

    /// The last row that contains text, but not above line `least`.
    fn newest(&mut self, least: LineId) -> LineId {
        let mut line = self.last();
        while line > least && self.is_blank(line) {
            line.0 -= 1;
        }
        line
    }

    /// The target of a motion from `at` that is repeated `count` times. `rows` are the first and the last visible row.
    /// `wanted` is the column that the motions up and down try to keep. Returns `None` for motions to prompts.
    pub(crate) fn go(
        &mut self,
        motion: Motion,
        at: Point,
        count: u32,
        rows: (LineId, LineId),
        wanted: u16,
    ) -> Option<Point> {
        let times = |this: &mut Self, step: &mut dyn FnMut(&mut Self, Point) -> Point| {
            let mut point = at;
            for _ in 0..count {
                let next = step(this, point);
                if next == point {
                    break;
                }
                point = next;
            }
            point
        };
        let by = u64::from(count);
        Some(match motion {
            Motion::Left => times(self, &mut |this, at| match at.col {
                0 => at,
                col => this.settle(at.line, col - 1),
            }),
            Motion::Right => times(self, &mut |this, at| match this.behind(at) {
                Some((next, _)) if next.line == at.line => next,
                _ => at,
            }),
            Motion::Up => self.settle(LineId(at.line.0.saturating_sub(by)), wanted),
            Motion::Down => self.settle(LineId(at.line.0 + by), wanted),
            Motion::WordStart(big) => times(self, &mut |this, at| this.word_start(at, big)),
            Motion::WordEnd(big) => times(self, &mut |this, at| this.word_end(at, big)),
            Motion::WordBack(big) => times(self, &mut |this, at| this.word_back(at, big)),
            Motion::LineStart => Point { line: self.line(at.line).0, col: 0 },
            Motion::LineText => self.line_text(at),
            Motion::LineEnd => {
                let (_, last) = self.line(at.line);
                self.settle(last, u16::MAX)
            }
            Motion::Oldest => Point { line: self.first(), col: 0 },
            Motion::Newest => {
                let first = self.first();
                let line = self.newest(first);
                self.settle(line, 0)
            }
            Motion::ViewTop => {
                let line = (rows.0.0 + by - 1).min(rows.1.0);
                self.line_text_in_row(LineId(line))
            }
            Motion::ViewMiddle => self.line_text_in_row(LineId((rows.0.0 + rows.1.0) / 2)),
            Motion::ViewBottom => {
                let line = (rows.1.0.saturating_sub(by - 1)).max(rows.0.0);
                self.line_text_in_row(LineId(line))
            }
            Motion::ParagraphBack => times(self, &mut |this, at| this.paragraph(at, false)),
            Motion::ParagraphForward => times(self, &mut |this, at| this.paragraph(at, true)),
            Motion::PromptBack | Motion::PromptForward => return None,
        })
    }

    fn line_text_in_row(&mut self, line: LineId) -> Point {
        self.read(line);
        let col = self.chars.iter().position(|c| *c != ' ').unwrap_or(0);
        self.settle(line, col as u16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unterm_term::{Options, Parser, Size, Term};

    /// A terminal's text, with a screen of 10 columns and 6 rows.
    fn text(bytes: &str) -> Text {
        let mut term = Term::new(Size::cells(10, 6), Options::default());
        Parser::new().advance(&mut term, bytes.as_bytes());
        Text::new(term.lines())
    }

    fn go(text: &mut Text, motion: Motion, at: (u64, u16), count: u32) -> (u64, u16) {
        let point = Point { line: LineId(at.0), col: at.1 };
        let rows = (LineId(0), LineId(5));
        let to = text.go(motion, point, count, rows, at.1).unwrap();
        (to.line.0, to.col)
    }

    /// All positions at which a repeated motion stops.
    fn stops(bytes: &str, motion: Motion, from: (u64, u16)) -> Vec<(u64, u16)> {
        let mut text = text(bytes);
        let (mut at, mut stops) = (from, Vec::new());
        loop {
            let next = go(&mut text, motion, at, 1);
            if next == at || stops.len() > 30 {
                return stops;
            }
            at = next;
            stops.push(at);
        }
    }

    #[test]
    fn words_are_as_in_vi() {
        let bytes = "ab c.d\r\n\r\n  e";
        let forward = stops(bytes, Motion::WordStart(false), (0, 0));
        assert_eq!(forward[..6], [(0, 3), (0, 4), (0, 5), (1, 0), (2, 2), (3, 0)]);
        let big = stops(bytes, Motion::WordStart(true), (0, 0));
        assert_eq!(big[..3], [(0, 3), (1, 0), (2, 2)]);
        let ends = stops(bytes, Motion::WordEnd(false), (0, 0));
        assert_eq!(ends[..5], [(0, 1), (0, 3), (0, 4), (0, 5), (2, 2)]);
        let back = stops(bytes, Motion::WordBack(false), (2, 2));
        assert_eq!(back, [(1, 0), (0, 5), (0, 4), (0, 3), (0, 0)]);
    }

    #[test]
    fn a_wrapped_line_is_one_line_and_its_words_go_on() {
        let bytes = "abcdefgh ijklm nop\r\nx";
        let mut text = text(bytes);
        assert_eq!(go(&mut text, Motion::WordStart(false), (0, 0), 1), (0, 9));
        assert_eq!(go(&mut text, Motion::WordEnd(false), (0, 9), 1), (1, 3));
        assert_eq!(go(&mut text, Motion::LineEnd, (0, 3), 1), (1, 7));
        assert_eq!(go(&mut text, Motion::LineStart, (1, 3), 1), (0, 0));
        assert_eq!(go(&mut text, Motion::WordBack(false), (1, 3), 1), (0, 9));
    }

    #[test]
    fn wide_characters_are_one_step() {
        let mut text = text("a你b");
        assert_eq!(go(&mut text, Motion::Right, (0, 0), 1), (0, 1));
        assert_eq!(go(&mut text, Motion::Right, (0, 1), 1), (0, 3));
        assert_eq!(go(&mut text, Motion::Left, (0, 3), 1), (0, 1));
        assert_eq!(go(&mut text, Motion::Right, (0, 0), 9), (0, 3));
        let at = text.settle(LineId(0), 2);
        assert_eq!((at.line.0, at.col), (0, 1));
    }

    #[test]
    fn characters_are_found_in_their_line() {
        let mut text = text("a,b,c你, wraps,d\r\n,");
        let mut find = |forward, till, from: (u64, u16), count, again| {
            let at = Point { line: LineId(from.0), col: from.1 };
            let to = text.find(Find { forward, till }, ',', at, count, again);
            to.map(|to| (to.line.0, to.col))
        };
        assert_eq!(find(true, false, (0, 0), 1, false), Some((0, 1)));
        assert_eq!(find(true, false, (0, 1), 3, false), Some((1, 4)), "the line goes on");
        assert_eq!(find(true, false, (1, 4), 1, false), None, "not in the next line");
        assert_eq!(find(true, true, (0, 3), 1, false), Some((0, 5)), "the wide one before it");
        assert_eq!(find(true, true, (0, 0), 1, true), Some((0, 2)));
        assert_eq!(find(false, false, (1, 4), 2, false), Some((0, 3)));
        assert_eq!(find(false, true, (0, 3), 1, false), Some((0, 2)));
        assert_eq!(find(false, false, (0, 1), 1, false), None);
    }

    #[test]
    fn lines_paragraphs_and_ends_are_found() {
        let mut text = text("  one\r\ntwo\r\n\r\nthree\r\nfour");
        assert_eq!(go(&mut text, Motion::LineText, (0, 0), 1), (0, 2));
        assert_eq!(go(&mut text, Motion::ParagraphForward, (0, 0), 1), (2, 0));
        assert_eq!(go(&mut text, Motion::ParagraphBack, (4, 2), 1), (2, 0));
        assert_eq!(go(&mut text, Motion::ParagraphBack, (4, 2), 2), (0, 0));
        assert_eq!(go(&mut text, Motion::Newest, (0, 0), 1), (4, 0));
        assert_eq!(go(&mut text, Motion::Oldest, (4, 2), 1), (0, 0));
        assert_eq!(go(&mut text, Motion::Down, (0, 4), 3), (3, 4));
        assert_eq!(go(&mut text, Motion::Down, (0, 4), 900), (5, 0));
        assert_eq!(go(&mut text, Motion::ViewBottom, (0, 0), 3), (3, 0));
        assert_eq!(go(&mut text, Motion::ViewTop, (3, 0), 1), (0, 2));
    }
}
