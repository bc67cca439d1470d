//! The keys of the search, and how keys and new output change the query, the current match and the view.

use std::{sync::atomic::Ordering, time::Instant};

use unterm_mux::{
    PaneId,
    input::{Key, Modifiers},
};
use unterm_term::Point;

use crate::window::{
    app::{App, overlays::layer::Layer},
    overlays::{
        canvas::Canvas,
        overlay::Press,
        search::{Button, FromCopyMode, SearchBar, found::Found},
        taker::Taker,
    },
    surface::plan::Drawn,
    ui::geometry::{contains, pixels},
};

/// The overlay of the search bar.
pub(crate) struct SearchLayer;

impl Layer for SearchLayer {
    fn is_open(&self, app: &App) -> bool {
        app.is_searching()
    }

    /// The matches stay highlighted even if the searched pane has no focus, or the user has accepted the pattern.
    fn lies_over_text(&self, app: &App) -> bool {
        app.overlays.search.is_some()
    }

    fn is_raised(&self) -> bool {
        false
    }

    fn taker(&self) -> Option<Taker> {
        Some(Taker::Search)
    }

    fn key(&self, app: &mut App, press: &Press<'_>) -> bool {
        if !app.takes_for_search(press.pressed, press.modifiers) {
            return false;
        }
        if !app.pastes_into_chrome(press) {
            app.search_key(press);
        }
        true
    }

    fn text(&self, app: &mut App, text: &str) -> bool {
        app.search_text(text);
        true
    }

    fn press(&self, app: &mut App) -> bool {
        app.input.pointer.position.is_some_and(|(x, y)| app.search_pressed(x, y))
    }

    /// A button changes its color while the pointer is on it, so the move requires a new frame.
    fn point(&self, app: &mut App, x: f64, y: f64) -> bool {
        let bar = app.overlays.search.as_ref().map(|search| search.places.get().bar);
        if bar.is_some_and(|bar| contains(bar, x, y)) {
            app.surface.pacing.ask();
        }
        false
    }

    fn draw(&self, drawn: &Drawn<'_>, canvas: &mut Canvas<'_, '_>) {
        let Some(search) = &drawn.overlays.search else { return };
        let Some(area) = canvas.area(search.pane) else { return };
        let seen = canvas.seen(search.pane, area, search.range());
        let place = (pixels(area), &seen[..]);
        let (preedit, look) = (canvas.preedit_of(Taker::Search), (canvas.geometry, canvas.colors));
        let pointer = canvas.pointer;
        let at = search.draw(preedit, look, place, pointer, canvas.renderer, canvas.scene);
        canvas.caret = Some(at);
    }
}

impl App {
    /// Opens the search of the focused pane. If the search is already open, it receives the keys again.
    pub(crate) fn open_search(&mut self) {
        let Some(pane) = self.focused_pane() else { return };
        if self.overlays.search.as_ref().is_none_or(|search| search.pane != pane.id()) {
            self.close_search();
            let mut search = SearchBar::new(pane.id());
            if let Some(view) = self.fresh_view(&pane) {
                search.origin = (view.top, view.last_line());
            }
            self.overlays.search = Some(search);
        }
        if let Some(search) = &mut self.overlays.search {
            (search.is_accepted, search.from) = (false, None);
        }
        self.surface.pacing.ask();
    }

    /// Opens the search of the focused pane, with the selected text as the pattern.
    pub(crate) fn search_selection(&mut self) {
        let Some(pane) = self.focused_pane() else { return };
        let Some(text) = self.selected_text(&pane) else { return self.open_search() };
        self.close_search();
        let mut search = SearchBar::new(pane.id());
        search.line.insert(text.trim_start());
        self.overlays.search = Some(search);
        self.search_now();
    }

    /// Opens a search that copy mode requests. `origin` is the position of copy mode's cursor.
    pub(crate) fn search_from_copy_mode(&mut self, pane: PaneId, origin: Point, forward: bool) {
        self.close_search();
        let from = Some(FromCopyMode { origin, forward });
        self.overlays.search = Some(SearchBar { from, ..SearchBar::new(pane) });
        self.surface.pacing.ask();
    }

    /// Accepts the pattern: copy mode receives the keys again, and the matches stay highlighted.
    pub(crate) fn accept_search(&mut self) {
        if let Some(search) = &mut self.overlays.search {
            search.is_accepted = true;
            self.surface.pacing.ask();
        }
    }

    /// Closes the search. The scroll position does not change.
    pub(crate) fn close_search(&mut self) {
        if let Some(search) = self.overlays.search.take() {
            search.generation.fetch_add(1, Ordering::AcqRel);
            self.overlays.last_search = search.query().or(self.overlays.last_search.take());
            self.surface.pacing.ask();
        }
    }

    /// Whether the search receives the keys: the searched pane has the focus, and the user has not accepted the
    /// pattern yet.
    pub(crate) fn is_searching(&self) -> bool {
        let focused = self.mux.layout().active_tab().map(|tab| tab.focused);
        let has_keys = |search: &SearchBar| Some(search.pane) == focused && !search.is_accepted;
        self.overlays.search.as_ref().is_some_and(has_keys)
    }

