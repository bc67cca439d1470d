//! What follows its text when lines are wrapped anew.
//!
//! A resize to another width gives every line a new number. State that is tied to lines (an image's place, a command's
//! first line, a selection) is listed in [`Term::visit_anchors`]: it is called once before the reflow, to collect the
//! points, and once after it, with what became of them: the point where the same character is now, or `None` where that
//! is no longer kept. Scrolling needs none of this: numbers stay what they are, and a line before
//! [`Term::oldest`] is gone.

use crate::term::{ScreenKind, Term};
use crate::{LineId, Point};

/// Gets each point, and may put another in its place.
pub(crate) type Visit<'a> = dyn FnMut(&mut Option<Point>) + 'a;

impl Term {
    /// Calls `visit` with every point of a screen that follows its text, always in the same order: each owner of such
    /// points adds a line here.
    pub(crate) fn visit_anchors(&mut self, screen: ScreenKind, visit: &mut Visit<'_>) {
        if screen == ScreenKind::Main {
            self.commands.visit(visit);
            self.marks.visit(visit);
        }
        let shown = screen == self.screen;
        let layer = if shown { &mut self.graphics.shown } else { &mut self.graphics.hidden };
        layer.visit_anchors(visit);
    }

    /// The points of a screen.
    pub(crate) fn collect_anchors(&mut self, screen: ScreenKind) -> Vec<Option<Point>> {
        let mut points = Vec::new();
        self.visit_anchors(screen, &mut |point| points.push(*point));
        points
    }

    /// Gives the points of a screen back, as the reflow has left them.
    pub(crate) fn place_anchors(&mut self, screen: ScreenKind, points: &[Option<Point>]) {
        let mut points = points.iter();
        self.visit_anchors(screen, &mut |point| *point = points.next().copied().flatten());
    }
}

/// Points on their way through a reflow, which goes through the old lines from the oldest on.
pub(crate) struct Follow<'a> {
    points: &'a mut [Option<Point>],
    /// Old line, old column and place in `points`, by line.
    old: Vec<(u64, usize, usize)>,
    next: usize,
}

impl<'a> Follow<'a> {
    /// Takes the points; those that are not [put](Follow::put) are lost.
    pub fn new(points: &'a mut [Option<Point>]) -> Self {
        let mut old: Vec<_> = points
            .iter_mut()
            .enumerate()
            .filter_map(|(i, point)| point.take().map(|at| (at.line.0, at.col as usize, i)))
            .collect();
        old.sort_unstable();
        Self { points, old, next: 0 }
    }

    /// The next point before old line `end`: its line, its column and its name.
    pub fn next_before(&mut self, end: u64) -> Option<(u64, usize, usize)> {
        let next = *self.old.get(self.next).filter(|(line, ..)| *line < end)?;
        self.next += 1;
        Some(next)
    }

    /// Where a point is now.
    pub fn put(&mut self, name: usize, line: u64, col: usize) {
        self.points[name] = Some(Point { line: LineId(line), col: col as u16 });
    }
}
