//! Keys as bytes: which encoding a key event gets.
//!
//! Owns that choice; the events, the encodings and the names of keys are in the files below. A program chooses by the flags it
//! pushed (kitty), by XTMODKEYS (modifyOtherKeys) or not at all (legacy).

mod event;
mod kitty;
mod legacy;
mod name;
mod other;

use unterm_term::{KeyboardMode, Modes};

use super::Modifiers;
pub use event::{Key, KeyAction, KeyEvent, ModifierKey, Side, latin};

/// The bytes of a key event, empty when the program is not to hear of it.
pub fn encode_key(event: &KeyEvent<'_>, modes: Modes, keyboard: &KeyboardMode) -> Vec<u8> {
    if keyboard.locked {
        return Vec::new();
    }
    if !keyboard.kitty.is_empty() {
        return kitty::encode(event, modes, keyboard);
    }
    if event.action == KeyAction::Release {
        return Vec::new();
    }
    if modes.contains(Modes::VT52) {
        return legacy::encode_vt52(event, modes, keyboard);
    }
    if let Some(bytes) = other::encode(event, modes, keyboard) {
        return bytes;
    }
    legacy::encode(event, modes, keyboard)
}

/// The bytes of text that comes from no key (an input method).
pub fn encode_text(text: &str, keyboard: &KeyboardMode) -> Vec<u8> {
    if keyboard.locked {
        return Vec::new();
    }
    kitty::encode_text(text, keyboard).unwrap_or_else(|| text.as_bytes().to_vec())
}

#[cfg(test)]
mod tests;
