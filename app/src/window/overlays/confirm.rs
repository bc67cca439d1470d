//! A modal question with two or three buttons, above all other parts of the window. It shows the question, an
//! explanation, and a preview of the effect.
//!
//! Owns the question and the marked button. [`Answer`] names the effect of each button. If several questions are
//! asked, they queue. While a question is open, programs receive no input.

use std::{collections::VecDeque, ops::Range};

use unterm_mux::{
    PaneId,
    input::{Key, Modifiers},
};
use unterm_renderer::{Label, LabelAlign, PixelRect, Quad, Scene};

use crate::window::{
    cx::Cx,
    overlays::{
        answer::Answer,
        canvas::Canvas,
        overlay::{Handled, Overlay, Press},
        panel::{inset, shadow},
        text_target::TextTarget,
    },
    redraw::Redraw,
    ui::{
        colors::{Colors, framed, label, readable},
        geometry::{Geometry, contains},
        wrap::wrap,
    },
    wish::Wish,
};
use crate::{action::Action, config::keys::KeyMatch};

/// The width, padding and corner radius of the question, in logical pixels.
const WIDTH: f32 = 560.0;
const PADDING: f32 = 16.0;
const RADIUS: f32 = 8.0;

/// The maximum number of queued questions.
const CAP: usize = 8;

/// A line of the preview.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Preview {
    pub(crate) text: String,
    /// Byte ranges to highlight, because their text differs from what it looks like.
    pub(crate) odd: Vec<Range<usize>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Button {
    title: &'static str,
    key: Option<char>,
    answer: Answer,
}

#[derive(Clone, Debug)]
pub(crate) struct Confirm {
    question: String,
    about: String,
    preview: Vec<Preview>,
    /// Whether only the last button works while the window is too small for the whole preview.
    needs_preview: bool,
    buttons: Vec<Button>,
    marked: usize,
    /// Whether keys that are bound to actions run these actions while the question is open.
    lets_keys_act: bool,
}

impl Confirm {
    /// Creates a question with a short explanation. Add its buttons next. The first button is the default, which Enter
    /// presses.
    pub(crate) fn new(question: impl Into<String>, about: impl Into<String>) -> Self {
        Self {
            question: question.into(),
            about: about.into(),
            preview: Vec::new(),
            needs_preview: false,
            buttons: Vec::new(),
            marked: 0,
            lets_keys_act: false,
        }
    }

    /// Allows the keys of actions while the question is open, so that the user can try them.
    pub(crate) fn letting_keys_act(self) -> Self {
        Self { lets_keys_act: true, ..self }
    }

    pub(crate) fn preview(mut self, lines: Vec<Preview>) -> Self {
        self.preview = lines;
        self
    }

    /// Adds a preview that lists what the question grants. While the window is too small for all of its lines, only the last
    /// button works, so that nothing is granted that the user can't read.
    pub(crate) fn grants(self, lines: Vec<Preview>) -> Self {
        Self { needs_preview: !lines.is_empty(), ..self.preview(lines) }
    }

    /// Whether a button works in a window of this size.
    fn can_press(&self, button: usize, geometry: &Geometry) -> bool {
        !self.needs_preview || button + 1 == self.buttons.len() || self.place(geometry).is_whole
    }

    /// Adds a button. The lower-case letter `key` presses it.
    pub(crate) fn button(mut self, title: &'static str, key: char, answer: Answer) -> Self {
        self.buttons.push(Button { title, key: Some(key), answer });
        self
    }

    /// Adds a button that no letter presses.
    pub(crate) fn button_without_key(mut self, title: &'static str, answer: Answer) -> Self {
        self.buttons.push(Button { title, key: None, answer });
        self
    }

    /// Adds the last button and marks it, so that Enter presses it. Esc and a click outside the question press it too.
    pub(crate) fn marked_last(mut self, title: &'static str, answer: Answer) -> Self {
        self.marked = self.buttons.len();
        self.button_without_key(title, answer)
    }

