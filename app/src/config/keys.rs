//! Keys bound to actions: the defaults in the table of actions, and the file's bindings, which override them.

use std::collections::{BTreeMap, HashMap};

use rustc_hash::FxHashMap;
use unterm_control::{ActionInfo, Binding};

use crate::{
    action::{ACTIONS, Action, Chord, Entry, Takes},
    suggestion::did_you_mean,
};

/// The action in the file that unbinds a key, so that programs receive it.
const NONE: &str = "none";

/// The setting among the bindings that names a set of default keys.
pub const PRESET: &str = "preset";

/// The keys of the preset `classic` that differ from the default: Unterm's keys before they were reviewed against those of other
/// terminals.
const CLASSIC: &[(&str, &str)] = &[
    ("ctrl+shift+n", "choose_shell"),
    ("alt+left", "focus_left"),
    ("alt+right", "focus_right"),
    ("alt+up", "focus_up"),
    ("alt+down", "focus_down"),
    ("ctrl+alt+left", NONE),
    ("ctrl+alt+right", NONE),
    ("ctrl+alt+up", NONE),
    ("ctrl+alt+down", NONE),
    ("alt+enter", "fullscreen"),
];

/// The presets, each with its differences from the default keys.
const PRESETS: &[(&str, &[(&str, &str)])] = &[("default", &[]), ("classic", CLASSIC)];

/// The differences of a preset from the default keys.
///
/// # Errors
/// A message that names the unknown preset and those there are.
pub fn preset(name: &str) -> Result<&'static [(&'static str, &'static str)], String> {
    let found = PRESETS.iter().find(|(known, _)| *known == name).map(|(_, keys)| *keys);
    found.ok_or_else(|| {
        let names: Vec<_> = PRESETS.iter().map(|(name, _)| format!("{name:?}")).collect();
        format!("keys.preset must be {}, not {name:?}", names.join(" or "))
    })
}

/// The bindings that the file adds to the default keys, those of its preset first: each key with its action as written.
fn changes(own: &BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    let preset = own.get(PRESET).and_then(|name| preset(name).ok()).unwrap_or_default();
    let own = own.iter().filter(|(keys, _)| *keys != PRESET);
    preset.iter().copied().chain(own.map(|(keys, action)| (keys.as_str(), action.as_str())))
}

/// Only the preset of these bindings.
pub fn preset_of(own: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let preset = own.get_key_value(PRESET);
    preset.map(|(key, name)| (key.clone(), name.clone())).into_iter().collect()
}

/// Parses a key as it is written in the file.
///
/// # Errors
/// A message that explains what is wrong with it.
pub fn chord(text: &str) -> Result<Chord, String> {
    text.parse()
}

/// Parses an action as it is written in the file: `name` or `name:argument`; `None` for `none`.
///
/// # Errors
/// A message that explains what is wrong with it.
pub fn bound(text: &str) -> Result<Option<Action>, String> {
    if text == NONE {
        return Ok(None);
    }
    let (name, argument) = match text.split_once(':') {
        Some((name, argument)) => (name, Some(argument)),
        None => (text, None),
    };
    find(name)?.action(argument).map(Some)
}

/// The row of an action in the table.
///
/// # Errors
/// A message that names the unknown action and a similar name.
pub fn find(name: &str) -> Result<&'static Entry, String> {
    ACTIONS.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let names = ACTIONS.iter().map(|entry| entry.name).chain([NONE]);
        format!("unknown action {name:?}{}", did_you_mean(name, names))
    })
}

/// All bindings as they are written in the file: each action's name, its key and its argument. `own` overrides the defaults.
pub fn bindings(own: &BTreeMap<String, String>) -> Vec<(String, Binding)> {
    let mut found: HashMap<Chord, (String, Binding)> = HashMap::new();
    let mut bind = |keys: &str, name: &str, argument: &str| {
        let Ok(chord) = chord(keys) else { return };
        if name == NONE {
            found.remove(&chord);
            return;
        }
        let binding = Binding { keys: keys.to_owned(), argument: argument.to_owned() };
        found.insert(chord, (name.to_owned(), binding));
    };
    for entry in ACTIONS {
        for (keys, argument) in entry.keys {
            bind(keys, entry.name, argument.unwrap_or_default());
        }
    }
    for (keys, action) in changes(own) {
        let (name, argument) = action.split_once(':').unwrap_or((action, ""));
        bind(keys, name, argument);
    }
    let mut found: Vec<_> = found.into_values().collect();
    found.sort_by(|(_, a), (_, b)| (a.keys.len(), &a.keys).cmp(&(b.keys.len(), &b.keys)));
    found
}

/// The current keys.
#[derive(Clone, Debug, Default)]
pub struct Keymap(FxHashMap<Chord, Action>);

impl Keymap {
    /// The default keys, overridden by those of the file. Skips invalid keys, reported when the file was read.
    pub fn new(own: &BTreeMap<String, String>) -> Self {
        let mut map = FxHashMap::default();
        for entry in ACTIONS {
            for (keys, argument) in entry.keys {
                if let (Ok(chord), Ok(action)) = (chord(keys), entry.action(*argument)) {
                    map.insert(chord, action);
                }
            }
        }
        for (keys, action) in changes(own) {
            match (chord(keys), bound(action)) {
                (Ok(chord), Ok(Some(action))) => drop(map.insert(chord, action)),
                (Ok(chord), Ok(None)) => drop(map.remove(&chord)),
                _ => {}
            }
        }
        Self(map)
    }

