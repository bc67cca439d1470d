//! The result of a search.

use unterm_term::Match;

/// The matches that a search found, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct SearchResult {
    /// The number of the search that found these matches.
    pub(crate) generation: u64,
    pub(crate) matches: Vec<Match>,
    /// Whether more matches exist than are kept.
    pub(crate) more: bool,
}
