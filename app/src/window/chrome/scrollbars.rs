//! The scrollbars of the visible panes: which are shown, their drawing, and the mouse on them.

use std::time::Instant;

use unterm_mux::{PaneId, Rect};
use unterm_renderer::Quad;
use unterm_term::ScreenKind;

use crate::config::ShowScrollbar;
use crate::window::{
    chrome::scrollbar::{Bar, has_history, marks},
    cx::Cx,
    overlays::searching::Searching,
    redraw::Redraw,
    ui::{
        colors::Colors,
        geometry::{contains, pixels},
    },
    workspace::{prompts::MarkKind, scroll::Reach, view::View},
};

/// The scrollbars of the visible panes.
#[derive(Debug, Default)]
pub(crate) struct Scrollbars {
    drag: Option<Drag>,
}

/// A drag of a thumb with the left button.
#[derive(Clone, Copy, Debug)]
struct Drag {
    pane: PaneId,
    /// The distance from the thumb's top to the pressed point, in pixels.
    grip: f64,
}

impl Scrollbars {
    /// Whether a pane's bar is shown. `is_covered` is set if an overlay prevents the panes from receiving the mouse.
    fn shows(&self, pane: PaneId, view: &View, bar: &Bar, is_covered: bool, cx: &Cx<'_>) -> bool {
        let is_over =
            || cx.pointer.position.is_some_and(|(x, y)| contains(bar.grab, x, y)) && !is_covered;
        match cx.prefs.config.scrollbar.show {
            ShowScrollbar::Never => false,
            ShowScrollbar::Always => view.snapshot.screen == ScreenKind::Main,
            ShowScrollbar::Auto => {
                has_history(view) && (view.is_scrolled() || self.is_held(pane) || is_over())
            }
        }
    }

    fn is_held(&self, pane: PaneId) -> bool {
        self.drag.is_some_and(|drag| drag.pane == pane)
    }

    /// Whether any of these panes shows its bar.
    pub(crate) fn are_shown(
        &self,
        placed: &[(PaneId, Rect)],
        is_covered: bool,
        cx: &Cx<'_>,
    ) -> bool {
        let Some(geometry) = &cx.geometry else { return false };
        placed.iter().any(|(pane, area)| {
            cx.views.get(pane).is_some_and(|view| {
                let bar = Bar::new(pixels(*area), view.reach(geometry.cell.height), geometry);
                self.shows(*pane, view, &bar, is_covered, cx)
            })
        })
    }

    /// Handles a left press: grabs the thumb, or first moves the thumb to the pointer. Returns false if no bar is there.
    pub(crate) fn grab(&mut self, x: f64, y: f64, cx: &mut Cx<'_>) -> bool {
        let Some(pane) = bar_at(x, y, cx) else { return false };
        let Some((bar, _)) = bar_of(pane, cx) else { return false };
        let inside = y - f64::from(bar.thumb.y);
        let height = f64::from(bar.thumb.height);
        let grip = if (0.0..height).contains(&inside) { inside } else { height / 2.0 };
        self.drag = Some(Drag { pane, grip });
        self.drag(y, cx)
    }

    /// Scrolls to the position of the dragged thumb. Returns false if no thumb is dragged.
    pub(crate) fn drag(&mut self, y: f64, cx: &mut Cx<'_>) -> bool {
        let Some(drag) = self.drag else { return false };
        let Some((bar, reach)) = bar_of(drag.pane, cx) else {
            self.drag = None;
            return false;
        };
        let (_, cell) = cx.cell();
        if let Some(view) = cx.views.get_mut(&drag.pane) {
            let at = bar.position(y - drag.grip, reach);
            if at != reach.at {
                view.scroll_to(at, cell);
            }
        }
        true
    }

    /// Ends the drag of a thumb. Returns false if no thumb was dragged.
    pub(crate) fn let_go(&mut self) -> bool {
        self.drag.take().is_some()
    }

