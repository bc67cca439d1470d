//! A line editor for text input. The panel and the search use it.

use std::{cell::Cell, ops::Range};

use unicode_segmentation::UnicodeSegmentation;
use unterm_mux::input::{Key, Modifiers};
use unterm_renderer::{LabelAlign, PixelRect, Preedit, Renderer, Scene};

use crate::window::ui::{
    colors::{Colors, label, mix, quad},
    geometry::Geometry,
};

/// The maximum length of the text, in characters.
const CAP: usize = 1024;

/// A text and a cursor. All positions are byte offsets at grapheme boundaries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    text: String,
    cursor: usize,
    /// The fixed end of the selection; the cursor is the moving end.
    anchor: usize,
    /// The first visible position when the line was last drawn.
    first: Cell<usize>,
}

impl Line {
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The selected range; an empty range if nothing is selected.
    fn selection(&self) -> Range<usize> {
        self.cursor.min(self.anchor)..self.cursor.max(self.anchor)
    }

    /// Selects all text, so that the next insertion replaces it.
    pub(crate) fn select_all(&mut self) {
        (self.anchor, self.cursor) = (0, self.text.len());
    }

    /// Replaces the selection with the first line of `text`, after removing control characters.
    pub(crate) fn insert(&mut self, text: &str) {
        self.remove(self.selection());
        let line = text.lines().next().unwrap_or_default();
        let room = CAP.saturating_sub(self.text.chars().count());
        let text: String = line.chars().filter(|c| !c.is_control()).take(room).collect();
        self.text.insert_str(self.cursor, &text);
        self.put(self.cursor + text.len(), false);
    }

    fn remove(&mut self, range: Range<usize>) {
        self.text.drain(range.clone());
        self.put(range.start, false);
    }

    /// Moves the cursor to `at`. If `extends` is set, the selection is extended; otherwise it is cleared.
    fn put(&mut self, at: usize, extends: bool) {
        self.cursor = at;
        if !extends {
            self.anchor = at;
        }
    }

    /// The position of the next grapheme or word. Backward, this is its start; forward, its end.
    fn next(&self, forward: bool, word: bool) -> usize {
        let (before, behind) = self.text.split_at(self.cursor);
        let is_word = |part: &&str| part.chars().any(char::is_alphanumeric);
        match (forward, word) {
            (false, false) => before.grapheme_indices(true).next_back().map_or(0, |(at, _)| at),
            (true, false) => self.cursor + behind.graphemes(true).next().map_or(0, str::len),
            (false, true) => before
                .split_word_bound_indices()
                .rfind(|(_, part)| is_word(part))
                .map_or(0, |(at, _)| at),
            (true, true) => behind
                .split_word_bound_indices()
                .find(|(_, part)| is_word(part))
                .map_or(self.text.len(), |(at, part)| self.cursor + at + part.len()),
        }
    }

    /// Draws the line in `area`, left-aligned and vertically centered. The underlined preedit, if any, appears at the
    /// cursor. If the line is empty, `hint` appears. Returns the rectangle of the cursor.
    pub(crate) fn draw(
        &self,
        (hint, preedit): (&str, Option<&Preedit>),
        (geometry, colors): (&Geometry, &Colors),
        area: PixelRect,
        renderer: &mut Renderer,
        scene: &mut Scene<'_>,
    ) -> PixelRect {
        let composed = preedit.map_or("", |preedit| preedit.text.as_str());
        let mut whole = self.text.clone();
        whole.insert_str(self.cursor, composed);
        // If the preedit has no valid cursor of its own, place the cursor at the end of the preedit.
        let at = preedit.and_then(|preedit| preedit.cursor).map_or(composed.len(), |(_, to)| to);
        let cursor = self.cursor + if composed.is_char_boundary(at) { at } else { composed.len() };
        let thick = geometry.px(1.5).max(1);
        let size = geometry.ui_font();
        let bar = renderer.label_width("|", size, false);
        let mut measure = |text: &str| {
            if text.is_empty() {
                return 0;
            }
            // The renderer measures trailing spaces only if another character follows.
            (renderer.label_width(&format!("{text}|"), size, false) - bar).round() as u32
        };
        let sight =
            in_sight(&whole, cursor, self.first.get(), |part| measure(part) + thick <= area.width);
        self.first.set(sight.start);
        let height = geometry.ui_line();
        let top = area.y + (area.height.saturating_sub(height) / 2) as i32;
        let mut x_of = |at: usize| {
            let at = at.clamp(sight.start, sight.end);
            area.x + measure(&whole[sight.start..at]).min(area.width) as i32
        };
        let mut part = |range: Range<usize>, top: i32, height: u32, color| {
            let (from, to) = (x_of(range.start), x_of(range.end));
            let rect = PixelRect { x: from, y: top, width: (to - from).max(0) as u32, height };
            scene.quads.push(quad(rect, color));
        };
        if composed.is_empty() && !self.selection().is_empty() {
            part(self.selection(), top, height, mix(colors.raised, colors.accent, 0.35));
        }
        if !composed.is_empty() {
            let under = geometry.px(1.0).max(1);
            let composed = self.cursor..self.cursor + composed.len();
            part(composed, top + (height - under) as i32, under, colors.text);
        }
        let caret = PixelRect { x: x_of(cursor), y: top, width: thick, height };
        if whole.is_empty() {
            // Draw the hint to the right of the cursor, which would otherwise cover the hint's first letter.
            let gap = 2 * thick;
            let area =
                PixelRect { x: area.x + gap as i32, width: area.width.saturating_sub(gap), ..area };
            scene.labels.push(label(geometry, area, hint, colors.muted, LabelAlign::Left));
        } else {
            scene.labels.push(label(geometry, area, &whole[sight], colors.text, LabelAlign::Left));
        }
        caret
    }

