//! Tab stops.

/// The number of columns between the tab stops of a new terminal.
const EVERY: usize = 8;

/// Whether each column has a tab stop.
#[derive(Clone, Debug)]
pub(crate) struct Tabs {
    stops: Vec<bool>,
}

impl Tabs {
    /// Creates tab stops at every eighth column.
    pub fn new(cols: usize) -> Self {
        Self { stops: (0..cols).map(|col| col > 0 && col % EVERY == 0).collect() }
    }

    /// Changes the number of columns. New columns get a tab stop at every eighth column.
    pub fn resize(&mut self, cols: usize) {
        let old = self.stops.len();
        self.stops.truncate(cols);
        self.stops.extend((old..cols).map(|col| col % EVERY == 0));
    }

    /// HTS and TBC 0: sets or clears the tab stop in a column.
    pub fn set(&mut self, col: usize, on: bool) {
        self.stops[col] = on;
    }

    /// TBC 3: clears all tab stops.
    pub fn clear(&mut self) {
        self.stops.fill(false);
    }

    /// The next tab stop after `col`, or the last column.
    pub fn next(&self, col: usize) -> usize {
        let last = self.stops.len() - 1;
        (col + 1..last).find(|&col| self.stops[col]).unwrap_or(last)
    }

    /// The previous tab stop before `col`, or the first column.
    pub fn previous(&self, col: usize) -> usize {
        (0..col).rev().find(|&col| self.stops[col]).unwrap_or(0)
    }

    /// The columns of all tab stops, for dumps and reports.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.stops.iter().enumerate().filter_map(|(col, on)| on.then_some(col))
    }
}
