//! How keys, clicks, text and results change the search, its current match and the view of the searched pane.

use std::time::{Duration, Instant};

use unterm_mux::{
    PaneId,
    input::{Key, Modifiers},
};
use unterm_term::LineId;

use crate::action::Action;
use crate::window::{
    cx::Cx,
    overlays::{
        canvas::Canvas,
        overlay::{Handled, Overlay, Press},
        pasting,
        search::{Button, SearchBar, search_result::SearchResult},
        text_target::TextTarget,
    },
    redraw::Redraw,
    ui::geometry::{contains, pixels},
    wish::Wish,
};

/// The delay between new output and the next search of it.
const AGAIN: Duration = Duration::from_millis(300);

impl SearchBar {
    /// Whether the search handles a key. Keys that are bound to other actions, such as scrolling, run these actions.
    fn wants(&self, press: &Press<'_>, cx: &Cx<'_>) -> bool {
        match cx.prefs.bound(press.pressed, press.modifiers) {
            Some(Action::Paste | Action::PastePrimary) | None => true,
            // Ctrl+C closes the search; Ctrl+Shift+C copies the selection.
            Some(Action::Copy) => !press.modifiers.contains(Modifiers::SHIFT),
            Some(_) => false,
        }
    }

    fn press_key(&mut self, press: &Press<'_>, cx: &mut Cx<'_>) {
        let Press { modifiers, text, .. } = *press;
        let ctrl = modifiers.contains(Modifiers::CTRL);
        let key = press.command_key();
        let shift = modifiers.contains(Modifiers::SHIFT);
        let is_enter = matches!(key, Key::Enter | Key::KeypadEnter);
        if (is_enter || key == Key::Up) && self.line.text().is_empty() {
            return self.repeat_last(is_enter, cx);
        }
        match (key, ctrl) {
            (Key::Escape, _) | (Key::Char('c' | 'g'), true) => {
                cx.close();
                if let (Some(from), Some(view)) = (self.from, cx.views.get_mut(&self.pane)) {
                    view.put_copy_cursor(from.origin);
                }
                return;
            }
            (Key::Enter | Key::KeypadEnter, _) if self.from.is_some() => {
                self.is_awaited = !self.is_answered;
                match self.range() {
                    None if self.is_answered => cx.close(),
                    _ => self.is_accepted = true,
                }
                return;
            }
            (Key::Tab, _) if self.range().is_some() && self.from.is_none() => {
                return cx.wish(Wish::Act(None, Action::CopyMode));
            }
            (Key::Char('w'), false) if modifiers.contains(Modifiers::ALT) => {
                self.matching.whole_words = !self.matching.whole_words;
                return self.run(cx);
            }
            (Key::Enter | Key::KeypadEnter, _) => self.step(if shift { 1 } else { -1 }),
            (Key::Up, _) | (Key::Char('p'), true) => self.step(-1),
            (Key::Down, _) | (Key::Char('n'), true) => self.step(1),
            (Key::Char('r'), true) => {
                self.matching.kind = self.matching.kind.next();
                return self.run(cx);
            }
            _ => {
                if self.line.edit(key, modifiers, text) == Some(true) {
                    self.changed(cx);
                }
                return;
            }
        }
        self.show_match(cx);
    }

    /// Searches again for the last pattern. In copy mode, if `is_complete` is set, also accepts the pattern, like `/`
    /// and Enter in vi.
    pub(crate) fn repeat_last(&mut self, is_complete: bool, cx: &mut Cx<'_>) {
        let Some(query) = self.last.clone() else {
            if is_complete && self.from.is_some() {
                cx.close();
            }
            return;
        };
        self.recall(&query);
        self.run(cx);
        if self.from.is_some() {
            self.is_accepted = is_complete;
            self.is_awaited = is_complete && !self.is_answered;
        }
    }

    /// Starts a search after the input changed. If the input is empty, scrolls back to the position at which the
    /// search was opened.
    fn changed(&mut self, cx: &mut Cx<'_>) {
        self.current = None;
        let (top, _) = self.origin;
        if self.line.text().is_empty()
            && self.from.is_none()
            && let Some(view) = cx.views.get_mut(&self.pane)
        {
            view.top = top;
        }
        self.run(cx);
    }

