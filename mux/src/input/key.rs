//! Chooses the encoding of a key event, and encodes the event as bytes.
//!
//! The files in `key/` define the events, the encodings and the names of keys. A program selects the kitty encoding by
//! pushing flags, or modifyOtherKeys by XTMODKEYS. The default is the legacy encoding.

mod event;
mod kitty;
mod legacy;
mod modify_other_keys;
mod name;

use unterm_term::{KeyboardMode, Modes};

use super::Modifiers;
pub use event::{Key, KeyAction, KeyEvent, ModifierKey, Side, latin};

/// The bytes of a key event. Empty if the modes do not report the event.
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
    if let Some(bytes) = modify_other_keys::encode(event, modes, keyboard) {
        return bytes;
    }
    legacy::encode(event, modes, keyboard)
}

/// The bytes of text that has no key event, for example text from an input method.
pub fn encode_text(text: &str, keyboard: &KeyboardMode) -> Vec<u8> {
    if keyboard.locked {
        return Vec::new();
    }
    kitty::encode_text(text, keyboard).unwrap_or_else(|| text.as_bytes().to_vec())
}

#[cfg(test)]
mod tests;
