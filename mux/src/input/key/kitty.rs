//! Encodes keys by the kitty keyboard protocol (the page "Comprehensive keyboard handling in terminals").
//!
//! The form is `CSI code : shifted : base ; modifiers : action ; text u`. Keys that have a legacy sequence keep its
//! final byte instead of `u`.

use std::fmt::Write as _;

use unterm_term::{KeyboardMode, KittyFlags, Modes};

use super::{Key, KeyAction, KeyEvent, ModifierKey, Side, legacy};
use crate::input::Modifiers;

/// The key number of an event that has text but no key.
const NO_KEY: u32 = 0;

/// The bytes of an event while any flag of the protocol is set.
pub(super) fn encode(event: &KeyEvent<'_>, modes: Modes, keyboard: &KeyboardMode) -> Vec<u8> {
    let flags = keyboard.kitty;
    let all = flags.contains(KittyFlags::ALL_KEYS);
    let exact = all || flags.contains(KittyFlags::DISAMBIGUATE);
    if event.action == KeyAction::Release && !flags.contains(KittyFlags::EVENT_TYPES)
        || matches!(event.key, Key::Modifier(..)) && !all
    {
        return Vec::new();
    }
    if !all {
        if let Some(text) = event.typed() {
            return text.as_bytes().to_vec();
        }
        if is_reset_key(event) {
            // Keep the legacy bytes of Enter, Tab and Backspace, so that the user can still type "reset" after a
            // program has left the flags set.
            return match event.action {
                KeyAction::Release => Vec::new(),
                _ => legacy::encode(&plain(event), modes, keyboard),
            };
        }
    }
    let named = flags.contains(KittyFlags::EVENT_TYPES) && event.action != KeyAction::Press;
    if !exact && !named {
        // Use the legacy sequence if the key has one. With the flag for event types, cursor keys never use SS3.
        let modes = match flags.contains(KittyFlags::EVENT_TYPES) {
            true => modes - Modes::APP_CURSOR,
            false => modes,
        };
        let bytes = legacy::encode(event, modes, keyboard);
        if !bytes.is_empty() {
            return bytes;
        }
    }
    let (code, last) = match event.key {
        Key::Char(c) => (u32::from(code_point(c, event)), 'u'),
        key => match functional(if exact { key } else { key.off_keypad() }) {
            Some(found) => found,
            None => return Vec::new(),
        },
    };
    serialize(event, flags, code, last)
}

/// The bytes of text without a key: a text event if the program requests all keys with their text, otherwise `None`.
pub(super) fn encode_text(text: &str, keyboard: &KeyboardMode) -> Option<Vec<u8>> {
    if !keyboard.kitty.contains(KittyFlags::ALL_KEYS | KittyFlags::TEXT) || text.is_empty() {
        return None;
    }
    Some(format!("\x1b[{NO_KEY};;{}u", code_points(text)).into_bytes())
}

/// Whether the key is Enter, Tab or Backspace without modifiers. These keys keep their legacy bytes unless the program
/// requests all keys.
fn is_reset_key(event: &KeyEvent<'_>) -> bool {
    matches!(event.key, Key::Enter | Key::Tab | Key::Backspace)
        && (event.modifiers - Modifiers::LOCKS).is_empty()
}

fn plain<'a>(event: &KeyEvent<'a>) -> KeyEvent<'a> {
    KeyEvent { modifiers: Modifiers::empty(), ..*event }
}

/// The key's number in the protocol: its character without modifiers.
fn code_point(c: char, event: &KeyEvent<'_>) -> char {
    event.unshifted.unwrap_or_else(|| lower(c))
}

fn lower(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(only), None) => only,
        _ => c,
    }
}

fn serialize(event: &KeyEvent<'_>, flags: KittyFlags, code: u32, last: char) -> Vec<u8> {
    let named = flags.contains(KittyFlags::EVENT_TYPES) && event.action != KeyAction::Press;
    let text = match flags.contains(KittyFlags::ALL_KEYS | KittyFlags::TEXT) {
        true => event.typed().map(code_points),
        false => None,
    };
    let modifiers = u16::from(event.modifiers.bits()) + 1;
    let alternates = alternates(event, flags);
    let second = modifiers != 1 || named;
    let mut out = String::from("\x1b[");
    // Writing to a string cannot fail.
    if code != 1 || second || text.is_some() {
        let _ = write!(out, "{code}{alternates}");
    }
    if second || text.is_some() {
        out.push(';');
    }
    if second {
        let _ = write!(out, "{modifiers}");
    }
    if named {
        out.push_str(if event.action == KeyAction::Repeat { ":2" } else { ":3" });
    }
    if let Some(text) = text {
        out.push(';');
        out.push_str(&text);
    }
    out.push(last);
    out.into_bytes()
}

