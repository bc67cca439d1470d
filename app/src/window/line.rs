//! One line of typed text: what the panel and the search have in common.

use unterm_mux::input::{Key, Modifiers};
use unterm_renderer::{LabelAlign, PixelRect, Preedit, Renderer, Scene};

use super::{
    chrome::{Colors, label, quad},
    geometry::Geometry,
};

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

    /// Draws it in `area`, at the left and in the middle, or else what to type, and behind it what an input method
    /// composes, underlined. Gives where its cursor lies.
    pub(super) fn draw(
        &self,
        (hint, preedit): (&str, Option<&Preedit>),
        (geometry, colors): (&Geometry, &Colors),
        area: PixelRect,
        renderer: &mut Renderer,
        scene: &mut Scene<'_>,
    ) -> PixelRect {
        let composed = preedit.map_or("", |preedit| preedit.text.as_str());
        let whole = format!("{}{composed}", self.text);
        let (text, color) =
            if whole.is_empty() { (hint, colors.muted) } else { (whole.as_str(), colors.text) };
        scene.labels.push(label(geometry, area, text, color, LabelAlign::Left));
        let size = geometry.ui_font();
        let mut end_of = |text: &str| {
            if text.is_empty() {
                return 0;
            }
            // A space at the end has its width only before something.
            let with = renderer.label_width(&format!("{text}|"), size, false);
            ((with - renderer.label_width("|", size, false)).round() as u32).min(area.width)
        };
        let height = geometry.ui_line();
        let top = area.y + (area.height.saturating_sub(height) / 2) as i32;
        let begin = end_of(&self.text);
        if !composed.is_empty() {
            let thick = geometry.px(1.0).max(1);
            let under = PixelRect {
                x: area.x + begin as i32,
                y: top + height as i32 - thick as i32,
                width: end_of(&whole) - begin,
                height: thick,
            };
            scene.quads.push(quad(under, color));
        }
        // An input method's own cursor is where it says, else behind what it composes.
        let cursor = preedit.and_then(|preedit| preedit.cursor);
        let at = cursor.map_or(composed.len(), |(_, to)| to);
        let before = composed.get(..at).unwrap_or(composed);
        PixelRect {
            x: area.x + end_of(&format!("{}{before}", self.text)) as i32,
            y: top,
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