    /// Updates the marks of the visible bars. Returns the time at which to call this function again.
    pub(crate) fn read_marks(&self, is_covered: bool, cx: &mut Cx<'_>) -> Option<Instant> {
        if !cx.prefs.config.scrollbar.marks {
            return None;
        }
        let mut next: Option<Instant> = None;
        for (pane, _) in cx.placed() {
            let Some((bar, _)) = bar_of(pane, cx) else { continue };
            let view = cx.views.get(&pane);
            let is_shown = view.is_some_and(|view| self.shows(pane, view, &bar, is_covered, cx));
            let Some(own) = cx.mux.pane(pane).filter(|_| is_shown) else { continue };
            let Some(view) = cx.views.get_mut(&pane) else { continue };
            let seq = view.snapshot.seq;
            next = next.into_iter().chain(view.prompts.read(&own, seq, cx.now)).min();
        }
        next
    }

    /// The rectangles of the visible bars.
    pub(crate) fn quads(
        &self,
        colors: &Colors,
        search: &Searching,
        is_covered: bool,
        cx: &Cx<'_>,
    ) -> Vec<Quad> {
        let mut quads = Vec::new();
        let Some(geometry) = cx.geometry else { return quads };
        for (pane, area) in cx.placed() {
            let Some(view) = cx.views.get(&pane) else { continue };
            let reach = view.reach(geometry.cell.height);
            let bar = Bar::new(pixels(area), reach, &geometry);
            if !self.shows(pane, view, &bar, is_covered, cx) {
                continue;
            }
            let is_over = cx.pointer.position.is_some_and(|(x, y)| contains(bar.grab, x, y));
            let is_lit = is_over || self.is_held(pane);
            let radius = bar.track.width as f32 / 2.0;
            if is_lit {
                quads.push(Quad { rect: bar.track, color: colors.hairline, alpha: 0.8, radius });
            }
            if reach.most > 0 {
                let alpha = if is_lit { 0.8 } else { 0.45 };
                quads.push(Quad { rect: bar.thumb, color: colors.muted, alpha, radius });
            }
            if cx.prefs.config.scrollbar.marks {
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
            if let Some(search) = search.of(pane) {
                let found = search.lines().map(|line| (line, colors.bell));
                marks(&bar, view, found, &geometry, &mut quads);
            }
        }
        quads
    }
}

/// The bar of a visible pane, if the pane can be scrolled.
fn bar_of(pane: PaneId, cx: &Cx<'_>) -> Option<(Bar, Reach)> {
    let geometry = cx.geometry?;
    let (_, area) = cx.placed().into_iter().find(|(id, _)| *id == pane)?;
    let view = cx.views.get(&pane).filter(|view| has_history(view))?;
    let reach = view.reach(geometry.cell.height);
    Some((Bar::new(pixels(area), reach, &geometry), reach))
}

/// The pane whose bar is at a point, even if the bar is not drawn.
fn bar_at(x: f64, y: f64, cx: &Cx<'_>) -> Option<PaneId> {
    if cx.prefs.config.scrollbar.show == ShowScrollbar::Never {
        return None;
    }
    let placed = cx.placed();
    let (pane, _) = placed.into_iter().find(|(_, area)| contains(pixels(*area), x, y))?;
    bar_of(pane, cx).filter(|(bar, _)| contains(bar.grab, x, y)).map(|_| pane)
}

/// Whether the pointer is on a bar, and the frame that is due because it entered or left one. `before` is the pointer's
/// last position.
pub(crate) fn pass(before: Option<(f64, f64)>, cx: &Cx<'_>) -> (bool, Redraw) {
    let at = |position: Option<(f64, f64)>| position.and_then(|(x, y)| bar_at(x, y, cx));
    let now = at(cx.pointer.position);
    (now.is_some(), Redraw::if_changed(now != at(before)))
}
