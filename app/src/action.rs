//! The actions: everything that a key can make the window do.
//!
//! Owns the table of actions. Keys, the check of the configuration, the palette, menus and the reference page are
//! generated from this table. The window's `run.rs` binds each action to a function.

mod argument;
mod chord;
mod keys;
mod mouse;
mod table;

use std::ops::RangeInclusive;

pub use chord::Chord;
pub use keys::{Keys, LEADER};
pub use mouse::{MouseChord, MouseInput};
use table::with_actions;

/// The argument of an action, and a function that creates the action from it.
pub enum Takes {
    /// The action has no argument.
    Nothing(Action),
    /// The argument is a text that may be left out.
    Optional {
        /// A description of the text for the user.
        what: &'static str,
        /// Creates the action with or without a text.
        make: fn(Option<String>) -> Action,
    },
    /// The argument is a whole number.
    Number {
        /// A description of the number for the user.
        what: &'static str,
        /// The minimum and the maximum of the number.
        range: RangeInclusive<i32>,
        /// Creates the action with a number.
        make: fn(i32) -> Action,
    },
    /// The argument is a text. It may contain the escapes `\n`, `\r`, `\t`, `\e`, `\\`, `\xHH` and `\u{H…}`.
    Text {
        /// A description of the text for the user.
        what: &'static str,
        /// Creates the action with a text.
        make: fn(String) -> Action,
    },
}

/// Whether the program receives a key whose action had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassesKey {
    /// The program never receives the key.
    Never,
    /// The program always receives the key.
    Always,
    /// The program receives the key unless Shift is held.
    UnlessShift,
}

/// An entry of the table of actions.
pub struct Entry {
    /// The name of the action in the configuration.
    pub name: &'static str,
    /// The title of the action for the user.
    pub title: &'static str,
    /// A description of what the action does, in sentences.
    pub doc: &'static str,
    /// The argument of the action.
    pub takes: Takes,
    /// The default keys, such as `ctrl+shift+t`, each with the argument for the action. A key is named by the
    /// character that it types without Shift: `shift+5`, not `%`.
    pub keys: &'static [(&'static str, Option<&'static str>)],
    /// Other words that find the action in the palette. Users of other terminals and of editors know these words.
    pub synonyms: &'static [&'static str],
    /// The message if the action had no effect.
    pub no_effect: &'static str,
    /// Whether the program receives the key if the action had no effect.
    pub passes_key: PassesKey,
}

impl Entry {
    /// A description of the argument for the user. Empty if the action has no argument.
    pub fn argument(&self) -> &'static str {
        match self.takes {
            Takes::Nothing(_) => "",
            Takes::Optional { what, .. }
            | Takes::Number { what, .. }
            | Takes::Text { what, .. } => what,
        }
    }

    /// The action without an argument. `None` if it requires an argument.
    pub fn plain(&self) -> Option<Action> {
        match &self.takes {
            Takes::Nothing(action) => Some(action.clone()),
            Takes::Optional { make, .. } => Some(make(None)),
            Takes::Number { .. } | Takes::Text { .. } => None,
        }
    }

    /// A description of the action in one line: the first sentence of its full description.
    pub fn summary(&self) -> &'static str {
        self.doc.find(". ").map_or(self.doc, |end| &self.doc[..=end])
    }
}

/// The Rust type of an argument.
macro_rules! argument {
    (number) => {
        i32
    };
    (text) => {
        String
    };
    (optional) => {
        Option<String>
    };
}

/// The value of [`Takes`] for the argument of an entry.
macro_rules! takes {
    ($action:ident) => {
        Takes::Nothing(Action::$action)
    };
    ($action:ident number $what:literal $range:expr) => {
        Takes::Number { what: $what, range: $range, make: Action::$action }
    };
    ($action:ident optional $what:literal) => {
        Takes::Optional { what: $what, make: Action::$action }
    };
    ($action:ident text $what:literal) => {
        Takes::Text { what: $what, make: Action::$action }
    };
}

/// A value that an entry may leave out.
macro_rules! optional {
    () => {
        None
    };
    ($value:literal) => {
        Some($value)
    };
}

/// The message of an entry if its action had no effect.
macro_rules! no_effect {
    () => {
        "There is nothing to do here."
    };
    ($why:literal) => {
        $why
    };
}
macro_rules! passes_key {
    () => {
        PassesKey::Never
    };
    (program) => {
        PassesKey::Always
    };
    (program_unless_shift) => {
        PassesKey::UnlessShift
    };
}

macro_rules! define {
    ($(
        $action:ident $(($kind:ident: $what:literal $(, $range:expr)?))?
        $name:literal $title:literal
        [$($key:literal $(=> $given:literal)?),*] [$($synonym:literal),*]
        $doc:literal
        $(else $($passes:ident)? $why:literal)?;
    )*) => {
        /// An action that the window can run.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Action {
            $(#[doc = $doc] $action $((argument!($kind)))?,)*
        }

        /// Numbers the entries of the table.
        enum Row {
            $($action,)*
        }

        impl Action {
            /// The entry of this action in the table.
            pub fn entry(&self) -> &'static Entry {
                let row = match self {
                    $(Self::$action { .. } => Row::$action,)*
                };
                &ACTIONS[row as usize]
            }
        }

        /// The table of all actions.
        pub static ACTIONS: &[Entry] = &[
            $(Entry {
                name: $name,
                title: $title,
                doc: $doc,
                takes: takes!($action $($kind $what $($range)?)?),
                keys: &[$(($key, optional!($($given)?))),*],
                synonyms: &[$($synonym),*],
                no_effect: no_effect!($($why)?),
                passes_key: passes_key!($($($passes)?)?),
            },)*
        ];
    };
}

with_actions!(define);

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// The maximum length of a line in the palette, in characters.
    const LINE: usize = 77;

    #[test]
    fn names_are_unique_and_sentences_end() {
        let names: HashSet<_> = ACTIONS.iter().map(|entry| entry.name).collect();
        assert_eq!(names.len(), ACTIONS.len());
        for entry in ACTIONS {
            assert!(entry.doc.ends_with('.') && !entry.title.ends_with('.'), "{}", entry.name);
            assert!(entry.no_effect.ends_with('.'), "{}", entry.name);
            if let Takes::Nothing(action) = &entry.takes {
                assert!(std::ptr::eq(action.entry(), entry), "{}", entry.name);
                let variant = format!("{action:?}").to_lowercase();
                assert_eq!(variant, entry.name.replace('_', ""), "the variant has another name");
            }
        }
    }

    #[test]
    fn synonyms_belong_to_one_action_each() {
        let mut seen = HashSet::new();
        for word in ACTIONS.iter().flat_map(|entry| entry.synonyms) {
            assert!(seen.insert(word), "{word:?} stands for two actions");
            let taken = ACTIONS.iter().find(|entry| entry.title.eq_ignore_ascii_case(word));
            assert!(taken.is_none(), "{word:?} is an action's title");
        }
    }

    #[test]
    fn each_action_is_described_in_one_line() {
        for entry in ACTIONS {
            let summary = entry.summary();
            assert!(summary.ends_with('.'), "{}: {summary}", entry.name);
            assert!(summary.chars().count() <= LINE, "{}: {summary}", entry.name);
        }
    }

    #[test]
    fn only_documented_keys_go_to_the_program() {
        for entry in ACTIONS {
            let is_documented = entry.doc.contains("gets");
            assert_eq!(entry.passes_key != PassesKey::Never, is_documented, "{}", entry.name);
        }
    }
}