    /// Adds the last button, with the title "Cancel". See [`Self::last`].
    pub(crate) fn cancel(self) -> Self {
        self.last("Cancel")
    }

    /// Adds the last button, which has no effect. Esc and a click outside the question press it too.
    pub(crate) fn last(mut self, title: &'static str) -> Self {
        self.buttons.push(Button { title, key: None, answer: Answer::Nothing });
        self
    }

    /// Handles a key: returns the button that the key presses, or moves the mark to another button.
    fn key(&mut self, key: Key, modifiers: Modifiers) -> Option<usize> {
        let count = self.buttons.len();
        let back = modifiers.contains(Modifiers::SHIFT);
        match key {
            Key::Escape => return count.checked_sub(1),
            Key::Char('c' | 'g') if modifiers.contains(Modifiers::CTRL) => {
                return count.checked_sub(1);
            }
            Key::Enter | Key::KeypadEnter => return Some(self.marked),
            Key::Left | Key::Up => self.marked = self.marked.saturating_sub(1),
            Key::Right | Key::Down => self.marked = (self.marked + 1).min(count - 1),
            Key::Tab => self.marked = (self.marked + if back { count - 1 } else { 1 }) % count,
            Key::Char(c) if !modifiers.intersects(!(Modifiers::SHIFT | Modifiers::LOCKS)) => {
                let pressed = Some(c.to_ascii_lowercase());
                return self.buttons.iter().position(|button| button.key == pressed);
            }
            _ => {}
        }
        None
    }

    /// The name of the key that presses a button.
    fn key_name(&self, index: usize) -> String {
        match self.buttons[index].key {
            _ if index == self.marked => "Enter".to_owned(),
            Some(key) => key.to_ascii_uppercase().to_string(),
            None if index + 1 == self.buttons.len() => "Esc".to_owned(),
            None => String::new(),
        }
    }

    fn is_for_clipboard(&self, wanted: PaneId) -> bool {
        self.buttons.iter().any(|button| match &button.answer {
            Answer::ClipboardRead { pane, .. } => *pane == wanted,
            _ => false,
        })
    }

    fn is_for_transfer(&self, wanted: PaneId) -> bool {
        self.buttons.iter().any(|button| match &button.answer {
            Answer::Transfer { pane, .. } => *pane == wanted,
            _ => false,
        })
    }

