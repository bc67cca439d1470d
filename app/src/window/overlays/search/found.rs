//! The matches of one search.

use unterm_term::Match;

/// The matches of one search, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The number of the search.
    pub(crate) generation: u64,
    pub(crate) matches: Vec<Match>,
    /// More matches exist.
    pub(crate) more: bool,
}
