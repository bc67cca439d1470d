//! The scrollbar of each pane: the position in its history, marks for prompts and search matches, and mouse input.

use std::time::{Duration, Instant};

use unterm_mux::{Pane, PaneId, Rect};
use unterm_renderer::{PixelRect, Quad};
use unterm_term::{LineId, Rgb, ScreenKind, Term};

use super::{
    App,
    chrome::Colors,
    geometry::{Geometry, contains, pixels},
    scroll::Reach,
    view::View,
};
use crate::config::ShowScrollbar;

/// In logical pixels: the width, the distance from the pane's edges, the shortest thumb, and the width of the edge area
/// that counts as the bar.
const WIDTH: f32 = 6.0;
const EDGE: f32 = 1.0;
const SHORTEST: f32 = 24.0;
const GRAB: f32 = 10.0;
/// The height of a mark.
const MARK: f32 = 2.0;
/// The maximum age of the prompts' marks while a program prints.
const AGE: Duration = Duration::from_millis(200);

/// The kind of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A command that succeeded.
    Good,
    /// A command that failed.
    Bad,
    /// A command that runs or has no exit code, or a line that a program marked.
    Plain,
}

/// A pane's prompts, for the marks on its bar.
#[derive(Debug, Default)]
pub(super) struct Prompts {
    marks: Vec<(LineId, Kind)>,
    /// The terminal's `seq` when they were read.
    seq: u64,
    read: Option<Instant>,
}

impl Prompts {
    /// Reads the prompts if the terminal changed; if it is too early, returns when to read them.
    fn read(&mut self, pane: &Pane, seq: u64, now: Instant) -> Option<Instant> {
        if self.seq == seq {
            return None;
        }
        let due = self.read.map(|read| read + AGE).filter(|due| now < *due);
        if due.is_none() {
            self.marks = prompts(&pane.term());
            self.seq = seq;
            self.read = Some(now);
        }
        due
    }
}

fn prompts(term: &Term) -> Vec<(LineId, Kind)> {
    let mark = |command: &unterm_term::Command| {
        let kind = match command.exit_code {
            Some(0) => Kind::Good,
            Some(_) => Kind::Bad,
            None => Kind::Plain,
        };
        Some((command.prompt?.line, kind))
    };
    let marks = term.marks().map(|line| (line, Kind::Plain));
    let mut all: Vec<_> = term.commands().filter_map(mark).chain(marks).collect();
    // The sort is stable: if a prompt's line is also marked, its command's mark stays.
    all.sort_by_key(|(line, _)| *line);
    all.dedup_by_key(|(line, _)| *line);
    all
}

/// A thumb that the left button drags.
#[derive(Clone, Copy, Debug)]
pub(super) struct Drag {
    pane: PaneId,
    /// The offset of the press in the thumb, in pixels from its top.
    grip: f64,
}

/// A bar's rectangles in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bar {
    track: PixelRect,
    thumb: PixelRect,
    /// The hit area.
    grab: PixelRect,
}

impl Bar {
    /// The bar of a pane with this area and scroll position.
    fn new(area: PixelRect, reach: Reach, geometry: &Geometry) -> Self {
        let (width, edge) = (geometry.px(WIDTH), geometry.px(EDGE));
        let grab = geometry.px(GRAB).min(area.width);
        let right = area.x + area.width as i32;
        let track = PixelRect {
            x: right - (width + edge) as i32,
            y: area.y + edge as i32,
            width,
            height: area.height.saturating_sub(2 * edge),
        };
        let height = u64::from(track.height);
        let all = (reach.most + reach.page).max(1);
        let shortest = geometry.px(SHORTEST).min(track.height);
        let length =
            ((height * reach.page / all) as u32).clamp(shortest, track.height.max(shortest));
        let free = u64::from(track.height - length.min(track.height));
        let above = (free * reach.at).checked_div(reach.most).unwrap_or(0);
        let thumb = PixelRect { y: track.y + above as i32, height: length, ..track };
        let grab = PixelRect { x: right - grab as i32, width: grab, ..area };
        Self { track, thumb, grab }
    }

    /// The scroll position at which the thumb's top is at `y`.
    fn position(&self, y: f64, reach: Reach) -> u64 {
        let free = f64::from(self.track.height.saturating_sub(self.thumb.height));
        let share = if free > 0.0 { (y - f64::from(self.track.y)) / free } else { 1.0 };
        (share.clamp(0.0, 1.0) * reach.most as f64).round() as u64
    }
}

/// Whether a view has history to scroll.
fn has_history(view: &View) -> bool {
    view.snapshot.screen == ScreenKind::Main && view.snapshot.live_top > view.snapshot.oldest
}

impl App {
    fn shows_bar(&self, pane: PaneId, view: &View, bar: &Bar) -> bool {
        let over = || {
            let over = self.pointer.position.is_some_and(|(x, y)| contains(bar.grab, x, y));
            over && !self.has_overlay()
        };
        match self.config.scrollbar.show {
            ShowScrollbar::Never => false,
            ShowScrollbar::Always => view.snapshot.screen == ScreenKind::Main,
            ShowScrollbar::Auto => {
                let held = self.bar_drag.is_some_and(|drag| drag.pane == pane);
                has_history(view) && (view.is_scrolled() || held || over())
            }
        }
    }

