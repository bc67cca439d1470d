//! Converts the names of keys in files of other terminals to Unterm's names.
//!
//! Unterm names a key by the character that it types without Shift. If a file contains a shifted character, such as
//! `?`, a US keyboard is assumed.

use unterm_mux::input::{Key, Modifiers};

use super::reasons;

/// Names of characters in other terminals, without `_` and `-` and in lower case.
const CHARACTERS: &[(&str, char)] = &[
    ("spc", ' '),
    ("minus", '-'),
    ("hyphen", '-'),
    ("equal", '='),
    ("equals", '='),
    ("comma", ','),
    ("period", '.'),
    ("dot", '.'),
    ("slash", '/'),
    ("backslash", '\\'),
    ("semicolon", ';'),
    ("colon", ':'),
    ("apostrophe", '\''),
    ("quote", '\''),
    ("grave", '`'),
    ("graveaccent", '`'),
    ("backquote", '`'),
    ("leftbracket", '['),
    ("lbracket", '['),
    ("bracketleft", '['),
    ("rightbracket", ']'),
    ("rbracket", ']'),
    ("bracketright", ']'),
    ("bar", '|'),
    ("pipe", '|'),
    ("underscore", '_'),
    ("tilde", '~'),
    ("star", '*'),
    ("asterisk", '*'),
    ("at", '@'),
    ("zero", '0'),
    ("one", '1'),
    ("two", '2'),
    ("three", '3'),
    ("four", '4'),
    ("five", '5'),
    ("six", '6'),
    ("seven", '7'),
    ("eight", '8'),
    ("nine", '9'),
];

/// Names of keys in other terminals, without `_` and `-` and in lower case, with the names in Unterm.
const NAMES: &[(&str, &str)] = &[
    ("back", "backspace"),
    ("arrowup", "up"),
    ("uparrow", "up"),
    ("arrowdown", "down"),
    ("downarrow", "down"),
    ("arrowleft", "left"),
    ("leftarrow", "left"),
    ("arrowright", "right"),
    ("rightarrow", "right"),
    ("contextmenu", "menu"),
    ("applications", "menu"),
    ("kpplus", "kp_add"),
    ("kpminus", "kp_subtract"),
    ("kpequals", "kp_equal"),
    ("kpcomma", "kp_separator"),
    ("kpstar", "kp_multiply"),
    ("multiply", "kp_multiply"),
    ("add", "kp_add"),
    ("separator", "kp_separator"),
    ("subtract", "kp_subtract"),
    ("decimal", "kp_decimal"),
    ("divide", "kp_divide"),
];

/// Symbols of modifiers in files of kitty, with the names in Unterm.
const SYMBOLS: &[(&str, &str)] = &[("⇧", "shift"), ("⌃", "ctrl"), ("⌥", "alt"), ("⌘", "super")];

/// Characters that a US keyboard types with Shift, with the characters of the same keys without Shift.
const SHIFTED: &[(char, char)] = &[
    ('!', '1'),
    ('@', '2'),
    ('#', '3'),
    ('$', '4'),
    ('%', '5'),
    ('^', '6'),
    ('&', '7'),
    ('*', '8'),
    ('(', '9'),
    (')', '0'),
    ('_', '-'),
    ('+', '='),
    ('{', '['),
    ('}', ']'),
    ('|', '\\'),
    (':', ';'),
    ('"', '\''),
    ('<', ','),
    ('>', '.'),
    ('?', '/'),
    ('~', '`'),
];

/// Returns a key with its modifiers, as written in Unterm's configuration.
///
/// # Errors
/// Fails if Unterm can't bind this key.
pub(super) fn chord<'a>(
    modifiers: impl IntoIterator<Item = &'a str>,
    key: &str,
) -> Result<String, String> {
    let mut held = Modifiers::empty();
    for name in modifiers.into_iter().map(str::trim).filter(|name| !name.is_empty()) {
        let usual =
            SYMBOLS.iter().find(|(symbol, _)| *symbol == name).map_or(name, |(_, name)| *name);
        held |=
            Modifiers::of_name(usual).ok_or_else(|| format!("Unterm has no modifier {name:?}"))?;
    }
    let name = match character(key) {
        // Do not convert `+` to Shift and `=`, as on a US keyboard, because every layout can type `+`, with or without
        // Shift.
        Some('+') if !held.contains(Modifiers::SHIFT) => "plus".to_owned(),
        Some(' ') => "space".to_owned(),
        Some(c) => match SHIFTED.iter().find(|(shifted, _)| *shifted == c) {
            Some((_, own)) => {
                held |= Modifiers::SHIFT;
                own.to_string()
            }
            None => c.to_lowercase().to_string(),
        },
        None if is_code(key) => return Err(reasons::NO_SCAN_CODES.into()),
        None => named(key).ok_or_else(|| format!("Unterm has no key {key:?}"))?,
    };
    let mut chord = String::new();
    for (modifier, text) in [
        (Modifiers::SUPER, "super+"),
        (Modifiers::CTRL, "ctrl+"),
        (Modifiers::ALT, "alt+"),
        (Modifiers::SHIFT, "shift+"),
    ] {
        if held.contains(modifier) {
            chord.push_str(text);
        }
    }
    Ok(chord + &name)
}