    /// Starts a search, or closes if the pane is gone.
    pub(crate) fn run(&mut self, cx: &mut Cx<'_>) {
        match cx.mux.pane(self.pane) {
            Some(pane) => self.start(&pane, cx.inbox),
            None => cx.close(),
        }
    }

    /// Stores the matches that a search thread found, and shows the current match.
    pub(crate) fn found(&mut self, found: SearchResult, cx: &mut Cx<'_>) {
        let Some(pane) = cx.mux.pane(self.pane) else { return };
        let clock = cx.clock;
        let Some(view) = cx.views.get_mut(&self.pane) else { return };
        view.refresh(&pane, clock);
        let live_bottom = view.top.is_none().then(|| view.last_line());
        let bottom: LineId = match (self.origin, live_bottom) {
            ((None, _), Some(line)) => line,
            ((_, line), _) => line,
        };
        if self.take(found, bottom) {
            self.show_match(cx);
        }
        self.is_awaited = false;
    }

    /// Scrolls to the current match.
    fn show_match(&self, cx: &mut Cx<'_>) {
        let Some(range) = self.range() else { return };
        let Some(view) = cx.views.get_mut(&self.pane) else { return };
        match self.moves_cursor() {
            true => view.put_copy_cursor(range.start),
            false => view.reveal(range.start.line),
        }
    }

    /// Schedules a search of new output.
    pub(crate) fn search_output(&mut self, now: Instant) {
        if !self.line.text().is_empty() {
            self.again.get_or_insert(now + AGAIN);
        }
    }

    /// If a search of new output is due, starts it. Otherwise, returns the time at which it is due.
    pub(crate) fn run_again(&mut self, now: Instant, cx: &mut Cx<'_>) -> Option<Instant> {
        // Run only one search at a time, even if the program prints fast.
        let again = self.again.filter(|_| self.is_answered)?;
        if now < again {
            return Some(again);
        }
        self.run(cx);
        None
    }
}

impl Overlay for SearchBar {
    /// The searched pane has the focus, and the user has not accepted the pattern yet.
    fn has_input(&self, focused: Option<PaneId>) -> bool {
        Some(self.pane) == focused && !self.is_accepted
    }

    fn is_raised(&self) -> bool {
        false
    }

    fn text_target(&self) -> Option<TextTarget> {
        Some(TextTarget::Search)
    }

    fn key(&mut self, press: &Press<'_>, cx: &mut Cx<'_>) -> Handled {
        if !self.wants(press, cx) {
            return Handled::No;
        }
        if !pasting::requests_paste(press, cx) {
            self.press_key(press, cx);
        }
        Handled::Yes
    }

    fn text(&mut self, text: &str, cx: &mut Cx<'_>) -> Handled {
        self.line.insert(text);
        self.changed(cx);
        Handled::Yes
    }

    fn press(&mut self, cx: &mut Cx<'_>) -> Handled {
        let Some((x, y)) = cx.pointer.position else { return Handled::No };
        let places = self.places.get();
        match places.button(x, y) {
            Some(Button::Kind) => {
                self.matching.kind = self.matching.kind.next();
                self.run(cx);
            }
            Some(Button::Previous) => {
                self.step(-1);
                self.show_match(cx);
            }
            Some(Button::Next) => {
                self.step(1);
                self.show_match(cx);
            }
            Some(Button::Close) => cx.close(),
            None => {}
        }
        if contains(places.bar, x, y) { Handled::Yes } else { Handled::No }
    }

    /// A button changes its color while the pointer is on it, so the move requires a new frame.
    fn point(&mut self, x: f64, y: f64, _: &mut Cx<'_>) -> (Handled, Redraw) {
        (Handled::No, Redraw::if_changed(contains(self.places.get().bar, x, y)))
    }

    fn draw(&self, canvas: &mut Canvas<'_, '_>) {
        let Some(area) = canvas.area(self.pane) else { return };
        let seen = canvas.seen(self.pane, area, self.range());
        let place = (pixels(area), &seen[..]);
        let (preedit, look) =
            (canvas.preedit_of(TextTarget::Search), (canvas.geometry, canvas.colors));
        let pointer = canvas.pointer;
        let caret = self.draw_bar(preedit, look, place, pointer, canvas.renderer, canvas.scene);
        canvas.caret = Some(caret);
    }
}
