//! The actions: everything that a key can make the window do.
//!
//! Owns the table of actions. Keys, the check of the configuration, the palette, menus and the reference page come from
//! it. The window expands it once more, to run actions.

mod argument;
mod chord;
mod keys;
mod mouse;
mod table;

use std::ops::RangeInclusive;

pub use chord::Chord;
pub use keys::{Keys, LEADER};
pub use mouse::{MouseChord, MouseInput};
pub(crate) use table::with_actions;

/// What an action takes, and how that becomes an action.
pub enum Takes {
    /// Nothing.
    Nothing(Action),
    /// Text, or nothing.
    Optional {
        /// What the text is, for people.
        what: &'static str,
        /// The action with a text, or without one.
        make: fn(Option<String>) -> Action,
    },
    /// A whole number.
    Number {
        /// What it is, for people.
        what: &'static str,
        /// The least and the greatest.
        range: RangeInclusive<i32>,
        /// The action with a number.
        make: fn(i32) -> Action,
    },
    /// Text, with the escapes `\n`, `\r`, `\t`, `\e`, `\\`, `\xHH` and `\u{H…}`.
    Text {
        /// What it is, for people.
        what: &'static str,
        /// The action with a text.
        make: fn(String) -> Action,
    },
}

/// Whether the program receives a key whose action had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassesKey {
    /// Never.
    Never,
    /// Always.
    Always,
    /// Unless Shift is held.
    UnlessShift,
}

/// A row of the table.
pub struct Entry {
    /// Its name in the configuration.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// What it does, in sentences.
    pub doc: &'static str,
    /// What it takes.
    pub takes: Takes,
    /// The default keys, such as `ctrl+shift+t`, each with its argument. A key is named as without Shift: `shift+5`,
    /// not `%`.
    pub keys: &'static [(&'static str, Option<&'static str>)],
    /// Other words that find it in the palette: what users of other terminals and of editors type.
    pub synonyms: &'static [&'static str],
    /// The message if it had no effect.
    pub no_effect: &'static str,
    /// Whether the program receives the key if the action had no effect.
    pub passes_key: PassesKey,
}

impl Entry {
    /// What its argument is, for people. Empty if it takes none.
    pub fn argument(&self) -> &'static str {
        match self.takes {
            Takes::Nothing(_) => "",
            Takes::Optional { what, .. }
            | Takes::Number { what, .. }
            | Takes::Text { what, .. } => what,
        }
    }

    /// The action without an argument. `None` if it needs one.
    pub fn plain(&self) -> Option<Action> {
        match &self.takes {
            Takes::Nothing(action) => Some(action.clone()),
            Takes::Optional { make, .. } => Some(make(None)),
            Takes::Number { .. } | Takes::Text { .. } => None,
        }
    }

    /// What it does, in one line: the first sentence of its description.
    pub fn summary(&self) -> &'static str {
        self.doc.find(". ").map_or(self.doc, |end| &self.doc[..=end])
    }
}

/// The type of an argument.
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

/// The form of a row's argument.
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

/// A value that a row may leave out.
macro_rules! optional {
    () => {
        None
    };
    ($value:literal) => {
        Some($value)
    };
}

/// The end of a row.
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
        |$app:ident, $at:tt $(, $argument:ident)?| $run:expr $(, else $($passes:ident)? $why:literal)?;
    )*) => {
        /// Something that the window does.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Action {
            $(#[doc = $doc] $action $((argument!($kind)))?,)*
        }

        /// The rows, for their numbers.
        enum Row {
            $($action,)*
        }

        impl Action {
            /// Its row of the table.
            pub fn entry(&self) -> &'static Entry {
                let row = match self {
                    $(Self::$action { .. } => Row::$action,)*
                };
                &ACTIONS[row as usize]
            }
        }

        /// Every action.
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

    /// Characters that a line of the palette has room for.
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
