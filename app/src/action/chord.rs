//! A key with its modifiers, and its forms in configuration files and in the window.

use std::{fmt, str::FromStr};

use unterm_control::did_you_mean;
use unterm_mux::input::{Key, Modifiers};

/// A key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Chord {
    /// The modifiers.
    pub modifiers: Modifiers,
    /// The key without Shift. Letters are in lower case.
    pub key: Key,
}

impl Chord {
    /// Writes the key as in configuration files, with the usual names of the modifiers in the usual order. `text` is
    /// the form that the user wrote; the name of the key is taken from it.
    pub fn written(&self, text: &str) -> String {
        const MODIFIERS: [(Modifiers, &str); 4] = [
            (Modifiers::SUPER, "super+"),
            (Modifiers::CTRL, "ctrl+"),
            (Modifiers::ALT, "alt+"),
            (Modifiers::SHIFT, "shift+"),
        ];
        let mut rest = text;
        while let Some((_, after)) = rest.split_once('+').filter(|(word, _)| !word.is_empty()) {
            rest = after;
        }
        let held = MODIFIERS.iter().filter(|(modifier, _)| self.modifiers.contains(*modifier));
        let mut written: String = held.map(|(_, name)| *name).collect();
        written.push_str(&rest.to_lowercase());
        written
    }
}

impl FromStr for Chord {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut modifiers = Modifiers::empty();
        let mut rest = text;
        while let Some((word, after)) = rest.split_once('+').filter(|(word, _)| !word.is_empty()) {
            modifiers |= Modifiers::of_name(word).ok_or_else(|| {
                format!("{word:?} in {text:?} is no modifier; there are ctrl, shift, alt and super")
            })?;
            rest = after;
        }
        let mut chars = rest.chars();
        let key = match (chars.next(), chars.as_str()) {
            (Some(c), "") => Key::Char(c.to_ascii_lowercase()),
            _ => Key::of_name(rest).ok_or_else(|| {
                let hint = did_you_mean(&rest.to_ascii_lowercase(), Key::names());
                format!("{rest:?} in {text:?} is no key{hint}")
            })?,
        };
        Ok(Self { modifiers, key })
    }
}

/// Writes the key in the form for the user, such as `Ctrl+Shift+PgUp`.
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
        match self.key {
            Key::F(number) => write!(f, "F{number}"),
            Key::Char(c) if c != ' ' => write!(f, "{}", c.to_uppercase()),
            key => match key.name() {
                Some("page_up") => f.write_str("PgUp"),
                Some("page_down") => f.write_str("PgDn"),
                Some(name) => f.write_str(&(name[..1].to_uppercase() + &name[1..])),
                None => write!(f, "{key:?}"),
            },
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
        assert_eq!("ctrl+PageUp".parse::<Chord>(), "ctrl+pgup".parse::<Chord>());
        // Keys are also parsed in the form in which they are shown.
        for chord in
            ["Ctrl+Shift+PgUp", "Alt+F4", "Super+Ctrl+Shift+=", "Shift+Insert", "Ctrl+T", "Ctrl++"]
        {
            assert_eq!(chord.parse::<Chord>().unwrap().to_string(), chord);
        }
        let written = |text: &str| text.parse::<Chord>().unwrap().written(text);
        assert_eq!(written("Control+T"), "ctrl+t");
        assert_eq!(written("shift+cmd+PgUp"), "super+shift+pgup");
        assert_eq!((written("control++"), written("f5")), ("ctrl++".into(), "f5".into()));
        let error = "hyper+x".parse::<Chord>().unwrap_err();
        assert!(error.contains("\"hyper\" in \"hyper+x\" is no modifier"), "{error}");
        let error = "ctrl+page_upp".parse::<Chord>().unwrap_err();
        assert!(error.ends_with("did you mean \"page_up\"?"), "{error}");
    }
}
