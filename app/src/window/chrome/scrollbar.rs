//! The layout of a pane's scrollbar, which shows the position in the history, and marks for prompts and search matches.

use unterm_renderer::{PixelRect, Quad};
use unterm_term::{LineId, Rgb, ScreenKind};

use crate::window::{
    ui::geometry::Geometry,
    workspace::{scroll::Reach, view::View},
};

/// In logical pixels: the width of the bar, its distance from the pane's edges, the minimum height of the thumb, and
/// the width of the area in which a press grabs the bar.
const WIDTH: f32 = 6.0;
const EDGE: f32 = 1.0;
const SHORTEST: f32 = 24.0;
const GRAB: f32 = 10.0;
/// The height of a mark for a prompt or a search match, in logical pixels.
const MARK: f32 = 2.0;

/// The rectangles of a scrollbar, in pixels of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bar {
    pub(crate) track: PixelRect,
    pub(crate) thumb: PixelRect,
    /// The area in which a press grabs the bar; wider than the visible track.
    pub(crate) grab: PixelRect,
}

impl Bar {
    /// Creates the scrollbar of a pane from the pane's area and scroll position.
    pub(crate) fn new(area: PixelRect, reach: Reach, geometry: &Geometry) -> Self {
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
    pub(crate) fn position(&self, y: f64, reach: Reach) -> u64 {
        let free = f64::from(self.track.height.saturating_sub(self.thumb.height));
        let share = if free > 0.0 { (y - f64::from(self.track.y)) / free } else { 1.0 };
        (share.clamp(0.0, 1.0) * reach.most as f64).round() as u64
    }
}

/// Whether a view has history to scroll.
pub(crate) fn has_history(view: &View) -> bool {
    view.snapshot.screen == ScreenKind::Main && view.snapshot.live_top > view.snapshot.oldest
}

/// Draws marks on a bar, in the order of their lines. Consecutive marks with equal position and color are drawn only
/// once.
pub(crate) fn marks(
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
    use super::*;

    const AREA: PixelRect = PixelRect { x: 100, y: 50, width: 400, height: 302 };

    fn geometry() -> Geometry {
        Geometry { width: 800, height: 600, ..Geometry::TEST }
    }

    #[test]
    fn the_thumb_shows_the_visible_part_of_the_history() {
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
    fn the_thumb_has_a_minimum_size_and_fills_an_empty_track() {
        let long = Bar::new(AREA, Reach { at: 5, most: u64::MAX >> 20, page: 300 }, &geometry());
        assert_eq!(long.thumb.height, 24);
        let none = Bar::new(AREA, Reach { at: 0, most: 0, page: 300 }, &geometry());
        assert_eq!(none.thumb, none.track);
        let tiny = PixelRect { width: 3, height: 1, ..AREA };
        Bar::new(tiny, Reach { at: 0, most: 900, page: 300 }, &geometry());
    }
}
