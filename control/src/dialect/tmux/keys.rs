//! The names of keys in tmux: `C-c`, `M-Left`, `Enter`.

/// Names that differ from those of the methods.
const NAMES: [(&str, &str); 22] = [
    ("bspace", "backspace"),
    ("bs", "backspace"),
    ("dc", "delete"),
    ("delete", "delete"),
    ("ic", "insert"),
    ("insert", "insert"),
    ("ppage", "page_up"),
    ("pageup", "page_up"),
    ("pgup", "page_up"),
    ("npage", "page_down"),
    ("pagedown", "page_down"),
    ("pgdn", "page_down"),
    ("enter", "enter"),
    ("escape", "escape"),
    ("tab", "tab"),
    ("space", "space"),
    ("up", "up"),
    ("down", "down"),
    ("left", "left"),
    ("right", "right"),
    ("home", "home"),
    ("end", "end"),
];
const KEYPAD: [(&str, &str); 6] = [
    ("kp/", "kp_divide"),
    ("kp*", "kp_multiply"),
    ("kp-", "kp_subtract"),
    ("kp+", "kp_add"),
    ("kpenter", "kp_enter"),
    ("kp.", "kp_decimal"),
];

/// The name of a key for `session.keys`. `None` if the text is no key's name, so that tmux types the text.
pub fn method_name(name: &str) -> Option<String> {
    let mut modifiers = String::new();
    let mut rest = name;
    if let Some(key) = rest.strip_prefix('^')
        && key.chars().count() == 1
    {
        modifiers.push_str("ctrl+");
        rest = key;
    }
    loop {
        let (modifier, after) = match rest.as_bytes() {
            [b'C' | b'c', b'-', _, ..] => ("ctrl+", &rest[2..]),
            [b'M' | b'm', b'-', _, ..] => ("alt+", &rest[2..]),
            [b'S' | b's', b'-', _, ..] => ("shift+", &rest[2..]),
            _ => break,
        };
        if !modifiers.contains(modifier) {
            modifiers.push_str(modifier);
        }
        rest = after;
    }
    let lower = rest.to_ascii_lowercase();
    if lower == "btab" {
        return Some(format!("{modifiers}shift+tab"));
    }
    let named = NAMES.iter().chain(&KEYPAD).find(|(known, _)| *known == lower);
    if let Some((_, key)) = named {
        return Some(format!("{modifiers}{key}"));
    }
    let number = |prefix: &str| lower.strip_prefix(prefix)?.parse::<u8>().ok();
    if let Some(number) = number("f").filter(|number| (1..=12).contains(number)) {
        return Some(format!("{modifiers}f{number}"));
    }
    if let Some(number) = number("kp").filter(|number| *number <= 9) {
        return Some(format!("{modifiers}kp_{number}"));
    }
    let mut chars = rest.chars();
    match (chars.next(), chars.next()) {
        // A character without a modifier is text.
        (Some(char), None) if !modifiers.is_empty() => {
            let char = if char == '+' { "plus".to_owned() } else { char.to_string() };
            // Control does not depend on Shift, as in tmux.
            let char = if modifiers.contains("ctrl") { char.to_lowercase() } else { char };
            Some(format!("{modifiers}{char}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_names_of_tmux() {
        for (name, expected) in [
            ("Enter", "enter"),
            ("C-c", "ctrl+c"),
            ("^C", "ctrl+c"),
            ("M-x", "alt+x"),
            ("M-X", "alt+X"),
            ("C-M-Left", "ctrl+alt+left"),
            ("S-Up", "shift+up"),
            ("BTab", "shift+tab"),
            ("BSpace", "backspace"),
            ("PPage", "page_up"),
            ("PgDn", "page_down"),
            ("DC", "delete"),
            ("F5", "f5"),
            ("KP7", "kp_7"),
            ("KPEnter", "kp_enter"),
            ("C-+", "ctrl+plus"),
            ("C-Space", "ctrl+space"),
        ] {
            assert_eq!(method_name(name).as_deref(), Some(expected), "{name}");
        }
        for text in ["a", "hello", "C-", "F13", "", "^", "Entr", "C-ab", "é"] {
            assert_eq!(method_name(text), None, "{text}");
        }
    }
}