/// The part `:shifted:base` of a sequence. Each character is included only if it differs from the key's number.
fn alternates(event: &KeyEvent<'_>, flags: KittyFlags) -> String {
    let Key::Char(c) = event.key else { return String::new() };
    if !flags.contains(KittyFlags::ALTERNATE_KEYS) {
        return String::new();
    }
    let code = code_point(c, event);
    let shifted = event.modifiers.contains(Modifiers::SHIFT).then_some(c).filter(|c| *c != code);
    let base = event.base.filter(|base| *base != code);
    let number = |c: Option<char>| c.map(|c| u32::from(c).to_string()).unwrap_or_default();
    match (shifted, base) {
        (None, None) => String::new(),
        (_, None) => format!(":{}", number(shifted)),
        _ => format!(":{}:{}", number(shifted), number(base)),
    }
}

fn code_points(text: &str) -> String {
    let numbers: Vec<_> =
        text.chars().filter(|c| !c.is_control()).map(|c| u32::from(c).to_string()).collect();
    numbers.join(":")
}

/// Number and final byte of a key without a character ("Functional key definitions").
fn functional(key: Key) -> Option<(u32, char)> {
    Some(match key {
        Key::Char(_) => return None,
        Key::Escape => (27, 'u'),
        Key::Enter => (13, 'u'),
        Key::Tab => (9, 'u'),
        Key::Backspace => (127, 'u'),
        Key::Insert => (2, '~'),
        Key::Delete => (3, '~'),
        Key::Left => (1, 'D'),
        Key::Right => (1, 'C'),
        Key::Up => (1, 'A'),
        Key::Down => (1, 'B'),
        Key::PageUp => (5, '~'),
        Key::PageDown => (6, '~'),
        Key::Home => (1, 'H'),
        Key::End => (1, 'F'),
        Key::F(1) => (1, 'P'),
        Key::F(2) => (1, 'Q'),
        Key::F(3) => (13, '~'),
        Key::F(4) => (1, 'S'),
        Key::F(5) => (15, '~'),
        Key::F(number @ 6..=10) => (u32::from(number) + 11, '~'),
        Key::F(number @ 11..=12) => (u32::from(number) + 12, '~'),
        Key::F(number @ 13..=35) => (u32::from(number) - 13 + 57376, 'u'),
        Key::F(_) => return None,
        Key::KeypadBegin => (1, 'E'),
        Key::CapsLock => (57358, 'u'),
        Key::ScrollLock => (57359, 'u'),
        Key::NumLock => (57360, 'u'),
        Key::PrintScreen => (57361, 'u'),
        Key::Pause => (57362, 'u'),
        Key::Menu => (57363, 'u'),
        Key::KeypadDigit(digit) => (57399 + u32::from(digit.min(9)), 'u'),
        Key::KeypadDecimal => (57409, 'u'),
        Key::KeypadDivide => (57410, 'u'),
        Key::KeypadMultiply => (57411, 'u'),
        Key::KeypadSubtract => (57412, 'u'),
        Key::KeypadAdd => (57413, 'u'),
        Key::KeypadEnter => (57414, 'u'),
        Key::KeypadEqual => (57415, 'u'),
        Key::KeypadSeparator => (57416, 'u'),
        Key::KeypadLeft => (57417, 'u'),
        Key::KeypadRight => (57418, 'u'),
        Key::KeypadUp => (57419, 'u'),
        Key::KeypadDown => (57420, 'u'),
        Key::KeypadPageUp => (57421, 'u'),
        Key::KeypadPageDown => (57422, 'u'),
        Key::KeypadHome => (57423, 'u'),
        Key::KeypadEnd => (57424, 'u'),
        Key::KeypadInsert => (57425, 'u'),
        Key::KeypadDelete => (57426, 'u'),
        Key::MediaPlay => (57428, 'u'),
        Key::MediaPause => (57429, 'u'),
        Key::MediaPlayPause => (57430, 'u'),
        Key::MediaReverse => (57431, 'u'),
        Key::MediaStop => (57432, 'u'),
        Key::MediaFastForward => (57433, 'u'),
        Key::MediaRewind => (57434, 'u'),
        Key::MediaTrackNext => (57435, 'u'),
        Key::MediaTrackPrevious => (57436, 'u'),
        Key::MediaRecord => (57437, 'u'),
        Key::LowerVolume => (57438, 'u'),
        Key::RaiseVolume => (57439, 'u'),
        Key::MuteVolume => (57440, 'u'),
        Key::Modifier(ModifierKey::Level3, _) => (57453, 'u'),
        Key::Modifier(ModifierKey::Level5, _) => (57454, 'u'),
        Key::Modifier(modifier, side) => {
            let right = if side == Side::Right { 6 } else { 0 };
            let place = match modifier {
                ModifierKey::Shift => 0,
                ModifierKey::Control => 1,
                ModifierKey::Alt => 2,
                ModifierKey::Super => 3,
                ModifierKey::Hyper => 4,
                ModifierKey::Meta | ModifierKey::Level3 | ModifierKey::Level5 => 5,
            };
            (57441 + right + place, 'u')
        }
    })
}
