//! Bytes to calls on a [`Term`]: the scanner in front, vte behind it.

use crate::Term;

/// The state of parsing one program's output; it lives as long as the program's stream.
#[derive(Default)]
pub struct Parser {}

impl Parser {
    /// A parser at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies `bytes` to `term`: one batch, one step of its `seq`. Sequences may be split anywhere between calls.
    pub fn advance(&mut self, term: &mut Term, bytes: &[u8]) {
        let _ = (term, bytes);
        todo!()
    }
}
