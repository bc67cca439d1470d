//! Opens and closes the search.

use std::{sync::atomic::Ordering, time::Instant};

use unterm_mux::PaneId;
use unterm_term::Point;

use crate::window::{
    app::{App, overlays::stack::Place},
    cx::Cx,
    overlays::search::{FromCopyMode, SearchBar, found::Found},
};

impl App {
    /// Opens the search of the focused pane. If the search is already open, it receives the keys again.
    pub(crate) fn open_search(&mut self) {
        let Some(pane) = self.focused_pane() else { return };
        if self.overlays.search.as_ref().is_none_or(|search| search.pane != pane.id()) {
            let mut search = self.new_search(pane.id());
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
        let mut search = self.new_search(pane.id());
        search.line.insert(text.trim_start());
        self.overlays.search = Some(search);
        self.with_search(SearchBar::run);
        self.surface.pacing.ask();
    }

    /// Opens a search that copy mode requests. `origin` is the position of copy mode's cursor.
    pub(crate) fn search_from_copy_mode(&mut self, pane: PaneId, origin: Point, forward: bool) {
        let from = Some(FromCopyMode { origin, forward });
        self.overlays.search = Some(SearchBar { from, ..self.new_search(pane) });
        self.surface.pacing.ask();
    }

    /// Moves the cursor of copy mode, which is at `at`, by `count` matches. If no search is open, opens the last one.
    pub(crate) fn next_match(&mut self, pane: PaneId, at: Point, forward: bool, count: u32) {
        let search = self.overlays.search.as_mut().filter(|search| search.pane == pane);
        if let Some(search) = search {
            let to = search.walk(at, forward, count);
            if let (Some(to), Some(view)) = (to, self.workspace.views.get_mut(&pane)) {
                view.put_copy_cursor(to);
            }
        } else if self.overlays.last_search.is_some() {
            self.search_from_copy_mode(pane, at, forward);
            self.with_search(|search, cx| search.repeat_last(true, cx));
        }
    }

    /// Closes the open search, and creates one for a pane.
    fn new_search(&mut self, pane: PaneId) -> SearchBar {
        self.close_search();
        SearchBar { last: self.overlays.last_search.clone(), ..SearchBar::new(pane) }
    }

    /// Closes the search. The scroll position does not change.
    pub(crate) fn close_search(&mut self) {
        if let Some(search) = self.overlays.search.take() {
            search.generation.fetch_add(1, Ordering::AcqRel);
            self.overlays.last_search = search.query().or(self.overlays.last_search.take());
            self.surface.pacing.ask();
        }
    }

    /// Lends the open search what it needs.
    fn with_search<R>(&mut self, run: impl FnOnce(&mut SearchBar, &mut Cx<'_>) -> R) -> Option<R> {
        self.lend_parts(Place::Search, |overlays, cx| Some(run(overlays.search.as_mut()?, cx)))
    }

    /// Stores the matches that a search thread found, and shows the current match.
    pub(crate) fn search_found(&mut self, found: Found) {
        self.with_search(|search, cx| search.found(found, cx));
        self.surface.pacing.ask();
    }

    /// If a search of new output is due, starts it. Otherwise, returns the time at which it is due.
    pub(crate) fn search_again(&mut self, now: Instant) -> Option<Instant> {
        self.with_search(|search, cx| search.run_again(now, cx)).flatten()
    }
}
