//! Makes the output of programs safe to read as text. Invisible characters, and characters that change the look of
//! their neighbors, are escaped. Long text is cut in the middle, with a note of how much is missing.
//!
//! Anyone may have written the text that a terminal shows. A model receives control characters, bidirectional
//! overrides, zero-width characters and tags, although the user does not see them on the same screen. So such
//! characters can carry hidden words to a model.

use schemars::JsonSchema;
use serde::Serialize;

/// The size of the part that was left out of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Clipped {
    /// Lines that are missing, whole or in part.
    pub lines: usize,
    /// Characters that are missing.
    pub characters: usize,
}

/// Whether a character must be escaped. `before`: the character before it.
fn is_hidden(char: char, before: Option<char>) -> bool {
    match char {
        '\n' | '\t' => false,
        // A variation selector changes the look of an emoji, so it is visible if it is the only one and follows a
        // character that can have one.
        '\u{fe0e}' | '\u{fe0f}' => before.is_none_or(|before| {
            let can_have_one = match before.is_ascii() {
                true => before.is_ascii_digit() || matches!(before, '#' | '*'),
                false => !is_selector(before),
            };
            !can_have_one
        }),
        _ if char.is_control() || is_selector(char) => true,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
}

fn is_selector(char: char) -> bool {
    matches!(char, '\u{fe00}'..='\u{fe0f}')
}

/// The text with each invisible character written as `\u{…}`.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut before = None;
    for char in text.chars() {
        if is_hidden(char, before) {
            escaped.extend(char.escape_unicode());
        } else {
            escaped.push(char);
        }
        before = Some(char);
    }
    escaped
}

/// Whether a text has more than `most` characters.
pub fn is_longer(text: &str, most: usize) -> bool {
    text.len() > most && text.chars().count() > most
}

/// The start and the end of a text, with at most `most` characters together, cut at line ends if possible. The line
/// between them contains the number of missing lines and characters, and then `hint`.
pub fn clipped(text: String, most: usize, hint: &str) -> (String, Option<Clipped>) {
    if !is_longer(&text, most) {
        return (text, None);
    }
    // More of the end is kept, because it usually contains more information than the start.
    let head = most * 2 / 5;
    let at = |count: usize| text.char_indices().nth(count).map_or(text.len(), |(at, _)| at);
    let count = text.chars().count();
    let (head, tail) = (at(head), at(count - (most - head)));
    // The parts are cut at line ends, unless that would drop more than half of a part.
    let head =
        text[..head].rfind('\n').map(|end| end + 1).filter(|end| *end > head / 2).unwrap_or(head);
    let next = text[tail..].find('\n').map(|end| tail + end + 1);
    let tail = next.filter(|start| text.len() - start > (text.len() - tail) / 2).unwrap_or(tail);
    let missing = &text[head..tail];
    let left_out = Clipped { lines: missing.lines().count(), characters: missing.chars().count() };
    let line_end = if text[..head].ends_with('\n') || head == 0 { "" } else { "\n" };
    let clipped = format!(
        "{}{line_end}[… {} characters in {} lines left out{hint} …]\n{}",
        &text[..head],
        left_out.characters,
        left_out.lines,
        &text[tail..]
    );
    (clipped, Some(left_out))
}

/// If a text has more than `most` characters: its start and its end, with the number of missing characters between
/// them.
pub fn shortened(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let (head, tail) = (most * 2 / 3, most / 3);
    let start: String = text.chars().take(head).collect();
    let end: String = text.chars().skip(count - tail).collect();
    format!("{start} [… {} characters …] {end}", count - head - tail)
}

/// A name as one line: escaped, with at most `most` characters.
pub fn name(text: &str, most: usize) -> String {
    let line = escaped(&text.split_whitespace().collect::<Vec<_>>().join(" "));
    let mut name: String = line.chars().take(most).collect();
    if name.len() < line.len() {
        name.push('…');
    }
    name
}

/// A title, a command or similar text: escaped, with at most `most` characters.
pub fn line(text: &str, most: usize) -> String {
    clipped(escaped(text), most, "").0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_escaped_and_others_stay() {
        for plain in ["plain\ttext\n", "naïve 漢字 ❤️ ☺︎ 1️⃣", "x̂ नि"] {
            assert_eq!(escaped(plain), plain);
        }
        assert_eq!(escaped("a\u{202e}b"), "a\\u{202e}b");
        assert_eq!(escaped("a\u{200b}\u{feff}"), "a\\u{200b}\\u{feff}");
        assert_eq!(escaped("\x1b[0m\x07\u{9b}"), "\\u{1b}[0m\\u{7}\\u{9b}");
        assert_eq!(escaped("\u{e0041}\u{e0100}"), "\\u{e0041}\\u{e0100}");
        assert_eq!(escaped("<\u{fe0f}/a_\u{fe0e}"), "<\\u{fe0f}/a_\\u{fe0e}");
        // Several selectors in a row are escaped, because they can encode hidden bytes.
        assert_eq!(escaped("☺\u{fe01}\u{fe0f}\u{fe0f}"), "☺\\u{fe01}\\u{fe0f}\\u{fe0f}");
    }

    #[test]
    fn a_long_text_keeps_its_ends_and_says_what_is_missing() {
        assert_eq!(clipped("short".to_owned(), 5, ""), ("short".to_owned(), None));
        let text: String = (0..1000).map(|n| format!("line {n}\n")).collect();
        let (clipped_text, left_out) = clipped(text.clone(), 100, "; ask");
        assert!(clipped_text.starts_with("line 0\n"), "{clipped_text}");
        assert!(clipped_text.ends_with("line 999\n"), "{clipped_text}");
        let left_out = left_out.unwrap();
        let said = format!(
            "[… {} characters in {} lines left out; ask …]\n",
            left_out.characters, left_out.lines
        );
        assert!(clipped_text.contains(&said), "{clipped_text}");
        let kept = clipped_text.chars().count() - said.chars().count();
        assert_eq!(kept + left_out.characters, text.chars().count());
        assert!(kept <= 100);
        let (one_line, left_out) = clipped("ä".repeat(500), 10, "");
        assert_eq!(left_out, Some(Clipped { lines: 1, characters: 490 }));
        assert!(one_line.starts_with("ääää\n[…") && one_line.ends_with("…]\nääääää"), "{one_line}");
    }
}
