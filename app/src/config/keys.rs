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
    for (keys, action) in own {
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
        for (keys, action) in own {
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

    fn keymap(own: &[(&str, &str)]) -> Keymap {
        Keymap::new(&own.iter().map(|(keys, action)| ((*keys).into(), (*action).into())).collect())
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
        assert_eq!(map.keys_of(entry("focus_left")), "Alt+Left");
        assert_eq!(map.keys_of(entry("smaller_font")), "Ctrl+-");
    }

    #[test]
    fn the_file_binds_over_the_defaults_and_takes_them_away() {
        let map = keymap(&[("ctrl+shift+t", "none"), ("f5", "send_text:make\\r")]);
        assert_eq!(map.get(chord("ctrl+shift+t").unwrap()), None);
        assert_eq!(map.get(chord("f5").unwrap()), Some(&Action::SendText("make\r".into())));
        assert_eq!(map.get(chord("ctrl+shift+w").unwrap()), Some(&Action::CloseTab));
    }
}
