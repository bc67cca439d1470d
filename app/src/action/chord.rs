//! A key with its modifiers, as it is written and shown.

use std::{fmt, str::FromStr};

use unterm_mux::input::{Key, Modifiers};

/// A key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chord {
    /// The modifiers.
    pub modifiers: Modifiers,
    /// Without Shift; letters in lower case.
    pub key: Key,
}

/// Names of keys that are no character.
const KEYS: &[(&str, Key)] = &[
    ("enter", Key::Enter),
    ("tab", Key::Tab),
    ("space", Key::Char(' ')),
    ("backspace", Key::Backspace),
    ("escape", Key::Escape),
    ("up", Key::Up),
    ("down", Key::Down),
    ("left", Key::Left),
    ("right", Key::Right),
    ("home", Key::Home),
    ("end", Key::End),
    ("page_up", Key::PageUp),
    ("page_down", Key::PageDown),
    ("insert", Key::Insert),
    ("delete", Key::Delete),
    ("menu", Key::Menu),
];

impl FromStr for Chord {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut modifiers = Modifiers::empty();
        let mut rest = text;
        while let Some((word, after)) = rest.split_once('+').filter(|(word, _)| !word.is_empty()) {
            modifiers |= match word.to_ascii_lowercase().as_str() {
                "ctrl" | "control" => Modifiers::CTRL,
                "shift" => Modifiers::SHIFT,
                "alt" | "opt" | "option" => Modifiers::ALT,
                "super" | "cmd" | "win" => Modifiers::SUPER,
                _ => {
                    return Err(format!(
                        "{word:?} in {text:?} is no modifier; there are ctrl, shift, alt and super"
                    ));
                }
            };
            rest = after;
        }
        let mut chars = rest.chars();
        let name = match rest.to_ascii_lowercase().as_str() {
            "pgup" => "page_up".to_owned(),
            "pgdn" => "page_down".to_owned(),
            "esc" => "escape".to_owned(),
            "del" => "delete".to_owned(),
            "ins" => "insert".to_owned(),
            name => name.to_owned(),
        };
        let function = name.strip_prefix('f').and_then(|number| number.parse::<u8>().ok());
        let key = match (chars.next(), chars.as_str(), function) {
            (Some(c), "", _) => Key::Char(c.to_ascii_lowercase()),
            (_, _, Some(number @ 1..=35)) => Key::F(number),
            _ => match KEYS.iter().find(|(known, _)| *known == name) {
                Some((_, key)) => *key,
                None => {
                    let names = KEYS.iter().map(|(name, _)| *name);
                    let hint = crate::config::parse::did_you_mean(&name, names);
                    return Err(format!("{rest:?} in {text:?} is no key{hint}"));
                }
            },
        };
        Ok(Self { modifiers, key })
    }
}

/// As people write it: `Ctrl+Shift+PgUp`.
impl fmt::Display for Chord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MODIFIERS: [(Modifiers, &str); 4] = [
            (Modifiers::SUPER, "Super+"),
            (Modifiers::CTRL, "Ctrl+"),
            (Modifiers::ALT, "Alt+"),
            (Modifiers::SHIFT, "Shift+"),
        ];
        for (modifier, name) in MODIFIERS {
            if self.modifiers.contains(modifier) {
                f.write_str(name)?;
            }
        }
        if let Key::F(number) = self.key {
            return write!(f, "F{number}");
        }
        if let Some((name, _)) = KEYS.iter().find(|(_, key)| *key == self.key) {
            return f.write_str(&match *name {
                "page_up" => "PgUp".to_owned(),
                "page_down" => "PgDn".to_owned(),
                name => name[..1].to_uppercase() + &name[1..],
            });
        }
        match self.key {
            Key::Char(c) => write!(f, "{}", c.to_uppercase()),
            other => write!(f, "{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chord_names_its_modifiers_and_key() {
        let chord: Chord = "ctrl+shift+page_up".parse().unwrap();
        assert_eq!(
            chord,
            Chord { modifiers: Modifiers::CTRL | Modifiers::SHIFT, key: Key::PageUp }
        );
        let plus: Chord = "ctrl++".parse().unwrap();
        assert_eq!(plus, Chord { modifiers: Modifiers::CTRL, key: Key::Char('+') });
        assert_eq!("f11".parse::<Chord>().unwrap().key, Key::F(11));
        // As it is shown, too.
        for chord in ["Ctrl+Shift+PgUp", "Alt+F4", "Super+Ctrl+Shift+=", "Shift+Insert", "Ctrl+T"] {
            assert_eq!(chord.parse::<Chord>().unwrap().to_string(), chord);
        }
        assert!("hyper+x".parse::<Chord>().is_err());
        let error = "ctrl+pageup".parse::<Chord>().unwrap_err();
        assert!(error.ends_with("did you mean \"page_up\"?"), "{error}");
    }
}
