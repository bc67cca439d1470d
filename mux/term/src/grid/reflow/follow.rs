//! Points that keep their place in the text while lines rewrap.

use crate::{LineId, Point};

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
