//! One line of typed text: what the panel and the search have in common.

use unterm_mux::input::{Key, Modifiers};
use unterm_renderer::{PixelRect, Renderer};

use super::geometry::Geometry;

/// Characters it takes.
const CAP: usize = 1024;

/// The text, with its cursor at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    text: String,
}

impl Line {
    /// The text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Adds the first line of `text` at the end, without controls.
    pub(super) fn insert(&mut self, text: &str) {
        let line = text.lines().next().unwrap_or_default();
        let room = CAP.saturating_sub(self.text.chars().count());
        self.text.extend(line.chars().filter(|c| !c.is_control()).take(room));
    }

    /// Where its cursor lies when it is drawn in `area`, at the left and in the middle.
    pub(super) fn caret(
        &self,
        geometry: &Geometry,
        area: PixelRect,
        renderer: &mut Renderer,
    ) -> PixelRect {
        let typed = if self.text.is_empty() {
            0
        } else {
            // A space at the end has its width only before something.
            let size = geometry.ui_font();
            let with = renderer.label_width(&format!("{}|", self.text), size, false);
            (with - renderer.label_width("|", size, false)).round() as u32
        };
        let height = geometry.ui_line();
        PixelRect {
            x: area.x + typed.min(area.width) as i32,
            y: area.y + (area.height.saturating_sub(height) / 2) as i32,
            width: geometry.px(1.5).max(1),
            height,
        }
    }

    /// A key was pressed that types `typed`; false when it means nothing here.
    pub(super) fn key(&mut self, key: Key, modifiers: Modifiers, typed: Option<&str>) -> bool {
        let ctrl = modifiers.contains(Modifiers::CTRL);
        match (key, ctrl) {
            (Key::Backspace, false) => drop(self.text.pop()),
            (Key::Backspace, true) | (Key::Char('w'), true) => {
                let end = self.text.trim_end().rfind(' ').map_or(0, |space| space + 1);
                self.text.truncate(end);
            }
            (Key::Char('u'), true) => self.text.clear(),
            (_, false) if !modifiers.intersects(Modifiers::ALT | Modifiers::SUPER) => match typed {
                Some(typed) if typed.chars().any(|c| !c.is_control()) => self.insert(typed),
                _ => return false,
            },
            _ => return false,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn keys_without_text_mean_nothing() {
        let mut line = Line::default();
        assert!(!line.key(Key::F(5), Modifiers::empty(), None));
        assert!(!line.key(Key::Enter, Modifiers::empty(), Some("\r")));
        assert!(!line.key(Key::Char('x'), Modifiers::ALT, Some("x")));
    }
}