    /// The bar of a visible pane that can be scrolled.
    fn bar_of(&self, pane: PaneId) -> Option<(Bar, Reach)> {
        let geometry = self.screen.as_ref()?.geometry;
        let placed = self.placed(&self.mux.layout());
        let (_, area) = placed.into_iter().find(|(id, _)| *id == pane)?;
        let reach =
            self.views.get(&pane).filter(|view| has_history(view))?.reach(geometry.cell.height);
        Some((Bar::new(pixels(area), reach, &geometry), reach))
    }

    /// The pane whose bar is at a point, drawn or not.
    fn bar_at(&self, x: f64, y: f64) -> Option<PaneId> {
        if self.config.scrollbar.show == ShowScrollbar::Never {
            return None;
        }
        let layout = self.mux.layout();
        let panes = self.placed(&layout);
        let (pane, _) = panes.into_iter().find(|(_, area)| contains(pixels(*area), x, y))?;
        self.bar_of(pane).filter(|(bar, _)| contains(bar.grab, x, y)).map(|_| pane)
    }

    /// Repaints if the pointer, which was at `before`, entered or left a bar. Returns whether it is on one.
    pub(super) fn pass_bars(&mut self, before: Option<(f64, f64)>) -> bool {
        let now = self.pointer.position.and_then(|(x, y)| self.bar_at(x, y));
        if now != before.and_then(|(x, y)| self.bar_at(x, y)) {
            self.pacing.ask();
        }
        now.is_some()
    }

    /// Handles a left press: grabs the thumb, or moves it to the pointer. False if there is no bar.
    pub(super) fn grab_bar(&mut self, x: f64, y: f64) -> bool {
        let Some(pane) = self.bar_at(x, y) else { return false };
        let Some((bar, _)) = self.bar_of(pane) else { return false };
        let inside = y - f64::from(bar.thumb.y);
        let height = f64::from(bar.thumb.height);
        let grip = if (0.0..height).contains(&inside) { inside } else { height / 2.0 };
        self.bar_drag = Some(Drag { pane, grip });
        self.drag_bar(y)
    }

    /// Scrolls to the dragged thumb. False if no thumb is dragged.
    pub(super) fn drag_bar(&mut self, y: f64) -> bool {
        let Some(drag) = self.bar_drag else { return false };
        let Some((bar, reach)) = self.bar_of(drag.pane) else {
            self.bar_drag = None;
            return false;
        };
        let (_, cell) = self.cell();
        if let Some(view) = self.views.get_mut(&drag.pane) {
            let at = bar.position(y - drag.grip, reach);
            if at != reach.at {
                view.scroll_to(at, cell);
            }
            self.pacing.ask();
        }
        true
    }

    /// Ends the drag. False if no thumb was dragged.
    pub(super) fn drop_bar(&mut self) -> bool {
        let held = self.bar_drag.take().is_some();
        if held {
            self.pacing.ask();
        }
        held
    }

    /// Updates the marks of the visible bars; returns when to call it again.
    pub(super) fn read_bars(&mut self, now: Instant) -> Option<Instant> {
        if !self.config.scrollbar.marks {
            return None;
        }
        let layout = self.mux.layout();
        let mut next: Option<Instant> = None;
        for (pane, _) in self.placed(&layout) {
            let Some((bar, _)) = self.bar_of(pane) else { continue };
            let shown = self.views.get(&pane).is_some_and(|view| self.shows_bar(pane, view, &bar));
            let Some(own) = self.mux.pane(pane).filter(|_| shown) else { continue };
            let Some(view) = self.views.get_mut(&pane) else { continue };
            let seq = view.snapshot.seq;
            next = next.into_iter().chain(view.prompts.read(&own, seq, now)).min();
        }
        next
    }

    /// Whether any visible pane shows its bar.
    pub(super) fn shows_bars(&self, placed: &[(PaneId, Rect)]) -> bool {
        let Some(geometry) = self.screen.as_ref().map(|screen| screen.geometry) else {
            return false;
        };
        placed.iter().any(|(pane, area)| {
            self.views.get(pane).is_some_and(|view| {
                let bar = Bar::new(pixels(*area), view.reach(geometry.cell.height), &geometry);
                self.shows_bar(*pane, view, &bar)
            })
        })
    }

