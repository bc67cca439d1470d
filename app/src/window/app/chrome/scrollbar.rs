//! Shows scrollbars, and handles the mouse on them.

use std::time::Instant;

use unterm_mux::{PaneId, Rect};
use unterm_renderer::Quad;
use unterm_term::ScreenKind;

use crate::config::ShowScrollbar;
use crate::window::{
    app::App,
    chrome::scrollbar::{Bar, Drag, has_history, marks},
    redraw::Redraw,
    ui::{
        colors::Colors,
        geometry::{contains, pixels},
    },
    workspace::{prompts::MarkKind, scroll::Reach, view::View},
};

impl App {
    fn shows_bar(&self, pane: PaneId, view: &View, bar: &Bar) -> bool {
        let over = || {
            let over = self.input.pointer.position.is_some_and(|(x, y)| contains(bar.grab, x, y));
            over && !self.has_overlay()
        };
        match self.prefs.config.scrollbar.show {
            ShowScrollbar::Never => false,
            ShowScrollbar::Always => view.snapshot.screen == ScreenKind::Main,
            ShowScrollbar::Auto => {
                let held = self.chrome.bar_drag.is_some_and(|drag| drag.pane == pane);
                has_history(view) && (view.is_scrolled() || held || over())
            }
        }
    }

    /// The scrollbar of a visible pane, if the pane can be scrolled.
    fn bar_of(&self, pane: PaneId) -> Option<(Bar, Reach)> {
        let geometry = self.surface.geometry?;
        let placed = self.surface.placed(&self.mux.layout());
        let (_, area) = placed.into_iter().find(|(id, _)| *id == pane)?;
        let reach = self
            .workspace
            .views
            .get(&pane)
            .filter(|view| has_history(view))?
            .reach(geometry.cell.height);
        Some((Bar::new(pixels(area), reach, &geometry), reach))
    }

    /// The pane whose scrollbar is at a point, even if the scrollbar is not drawn.
    fn bar_at(&self, x: f64, y: f64) -> Option<PaneId> {
        if self.prefs.config.scrollbar.show == ShowScrollbar::Never {
            return None;
        }
        let layout = self.mux.layout();
        let panes = self.surface.placed(&layout);
        let (pane, _) = panes.into_iter().find(|(_, area)| contains(pixels(*area), x, y))?;
        self.bar_of(pane).filter(|(bar, _)| contains(bar.grab, x, y)).map(|_| pane)
    }

    /// Whether the pointer is on a scrollbar, and the frame that is due because it entered or left one. `before` is the
    /// pointer's last position.
    pub(crate) fn pass_bars(&self, before: Option<(f64, f64)>) -> (bool, Redraw) {
        let at = |position: Option<(f64, f64)>| position.and_then(|(x, y)| self.bar_at(x, y));
        let now = at(self.input.pointer.position);
        (now.is_some(), Redraw::if_changed(now != at(before)))
    }

    /// Handles a left press: grabs the thumb, or first moves the thumb to the pointer. Returns false if no scrollbar
    /// is there.
    pub(crate) fn grab_bar(&mut self, x: f64, y: f64) -> bool {
        let Some(pane) = self.bar_at(x, y) else { return false };
        let Some((bar, _)) = self.bar_of(pane) else { return false };
        let inside = y - f64::from(bar.thumb.y);
        let height = f64::from(bar.thumb.height);
        let grip = if (0.0..height).contains(&inside) { inside } else { height / 2.0 };
        self.chrome.bar_drag = Some(Drag { pane, grip });
        self.drag_bar(y)
    }

    /// Scrolls to the position of the dragged thumb. Returns false if no thumb is dragged.
    pub(crate) fn drag_bar(&mut self, y: f64) -> bool {
        let Some(drag) = self.chrome.bar_drag else { return false };
        let Some((bar, reach)) = self.bar_of(drag.pane) else {
            self.chrome.bar_drag = None;
            return false;
        };
        let (_, cell) = self.surface.cell();
        if let Some(view) = self.workspace.views.get_mut(&drag.pane) {
            let at = bar.position(y - drag.grip, reach);
            if at != reach.at {
                view.scroll_to(at, cell);
            }
        }
        true
    }

    /// Updates the marks of the visible scrollbars. Returns the time at which to call this function again.
    pub(crate) fn read_bars(&mut self, now: Instant) -> Option<Instant> {
        if !self.prefs.config.scrollbar.marks {
            return None;
        }
        let layout = self.mux.layout();
        let mut next: Option<Instant> = None;
        for (pane, _) in self.surface.placed(&layout) {
            let Some((bar, _)) = self.bar_of(pane) else { continue };
            let shown = self
                .workspace
                .views
                .get(&pane)
                .is_some_and(|view| self.shows_bar(pane, view, &bar));
            let Some(own) = self.mux.pane(pane).filter(|_| shown) else { continue };
            let Some(view) = self.workspace.views.get_mut(&pane) else { continue };
            let seq = view.snapshot.seq;
            next = next.into_iter().chain(view.prompts.read(&own, seq, now)).min();
        }
        next
    }

    /// Whether any visible pane shows its scrollbar.
    pub(crate) fn shows_bars(&self, placed: &[(PaneId, Rect)]) -> bool {
        let Some(geometry) = self.surface.geometry else {
            return false;
        };
        placed.iter().any(|(pane, area)| {
            self.workspace.views.get(pane).is_some_and(|view| {
                let bar = Bar::new(pixels(*area), view.reach(geometry.cell.height), &geometry);
                self.shows_bar(*pane, view, &bar)
            })
        })
    }

    /// The rectangles of the visible scrollbars.
    pub(crate) fn bars(&self, colors: &Colors) -> Vec<Quad> {
        let mut quads = Vec::new();
        let Some(geometry) = self.surface.geometry else {
            return quads;
        };
        for (pane, area) in self.surface.placed(&self.mux.layout()) {
            let Some(view) = self.workspace.views.get(&pane) else { continue };
            let reach = view.reach(geometry.cell.height);
            let bar = Bar::new(pixels(area), reach, &geometry);
            if !self.shows_bar(pane, view, &bar) {
                continue;
            }
            let over = self.input.pointer.position.is_some_and(|(x, y)| contains(bar.grab, x, y));
            let held = self.chrome.bar_drag.is_some_and(|drag| drag.pane == pane);
            let radius = bar.track.width as f32 / 2.0;
            if over || held {
                quads.push(Quad { rect: bar.track, color: colors.hairline, alpha: 0.8, radius });
            }
            if reach.most > 0 {
                let alpha = if over || held { 0.8 } else { 0.45 };
                quads.push(Quad { rect: bar.thumb, color: colors.muted, alpha, radius });
            }
            if self.prefs.config.scrollbar.marks {
                let prompts = view.prompts.marks.iter().map(|(line, kind)| {
                    let color = match kind {
                        MarkKind::Good => colors.success,
                        MarkKind::Bad => colors.danger,
                        MarkKind::Plain => colors.muted,
                    };
                    (*line, color)
                });
                marks(&bar, view, prompts, &geometry, &mut quads);
            }
            if let Some(search) = self.overlays.search.of(pane) {
                let found = search.lines().map(|line| (line, colors.bell));
                marks(&bar, view, found, &geometry, &mut quads);
            }
        }
        quads
    }
}
