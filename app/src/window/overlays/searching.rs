//! The search of the window: the open bar, and the last query.

use std::time::Instant;

use unterm_mux::{Pane, PaneId};
use unterm_renderer::Highlight;
use unterm_term::{LineId, Point};

use crate::window::{
    cx::Cx,
    overlays::search::{FromCopyMode, Query, SearchBar, search_result::SearchResult},
    workspace::{copy::selected_text, view::Views},
};

/// The open search bar, and the last query.
#[derive(Default)]
pub(crate) struct Searching {
    bar: Option<SearchBar>,
    last: Option<Query>,
}

impl Searching {
    /// The bar, if it is open.
    pub(crate) fn bar(&self) -> Option<&SearchBar> {
        self.bar.as_ref()
    }

    /// The bar, if it is open.
    pub(crate) fn bar_mut(&mut self) -> Option<&mut SearchBar> {
        self.bar.as_mut()
    }

    /// Whether a search is open.
    pub(crate) fn is_open(&self) -> bool {
        self.bar.is_some()
    }

    /// The bar, if it searches this pane.
    pub(crate) fn of(&self, pane: PaneId) -> Option<&SearchBar> {
        self.bar.as_ref().filter(|bar| bar.pane == pane)
    }

    /// The searched pane, and its visible matches as highlights.
    pub(crate) fn highlights(&self, views: &Views) -> (Option<PaneId>, Vec<Highlight>) {
        let Some(bar) = self.bar() else { return (None, Vec::new()) };
        let view = views.get(&bar.pane);
        let highlights = view.map(|view| bar.in_sight(&view.snapshot.rows));
        (Some(bar.pane), highlights.unwrap_or_default())
    }

    /// Closes the search. The scroll position does not change.
    pub(crate) fn close(&mut self) {
        if let Some(bar) = self.bar.take() {
            self.last = bar.end();
        }
    }

    /// Closes the search of a removed pane.
    pub(crate) fn forget(&mut self, pane: PaneId) {
        if self.of(pane).is_some() {
            self.close();
        }
    }

    /// Closes the search if it belongs to copy mode.
    pub(crate) fn close_of_copy_mode(&mut self) {
        if self.bar.as_ref().is_some_and(SearchBar::is_of_copy_mode) {
            self.close();
        }
    }

    /// Opens the search of the focused pane. If the search is already open, it receives the keys again.
    pub(crate) fn open(&mut self, cx: &mut Cx<'_>) {
        let Some(pane) = cx.focused_pane() else { return };
        if self.of(pane.id()).is_none() {
            self.close();
            let origin = cx.fresh_view(&pane).map(|view| (view.top, view.last_line()));
            let origin = origin.unwrap_or((None, LineId(u64::MAX)));
            self.bar = Some(SearchBar::of_user(pane.id(), self.last.clone(), origin));
        }
        if let Some(bar) = &mut self.bar {
            bar.resume();
        }
    }

    /// Opens the search of the focused pane, with the selected text as the pattern.
    pub(crate) fn open_for_selection(&mut self, cx: &mut Cx<'_>) {
        let Some(pane) = cx.focused_pane() else { return };
        match selected_text(cx.views, &pane, cx.prefs.config.mouse.trim_copied) {
            Some(text) => self.open_for(&pane, text.trim_start(), cx),
            None => self.open(cx),
        }
    }

    fn open_for(&mut self, pane: &Pane, text: &str, cx: &mut Cx<'_>) {
        self.close();
        self.bar = Some(SearchBar::for_text(pane.id(), self.last.clone(), text));
        self.with_bar(cx, SearchBar::run);
    }

    /// Opens a search that copy mode requests. `origin` is the position of copy mode's cursor.
    pub(crate) fn open_from_copy_mode(&mut self, pane: PaneId, origin: Point, forward: bool) {
        self.close();
        let from = FromCopyMode { origin, forward };
        self.bar = Some(SearchBar::of_copy_mode(pane, self.last.clone(), from));
    }

    /// Moves the cursor of copy mode, which is at `at`, by `count` matches. If no search is open, opens the last one.
    pub(crate) fn next_match(
        &mut self,
        pane: PaneId,
        at: Point,
        forward: bool,
        count: u32,
        cx: &mut Cx<'_>,
    ) {
        if let Some(bar) = self.bar.as_mut().filter(|bar| bar.pane == pane) {
            let to = bar.walk(at, forward, count);
            if let (Some(to), Some(view)) = (to, cx.views.get_mut(&pane)) {
                view.put_copy_cursor(to);
            }
        } else if self.last.is_some() {
            self.open_from_copy_mode(pane, at, forward);
            self.with_bar(cx, |bar, cx| bar.repeat_last(true, cx));
        }
    }

    /// Stores the matches that a search thread found, and shows the current match.
    pub(crate) fn found(&mut self, found: SearchResult, cx: &mut Cx<'_>) {
        self.with_bar(cx, |bar, cx| bar.found(found, cx));
    }

    /// Schedules a search of new output, if the pane is the searched pane.
    pub(crate) fn search_output(&mut self, pane: PaneId, now: Instant) {
        if let Some(bar) = self.bar.as_mut().filter(|bar| bar.pane == pane) {
            bar.search_output(now);
        }
    }

    /// If a search of new output is due, starts it. Otherwise, returns the time at which it is due.
    pub(crate) fn run_again(&mut self, cx: &mut Cx<'_>) -> Option<Instant> {
        self.with_bar(cx, |bar, cx| bar.run_again(cx.now, cx)).flatten()
    }

    /// Changes the open bar. Closes it if it asks for that.
    fn with_bar<R>(
        &mut self,
        cx: &mut Cx<'_>,
        run: impl FnOnce(&mut SearchBar, &mut Cx<'_>) -> R,
    ) -> Option<R> {
        let result = run(self.bar.as_mut()?, cx);
        if std::mem::take(&mut cx.closes) {
            self.close();
        }
        Some(result)
    }
}