    /// Computes the layout of the question.
    fn place(&self, geometry: &Geometry) -> ConfirmLayout {
        let padding = geometry.px(PADDING);
        let line = geometry.ui_line();
        let width = geometry.px(WIDTH).min(geometry.width.saturating_sub(padding)).max(1);
        let inside = width.saturating_sub(2 * padding);
        let mut about = wrap(&self.about, geometry.ui_columns(inside));
        let gap = geometry.px(8.0);
        let button = line + geometry.px(12.0);

        // If the window is too low, the preview shrinks first. If it is needed, the explanation is left out, and a line
        // asks for a larger window if that is not enough.
        let fixed = |about: &[String]| {
            2 * padding + line + gap / 2 + about.len() as u32 * line + 3 * gap + button
        };
        let room = |about: &[String]| {
            let left = geometry.height.saturating_sub(fixed(about) + 2 * gap);
            self.preview.len().min((left / line.max(1)) as usize)
        };
        let widest = self.preview.iter().map(|line| geometry.ui_width(&line.text)).max();
        let is_narrow = widest.is_some_and(|widest| widest + 2 * gap > inside);
        if self.needs_preview && (is_narrow || room(&about) < self.preview.len()) {
            about.clear();
            if is_narrow || room(&about) < self.preview.len() {
                about.push("Enlarge the window to read everything.".to_owned());
            }
        }
        let rows = room(&about) as u32;
        let is_whole = !is_narrow && rows as usize == self.preview.len();
        let fixed = fixed(&about);
        let preview = if rows > 0 { rows * line + 2 * gap } else { 0 };
        let height = fixed + preview;
        let lowest = geometry.height.saturating_sub(height);
        let rect = PixelRect {
            x: (geometry.width.saturating_sub(width) / 2) as i32,
            y: (geometry.height / 3).saturating_sub(2 * line).min(lowest) as i32,
            width,
            height,
        };

        let mut y = rect.y + padding as i32;
        let mut next = |height: u32, then: u32| {
            let row =
                PixelRect { x: rect.x + padding as i32, y, width: inside, height: height.max(1) };
            y += (height + then) as i32;
            row
        };
        let question = next(line, gap / 2);
        let about = about.into_iter().map(|text| (next(line, 0), text)).collect::<Vec<_>>();
        next(0, gap);
        let preview = if rows > 0 { next(preview, 0) } else { PixelRect::default() };
        next(0, 2 * gap);
        let row = next(button, 0);
        // Buttons are placed from right to left. The last button is at the right edge. Each button is as wide as its
        // text.
        let mut right = row.x + row.width as i32;
        let mut buttons = vec![PixelRect::default(); self.buttons.len()];
        for (index, place) in buttons.iter_mut().enumerate().rev() {
            let title = self.buttons[index].title;
            let words = geometry.ui_width(title) + geometry.ui_width(&self.key_name(index));
            let width = words + 2 * geometry.px(10.0) + geometry.px(16.0);
            *place = PixelRect { x: right - width as i32, width, ..row };
            right = place.x - gap as i32;
        }
        ConfirmLayout { rect, question, about, preview, rows: rows as usize, is_whole, buttons }
    }

    /// The button at a point. If there is none, `Err` contains whether the point is inside the
    /// question.
    fn at(&self, geometry: &Geometry, x: f64, y: f64) -> Result<usize, bool> {
        let place = self.place(geometry);
        let button = place.buttons.iter().position(|button| contains(*button, x, y));
        button.ok_or_else(|| contains(place.rect, x, y))
    }

    fn draw(
        &self,
        geometry: &Geometry,
        colors: &Colors,
        pointer: Option<(f64, f64)>,
        scene: &mut Scene<'_>,
    ) {
        let place = self.place(geometry);
        shadow(place.rect, geometry, scene);
        framed(place.rect, geometry.px(RADIUS) as f32, colors, scene);
        let label = |rect, text: &str, color| label(geometry, rect, text, color, LabelAlign::Left);
        let question = label(place.question, &self.question, colors.text);
        scene.labels.push(Label { bold: true, ..question });
        for (rect, text) in &place.about {
            scene.labels.push(label(*rect, text, colors.muted));
        }
        if place.rows > 0 {
            let (gap, line) = (geometry.px(8.0), geometry.ui_line());
            let radius = geometry.px(4.0) as f32;
            scene.quads.push(Quad {
                rect: place.preview,
                color: colors.surface,
                alpha: 1.0,
                radius,
            });
            for (index, shown) in self.preview.iter().take(place.rows).enumerate() {
                let y = place.preview.y + (gap + index as u32 * line) as i32;
                let row = PixelRect { y, height: line, ..inset(place.preview, gap) };
                let mut row = label(row, &shown.text, readable(colors.text, colors.surface));
                row.accents.clone_from(&shown.odd);
                row.accent = readable(colors.danger, colors.surface);
                scene.labels.push(row);
            }
        }
        let hovered = pointer.and_then(|(x, y)| self.at(geometry, x, y).ok());
        for (index, rect) in place.buttons.iter().copied().enumerate() {
            let is_marked = index == self.marked;
            let is_hovered = hovered == Some(index) && self.can_press(index, geometry);
            let fill = match (is_marked, is_hovered) {
                (true, _) => colors.marked_button(),
                (false, true) => colors.muted,
                (false, false) => colors.hairline,
            };
            let radius = geometry.px(4.0) as f32;
            scene.quads.push(Quad { rect, color: fill, alpha: 1.0, radius });
            let color = match (is_marked, self.can_press(index, geometry)) {
                (true, _) => colors.surface,
                (false, true) => colors.text,
                (false, false) => colors.muted,
            };
            let text = readable(color, fill);
            let inside = inset(rect, geometry.px(10.0));
            scene.labels.push(label(inside, self.buttons[index].title, text));
            let key = label(inside, &self.key_name(index), text);
            scene.labels.push(Label { align: LabelAlign::Right, ..key });
        }
    }
}

