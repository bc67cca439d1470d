//! Wraps text to a number of columns.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The maximum number of lines of a wrapped text. A longer text ends in an ellipsis.
const LINES: usize = 8;

/// Returns the first `most` lines. If there are more lines, a last line reports how many.
pub(crate) fn first_of(lines: &[String], most: usize) -> Vec<String> {
    let mut first: Vec<String> = lines.iter().take(most).cloned().collect();
    if lines.len() > most {
        first.push(format!("and {} more", lines.len() - most));
    }
    first
}

/// Wraps text to `columns`. Lines break between words if possible.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace().flat_map(|word| pieces(word, columns)) {
            if !line.is_empty() && line.width() + 1 + word.width() > columns {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    if lines.len() > LINES {
        lines.truncate(LINES);
        lines[LINES - 1].push('…');
    }
    lines
}

/// Splits a word into pieces of at most `columns` columns, so that a narrow message still shows the whole word.
fn pieces(word: &str, columns: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut width) = (0, 0);
    for (at, c) in word.char_indices() {
        let more = c.width().unwrap_or(0);
        if width + more > columns && at > start {
            pieces.push(&word[start..at]);
            (start, width) = (at, 0);
        }
        width += more;
    }
    pieces.push(&word[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_lines_the_first_are_given_and_the_rest_counted() {
        let lines = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(first_of(&lines, 1), ["a", "and 2 more"]);
        assert_eq!(first_of(&lines, 3), ["a", "b", "c"]);
    }

    #[test]
    fn long_text_breaks_between_words_and_ends_in_an_ellipsis() {
        assert_eq!(wrap("one two three\nfour", 8), ["one two", "three", "four"]);
        assert_eq!(wrap("a 日本語日本語;rm", 6), ["a", "日本語", "日本語", ";rm"]);
        let lines = wrap(&"word ".repeat(100), 10);
        assert_eq!(lines.len(), LINES);
        assert!(lines[LINES - 1].ends_with('…'));
    }
}