/// The character that the key of a US keyboard types with Shift. `c` is the character without Shift.
pub(super) fn shifted(c: char) -> Option<char> {
    SHIFTED.iter().find(|(_, own)| *own == c).map(|(shifted, _)| *shifted)
}

/// Whether a key is given as a number, such as `0x61` (kitty) or `raw:123` (WezTerm).
fn is_code(key: &str) -> bool {
    key.starts_with("0x") || key.starts_with("raw:")
}

fn plain(key: &str) -> String {
    key.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// The character that a name stands for.
fn character(key: &str) -> Option<char> {
    let mut chars = key.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return Some(c);
    }
    let plain = plain(key);
    // Names such as `digit1` and `keya` (W3C), and `key1` (older files of Alacritty).
    for prefix in ["digit", "key"] {
        let mut rest = plain.strip_prefix(prefix).unwrap_or_default().chars();
        if let (Some(c), None) = (rest.next(), rest.next())
            && c.is_ascii_alphanumeric()
        {
            return Some(c);
        }
    }
    match plain.as_str() {
        "plus" => Some('+'),
        "space" => Some(' '),
        name => CHARACTERS.iter().find(|(other, _)| *other == name).map(|(_, c)| *c),
    }
}

/// Unterm's name of a key that does not type a character.
fn named(key: &str) -> Option<String> {
    let plain = plain(key).replacen("numpad", "kp", 1).replacen("keypad", "kp", 1);
    let usual = |name: &str| {
        Key::of_name(name).map(|key| match key.name() {
            Some(name) => name.to_owned(),
            None => name.to_owned(),
        })
    };
    if let Some((_, name)) = NAMES.iter().find(|(other, _)| *other == plain) {
        return Some((*name).to_owned());
    }
    match plain.strip_prefix("kp") {
        Some(rest) => usual(&format!("kp_{rest}")),
        None => usual(&plain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_terminals_names_are_read() {
        for (modifiers, key, expected) in [
            ("ctrl shift", "T", "ctrl+shift+t"),
            ("Control Shift", "PageUp", "ctrl+shift+page_up"),
            ("cmd", "page_down", "super+page_down"),
            ("CTRL", "LeftArrow", "ctrl+left"),
            ("ctrl", "arrow_up", "ctrl+up"),
            ("ctrl", "digit_1", "ctrl+1"),
            ("Control", "Key7", "ctrl+7"),
            ("ctrl", "KeyA", "ctrl+a"),
            ("", "F11", "f11"),
            ("ctrl", "NumpadAdd", "ctrl+kp_add"),
            ("ctrl", "kp_3", "ctrl+kp_3"),
            ("ctrl", "Numpad3", "ctrl+kp_3"),
            ("ctrl", "plus", "ctrl+plus"),
            ("ctrl shift", "plus", "ctrl+shift+="),
            ("ctrl", "?", "ctrl+shift+/"),
            ("alt", "bracket_left", "alt+["),
            ("ctrl", "Return", "ctrl+enter"),
            ("ctrl", " ", "ctrl+space"),
            ("⌘ ⇧", "t", "super+shift+t"),
            ("", "Keypad7", "kp_7"),
            ("", "KeypadEquals", "kp_equal"),
            ("", "F24", "f24"),
            ("ctrl", "numpad_separator", "ctrl+kp_separator"),
            ("ctrl", "At", "ctrl+shift+2"),
        ] {
            assert_eq!(chord(modifiers.split(' '), key).as_deref(), Ok(expected), "{key}");
            expected.parse::<crate::action::Chord>().unwrap();
        }
        assert!(chord(["hyper"], "a").unwrap_err().contains("\"hyper\""));
        assert!(chord(["ctrl"], "XF86Copy").is_err());
        assert_eq!(chord(["ctrl"], "raw:123"), Err(reasons::NO_SCAN_CODES.into()));
    }
}
