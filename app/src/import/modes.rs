//! Modes of keys: bindings that apply only after another key has entered their mode. If the mode ends after one key,
//! both keys become a sequence of Unterm.

use super::converted::Entry;

/// The maximum number of keys that enter the same mode.
const MOST_ENTERING: usize = 8;
/// The maximum number of key sequences that result from modes.
const MOST_SEQUENCES: usize = 1000;

/// A key of a mode.
struct InMode {
    mode: String,
    keys: String,
    actions: Vec<String>,
    entry: Entry,
}

/// A key that enters a mode for a single key.
struct Once {
    mode: String,
    keys: String,
    entry: Entry,
}

/// A key sequence that results from a mode, or a setting that does not result in one.
pub(super) struct Resolved {
    /// The setting of the other terminal.
    pub entry: Entry,
    /// The keys and their actions. `None` if the setting can't be converted.
    pub binding: Option<(String, Vec<String>)>,
}

/// The modes of a configuration. A key may be bound in a mode before the file names the key that enters the mode.
#[derive(Default)]
pub(super) struct Modes {
    keys: Vec<InMode>,
    entered: Vec<Once>,
}

impl Modes {
    /// Adds a key that is bound in a mode.
    pub fn bind(&mut self, mode: &str, keys: &str, actions: Vec<String>, entry: Entry) {
        self.keys.push(InMode { mode: mode.to_owned(), keys: keys.to_owned(), actions, entry });
    }

    /// Adds a key that enters a mode for a single key.
    pub fn enter(&mut self, mode: &str, keys: &str, entry: Entry) {
        self.entered.push(Once { mode: mode.to_owned(), keys: keys.to_owned(), entry });
    }

    /// Returns the key sequences. The key sequence of a mode's key starts with each key that enters the mode.
    pub fn resolve(self) -> Vec<Resolved> {
        let Self { keys, entered } = self;
        let mut resolved = Vec::new();
        for key in &keys {
            let first: Vec<_> =
                entered.iter().filter(|once| once.mode == key.mode).take(MOST_ENTERING).collect();
            if first.is_empty() || resolved.len() >= MOST_SEQUENCES {
                resolved.push(Resolved { entry: key.entry.clone(), binding: None });
                continue;
            }
            resolved.extend(first.into_iter().map(|once| Resolved {
                entry: key.entry.clone(),
                binding: Some((format!("{}>{}", once.keys, key.keys), key.actions.clone())),
            }));
        }
        for once in entered {
            if !keys.iter().any(|key| key.mode == once.mode) {
                resolved.push(Resolved { entry: once.entry, binding: None });
            }
        }
        resolved
    }
}
