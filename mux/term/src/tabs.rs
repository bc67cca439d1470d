//! Tab stops.

/// Columns between the stops of a new terminal.
const EVERY: usize = 8;

/// Whether each column has a tab stop.
#[derive(Clone, Debug)]
pub(crate) struct Tabs {
    stops: Vec<bool>,
}

impl Tabs {
    /// Stops at every eighth column.
    pub fn new(cols: usize) -> Self {
        Self { stops: (0..cols).map(|col| col > 0 && col % EVERY == 0).collect() }
    }

    /// Keeps the stops that fit; new columns get a stop at every eighth column.
    pub fn resize(&mut self, cols: usize) {
        let old = self.stops.len();
        self.stops.truncate(cols);
        self.stops.extend((old..cols).map(|col| col % EVERY == 0));
    }

    /// HTS, TBC 0.
    pub fn set(&mut self, col: usize, on: bool) {
        self.stops[col] = on;
    }

    /// TBC 3.
    pub fn clear(&mut self) {
        self.stops.fill(false);
    }

    /// The stop after `col`, or the last column.
    pub fn next(&self, col: usize) -> usize {
        let last = self.stops.len() - 1;
        (col + 1..last).find(|&col| self.stops[col]).unwrap_or(last)
    }

    /// The stop before `col`, or the first column.
    pub fn previous(&self, col: usize) -> usize {
        (0..col).rev().find(|&col| self.stops[col]).unwrap_or(0)
    }

    /// The columns of all stops, for dumps and reports.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.stops.iter().enumerate().filter_map(|(col, on)| on.then_some(col))
    }
}
