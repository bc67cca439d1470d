//! Keys in legacy encoding: xterm's PC-style function keys, and characters with Ctrl and Alt.
//!
//! Source: xterm ctlseqs, "PC-Style Function Keys" and "Alt and Meta Keys"; for characters with Ctrl, the table that
//! Xlib applies and every terminal since has copied.

use unterm_term::Modes;

use super::Modifiers;

/// A key, as the layout and Shift or AltGr made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of the keys say it")]
pub enum Key {
    /// A key that makes this character.
    Char(char),
    Enter,
    Tab,
    Backspace,
    Escape,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    Insert,
    Delete,
    /// F1 to F35.
    F(u8),
    /// A digit of the keypad, 0 to 9.
    KeypadDigit(u8),
    KeypadDecimal,
    KeypadDivide,
    KeypadMultiply,
    KeypadSubtract,
    KeypadAdd,
    KeypadEnter,
    KeypadEqual,
    /// The middle key of the keypad without Num Lock.
    KeypadBegin,
    Menu,
}

/// A key event. `text` is what the platform says the key types (dead keys and AltGr applied, Ctrl not).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyEvent<'a> {
    /// The key.
    pub key: Key,
    /// The same key without Shift and AltGr, where the platform tells; Ctrl uses it where the key's own character is not
    /// ASCII. On a layout without Latin letters: the letter of that key on the base layout.
    pub unshifted: Option<char>,
    /// Modifiers; AltGr is none.
    pub modifiers: Modifiers,
    /// Text it types.
    pub text: Option<&'a str>,
}

/// The bytes of a key press in legacy encoding (xterm's PC-style), empty when the key sends nothing.
pub fn encode_key(event: &KeyEvent<'_>, modes: Modes) -> Vec<u8> {
    let mods = event.modifiers;
    match event.key {
        Key::Char(char) => encode_char(char, event, modes),
        Key::Enter => plain(enter(modes), mods, modes),
        Key::Tab if mods.contains(Modifiers::SHIFT) => plain(b"\x1b[Z", mods, modes),
        Key::Tab => plain(b"\t", mods, modes),
        Key::Backspace => {
            // DECBKM says which of the two it is, Ctrl asks for the other.
            let sends_bs = modes.contains(Modes::BACKSPACE_SENDS_BS);
            let is_bs = sends_bs != mods.contains(Modifiers::CTRL);
            plain(if is_bs { b"\x08" } else { b"\x7f" }, mods, modes)
        }
        Key::Escape => plain(b"\x1b", mods, modes),
        Key::Up => cursor(b'A', mods, modes),
        Key::Down => cursor(b'B', mods, modes),
        Key::Right => cursor(b'C', mods, modes),
        Key::Left => cursor(b'D', mods, modes),
        Key::KeypadBegin => cursor(b'E', mods, modes),
        Key::End => cursor(b'F', mods, modes),
        Key::Home => cursor(b'H', mods, modes),
        Key::Insert => tilde(2, mods),
        Key::Delete => tilde(3, mods),
        Key::PageUp => tilde(5, mods),
        Key::PageDown => tilde(6, mods),
        Key::Menu => tilde(29, mods),
        Key::F(number) => function(number, mods),
        Key::KeypadDigit(digit) => keypad(b'0' + digit.min(9), b'p' + digit.min(9), event, modes),
        Key::KeypadMultiply => keypad(b'*', b'j', event, modes),
        Key::KeypadAdd => keypad(b'+', b'k', event, modes),
        Key::KeypadSubtract => keypad(b'-', b'm', event, modes),
        Key::KeypadDecimal => keypad(b'.', b'n', event, modes),
        Key::KeypadDivide => keypad(b'/', b'o', event, modes),
        Key::KeypadEqual => keypad(b'=', b'X', event, modes),
        Key::KeypadEnter if is_keypad_application(event, modes) => {
            keypad(b'\r', b'M', event, modes)
        }
        Key::KeypadEnter => plain(enter(modes), mods, modes),
    }
}

/// LNM: Enter sends CR LF.
fn enter(modes: Modes) -> &'static [u8] {
    if modes.contains(Modes::NEW_LINE) { b"\r\n" } else { b"\r" }
}

/// A key that has no parameters to say its modifiers with: Alt goes before it as ESC, the others are lost.
fn plain(bytes: &[u8], mods: Modifiers, modes: Modes) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 1);
    if mods.contains(Modifiers::ALT) && modes.contains(Modes::ALT_SENDS_ESC) {
        out.push(0x1b);
    }
    out.extend_from_slice(bytes);
    out
}

