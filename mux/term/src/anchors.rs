//! Points that follow their text when lines rewrap.
//!
//! A resize to another width gives every line a new number. [`Term::visit_anchors`] lists all state that is tied to
//! lines (an image's position, a command's first line, a selection). It runs before the reflow to collect the points,
//! and after the reflow to store the results. A result is the point where the same character is now, or `None` if that
//! character is no longer stored. Scrolling does not need this: line numbers do not change, and a line before
//! [`Term::oldest`] is gone.

use crate::term::{ScreenKind, Term};
use crate::{LineId, Point};

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

/// Tracks the points during a reflow, which processes the old lines from the oldest on.
pub(crate) struct Follow<'a> {
    points: &'a mut [Option<Point>],
    /// Old line, old column and index in `points` of each point, sorted by line.
    old: Vec<(u64, usize, usize)>,
    next: usize,
}

impl<'a> Follow<'a> {
    /// Takes the points out of `points`. A point that is not [put](Follow::put) back is lost.
    pub fn new(points: &'a mut [Option<Point>]) -> Self {
        let mut old: Vec<_> = points
            .iter_mut()
            .enumerate()
            .filter_map(|(i, point)| point.take().map(|at| (at.line.0, at.col as usize, i)))
            .collect();
        old.sort_unstable();
        Self { points, old, next: 0 }
    }

    /// The next point before old line `end`: its line, its column, and its index in `points`.
    pub fn next_before(&mut self, end: u64) -> Option<(u64, usize, usize)> {
        let next = *self.old.get(self.next).filter(|(line, ..)| *line < end)?;
        self.next += 1;
        Some(next)
    }

    /// Stores the new position of the point with the index `name`.
    pub fn put(&mut self, name: usize, line: u64, col: usize) {
        self.points[name] = Some(Point { line: LineId(line), col: col as u16 });
    }
}