    /// Handles a key as [`Line::key`] does, and returns whether the text changed. Returns `None` if the key has no
    /// function in the editor.
    pub(crate) fn edit(
        &mut self,
        key: Key,
        modifiers: Modifiers,
        typed: Option<&str>,
    ) -> Option<bool> {
        let before = self.text.clone();
        self.key(key, modifiers, typed).then(|| self.text != before)
    }

    /// Handles a key. `typed` is the text that the key types. Returns false if the key has no function in the editor.
    fn key(&mut self, key: Key, modifiers: Modifiers, typed: Option<&str>) -> bool {
        let ctrl = modifiers.contains(Modifiers::CTRL);
        let shift = modifiers.contains(Modifiers::SHIFT);
        let alt = modifiers.contains(Modifiers::ALT);
        let selected = self.selection();
        match (key, ctrl) {
            (Key::Left | Key::Right, _) if !alt => {
                let forward = key == Key::Right;
                let at = match (selected.is_empty(), shift) {
                    (false, false) if forward => selected.end,
                    (false, false) => selected.start,
                    _ => self.next(forward, ctrl),
                };
                self.put(at, shift);
            }
            (Key::Char('b' | 'f'), false) if alt => {
                self.put(self.next(key == Key::Char('f'), true), false);
            }
            (Key::Home, _) => self.put(0, shift),
            (Key::End, _) | (Key::Char('e'), true) => self.put(self.text.len(), shift),
            (Key::Char('a'), true) => self.select_all(),
            (Key::Backspace | Key::Delete | Key::Char('h' | 'd'), _)
                if !selected.is_empty() && (ctrl || !matches!(key, Key::Char(_))) =>
            {
                self.remove(selected);
            }
            (Key::Backspace, false) | (Key::Char('h'), true) if !alt => {
                self.remove(self.next(false, false)..self.cursor);
            }
            (Key::Delete, false) | (Key::Char('d'), true) => {
                self.remove(self.cursor..self.next(true, false));
            }
            (Key::Delete, true) => self.remove(self.cursor..self.next(true, true)),
            (Key::Backspace, _) => self.remove(self.next(false, true)..self.cursor),
            (Key::Char('w'), true) => {
                // Ctrl+W deletes back to the last space, as in a shell.
                let before = self.text[..self.cursor].trim_end();
                let start = before.rfind(' ').map_or(0, |space| space + 1);
                self.remove(start..self.cursor);
            }
            (Key::Char('u'), true) => self.remove(0..self.cursor),
            (_, false) if !modifiers.intersects(Modifiers::ALT | Modifiers::SUPER) => match typed {
                Some(typed) if typed.chars().any(|c| !c.is_control()) => self.insert(typed),
                _ => return false,
            },
            _ => return false,
        }
        true
    }
}

