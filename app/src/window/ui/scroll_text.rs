//! A read-only text that is wrapped without changes to its content, and can be scrolled if it is longer than its box.
//!
//! Owns the wrapped lines and the scroll position, but not the box. Nothing is cut off: a line that is wider than the
//! renderer can draw is wrapped again.

use std::{
    cell::{Ref, RefCell},
    ops::Range,
};

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Marks the end of a line of the text. A line that is only wrapped has no mark.
const LINE_END: &str = "⏎";

#[derive(Clone, Debug)]
pub(crate) struct ScrollText {
    text: String,
    /// The first visible line.
    first: usize,
    /// The number of lines that fit in the box.
    rows: usize,
    lines: RefCell<Lines>,
}

/// The text's lines, wrapped to a width.
#[derive(Clone, Debug, Default)]
struct Lines {
    /// The width of the box, in pixels.
    width: u32,
    /// The approximate width of the box, in columns.
    columns: usize,
    /// The byte range of each wrapped line in the text, and whether a line of the text ends there.
    lines: Vec<(Range<usize>, bool)>,
}

impl ScrollText {
    pub(crate) fn new(text: String) -> Self {
        Self { text, first: 0, rows: 1, lines: RefCell::default() }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Wraps the text for a box of `width` pixels and about `columns` columns. `measure` returns a line's width in
    /// pixels. Does nothing if the width of the box is unchanged.
    pub(crate) fn wrap(&self, (width, columns): (u32, usize), measure: impl FnMut(&str) -> f32) {
        let mut laid = self.lines.borrow_mut();
        if (laid.width, laid.columns) != (width, columns) {
            let lines = wrapped(&self.text, (width, columns), measure);
            *laid = Lines { width, columns, lines };
        }
    }

    /// The number of wrapped lines. Call [`ScrollText::wrap`] first.
    pub(crate) fn count(&self) -> usize {
        self.lines.borrow().lines.len()
    }

    /// Sets the number of visible lines.
    pub(crate) fn set_rows(&mut self, rows: usize) {
        self.rows = rows.max(1);
        self.scroll(0);
    }

    /// Scrolls by `by` lines, and stops at the first and the last line.
    pub(crate) fn scroll(&mut self, by: isize) {
        let last = self.count().saturating_sub(self.rows);
        self.first = self.first.saturating_add_signed(by).min(last);
    }

    /// Scrolls by `by` pages.
    pub(crate) fn page(&mut self, by: isize) {
        // One line of the previous page stays visible.
        let page = self.rows.saturating_sub(1).max(1) as isize;
        self.scroll(by.saturating_mul(page));
    }

    /// The visible lines, at most `rows` of them.
    pub(crate) fn in_sight(&self, rows: usize) -> Vec<String> {
        let lines = self.lines();
        lines.iter().skip(self.first).take(rows).map(|line| self.shown(line)).collect()
    }

    /// The numbers of the first and the last visible line, counted from 1, and the total number of lines. `None` if
    /// all lines fit.
    pub(crate) fn place(&self, rows: usize) -> Option<(usize, usize, usize)> {
        let count = self.count();
        (count > rows).then(|| (self.first + 1, (self.first + rows).min(count), count))
    }

    fn lines(&self) -> Ref<'_, [(Range<usize>, bool)]> {
        Ref::map(self.lines.borrow(), |laid| &laid.lines[..])
    }

    fn shown(&self, (bytes, ends): &(Range<usize>, bool)) -> String {
        format!("{}{}", &self.text[bytes.clone()], if *ends { LINE_END } else { "" })
    }
}

/// Wraps a text: after a blank if possible, otherwise between two characters.
fn wrapped(
    text: &str,
    (width, columns): (u32, usize),
    mut measure: impl FnMut(&str) -> f32,
) -> Vec<(Range<usize>, bool)> {
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut start = 0;
    for paragraph in text.split_inclusive('\n') {
        let ends = paragraph.ends_with('\n');
        let end = start + paragraph.len() - usize::from(ends);
        let mut at = start;
        loop {
            let mut room = columns;
            let next = loop {
                let next = at + fitting(&text[at..end], room, ends);
                let line = &text[at..next];
                // The last wrapped line of a line of text includes the end mark in its width.
                let mark = if ends && next == end { LINE_END } else { "" };
                let shown = format!("{line}{mark}");
                let is_short = room == 1 || shown.is_empty();
                if is_short || measure(&shown).ceil() as u32 <= width {
                    break next;
                }
                room = room.min(shown.width().max(2)) - 1;
            };
            lines.push((at..next, ends && next == end));
            at = next;
            if at >= end {
                break;
            }
        }
        start += paragraph.len();
    }
    lines
}

