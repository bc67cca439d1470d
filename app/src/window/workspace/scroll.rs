//! Scrolling by pixels, with the wheel, a touch pad or the scrollbar. Keys scroll by whole lines (`view.rs`).

use unterm_term::LineId;

use crate::window::workspace::view::View;

/// The scroll position of a view. All values are in pixels, and positions are measured from the top of the oldest
/// line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The position of the first visible pixel.
    pub(crate) at: u64,
    /// The maximum of `at`, at which the live screen is shown.
    pub(crate) most: u64,
    /// The height of the visible part.
    pub(crate) page: u64,
}

impl View {
    /// The scroll position of this view, if cells are `cell` pixels high.
    pub(crate) fn reach(&self, cell: u32) -> Reach {
        let cell = u64::from(cell.max(1));
        let (oldest, live) = (self.snapshot.oldest.0, self.snapshot.live_top.0);
        let most = live.saturating_sub(oldest) * cell;
        let at = match self.top {
            Some(top) => top.0.saturating_sub(oldest) * cell + u64::from(self.shift),
            None => most,
        };
        Reach { at: at.min(most), most, page: u64::from(self.snapshot.size.rows) * cell }
    }

    /// Scrolls until the view starts `at` pixels below the top of the oldest line.
    pub(crate) fn scroll_to(&mut self, at: u64, cell: u32) {
        let reach = self.reach(cell);
        let cell = u64::from(cell.max(1));
        let is_live = at >= reach.most;
        // Copy mode pins the view, even if the view shows the live screen.
        let held = !is_live || self.copy.is_some();
        self.top = held.then(|| LineId(self.snapshot.oldest.0 + at.min(reach.most) / cell));
        self.shift = if is_live { 0 } else { (at % cell) as u32 };
    }

    /// Scrolls by a number of pixels. Negative values scroll to older lines.
    pub(crate) fn scroll_pixels(&mut self, pixels: i64, cell: u32) {
        self.scroll_to(self.reach(cell).at.saturating_add_signed(pixels), cell);
        if let Some(top) = self.top {
            let outside = self.folds.outside(top, pixels < 0);
            if outside != top {
                (self.top, self.shift) = (Some(outside), 0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view() -> View {
        let mut view = View::default();
        view.snapshot.oldest = LineId(100);
        view.snapshot.live_top = LineId(150);
        view.snapshot.size.rows = 10;
        view
    }

    #[test]
    fn pixels_add_up_to_lines_and_end_at_both_ends() {
        let mut view = view();
        assert_eq!(view.reach(20), Reach { at: 1000, most: 1000, page: 200 });
        view.scroll_pixels(-30, 20);
        assert_eq!((view.top, view.shift), (Some(LineId(148)), 10));
        view.scroll_pixels(-10, 20);
        assert_eq!((view.top, view.shift), (Some(LineId(148)), 0));
        view.scroll_pixels(-5000, 20);
        assert_eq!((view.top, view.shift), (Some(LineId(100)), 0));
        view.scroll_pixels(7, 20);
        assert_eq!((view.top, view.shift), (Some(LineId(100)), 7));
        view.scroll_pixels(i64::MAX, 20);
        assert_eq!((view.top, view.shift), (None, 0), "the live screen is followed");
    }
}
