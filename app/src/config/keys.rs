//! The key bindings: default keys from the table of actions, and the bindings in the configuration file, which
//! override the defaults.

use std::collections::{BTreeMap, HashMap};

use rustc_hash::FxHashMap;
use unterm_control::{ActionInfo, Binding, did_you_mean};

use super::Bound;
use crate::action::{ACTIONS, Action, Chord, Entry, Keys, LEADER, MouseChord};

/// The action in the configuration file that unbinds a key, so that programs receive the key.
pub const NONE: &str = "none";

/// The setting in the section `[keys]` that selects a set of default keys.
pub const PRESET: &str = "preset";

/// The differences of the preset `classic` from the default keys. `classic` contains Unterm's keys from before they
/// were compared with the keys of other terminals.
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

/// The names of the presets.
const PRESETS: [&str; 3] = ["default", "classic", NONE];

/// The differences of a preset from the default keys. The preset `none` unbinds all default keys.
///
/// # Errors
/// Returns a message that names the unknown preset and lists the known presets.
pub fn preset(name: &str) -> Result<Vec<(&'static str, &'static str)>, String> {
    let all = || ACTIONS.iter().flat_map(|entry| entry.keys).map(|(keys, _)| (*keys, NONE));
    match name {
        "default" => Ok(Vec::new()),
        "classic" => Ok(CLASSIC.to_vec()),
        NONE => Ok(all().collect()),
        _ => {
            let hint = did_you_mean(name, PRESETS);
            Err(format!(
                "keys.preset must be \"default\", \"classic\" or \"none\", not {name:?}{hint}"
            ))
        }
    }
}

/// Whether a name in the section `[keys]` is a setting instead of a key.
pub fn is_setting(name: &str) -> bool {
    [PRESET, LEADER].contains(&name)
}

/// The value of a setting in the section `[keys]`.
fn setting<'a>(own: &'a BTreeMap<String, Bound>, name: &str) -> Option<&'a str> {
    match own.get(name)? {
        Bound::One(value) => Some(value),
        Bound::Several(_) => None,
    }
}

/// The key that the word `leader` stands for in key sequences.
fn leader(own: &BTreeMap<String, Bound>) -> Option<Chord> {
    setting(own, LEADER).and_then(|keys| keys.parse().ok())
}

/// The bindings that change the default keys: first those of the preset, then those of the file. Each key has its
/// actions as written.
fn changes(own: &BTreeMap<String, Bound>) -> impl Iterator<Item = (&str, Vec<&str>)> {
    let preset = setting(own, PRESET).and_then(|name| preset(name).ok()).unwrap_or_default();
    let preset = preset.into_iter().map(|(keys, action)| (keys, vec![action]));
    let own = own.iter().filter(|(keys, _)| !is_setting(keys));
    preset.chain(
        own.map(|(keys, bound)| {
            (keys.as_str(), bound.actions().iter().map(String::as_str).collect())
        }),
    )
}

/// Only the settings in a section `[keys]`, without its bindings.
pub fn settings_of(own: &BTreeMap<String, Bound>) -> BTreeMap<String, Bound> {
    let settings = own.iter().filter(|(name, _)| is_setting(name));
    settings.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Parses an action as written in the configuration file: `name` or `name:argument`. Returns `None` for `none`.
///
/// # Errors
/// Returns a message that explains the error.
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

/// The table's entry for an action.
///
/// # Errors
/// Returns a message that names the unknown action and may suggest a similar name.
pub fn find(name: &str) -> Result<&'static Entry, String> {
    ACTIONS.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let names = ACTIONS.iter().map(|entry| entry.name).chain([NONE]);
        format!("unknown action {name:?}{}", did_you_mean(name, names))
    })
}

