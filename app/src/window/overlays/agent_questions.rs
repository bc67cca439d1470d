//! The agents' questions to the user, as last shown: requests for approval, and other questions.
//!
//! Owns how the questions are shown. A message shows a question until it is answered. The message receives no keys, so
//! typing still goes to the program and the user can't answer by accident. It shortens the middle of a long text. On
//! request, a panel opens with the full, scrollable text and the answers. Only the panel accepts an answer. The
//! control server owns the questions.

use unterm_control::shortened;

/// The topic of the message that shows a question.
pub(crate) const ABOUT: &str = "agents ask";

/// The state of the questions that were shown.
#[derive(Default)]
pub(crate) struct ShownQuestions {
    /// The highest number of a question so far.
    pub(crate) newest: u64,
    /// The number of the question in the message.
    pub(crate) shown: Option<u64>,
    /// The number of questions that are not answered yet.
    pub(crate) open: usize,
    /// The number of open questions that are about no pane.
    pub(crate) about_no_pane: usize,
}

/// The maximum length of a question in the message, in characters.
const MOST: usize = 180;

/// Shortens a long question of one line. The beginning and the end are kept, with a note of how many characters are
/// left out.
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
