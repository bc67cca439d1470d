//! What lies beyond a cap is dropped whole, never cut, and said once in the log: the one place that says it.

/// A text, list or entry that is dropped since more than `cap` of its kind, bytes or entries, are not taken.
pub(crate) fn dropped(what: &'static str, cap: usize) {
    tracing::debug!(what, cap, "dropped whole: beyond the cap");
}

/// The oldest of a kind goes, where its protocol's page has it so, to make room for another.
pub(crate) fn oldest_dropped(what: &'static str, cap: usize) {
    tracing::debug!(what, cap, "the oldest goes: the cap is reached");
}
