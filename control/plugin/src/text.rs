//! Text from plugins in messages, which is shortened and without control characters.

/// `text` in one line, without control characters, and with at most `limit` bytes.
pub(crate) fn bounded(text: &str, limit: usize) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        if shown.len() + character.len_utf8() > limit {
            shown.push('…');
            break;
        }
        shown.push(if character.is_control() { ' ' } else { character });
    }
    shown
}

/// A plugin's name or value in quotes, for an error message.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", bounded(text, 64))
}

/// Whether `name` is a valid name of a plugin, a state or a function in the protocol: 1 to 64 letters, digits and
/// `_-.`.
pub(crate) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_and_control_characters_stay_out_of_messages() {
        assert_eq!(bounded("one\ntwo\x1b[31m", 100), "one two [31m");
        assert_eq!(bounded("ééé", 4), "éé…");
        assert_eq!(quoted("x"), "`x`");
    }
}