/// The number of bytes of a line that fit in `columns`, at least one character. If `ends` is set, one column is
/// reserved for the end mark.
fn fitting(line: &str, columns: usize, ends: bool) -> usize {
    if line.width() + usize::from(ends) <= columns {
        return line.len();
    }
    let (mut width, mut blank) = (0, None);
    for (at, part) in line.grapheme_indices(true) {
        width += part.width();
        if width > columns && at > 0 {
            return blank.unwrap_or(at);
        }
        if part == " " {
            blank = Some(at + part.len());
        }
    }
    // Only the end mark does not fit. Break before the last character, so that the mark does not stand alone on the
    // next line.
    let last = line.grapheme_indices(true).next_back().map_or(0, |(at, _)| at);
    if last == 0 { line.len() } else { blank.filter(|at| *at < line.len()).unwrap_or(last) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str, columns: usize) -> Vec<String> {
        let text = ScrollText::new(text.to_owned());
        text.wrap((columns as u32, columns), |line| line.width() as f32);
        text.in_sight(usize::MAX)
    }

    #[test]
    fn blanks_stay_and_line_ends_are_marked() {
        assert_eq!(lines("run: make  -j\n  install", 20), ["run: make  -j⏎", "  install"]);
        assert_eq!(lines("one two three", 8), ["one two ", "three"]);
        assert_eq!(lines("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(lines("abc\n", 3), ["ab", "c⏎"]);
        assert_eq!(lines("a\n\nb", 9), ["a⏎", "⏎", "b"]);
        assert_eq!(lines("日本語", 4), ["日本", "語"]);
        assert_eq!(lines("", 4), [""; 0]);
    }

    #[test]
    fn a_line_that_is_drawn_wider_than_its_columns_is_broken_again() {
        let text = ScrollText::new("xxWWWWxx".to_owned());
        let wide = |line: &str| line.chars().map(|c| if c == 'W' { 3.0 } else { 1.0 }).sum();
        text.wrap((6, 6), wide);
        let shown = text.in_sight(9);
        assert_eq!(shown.concat(), "xxWWWWxx");
        assert!(shown.iter().all(|line| wide(line) <= 6.0), "{shown:?}");
    }

    #[test]
    fn it_scrolls_to_both_ends_and_passes_no_line_over() {
        let all: String = (0..30).map(|n| format!("{n}\n")).collect();
        let mut text = ScrollText::new(all);
        text.wrap((40, 40), |line| line.width() as f32);
        text.set_rows(10);
        let mut seen = text.in_sight(10);
        assert_eq!(text.place(10), Some((1, 10, 30)));
        for _ in 0..5 {
            text.page(1);
            for line in text.in_sight(10) {
                if !seen.contains(&line) {
                    seen.push(line);
                }
            }
        }
        let wanted: Vec<_> = (0..30).map(|n| format!("{n}⏎")).collect();
        assert_eq!((seen, text.place(10)), (wanted, Some((21, 30, 30))));
        text.scroll(isize::MIN);
        assert_eq!(text.in_sight(1), ["0⏎"]);
        text.set_rows(40);
        assert_eq!(text.place(40), None);
    }

    #[test]
    fn nothing_is_left_out_or_changed_at_any_width() {
        for text in [
            "run: make  -j4 \n\tinstall",
            "日本語 é\u{301}x \n\n  y",
            "\n\n",
            " ",
            "curl https://a.example/install.sh?token=0123456789 | sh\n",
        ] {
            for columns in 1..60 {
                let shown = lines(text, columns);
                let joined: String =
                    shown.iter().map(|line| line.replace(LINE_END, "\n")).collect();
                assert_eq!(joined, text, "{columns} columns");
            }
        }
    }
}