/// The layout of a question in the window.
struct ConfirmLayout {
    rect: PixelRect,
    question: PixelRect,
    about: Vec<(PixelRect, String)>,
    preview: PixelRect,
    /// The number of visible lines of the preview.
    rows: usize,
    /// Whether the preview has all of its lines, each in its whole length.
    is_whole: bool,
    buttons: Vec<PixelRect>,
}

/// The queue of questions. The first question is open.
#[derive(Default)]
pub(crate) struct Questions(VecDeque<Confirm>);

impl Questions {
    /// Queues a question. A question without buttons is dropped.
    ///
    /// # Errors
    /// Returns the question's title if too many questions are queued.
    pub(crate) fn ask(&mut self, confirm: Confirm) -> Result<(), String> {
        if !confirm.buttons.is_empty() {
            if self.are_full() {
                return Err(confirm.question);
            }
            self.0.push_back(confirm);
        }
        Ok(())
    }

    /// Whether a question is open.
    pub(crate) fn is_open(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether no more questions can be queued.
    pub(crate) fn are_full(&self) -> bool {
        self.0.len() >= CAP
    }

    /// Whether a question asks if a program in this pane may read a clipboard.
    pub(crate) fn asks_for_clipboard(&self, pane: PaneId) -> bool {
        self.0.iter().any(|question| question.is_for_clipboard(pane))
    }

    /// Whether a question asks if a program in this pane may transfer files.
    pub(crate) fn asks_for_transfer(&self, pane: PaneId) -> bool {
        self.0.iter().any(|question| question.is_for_transfer(pane))
    }

    /// Drops the questions that programs in this pane caused.
    pub(crate) fn forget_requests(&mut self, pane: PaneId) {
        self.0
            .retain(|question| !question.is_for_clipboard(pane) && !question.is_for_transfer(pane));
    }

    /// Whether keys that are bound to actions run these actions while the question is open.
    pub(crate) fn lets_keys_act(&self) -> bool {
        self.0.front().is_some_and(|open| open.lets_keys_act)
    }

    /// The open question for screen readers: its title, its explanation with the preview, the titles of its buttons,
    /// and the index of the marked button.
    pub(crate) fn spoken(&self) -> Option<(&str, String, Vec<&'static str>, usize)> {
        let open = self.0.front()?;
        let buttons = open.buttons.iter().map(|button| button.title).collect();
        let lines = open.preview.iter().map(|line| line.text.as_str());
        let about: Vec<_> = std::iter::once(open.about.as_str()).chain(lines).collect();
        Some((&open.question, about.join("\n"), buttons, open.marked))
    }

    /// Whether a key runs its action even though a question is open. The tour allows this, so that the user can try
    /// keys. Ctrl+C always closes the question.
    fn tries_key(&self, press: &Press<'_>, cx: &Cx<'_>) -> bool {
        let bound = cx.prefs.found(&[], press.pressed, press.modifiers);
        let copies = matches!(
            bound,
            Some((_, KeyMatch::Actions([Action::Copy]))) if !press.modifiers.contains(Modifiers::SHIFT)
        );
        bound.is_some() && !copies && self.lets_keys_act()
    }

    /// Presses a button of the open question, if it works.
    fn answer(&mut self, button: usize, cx: &mut Cx<'_>) {
        let works = |open: &Confirm| cx.geometry.is_none_or(|size| open.can_press(button, &size));
        if self.0.front().is_some_and(works)
            && let Some(mut open) = self.0.pop_front()
        {
            cx.wish(Wish::Answer(open.buttons.swap_remove(button).answer));
        }
    }
}

impl Overlay for Questions {
    fn has_mouse(&self) -> bool {
        true
    }

