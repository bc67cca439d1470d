//! The table of actions: everything a key can make the window do, with its default keys.

use std::{collections::HashMap, str::FromStr};

use unterm_mux::{
    Axis, Direction,
    input::{Key, Modifiers},
};

/// Something the window does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Action {
    NewTab,
    CloseTab,
    ClosePane,
    /// Splits the focused pane.
    Split(Axis),
    /// Moves the keyboard to the pane in that direction; without one the key goes to the program.
    Focus(Direction),
    /// Moves the focused pane's divider.
    Resize(Direction),
    Zoom,
    NextTab,
    PreviousTab,
    /// Moves the active tab by this many places.
    MoveTab(isize),
    /// Copies the selection; without one the key goes to the program.
    Copy,
    Paste,
    PastePrimary,
    /// Changes the font's size by this many points.
    FontSize(f32),
    ResetFontSize,
    Fullscreen,
    /// Scrolls by pages; on the alternate screen the key goes to the program.
    ScrollPages(i32),
    ScrollToTop,
    ScrollToBottom,
}

/// One row of the table.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) action: Action,
    /// Default keys, as in `ctrl+shift+t`; the key is the one without Shift.
    pub(super) keys: &'static [&'static str],
}

const fn entry(name: &'static str, action: Action, keys: &'static [&'static str]) -> Entry {
    Entry { name, action, keys }
}

/// Every action with its default keys.
pub(super) const ACTIONS: &[Entry] = &[
    entry("new_tab", Action::NewTab, &["ctrl+shift+t"]),
    entry("close_tab", Action::CloseTab, &["ctrl+shift+w"]),
    entry("close_pane", Action::ClosePane, &["ctrl+shift+x"]),
    entry("split_down", Action::Split(Axis::Vertical), &["ctrl+shift+d"]),
    entry("split_right", Action::Split(Axis::Horizontal), &["ctrl+shift+e"]),
    entry("focus_left", Action::Focus(Direction::Left), &["alt+left"]),
    entry("focus_right", Action::Focus(Direction::Right), &["alt+right"]),
    entry("focus_up", Action::Focus(Direction::Up), &["alt+up"]),
    entry("focus_down", Action::Focus(Direction::Down), &["alt+down"]),
    entry("resize_left", Action::Resize(Direction::Left), &["ctrl+alt+shift+left"]),
    entry("resize_right", Action::Resize(Direction::Right), &["ctrl+alt+shift+right"]),
    entry("resize_up", Action::Resize(Direction::Up), &["ctrl+alt+shift+up"]),
    entry("resize_down", Action::Resize(Direction::Down), &["ctrl+alt+shift+down"]),
    entry("zoom_pane", Action::Zoom, &["ctrl+shift+z"]),
    entry("next_tab", Action::NextTab, &["ctrl+tab"]),
    entry("previous_tab", Action::PreviousTab, &["ctrl+shift+tab"]),
    entry("move_tab_left", Action::MoveTab(-1), &["ctrl+shift+page_up"]),
    entry("move_tab_right", Action::MoveTab(1), &["ctrl+shift+page_down"]),
    entry("copy", Action::Copy, &["ctrl+shift+c", "ctrl+c", "ctrl+insert"]),
    entry("paste", Action::Paste, &["ctrl+shift+v"]),
    entry("paste_primary", Action::PastePrimary, &["shift+insert"]),
    entry("larger_font", Action::FontSize(1.0), &["ctrl+=", "ctrl+shift+=", "ctrl++"]),
    entry("smaller_font", Action::FontSize(-1.0), &["ctrl+-"]),
    entry("reset_font", Action::ResetFontSize, &["ctrl+0"]),
    entry("fullscreen", Action::Fullscreen, &["f11", "alt+enter"]),
    entry("scroll_page_up", Action::ScrollPages(-1), &["shift+page_up"]),
    entry("scroll_page_down", Action::ScrollPages(1), &["shift+page_down"]),
    entry("scroll_to_top", Action::ScrollToTop, &["shift+home"]),
    entry("scroll_to_bottom", Action::ScrollToBottom, &["shift+end"]),
];

/// A key with its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Chord {
    pub(super) modifiers: Modifiers,
    /// Without Shift; letters in lower case.
    pub(super) key: Key,
}

/// Why text is no chord.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BadChord(String);

impl FromStr for Chord {
    type Err = BadChord;

    fn from_str(text: &str) -> Result<Self, BadChord> {
        let mut modifiers = Modifiers::empty();
        let mut rest = text;
        while let Some((word, after)) = rest.split_once('+').filter(|(word, _)| !word.is_empty()) {
            modifiers |= match word {
                "ctrl" => Modifiers::CTRL,
                "shift" => Modifiers::SHIFT,
                "alt" => Modifiers::ALT,
                "super" => Modifiers::SUPER,
                _ => return Err(BadChord(format!("{word:?} in {text:?} is no modifier"))),
            };
            rest = after;
        }
        let mut chars = rest.chars();
        let key = match (chars.next(), chars.as_str()) {
            (Some(c), "") => Key::Char(c.to_ascii_lowercase()),
            (Some('f'), number) if number.parse::<u8>().is_ok_and(|n| (1..=35).contains(&n)) => {
                Key::F(number.parse().unwrap_or(1))
            }
            _ => match rest {
                "enter" => Key::Enter,
                "tab" => Key::Tab,
                "space" => Key::Char(' '),
                "backspace" => Key::Backspace,
                "escape" => Key::Escape,
                "up" => Key::Up,
                "down" => Key::Down,
                "left" => Key::Left,
                "right" => Key::Right,
                "home" => Key::Home,
                "end" => Key::End,
                "page_up" => Key::PageUp,
                "page_down" => Key::PageDown,
                "insert" => Key::Insert,
                "delete" => Key::Delete,
                _ => return Err(BadChord(format!("{rest:?} in {text:?} is no key"))),
            },
        };
        Ok(Self { modifiers, key })
    }
}

/// The keys in force.
pub(super) struct Keymap(HashMap<Chord, Action>);

impl Keymap {
    /// The default keys.
    pub(super) fn new() -> Self {
        let mut map = HashMap::new();
        for entry in ACTIONS {
            for keys in entry.keys {
                match keys.parse() {
                    Ok(chord) => drop(map.insert(chord, entry.action)),
                    Err(BadChord(why)) => tracing::error!("action {}: {why}", entry.name),
                }
            }
        }
        Self(map)
    }

    /// The action bound to a key.
    pub(super) fn get(&self, chord: Chord) -> Option<Action> {
        self.0.get(&chord).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_key_parses_and_is_bound_once() {
        let all: Vec<&str> = ACTIONS.iter().flat_map(|entry| entry.keys).copied().collect();
        for keys in &all {
            keys.parse::<Chord>().unwrap_or_else(|BadChord(why)| panic!("{why}"));
        }
        assert_eq!(Keymap::new().0.len(), all.len(), "two actions share a key");
    }

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
        assert!("hyper+x".parse::<Chord>().is_err());
        assert!("ctrl+nokey".parse::<Chord>().is_err());
    }
}