    /// The shortest key of an action without an argument, as shown to the user.
    pub fn keys_of(&self, entry: &Entry) -> String {
        let Takes::Nothing(action) = &entry.takes else { return String::new() };
        let mut keys: Vec<String> = self
            .0
            .iter()
            .filter(|(_, bound)| *bound == action)
            .map(|(chord, _)| chord.to_string())
            .collect();
        keys.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        keys.into_iter().next().unwrap_or_default()
    }

    /// The table of actions, each with its current key.
    pub fn table(&self) -> Vec<ActionInfo> {
        let info = |entry: &'static Entry| ActionInfo {
            name: entry.name.into(),
            title: entry.title.into(),
            doc: entry.doc.into(),
            argument: entry.argument().into(),
            key: self.keys_of(entry),
        };
        ACTIONS.iter().map(info).collect()
    }

    /// The action bound to a key.
    pub fn get(&self, chord: Chord) -> Option<&Action> {
        self.0.get(&chord)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use unterm_control::languages;

    use super::*;

    fn keymap_of(own: &[(&str, &str)]) -> BTreeMap<String, String> {
        own.iter().map(|(keys, action)| ((*keys).into(), (*action).into())).collect()
    }

    fn keymap(own: &[(&str, &str)]) -> Keymap {
        Keymap::new(&keymap_of(own))
    }

    #[test]
    fn every_default_key_parses_and_is_bound_once() {
        let all: Vec<&str> =
            ACTIONS.iter().flat_map(|entry| entry.keys).map(|(keys, _)| *keys).collect();
        for keys in &all {
            chord(keys).unwrap_or_else(|why| panic!("{why}"));
        }
        assert_eq!(keymap(&[]).0.len(), all.len(), "two actions share a key, or one is not valid");
    }

    #[test]
    fn every_action_has_its_names_in_each_language_of_the_settings_page() {
        let mut expected = BTreeSet::new();
        for entry in ACTIONS {
            let name = format!("a.{}", entry.name);
            expected.extend([format!("{name}.doc"), name.clone()]);
            if !entry.argument().is_empty() {
                expected.insert(format!("{name}.argument"));
            }
        }
        // English is the table's own.
        for (code, _) in languages::all().skip(1) {
            let words = languages::words(code).unwrap();
            let found: BTreeSet<_> =
                words.keys().filter(|key| key.starts_with("a.")).cloned().collect();
            let lacks: Vec<_> = expected.difference(&found).collect();
            let extra: Vec<_> = found.difference(&expected).collect();
            let file = format!("assets/settings/i18n/{code}.json");
            assert!(lacks.is_empty() && extra.is_empty(), "{file} lacks {lacks:?}, has {extra:?}");
        }
    }

    #[test]
    fn keys_are_named_for_people() {
        let entry = |name| ACTIONS.iter().find(|entry| entry.name == name).unwrap();
        let map = keymap(&[("ctrl+shift+t", "none")]);
        assert_eq!(map.keys_of(entry("new_tab")), "");
        assert_eq!(map.keys_of(entry("move_tab_left")), "Ctrl+Shift+PgUp");
        assert_eq!(map.keys_of(entry("copy")), "Ctrl+C");
        assert_eq!(map.keys_of(entry("focus_left")), "Ctrl+Alt+Left");
        assert_eq!(map.keys_of(entry("smaller_font")), "Ctrl+-");
    }

    #[test]
    fn the_file_binds_over_the_defaults_and_takes_them_away() {
        let map = keymap(&[("ctrl+shift+t", "none"), ("f5", "send_text:make\\r")]);
        assert_eq!(map.get(chord("ctrl+shift+t").unwrap()), None);
        assert_eq!(map.get(chord("f5").unwrap()), Some(&Action::SendText("make\r".into())));
        assert_eq!(map.get(chord("ctrl+shift+w").unwrap()), Some(&Action::CloseTab));
    }

    #[test]
    fn a_preset_changes_the_defaults_and_the_file_binds_over_it() {
        let map = keymap(&[(PRESET, "classic"), ("alt+up", "none"), ("f5", "new_window")]);
        let get = |keys: &str| map.get(chord(keys).unwrap());
        assert_eq!(get("ctrl+shift+n"), Some(&Action::ChooseShell));
        assert_eq!(get("alt+left"), Some(&Action::FocusLeft));
        assert_eq!((get("ctrl+alt+left"), get("alt+up")), (None, None));
        assert_eq!(get("alt+enter"), Some(&Action::Fullscreen));
        assert_eq!(get("f5"), Some(&Action::NewWindow));
        assert_eq!(get("ctrl+shift+t"), Some(&Action::NewTab));
        for keys in ["alt+left", "alt+right", "alt+up", "alt+down", "alt+enter"] {
            assert_eq!(keymap(&[]).get(chord(keys).unwrap()), None, "programs use {keys}");
        }
        for (keys, action) in CLASSIC {
            assert!(chord(keys).is_ok() && bound(action).is_ok(), "{keys}");
        }
        let listed = bindings(&keymap_of(&[(PRESET, "classic")]));
        assert!(listed.iter().any(|(name, key)| name == "fullscreen" && key.keys == "alt+enter"));
        assert!(preset("emacs").unwrap_err().contains(r#""default" or "classic", not "emacs""#));
    }
}