/// All bindings, as written in the configuration file: the name of each action, with its key and argument. `own`
/// overrides the defaults.
pub fn bindings(own: &BTreeMap<String, Bound>) -> Vec<(String, Binding)> {
    let leader = leader(own);
    let mut found: HashMap<Vec<Chord>, Vec<(String, Binding)>> = HashMap::new();
    let mut bind = |keys: &str, actions: &[(&str, &str)]| {
        let Some(chords) = chords(keys, leader) else { return };
        let binding = |(name, argument): &(&str, &str)| {
            (
                (*name).to_owned(),
                Binding { keys: keys.to_owned(), argument: (*argument).to_owned() },
            )
        };
        let bound = actions.iter().filter(|(name, _)| *name != NONE).map(binding).collect();
        found.retain(|other, _| !other.starts_with(&chords) && !chords.starts_with(other));
        found.insert(chords, bound);
    };
    for entry in ACTIONS {
        for (keys, argument) in entry.keys {
            bind(keys, &[(entry.name, argument.unwrap_or_default())]);
        }
    }
    for (keys, actions) in changes(own) {
        let actions: Vec<_> =
            actions.iter().map(|action| action.split_once(':').unwrap_or((action, ""))).collect();
        bind(keys, &actions);
    }
    let mut found: Vec<_> = found.into_values().flatten().collect();
    found.sort_by(|(_, a), (_, b)| (a.keys.len(), &a.keys).cmp(&(b.keys.len(), &b.keys)));
    found
}

/// Parses the keys of a binding. Returns `None` if they are not valid, or if they start with `leader` and no leader is
/// set.
fn chords(keys: &str, leader: Option<Chord>) -> Option<Vec<Chord>> {
    keys.parse::<Keys>().ok()?.with_leader(leader)
}

/// The effect of a key in the map.
#[derive(Clone, Debug)]
enum Node {
    /// The key runs these actions.
    Act(Vec<Action>),
    /// The key is part of a sequence, and these keys can follow.
    More(FxHashMap<Chord, Node>),
}

/// The result of looking up keys.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyMatch<'a> {
    /// The keys are bound to these actions.
    Actions(&'a [Action]),
    /// The keys are the start of a longer sequence.
    Prefix,
}

/// The key bindings in force.
#[derive(Clone, Debug, Default)]
pub struct Keymap(FxHashMap<Chord, Node>);

impl Keymap {
    /// The default keys, overridden by the bindings of the file. Bindings that are not valid are skipped, because they
    /// were reported when the file was read.
    pub fn new(own: &BTreeMap<String, Bound>) -> Self {
        let leader = leader(own);
        let mut map = Self::default();
        for entry in ACTIONS {
            for (keys, argument) in entry.keys {
                if let (Some(chords), Ok(action)) = (chords(keys, leader), entry.action(*argument))
                {
                    map.bind(&chords, vec![action]);
                }
            }
        }
        for (keys, actions) in changes(own) {
            let actions: Result<Vec<_>, _> = actions.into_iter().map(bound).collect();
            if let (Some(chords), Ok(actions)) = (chords(keys, leader), actions) {
                map.bind(&chords, actions.into_iter().flatten().collect());
            }
        }
        map
    }

    /// Binds keys to actions, or unbinds the keys if there are no actions. If one binding is the start of another
    /// binding, the later call takes precedence.
    fn bind(&mut self, keys: &[Chord], actions: Vec<Action>) {
        let [first @ .., last] = keys else { return };
        let mut map = &mut self.0;
        for chord in first {
            let node = map.entry(*chord).or_insert_with(|| Node::More(FxHashMap::default()));
            if let Node::Act(_) = node {
                *node = Node::More(FxHashMap::default());
            }
            let Node::More(more) = node else { return };
            map = more;
        }
        match actions.is_empty() {
            true => drop(map.remove(last)),
            false => drop(map.insert(*last, Node::Act(actions))),
        }
    }

    /// The keys of an action without an argument, as shown to the user. Keys that the user bound come first, the
    /// shortest of them before others. Otherwise, the first default that is still bound.
    pub fn keys_of(&self, entry: &Entry) -> String {
        let Some(action) = entry.plain() else { return String::new() };
        let mut keys = Vec::new();
        collect(&self.0, &mut Vec::new(), &mut |chords, actions| {
            if actions == std::slice::from_ref(&action) {
                keys.push(Keys { leader: false, chords: chords.to_vec() }.to_string());
            }
        });
        // Keys that the user bound come first. Default keys are sorted by preference, as in the table.
        let preference = |keys: &str| {
            let is_it = |default: &(&str, _)| default.0.eq_ignore_ascii_case(keys);
            entry.keys.iter().position(is_it).map(|at| at + 1)
        };
        keys.sort_by_cached_key(|keys| (preference(keys), keys.len(), keys.clone()));
        keys.into_iter().next().unwrap_or_default()
    }

