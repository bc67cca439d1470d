//! The names of keys, used in the configuration and in requests of callers.

use super::{Key, Modifiers};

/// The highest number of a function key.
const LAST_F: u8 = 35;

/// Keys, their usual names and their aliases.
const NAMES: &[(Key, &str, &[&str])] = &[
    (Key::Enter, "enter", &["return"]),
    (Key::Tab, "tab", &[]),
    (Key::Char(' '), "space", &[]),
    (Key::Backspace, "backspace", &[]),
    (Key::Escape, "escape", &["esc"]),
    (Key::Up, "up", &[]),
    (Key::Down, "down", &[]),
    (Key::Left, "left", &[]),
    (Key::Right, "right", &[]),
    (Key::Home, "home", &[]),
    (Key::End, "end", &[]),
    (Key::PageUp, "page_up", &["pageup", "pgup"]),
    (Key::PageDown, "page_down", &["pagedown", "pgdn"]),
    (Key::Insert, "insert", &["ins"]),
    (Key::Delete, "delete", &["del"]),
    (Key::Menu, "menu", &[]),
    (Key::Char('+'), "plus", &[]),
    (Key::KeypadEnter, "kp_enter", &[]),
    (Key::KeypadDecimal, "kp_decimal", &[]),
    (Key::KeypadSeparator, "kp_separator", &[]),
    (Key::KeypadAdd, "kp_add", &[]),
    (Key::KeypadSubtract, "kp_subtract", &[]),
    (Key::KeypadMultiply, "kp_multiply", &[]),
    (Key::KeypadDivide, "kp_divide", &[]),
    (Key::KeypadEqual, "kp_equal", &[]),
];

impl Key {
    /// The usual names of keys, without `f1` to `f35` and `kp_0` to `kp_9`. A character key is named by its character.
    pub fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(_, name, _)| *name)
    }

    /// The key with this name, in upper or lower case. `None` if no key has this name, or if the name is a single
    /// character.
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let has_it = |usual: &str, others: &[&str]| usual == name || others.contains(&&*name);
        if let Some((key, ..)) = NAMES.iter().find(|(_, usual, others)| has_it(usual, others)) {
            return Some(*key);
        }
        if let Some(digit) = name.strip_prefix("kp_") {
            let digit: u8 = digit.parse().ok()?;
            return (digit <= 9).then_some(Self::KeypadDigit(digit));
        }
        let number: u8 = name.strip_prefix('f')?.parse().ok()?;
        (1..=LAST_F).contains(&number).then_some(Self::F(number))
    }

    /// The usual name of the key. `None` if the key has no name or is a numbered key.
    pub fn name(self) -> Option<&'static str> {
        NAMES.iter().find(|(key, ..)| *key == self).map(|(_, name, _)| *name)
    }
}

impl Modifiers {
    /// The modifier with this name, in upper or lower case.
    pub fn of_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "ctrl" | "control" => Self::CTRL,
            "alt" | "opt" | "option" | "meta" => Self::ALT,
            "shift" => Self::SHIFT,
            "super" | "cmd" | "command" | "win" | "windows" => Self::SUPER,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_name_is_unique() {
        for (key, usual, others) in NAMES {
            assert_eq!(key.name(), Some(*usual));
            for name in others.iter().chain([usual]) {
                assert_eq!(Key::of_name(&name.to_uppercase()), Some(*key), "{name}");
            }
        }
        assert_eq!(Key::of_name("F35"), Some(Key::F(LAST_F)));
        assert_eq!(Key::of_name("kp_7"), Some(Key::KeypadDigit(7)));
        for wrong in ["", "a", "f", "f0", "f36", "kp_", "kp_10", "entr"] {
            assert_eq!(Key::of_name(wrong), None, "{wrong}");
        }
        assert_eq!(Modifiers::of_name("Option"), Some(Modifiers::ALT));
        assert_eq!(Modifiers::of_name("hyp"), None);
    }
}
