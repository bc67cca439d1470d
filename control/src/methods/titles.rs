//! Titles that callers set.

/// The maximum length of a title, in characters.
const LONGEST_TITLE: usize = 256;

/// A title without control characters, of a bounded length.
pub fn title(text: &str) -> String {
    text.chars().filter(|char| !char.is_control()).take(LONGEST_TITLE).collect()
}
