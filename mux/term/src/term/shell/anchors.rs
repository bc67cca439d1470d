//! Points that follow their text when lines rewrap.
//!
//! A resize to another width gives every line a new number. [`Term::visit_anchors`] lists all state that is tied to
//! lines (an image's position, a command's first line, a selection). It runs before the reflow to collect the points,
//! and after the reflow to store the results. A result is the point where the same character is now, or `None` if that
//! character is no longer stored. Scrolling does not need this: line numbers do not change, and a line before
//! [`Term::oldest`] is gone.

use crate::Point;
use crate::term::{ScreenKind, Term};

/// A function that receives each point and may replace it.
pub(crate) type Visit<'a> = dyn FnMut(&mut Option<Point>) + 'a;

impl Term {
    /// Calls `visit` with every point of a screen that must follow its text, always in the same order. Every owner of
    /// such points must be listed in this function.
    pub(crate) fn visit_anchors(&mut self, screen: ScreenKind, visit: &mut Visit<'_>) {
        if screen == ScreenKind::Main {
            self.commands.visit(visit);
            self.marks.visit(visit);
            self.typed.visit(visit);
            if let Some(held) = &mut self.held {
                visit(&mut held.first);
            }
            if let Some(stale) = &mut self.stale_prompt {
                stale.visit_anchors(visit);
            }
            self.last_line.visit_anchors(visit);
        }
        let shown = screen == self.screen;
        let layer = if shown { &mut self.graphics.shown } else { &mut self.graphics.hidden };
        layer.visit_anchors(visit);
    }

    /// Collects the points of a screen, in the order of [`Term::visit_anchors`].
    pub(crate) fn collect_anchors(&mut self, screen: ScreenKind) -> Vec<Option<Point>> {
        let mut points = Vec::new();
        self.visit_anchors(screen, &mut |point| points.push(*point));
        points
    }

    /// Stores the points of a screen that the reflow has moved.
    pub(crate) fn place_anchors(&mut self, screen: ScreenKind, points: &[Option<Point>]) {
        let mut points = points.iter();
        self.visit_anchors(screen, &mut |point| *point = points.next().copied().flatten());
    }
}