    /// Handles a key while the search is open. The program does not receive this key.
    pub(crate) fn search_key(&mut self, press: &Press<'_>) {
        let Press { pressed, modifiers, text } = *press;
        let Some(search) = &mut self.overlays.search else { return };
        let ctrl = modifiers.contains(Modifiers::CTRL);
        let key = match pressed.unshifted {
            Some(c) if ctrl => Key::Char(c),
            _ => pressed.key,
        };
        let shift = modifiers.contains(Modifiers::SHIFT);
        let from = search.from;
        let is_enter = matches!(key, Key::Enter | Key::KeypadEnter);
        if (is_enter || key == Key::Up) && search.line.text().is_empty() {
            return self.search_last(is_enter);
        }
        match (key, ctrl) {
            (Key::Escape, _) | (Key::Char('c' | 'g'), true) => {
                let pane = self.mux.pane(search.pane);
                self.close_search();
                if let (Some(from), Some(pane)) = (from, pane) {
                    self.put_copy_cursor(&pane, from.origin);
                }
                return;
            }
            (Key::Enter | Key::KeypadEnter, _) if from.is_some() => {
                search.is_awaited = !search.is_answered;
                return match search.range() {
                    None if search.is_answered => self.close_search(),
                    _ => self.accept_search(),
                };
            }
            (Key::Tab, _) if search.range().is_some() && from.is_none() => {
                return self.toggle_copy_mode();
            }
            (Key::Char('w'), false) if modifiers.contains(Modifiers::ALT) => {
                search.whole_words = !search.whole_words;
                return self.search_now();
            }
            (Key::Enter | Key::KeypadEnter, _) => search.step(if shift { 1 } else { -1 }),
            (Key::Up, _) | (Key::Char('p'), true) => search.step(-1),
            (Key::Down, _) | (Key::Char('n'), true) => search.step(1),
            (Key::Char('r'), true) => {
                search.kind = search.kind.next();
                return self.search_now();
            }
            _ => {
                return match search.line.edit(key, modifiers, text) {
                    Some(true) => self.search_changed(),
                    Some(false) => self.surface.pacing.ask(),
                    None => {}
                };
            }
        }
        self.show_match();
    }

    /// Searches again for the last pattern. In copy mode, if `is_complete` is set, also accepts the pattern, like `/`
    /// and Enter in vi.
    pub(crate) fn search_last(&mut self, is_complete: bool) {
        let Some(search) = &mut self.overlays.search else { return };
        let Some(query) = &self.overlays.last_search else {
            if is_complete && search.from.is_some() {
                self.close_search();
            }
            return;
        };
        search.recall(query);
        self.search_now();
        if let Some(search) = self.overlays.search.as_mut().filter(|search| search.from.is_some()) {
            search.is_accepted = is_complete;
            search.is_awaited = is_complete && !search.is_answered;
        }
    }

    /// Handles a mouse press on the bar or its buttons. Returns false if the press is elsewhere.
    pub(crate) fn search_pressed(&mut self, x: f64, y: f64) -> bool {
        let Some(search) = &mut self.overlays.search else { return false };
        let places = search.places.get();
        match places.button(x, y) {
            Some(Button::Kind) => {
                search.kind = search.kind.next();
                self.search_now();
            }
            Some(Button::Previous) => {
                search.step(-1);
                self.show_match();
            }
            Some(Button::Next) => {
                search.step(1);
                self.show_match();
            }
            Some(Button::Close) => self.close_search(),
            None => {}
        }
        contains(places.bar, x, y)
    }

    /// Inserts text from an input method or a paste.
    pub(crate) fn search_text(&mut self, text: &str) {
        if let Some(search) = &mut self.overlays.search {
            search.line.insert(text);
            self.search_changed();
        }
    }

    /// Starts a search after the input changed. If the input is empty, scrolls back to the position at which the
    /// search was opened.
    fn search_changed(&mut self) {
        let Some(search) = &mut self.overlays.search else { return };
        search.current = None;
        let (top, _) = search.origin;
        if search.line.text().is_empty()
            && search.from.is_none()
            && let Some(view) = self.workspace.views.get_mut(&search.pane)
        {
            view.top = top;
        }
        self.search_now();
    }

    fn search_now(&mut self) {
        self.surface.pacing.ask();
        let Some(search) = &mut self.overlays.search else { return };
        match self.mux.pane(search.pane) {
            Some(pane) => search.start(&pane, &self.inbox),
            None => self.close_search(),
        }
    }

    /// Stores the matches that a search thread found, and shows the current match.
    pub(crate) fn search_found(&mut self, found: Found) {
        let Some(pane) =
            self.overlays.search.as_ref().and_then(|search| self.mux.pane(search.pane))
        else {
            return;
        };
        let Some(view) = self.fresh_view(&pane) else { return };
        let live_bottom = view.top.is_none().then(|| view.last_line());
        let Some(search) = &mut self.overlays.search else { return };
        let bottom = match (search.origin, live_bottom) {
            ((None, _), Some(line)) => line,
            ((_, line), _) => line,
        };
        if search.take(found, bottom) {
            self.show_match();
        }
        if let Some(search) = &mut self.overlays.search {
            search.is_awaited = false;
        }
        self.surface.pacing.ask();
    }

    /// Scrolls to the current match.
    fn show_match(&mut self) {
        self.surface.pacing.ask();
        let Some(search) = &self.overlays.search else { return };
        let Some(range) = search.range() else { return };
        let follows = search.moves_cursor();
        if let Some(pane) = self.mux.pane(search.pane).filter(|_| follows) {
            return self.put_copy_cursor(&pane, range.start);
        }
        if let Some(view) = self.workspace.views.get_mut(&search.pane) {
            view.reveal(range.start.line);
        }
    }

    /// If a search of new output is due, starts it. Otherwise, returns the time at which it is due.
    pub(crate) fn search_again(&mut self, now: Instant) -> Option<Instant> {
        let search = self.overlays.search.as_ref()?;
        // Run only one search at a time, even if the program prints fast.
        let again = search.again.filter(|_| search.is_answered)?;
        if now < again {
            return Some(again);
        }
        self.search_now();
        None
    }
}
