//! Questions from agents to the user, as last shown: requests for approval, and questions of their own.
//!
//! Owns how they are shown: a message that stays until answered and takes no keys, and, on request, a panel with the
//! full, scrollable text and the answers. Until the panel opens, typing still goes to the program, so the user cannot
//! answer by accident. The message shortens a long text in the middle; only the panel with the full text accepts an
//! answer. The control server owns the questions.

use unterm_control::shortened;

/// The topic of the message.
pub(crate) const ABOUT: &str = "agents ask";

/// The questions shown so far.
#[derive(Default)]
pub(crate) struct Asked {
    /// The highest question number so far.
    pub(crate) newest: u64,
    /// The number of the question in the message.
    pub(crate) shown: Option<u64>,
    /// The number of open questions.
    pub(crate) open: usize,
}

/// Maximum length of a question in the message, in characters.
const MOST: usize = 180;

/// A question that is one line. A long one keeps its beginning and end, with a note of how much is left out.
pub(crate) fn fitted(line: &str) -> String {
    shortened(line, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_question_is_seen() {
        assert_eq!(fitted("run: make ⏎ install"), "run: make ⏎ install");
        let long = fitted(&format!("run: echo {}; rm -r build", "x".repeat(500)));
        assert!(long.starts_with("run: echo xx") && long.ends_with("; rm -r build"), "{long}");
        assert!(long.contains("[… 343 characters …]"), "{long}");
    }
}