/// The parameter that says which modifiers are down: one more than their sum; `None` for none.
fn parameter(mods: Modifiers) -> Option<u8> {
    let code = (mods - Modifiers::NUM_LOCK).bits();
    (code != 0).then_some(code + 1)
}

/// Cursor keys, Home, End: `CSI X`, `SS3 X` with DECCKM, `CSI 1 ; m X` with modifiers.
fn cursor(last: u8, mods: Modifiers, modes: Modes) -> Vec<u8> {
    match parameter(mods) {
        Some(code) => format!("\x1b[1;{code}{}", last as char).into_bytes(),
        None if modes.contains(Modes::APP_CURSOR) => vec![0x1b, b'O', last],
        None => vec![0x1b, b'[', last],
    }
}

/// Editing and function keys: `CSI n ~`, `CSI n ; m ~` with modifiers.
fn tilde(number: u8, mods: Modifiers) -> Vec<u8> {
    match parameter(mods) {
        Some(code) => format!("\x1b[{number};{code}~"),
        None => format!("\x1b[{number}~"),
    }
    .into_bytes()
}

/// F1 to F4 are the PF keys of a VT100; the others have the numbers of a VT220, with its gaps, and go on beyond it.
fn function(number: u8, mods: Modifiers) -> Vec<u8> {
    let code = match number {
        1..=4 => {
            let last = b'P' + number - 1;
            return match parameter(mods) {
                Some(code) => format!("\x1b[1;{code}{}", last as char).into_bytes(),
                None => vec![0x1b, b'O', last],
            };
        }
        5 => 15,
        6..=10 => number + 11,
        11..=14 => number + 12,
        15..=16 => number + 13,
        17..=20 => number + 14,
        21..=35 => number + 21,
        _ => return Vec::new(),
    };
    tilde(code, mods)
}

/// Whether a key of the keypad sends its application sequence: in that mode, and unless Num Lock is on. A digit or
/// decimal key that types something shows that it is.
fn is_keypad_application(event: &KeyEvent<'_>, modes: Modes) -> bool {
    let types = matches!(event.key, Key::KeypadDigit(_) | Key::KeypadDecimal)
        && event.text.is_some_and(|text| !text.is_empty());
    modes.contains(Modes::APP_KEYPAD) && !event.modifiers.contains(Modifiers::NUM_LOCK) && !types
}

/// A key of the keypad: what is printed on it, or `SS3 X` in application mode (`SS3 m X` with modifiers).
fn keypad(char: u8, last: u8, event: &KeyEvent<'_>, modes: Modes) -> Vec<u8> {
    if !is_keypad_application(event, modes) {
        // The decimal key types what the layout says.
        return encode_char(char as char, event, modes);
    }
    match parameter(event.modifiers) {
        Some(code) => format!("\x1bO{code}{}", last as char).into_bytes(),
        None => vec![0x1b, b'O', last],
    }
}

/// A character key: its text; with Ctrl a control character; with Alt the same after ESC.
fn encode_char(char: char, event: &KeyEvent<'_>, modes: Modes) -> Vec<u8> {
    let mods = event.modifiers;
    if mods.contains(Modifiers::SUPER) {
        // A shortcut of the desktop, not text.
        return Vec::new();
    }
    if mods.contains(Modifiers::CTRL) {
        let base = if char.is_ascii() { Some(char) } else { event.unshifted };
        if let Some(byte) = base.and_then(control) {
            return plain(&[byte], mods, modes);
        }
    }
    match event.text {
        Some(text) if !text.is_empty() => plain(text.as_bytes(), mods, modes),
        _ => plain(char.encode_utf8(&mut [0; 4]).as_bytes(), mods, modes),
    }
}

/// What Ctrl makes of an ASCII character, `None` when it changes nothing: the C0 set for `@` to DEL and the space, and
/// the digits and signs that stand in for C0's ends on keyboards.
fn control(char: char) -> Option<u8> {
    let byte = u8::try_from(char).ok()?;
    Some(match byte {
        b' ' | b'2' => 0x00,
        b'3'..=b'7' => byte - b'3' + 0x1b,
        b'8' | b'?' => 0x7f,
        b'/' => 0x1f,
        b'@'..=b'~' => byte & 0x1f,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