    fn text_target(&self) -> Option<TextTarget> {
        Some(TextTarget::Nobody)
    }

    /// Programs receive no key while a question is open.
    fn key(&mut self, press: &Press<'_>, cx: &mut Cx<'_>) -> Handled {
        if self.tries_key(press, cx) {
            return Handled::No;
        }
        let Some(open) = self.0.front_mut() else { return Handled::No };
        if let Some(button) = open.key(press.pressed.key.off_keypad(), press.modifiers) {
            self.answer(button, cx);
        }
        Handled::Yes
    }

    /// A question does not use text, and no text reaches anything below.
    fn text(&mut self, _: &str, _: &mut Cx<'_>) -> Handled {
        Handled::Yes
    }

    /// A click on a button presses it. A click outside the question presses the last button.
    fn press(&mut self, cx: &mut Cx<'_>) -> Handled {
        if let (Some((x, y)), Some(geometry), Some(open)) =
            (cx.pointer.position, cx.geometry, self.0.front())
        {
            match open.at(&geometry, x, y) {
                Ok(button) => self.answer(button, cx),
                Err(true) => {}
                Err(false) => self.answer(open.buttons.len() - 1, cx),
            }
        }
        Handled::Yes
    }

    /// A button changes its color while the pointer is on it, so the move requires a new frame.
    fn point(&mut self, _: f64, _: f64, _: &mut Cx<'_>) -> (Handled, Redraw) {
        (Handled::No, Redraw::Whole)
    }

