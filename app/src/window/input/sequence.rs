//! The pressed keys of an unfinished key sequence, such as `ctrl+a` of `ctrl+a>c`.
//!
//! Owns the pressed keys. If the next key does not continue the sequence, the program receives all of them.

use unterm_mux::input::Modifiers;

use crate::{
    action::{Chord, Keys},
    window::input::keys::Pressed,
};

/// A pressed key that the program has not received yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldBack {
    pub(crate) pressed: Pressed,
    pub(crate) modifiers: Modifiers,
    /// The text that the key types.
    pub(crate) text: Option<String>,
}

/// The keys of the sequence that are pressed so far.
#[derive(Debug, Default)]
pub(crate) struct Sequence {
    chords: Vec<Chord>,
    keys: Vec<HeldBack>,
}

impl Sequence {
    pub(crate) fn has_begun(&self) -> bool {
        !self.chords.is_empty()
    }

    /// The pressed keys, as the key map looks them up.
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

    /// The text that is shown while the next key is awaited, such as `Ctrl+A …`.
    pub(crate) fn shown(&self) -> String {
        format!("{} …", Keys { leader: false, chords: self.chords.clone() })
    }
}
