//! The keys of a sequence that has begun, such as `ctrl+a` of `ctrl+a>c`.
//!
//! Owns the keys, so that programs get them if nothing is bound to what follows.

use unterm_mux::input::Modifiers;

use crate::{
    action::{Chord, Keys},
    window::input::keys::Pressed,
};

/// A pressed key that the program has not got yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldBack {
    pub(crate) pressed: Pressed,
    pub(crate) modifiers: Modifiers,
    /// The text that the key types.
    pub(crate) text: Option<String>,
}

/// The keys pressed so far.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    chords: Vec<Chord>,
    keys: Vec<HeldBack>,
}

impl Sequence {
    pub(crate) fn has_begun(&self) -> bool {
        !self.chords.is_empty()
    }

    /// The keys, for the key map.
    pub(crate) fn chords(&self) -> &[Chord] {
        &self.chords
    }

    pub(crate) fn push(&mut self, chord: Chord, key: HeldBack) {
        self.chords.push(chord);
        self.keys.push(key);
    }

    /// Ends the sequence, and returns its keys.
    pub(crate) fn end(&mut self) -> Vec<HeldBack> {
        self.chords.clear();
        std::mem::take(&mut self.keys)
    }

    /// The keys as shown while the next one is awaited: `Ctrl+A …`.
    pub(crate) fn shown(&self) -> String {
        format!("{} …", Keys { leader: false, chords: self.chords.clone() })
    }
}