    fn draw(&self, canvas: &mut Canvas<'_, '_>) {
        if let Some(open) = self.0.front() {
            open.draw(canvas.geometry, canvas.colors, canvas.pointer, canvas.scene);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question() -> Confirm {
        Confirm::new("Close it?", "A program runs in it, and would be ended. ".repeat(3))
            .preview(vec![Preview::default(); 6])
            .button("Close", 'y', Answer::Nothing)
            .button("Keep", 'k', Answer::Nothing)
            .cancel()
    }

    fn press(confirm: &mut Confirm, key: Key) -> Option<usize> {
        confirm.key(key, Modifiers::empty())
    }

    #[test]
    fn enter_presses_the_marked_button_and_escape_the_last() {
        let mut confirm = question();
        assert_eq!(press(&mut confirm, Key::Enter), Some(0));
        assert_eq!(press(&mut confirm, Key::Escape), Some(2));
        assert_eq!(confirm.key(Key::Char('c'), Modifiers::CTRL), Some(2));
        assert_eq!(press(&mut confirm, Key::Right), None);
        assert_eq!(press(&mut confirm, Key::Enter), Some(1));
        assert_eq!(confirm.key(Key::Tab, Modifiers::SHIFT), None);
        assert_eq!(press(&mut confirm, Key::Enter), Some(0));
        press(&mut confirm, Key::Left);
        assert_eq!(press(&mut confirm, Key::Enter), Some(0), "it stops at the ends");
    }

    #[test]
    fn letters_press_their_buttons_and_nothing_else_does() {
        let mut confirm = question();
        assert_eq!(press(&mut confirm, Key::Char('k')), Some(1));
        assert_eq!(confirm.key(Key::Char('Y'), Modifiers::SHIFT), Some(0));
        assert_eq!(press(&mut confirm, Key::Char('x')), None);
        assert_eq!(confirm.key(Key::Char('y'), Modifiers::ALT), None);
    }

    #[test]
    fn a_question_that_appears_by_itself_is_denied_by_enter() {
        let mut confirm = Confirm::new("May it?", "")
            .button_without_key("Allow", Answer::Nothing)
            .marked_last("Deny", Answer::Nothing);
        let keys = |confirm: &Confirm| [confirm.key_name(0), confirm.key_name(1)];
        assert_eq!(keys(&confirm), ["", "Enter"]);
        assert_eq!(press(&mut confirm, Key::Char('a')), None);
        assert_eq!(press(&mut confirm, Key::Enter), Some(1));
        assert_eq!(press(&mut confirm, Key::Escape), Some(1));
        press(&mut confirm, Key::Left);
        assert_eq!(keys(&confirm), ["Enter", "Esc"]);
        assert_eq!(press(&mut confirm, Key::Enter), Some(0));
    }

    #[test]
    fn an_effect_is_spoken_after_its_subject() {
        let line = |text: &str| Preview { text: text.to_owned(), ..Preview::default() };
        let mut questions = Questions::default();
        assert!(questions.spoken().is_none());
        let confirm = Confirm::new("Close it?", "Programs run in it:");
        questions.0.push_back(confirm.preview(vec![line("make"), line("top")]).cancel());
        let spoken = ("Close it?", "Programs run in it:\nmake\ntop".to_owned(), vec!["Cancel"], 0);
        assert_eq!(questions.spoken(), Some(spoken));
    }

    #[test]
    fn nothing_is_granted_that_the_window_is_too_small_to_show() {
        let about = "The program may then read these paths. ".repeat(4);
        let confirm = Confirm::new("May it read?", about)
            .grants(vec![Preview { text: "x".repeat(50), ..Preview::default() }; 6])
            .button_without_key("Allow", Answer::Nothing)
            .marked_last("Deny", Answer::Nothing);
        let mut was_hidden = [false; 2];
        for height in 1..600 {
            let geometry = Geometry { width: 600, height, ..Geometry::TEST };
            let shown = confirm.place(&geometry);
            let is_whole = shown.rows == 6;
            assert_eq!(confirm.can_press(0, &geometry), is_whole, "{height}");
            let narrow = Geometry { width: 300, ..geometry };
            assert!(!confirm.can_press(0, &narrow) && confirm.can_press(1, &narrow), "{height}");
            assert!(confirm.can_press(1, &geometry), "{height}");
            if is_whole {
                assert!(shown.rect.y + shown.rect.height as i32 <= height as i32, "{height}");
            }
            was_hidden[usize::from(is_whole)] = true;
        }
        assert_eq!(was_hidden, [true; 2]);
        // A preview that grants nothing hides no button.
        let geometry = Geometry { width: 600, height: 1, ..Geometry::TEST };
        assert!(question().can_press(0, &geometry));
    }

    #[test]
    fn it_fits_into_any_window_and_a_click_finds_its_button() {
        for (width, height) in [(1200, 700), (400, 300), (200, 60), (1, 1)] {
            let geometry = Geometry { width, height, ..Geometry::TEST };
            let confirm = question();
            let place = confirm.place(&geometry);
            if height >= 300 {
                let bottom = place.rect.y + place.rect.height as i32;
                assert!(bottom <= height as i32, "{width}x{height}: {bottom}");
            }
            if width >= 400 {
                let button = place.buttons[1];
                let (x, y) = (f64::from(button.x) + 3.0, f64::from(button.y) + 3.0);
                assert_eq!(confirm.at(&geometry, x, y), Ok(1));
                assert!(place.buttons[0].x > place.rect.x, "{width}x{height}");
                let (x, y) = (f64::from(place.rect.x) + 2.0, f64::from(place.rect.y) + 2.0);
                assert_eq!(confirm.at(&geometry, x, y), Err(true));
                assert_eq!(confirm.at(&geometry, 0.0, 0.0), Err(false));
            }
        }
    }
}