    /// The visible bars, as rectangles.
    pub(super) fn bars(&self, colors: &Colors) -> Vec<Quad> {
        let mut quads = Vec::new();
        let Some(geometry) = self.screen.as_ref().map(|screen| screen.geometry) else {
            return quads;
        };
        for (pane, area) in self.placed(&self.mux.layout()) {
            let Some(view) = self.views.get(&pane) else { continue };
            let reach = view.reach(geometry.cell.height);
            let bar = Bar::new(pixels(area), reach, &geometry);
            if !self.shows_bar(pane, view, &bar) {
                continue;
            }
            let over = self.pointer.position.is_some_and(|(x, y)| contains(bar.grab, x, y));
            let held = self.bar_drag.is_some_and(|drag| drag.pane == pane);
            let radius = bar.track.width as f32 / 2.0;
            if over || held {
                quads.push(Quad { rect: bar.track, color: colors.hairline, alpha: 0.8, radius });
            }
            if reach.most > 0 {
                let alpha = if over || held { 0.8 } else { 0.45 };
                quads.push(Quad { rect: bar.thumb, color: colors.muted, alpha, radius });
            }
            if self.config.scrollbar.marks {
                let prompts = view.prompts.marks.iter().map(|(line, kind)| {
                    let color = match kind {
                        Kind::Good => colors.success,
                        Kind::Bad => colors.danger,
                        Kind::Plain => colors.muted,
                    };
                    (*line, color)
                });
                marks(&bar, view, prompts, &geometry, &mut quads);
            }
            if let Some(search) = self.search.as_ref().filter(|search| search.pane == pane) {
                let found = search.lines().map(|line| (line, colors.bell));
                marks(&bar, view, found, &geometry, &mut quads);
            }
        }
        quads
    }
}

/// Draws marks on a bar, in the order of their lines. Consecutive marks of the same place and colour are drawn once.
fn marks(
    bar: &Bar,
    view: &View,
    marks: impl Iterator<Item = (LineId, Rgb)>,
    geometry: &Geometry,
    quads: &mut Vec<Quad>,
) {
    let oldest = view.snapshot.oldest.0;
    let all = (view.snapshot.live_top.0 - oldest + u64::from(view.snapshot.size.rows)).max(1);
    let height = geometry.px(MARK).max(1);
    let room = u64::from(bar.track.height.saturating_sub(height));
    let mut last = None;
    for (line, color) in marks {
        let Some(below) = line.0.checked_sub(oldest) else { continue };
        let y = bar.track.y + (room * below.min(all) / all) as i32;
        if last.replace((y, color)) != Some((y, color)) {
            let rect = PixelRect { y, height, ..bar.track };
            quads.push(Quad { rect, color, alpha: 0.9, radius: 0.0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use unterm_term::{Options, Parser, Size};

    use super::*;

    const AREA: PixelRect = PixelRect { x: 100, y: 50, width: 400, height: 302 };

    fn geometry() -> Geometry {
        Geometry { width: 800, height: 600, ..Geometry::TEST }
    }

    #[test]
    fn the_thumb_is_as_long_as_what_is_in_sight_and_where_that_is() {
        let reach = |at| Reach { at, most: 900, page: 300 };
        let top = Bar::new(AREA, reach(0), &geometry());
        assert_eq!((top.track.height, top.thumb.height), (300, 75));
        assert_eq!(top.thumb.y, top.track.y);
        let end = Bar::new(AREA, reach(900), &geometry());
        assert_eq!(end.thumb.y + 75, end.track.y + 300);
        for at in [0, 4, 450, 899, 900] {
            let bar = Bar::new(AREA, reach(at), &geometry());
            let back = bar.position(f64::from(bar.thumb.y), reach(at));
            assert!(back.abs_diff(at) <= 4, "{back} for {at}");
        }
    }

    #[test]
    fn a_long_history_leaves_a_thumb_to_hold_and_none_fills_the_track() {
        let long = Bar::new(AREA, Reach { at: 5, most: u64::MAX >> 20, page: 300 }, &geometry());
        assert_eq!(long.thumb.height, 24);
        let none = Bar::new(AREA, Reach { at: 0, most: 0, page: 300 }, &geometry());
        assert_eq!(none.thumb, none.track);
        let tiny = PixelRect { width: 3, height: 1, ..AREA };
        Bar::new(tiny, Reach { at: 0, most: 900, page: 300 }, &geometry());
    }

    #[test]
    fn prompts_are_marked_with_how_their_commands_ended() {
        let mut term = Term::new(Size::cells(20, 8), Options::default());
        let bytes = "\x1b]133;A\x07$ \x1b]133;B\x07a\r\n\x1b]133;C\x07x\r\n\x1b]133;D;0\x07\
                     \x1b]133;A\x07$ \x1b]133;B\x07b\r\n\x1b]133;C\x07y\r\n\x1b]133;D;3\x07\
                     \x1b]133;A\x07$ \x1b]133;B\x07";
        Parser::new().advance(&mut term, bytes.as_bytes());
        let kinds: Vec<_> = prompts(&term).into_iter().map(|(line, kind)| (line.0, kind)).collect();
        assert_eq!(kinds, [(0, Kind::Good), (2, Kind::Bad), (4, Kind::Plain)]);
        Parser::new()
            .advance(&mut term, b"\x1b[4H\x1b]1337;SetMark\x07\x1b[3H\x1b]1337;SetMark\x07");
        let kinds: Vec<_> = prompts(&term).into_iter().map(|(line, kind)| (line.0, kind)).collect();
        let marked = (3, Kind::Plain);
        assert_eq!(kinds, [(0, Kind::Good), (2, Kind::Bad), marked, (4, Kind::Plain)]);
    }
}
