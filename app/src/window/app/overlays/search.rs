//! Opens and closes the search.

use std::time::Instant;

use unterm_mux::PaneId;
use unterm_term::{LineId, Point};

use crate::window::{
    app::App,
    cx::Cx,
    overlays::search::{FromCopyMode, Query, SearchBar, search_result::SearchResult},
    workspace::copy::selected_text,
};

impl App {
    /// Opens the search of the focused pane. If the search is already open, it receives the keys again.
    pub(crate) fn open_search(&mut self) {
        let Some(pane) = self.focused_pane() else { return };
        if self.overlays.search.as_ref().is_none_or(|search| search.pane != pane.id()) {
            let last = self.end_search();
            let origin = self.fresh_view(&pane).map(|view| (view.top, view.last_line()));
            let origin = origin.unwrap_or((None, LineId(u64::MAX)));
            self.overlays.search = Some(SearchBar::of_user(pane.id(), last, origin));
        }
        if let Some(search) = &mut self.overlays.search {
            search.resume();
        }
    }

    /// Opens the search of the focused pane, with the selected text as the pattern.
    pub(crate) fn search_selection(&mut self) {
        let Some(pane) = self.focused_pane() else { return };
        let trims = self.prefs.config.mouse.trim_copied;
        let Some(text) = selected_text(&self.workspace.views, &pane, trims) else {
            return self.open_search();
        };
        let last = self.end_search();
        self.overlays.search = Some(SearchBar::for_text(pane.id(), last, text.trim_start()));
        self.with_search(SearchBar::run);
    }

    /// Opens a search that copy mode requests. `origin` is the position of copy mode's cursor.
    pub(crate) fn search_from_copy_mode(&mut self, pane: PaneId, origin: Point, forward: bool) {
        let last = self.end_search();
        let from = FromCopyMode { origin, forward };
        self.overlays.search = Some(SearchBar::of_copy_mode(pane, last, from));
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

    /// Closes the search. Returns the last query.
    fn end_search(&mut self) -> Option<Query> {
        self.overlays.close_search();
        self.overlays.last_search.clone()
    }

    /// Lends the open search what it needs.
    fn with_search<R>(&mut self, run: impl FnOnce(&mut SearchBar, &mut Cx<'_>) -> R) -> Option<R> {
        self.with_parts(|parts, cx| {
            let result = run(parts.overlays.search.as_mut()?, cx);
            if std::mem::take(&mut cx.closes) {
                parts.overlays.close_search();
            }
            Some(result)
        })
    }

    /// Stores the matches that a search thread found, and shows the current match.
    pub(crate) fn search_found(&mut self, found: SearchResult) {
        self.with_search(|search, cx| search.found(found, cx));
    }

    /// If a search of new output is due, starts it. Otherwise, returns the time at which it is due.
    pub(crate) fn search_again(&mut self, now: Instant) -> Option<Instant> {
        self.with_search(|search, cx| search.run_again(now, cx)).flatten()
    }
}