    /// The table of actions, with the current key of each action.
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

    /// The effect of a key that follows the keys `before`. `None` if no binding matches.
    pub fn find(&self, before: &[Chord], chord: Chord) -> Option<KeyMatch<'_>> {
        let mut map = &self.0;
        for chord in before {
            let Node::More(more) = map.get(chord)? else { return None };
            map = more;
        }
        Some(match map.get(&chord)? {
            Node::Act(actions) => KeyMatch::Actions(actions),
            Node::More(_) => KeyMatch::Prefix,
        })
    }

    /// The action that a single key is bound to, if it is bound to exactly one action.
    pub fn get(&self, chord: Chord) -> Option<&Action> {
        match self.find(&[], chord)? {
            KeyMatch::Actions([action]) => Some(action),
            _ => None,
        }
    }
}

/// The mouse bindings in force. A binding to `none` has an empty list of actions.
#[derive(Clone, Debug, Default)]
pub struct MouseMap(FxHashMap<MouseChord, Vec<Action>>);

impl MouseMap {
    /// The mouse bindings of the file. Bindings that are not valid are skipped, because they were reported when the
    /// file was read.
    pub fn new(own: &BTreeMap<String, Bound>) -> Self {
        let bind = |(input, does): (&String, &Bound)| {
            let actions: Result<Vec<_>, _> =
                does.actions().iter().map(|action| bound(action)).collect();
            Some((input.parse().ok()?, actions.ok()?.into_iter().flatten().collect()))
        };
        Self(own.iter().filter_map(bind).collect())
    }

    /// The actions that a mouse input is bound to. `None` if it is not bound.
    pub fn get(&self, chord: MouseChord) -> Option<&[Action]> {
        self.0.get(&chord).map(Vec::as_slice)
    }
}