/// The visible part of `text`: it contains the cursor and as much text as `fits` accepts, and starts at `first` if
/// possible.
fn in_sight(
    text: &str,
    cursor: usize,
    first: usize,
    mut fits: impl FnMut(&str) -> bool,
) -> Range<usize> {
    if fits(text) {
        return 0..text.len();
    }
    let mut ends: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
    ends.push(text.len());
    let place = |at: usize| ends.partition_point(|end| *end < at).min(ends.len() - 1);
    let cursor = place(cursor);
    let mut first = place(first).min(cursor);
    // Scroll right at most until the end of the text is visible, and left at most until the cursor is visible.
    let last = ends.len() - 1;
    let mut earliest = |to: usize, limit: usize| {
        let (mut low, mut high) = (0, limit);
        while low < high {
            let middle = (low + high) / 2;
            if fits(&text[ends[middle]..ends[to]]) { high = middle } else { low = middle + 1 }
        }
        low
    };
    first = first.min(earliest(last, last)).max(earliest(cursor, cursor));
    let (mut low, mut high) = (cursor.max(first), last);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(&text[ends[first]..ends[middle]]) { low = middle } else { high = middle - 1 }
    }
    ends[first]..ends[low]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(line: &mut Line, keys: &[(Key, Modifiers)]) -> String {
        for (key, modifiers) in keys {
            assert!(line.key(*key, *modifiers, None), "{key:?}");
        }
        let (before, behind) = line.text.split_at(line.cursor);
        format!("{before}|{behind}")
    }

    #[test]
    fn words_and_lines_are_taken_back() {
        let mut line = Line::default();
        line.insert("one two\nthree");
        assert_eq!(line.text(), "one two");
        assert!(line.key(Key::Char('w'), Modifiers::CTRL, None));
        assert_eq!(line.text(), "one ");
        assert!(line.key(Key::Backspace, Modifiers::empty(), Some("\x08")));
        assert_eq!(line.text(), "one");
        assert!(line.key(Key::Char('é'), Modifiers::empty(), Some("é")));
        assert!(line.key(Key::Char('u'), Modifiers::CTRL, Some("\x15")));
        assert_eq!(line.text(), "");
    }

    #[test]
    fn the_cursor_moves_by_graphemes_and_words() {
        let (none, ctrl) = (Modifiers::empty(), Modifiers::CTRL);
        let mut line = Line::default();
        line.insert("one e\u{301}👩\u{200d}💻 two");
        assert_eq!(press(&mut line, &[(Key::Left, ctrl)]), "one e\u{301}👩\u{200d}💻 |two");
        assert_eq!(press(&mut line, &[(Key::Left, none); 2]), "one e\u{301}|👩\u{200d}💻 two");
        assert_eq!(press(&mut line, &[(Key::Delete, none)]), "one e\u{301}| two");
        assert_eq!(press(&mut line, &[(Key::Backspace, none)]), "one | two");
        line.insert("x");
        assert_eq!(press(&mut line, &[(Key::Right, ctrl)]), "one x two|");
        assert_eq!(press(&mut line, &[(Key::Home, none), (Key::Delete, ctrl)]), "| x two");
        assert_eq!(press(&mut line, &[(Key::Left, none), (Key::Backspace, none)]), "| x two");
        assert_eq!(press(&mut line, &[(Key::End, none), (Key::Right, none)]), " x two|");
    }

    #[test]
    fn an_insertion_replaces_the_selection() {
        let (none, shift) = (Modifiers::empty(), Modifiers::SHIFT);
        let mut line = Line::default();
        line.insert("old title");
        line.select_all();
        line.insert("new");
        assert_eq!(line.text(), "new");
        press(&mut line, &[(Key::Left, shift), (Key::Left, shift)]);
        line.insert("o");
        assert_eq!(press(&mut line, &[]), "no|");
        assert_eq!(
            press(&mut line, &[(Key::Char('a'), Modifiers::CTRL), (Key::Left, none)]),
            "|no"
        );
        assert_eq!(press(&mut line, &[(Key::End, shift), (Key::Delete, none)]), "|");
    }

    #[test]
    fn the_cursor_is_in_sight() {
        // In this test, ten characters are visible.
        let sight = |cursor: usize, first: usize| {
            in_sight("abcdefghijklmnopqrstuvwxyz", cursor, first, |part| part.len() <= 10)
        };
        assert_eq!(in_sight("short", 5, 3, |part| part.len() <= 10), 0..5);
        assert_eq!(sight(26, 0), 16..26);
        // The visible part stays in place while it contains the cursor. If the cursor leaves it, it scrolls.
        assert_eq!(sight(18, 16), 16..26);
        assert_eq!(sight(12, 16), 12..22);
        assert_eq!(sight(0, 12), 0..10);
        assert_eq!(sight(11, 0), 1..11);
        assert_eq!(in_sight("ab", 1, 0, |part| part.is_empty()), 1..1);
    }

    #[test]
    fn keys_without_text_mean_nothing() {
        let mut line = Line::default();
        assert!(!line.key(Key::F(5), Modifiers::empty(), None));
        assert!(!line.key(Key::Enter, Modifiers::empty(), Some("\r")));
        assert!(!line.key(Key::Char('x'), Modifiers::ALT, Some("x")));
    }
}