/// Calls `see` with each bound key sequence and its actions.
fn collect(
    map: &FxHashMap<Chord, Node>,
    before: &mut Vec<Chord>,
    see: &mut impl FnMut(&[Chord], &[Action]),
) {
    for (chord, node) in map {
        before.push(*chord);
        match node {
            Node::Act(actions) => see(before, actions),
            Node::More(more) => collect(more, before, see),
        }
        before.pop();
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use unterm_control::languages;

    use super::*;

    fn keymap_of(own: &[(&str, &str)]) -> BTreeMap<String, Bound> {
        own.iter().map(|(keys, action)| ((*keys).into(), (*action).into())).collect()
    }

    fn chord(keys: &str) -> Result<Chord, String> {
        keys.parse()
    }

    fn keymap(own: &[(&str, &str)]) -> Keymap {
        Keymap::new(&keymap_of(own))
    }

    /// The beginning of the page that lists missing translations.
    const GAPS: &str = "\
# Missing translations

The settings page shows these texts in English. A text is in the JSON file of its language in this folder. To generate this
page again, run `UPDATE_EXPECT=1 cargo test -p unterm --lib translations`.
";

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
    fn translations_name_actions_and_a_page_lists_the_gaps() {
        let mut expected = BTreeSet::new();
        for entry in ACTIONS {
            let name = format!("a.{}", entry.name);
            expected.extend([format!("{name}.doc"), name.clone()]);
            if !entry.argument().is_empty() {
                expected.insert(format!("{name}.argument"));
            }
        }
        let mut page = String::from(GAPS);
        // Skip English, because its words are those of the table.
        for (code, language) in languages::all().skip(1) {
            let words = languages::words(code).unwrap();
            let found: BTreeSet<_> =
                words.keys().filter(|key| key.starts_with("a.")).cloned().collect();
            let extra: Vec<_> = found.difference(&expected).collect();
            assert!(extra.is_empty(), "assets/settings/i18n/{code}.json has {extra:?}");
            let mut gaps = languages::missing(code);
            gaps.extend(expected.difference(&found).cloned());
            page += &format!("\n## {language} ({code})\n\n");
            match gaps.is_empty() {
                true => page += "Complete.\n",
                false => gaps.iter().for_each(|gap| page += &format!("- `{gap}`\n")),
            }
        }
        expect_test::expect_file!["../../../assets/settings/i18n/missing.md"].assert_eq(&page);
    }

    #[test]
    fn keys_are_named_for_people() {
        let entry = |name| ACTIONS.iter().find(|entry| entry.name == name).unwrap();
        let map = keymap(&[("ctrl+shift+t", "none")]);
        assert_eq!(map.keys_of(entry("new_tab")), "");
        assert_eq!(map.keys_of(entry("move_tab_left")), "Ctrl+Shift+PgUp");
        assert_eq!(map.keys_of(entry("copy")), "Ctrl+Shift+C");
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
        assert_eq!(get("ctrl+shift+t"), Some(&Action::NewTab(None)));
        for keys in ["alt+left", "alt+right", "alt+up", "alt+down", "alt+enter"] {
            assert_eq!(keymap(&[]).get(chord(keys).unwrap()), None, "programs use {keys}");
        }
        for (keys, action) in CLASSIC {
            assert!(chord(keys).is_ok() && bound(action).is_ok(), "{keys}");
        }
        let listed = bindings(&keymap_of(&[(PRESET, "classic")]));
        assert!(listed.iter().any(|(name, key)| name == "fullscreen" && key.keys == "alt+enter"));
        assert!(
            preset("emacs").unwrap_err().contains(r#""default", "classic" or "none", not "emacs""#)
        );
    }

    #[test]
    fn the_preset_none_leaves_only_the_files_own_keys() {
        let map = keymap(&[(PRESET, "none"), ("ctrl+shift+t", "new_tab"), ("f5", "copy")]);
        let keys: Vec<_> = bindings(&keymap_of(&[(PRESET, "none"), ("f5", "copy")]));
        assert_eq!(keys.len(), 1, "{keys:?}");
        assert_eq!(map.0.len(), 2);
        assert_eq!(map.get(chord("ctrl+shift+t").unwrap()), Some(&Action::NewTab(None)));
    }

    #[test]
    fn keys_may_follow_each_other() {
        let mut own =
            keymap_of(&[("leader", "ctrl+a"), ("leader>c", "new_tab"), ("ctrl+a>b>x", "copy")]);
        own.insert("ctrl+shift+t>x".into(), "paste".into());
        own.insert("f5".into(), Bound::Several(vec!["copy".into(), "send_text:x".into()]));
        own.insert("f6".into(), Bound::Several(Vec::new()));
        let map = Keymap::new(&own);
        let find = |keys: &str| {
            let mut chords = keys.parse::<Keys>().unwrap().chords;
            let last = chords.pop().unwrap();
            map.find(&chords, last)
        };
        assert_eq!(find("ctrl+a"), Some(KeyMatch::Prefix));
        assert_eq!(find("ctrl+a>c"), Some(KeyMatch::Actions(&[Action::NewTab(None)])));
        assert_eq!(find("ctrl+a>b"), Some(KeyMatch::Prefix));
        assert_eq!(find("ctrl+a>b>x"), Some(KeyMatch::Actions(&[Action::Copy])));
        assert_eq!((find("ctrl+a>x"), find("c"), find("f6")), (None, None, None));
        // A key sequence replaces a default key that is its first key.
        assert_eq!(find("ctrl+shift+t"), Some(KeyMatch::Prefix));
        assert_eq!(map.keys_of(Action::NewTab(None).entry()), "Ctrl+A C");
        let both = [Action::Copy, Action::SendText("x".into())];
        assert_eq!(find("f5"), Some(KeyMatch::Actions(&both)));
        let listed = bindings(&own);
        let of = |action: &str| -> Vec<_> {
            let own = listed.iter().filter(|(name, _)| name == action);
            own.map(|(_, binding)| binding.keys.as_str()).collect()
        };
        assert!(of("new_tab").contains(&"leader>c"));
        assert_eq!((of("send_text"), of("copy").contains(&"f5")), (vec!["f5"], true));
    }
}
