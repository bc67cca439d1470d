//! Encodes keys in the legacy encoding: xterm's PC-style function keys, and characters with Ctrl and Alt.
//!
//! Sources: xterm ctlseqs, "PC-Style Function Keys" and "Alt and Meta Keys". Characters with Ctrl follow the table of
//! Xlib, which other terminals have copied.

use unterm_term::{KeyboardMode, Modes, function_key_number};

use super::{Key, KeyEvent};
use crate::input::Modifiers;

/// The highest value of xterm's resources modifyCursorKeys and modifyFunctionKeys. Higher values have the same effect.
const PRIVATE: i8 = 3;

/// The bytes of a key press. Empty if the key has no sequence.
pub(super) fn encode(event: &KeyEvent<'_>, modes: Modes, keyboard: &KeyboardMode) -> Vec<u8> {
    let mods = event.modifiers;
    let cursor = |last| cursor(last, mods, modes, keyboard.modify_cursor);
    let tilde = |number| tilde(number, mods, keyboard.modify_function);
    match event.key.off_keypad() {
        Key::Char(char) => encode_char(char, event, modes),
        Key::Enter => plain(enter(modes), mods, modes),
        Key::Tab if mods.contains(Modifiers::SHIFT) => plain(b"\x1b[Z", mods, modes),
        Key::Tab => plain(b"\t", mods, modes),
        Key::Backspace => {
            // DECBKM selects BS or DEL; Ctrl swaps them.
            let sends_bs = modes.contains(Modes::BACKSPACE_SENDS_BS);
            let is_bs = sends_bs != mods.contains(Modifiers::CTRL);
            plain(if is_bs { b"\x08" } else { b"\x7f" }, mods, modes)
        }
        Key::Escape => plain(b"\x1b", mods, modes),
        Key::Up => cursor(b'A'),
        Key::Down => cursor(b'B'),
        Key::Right => cursor(b'C'),
        Key::Left => cursor(b'D'),
        Key::KeypadBegin => cursor(b'E'),
        Key::End => cursor(b'F'),
        Key::Home => cursor(b'H'),
        Key::Insert => tilde(2),
        Key::Delete if mods.is_empty() && modes.contains(Modes::DELETE_SENDS_DEL) => vec![0x7f],
        Key::Delete => tilde(3),
        Key::PageUp => tilde(5),
        Key::PageDown => tilde(6),
        Key::Menu => tilde(29),
        Key::F(number) => function(number, mods, keyboard.modify_function),
        Key::KeypadDigit(digit) => keypad(b'0' + digit.min(9), b'p' + digit.min(9), event, modes),
        Key::KeypadMultiply => keypad(b'*', b'j', event, modes),
        Key::KeypadAdd => keypad(b'+', b'k', event, modes),
        Key::KeypadSeparator => keypad(b',', b'l', event, modes),
        Key::KeypadSubtract => keypad(b'-', b'm', event, modes),
        Key::KeypadDecimal => keypad(b'.', b'n', event, modes),
        Key::KeypadDivide => keypad(b'/', b'o', event, modes),
        Key::KeypadEqual => keypad(b'=', b'X', event, modes),
        Key::KeypadEnter if is_keypad_application(event, modes) => {
            keypad(b'\r', b'M', event, modes)
        }
        Key::KeypadEnter => plain(enter(modes), mods, modes),
        _ => Vec::new(),
    }
}

/// The bytes of a key press in VT52 mode: `ESC X` for cursor keys and PF keys, `ESC ? X` for the keypad in application
/// mode (DEC STD 070 appendix A; xterm).
pub(super) fn encode_vt52(event: &KeyEvent<'_>, modes: Modes, keyboard: &KeyboardMode) -> Vec<u8> {
    let bytes = encode(event, modes, keyboard);
    match bytes[..] {
        [0x1b, b'O', last @ (b'j'..=b'y' | b'M' | b'X')] => vec![0x1b, b'?', last],
        [0x1b, b'O' | b'[', last] => vec![0x1b, last],
        _ => bytes,
    }
}

/// With LNM, Enter sends CR LF.
fn enter(modes: Modes) -> &'static [u8] {
    if modes.contains(Modes::NEW_LINE) { b"\r\n" } else { b"\r" }
}

/// The bytes of a key whose sequence has no parameter for modifiers. Alt is sent as ESC before the sequence, and other
/// modifiers are dropped.
fn plain(bytes: &[u8], mods: Modifiers, modes: Modes) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 1);
    if mods.contains(Modifiers::ALT) && modes.contains(Modes::ALT_SENDS_ESC) {
        out.push(0x1b);
    }
    out.extend_from_slice(bytes);
    out
}

/// The modifiers that the legacy encoding supports: Shift, Alt, Ctrl, and Super at the bit of xterm's Meta.
const KNOWN: Modifiers =
    Modifiers::SHIFT.union(Modifiers::ALT).union(Modifiers::CTRL).union(Modifiers::SUPER);

/// The parameter that encodes the modifiers: 1 plus the sum of their bits. `None` without modifiers.
pub(super) fn parameter(mods: Modifiers) -> Option<u8> {
    let code = (mods & KNOWN).bits();
    (code != 0).then_some(code + 1)
}

/// The sequence `CSI number ; m last`, in the form that `modify` selects (xterm's modifyCursorKeys). If `number` is
/// `None`, the sequence contains a number only if it also contains modifiers. If `ss3` is set, a sequence without
/// parameters begins with SS3.
fn sequence(number: Option<u8>, last: char, ss3: bool, mods: Modifiers, modify: i8) -> Vec<u8> {
    let code = parameter(mods).filter(|_| modify >= 0);
    let number = match (number, code) {
        (None, Some(_)) if modify >= 2 => Some(1),
        (number, _) => number,
    };
    let mut parameters: Vec<_> = number.into_iter().chain(code).map(|n| n.to_string()).collect();
    let introducer = match code {
        Some(_) if modify >= PRIVATE => "\x1b[>",
        Some(_) if modify >= 1 => "\x1b[",
        _ if ss3 => "\x1bO",
        _ => "\x1b[",
    };
    parameters.retain(|parameter| !parameter.is_empty());
    format!("{introducer}{}{last}", parameters.join(";")).into_bytes()
}

/// Cursor keys, Home, End: `CSI X`, `SS3 X` with DECCKM, `CSI 1 ; m X` with modifiers.
fn cursor(last: u8, mods: Modifiers, modes: Modes, modify: i8) -> Vec<u8> {
    sequence(None, last as char, modes.contains(Modes::APP_CURSOR), mods, modify)
}

/// Editing and function keys: `CSI n ~`, `CSI n ; m ~` with modifiers.
fn tilde(number: u8, mods: Modifiers, modify: i8) -> Vec<u8> {
    sequence(Some(number), '~', false, mods, modify)
}

/// F1 to F4 are the PF keys of a VT100. All other keys have the numbers of a VT220, with its gaps. The sequence of
/// numbers continues beyond F20.
fn function(mut number: u8, mut mods: Modifiers, modify: i8) -> Vec<u8> {
    if modify < 0 {
        // Like xterm's ctrlFKeys: Shift adds 10 to the number of the function key, Ctrl adds 20.
        number = number
            .saturating_add(if mods.contains(Modifiers::SHIFT) { 10 } else { 0 })
            .saturating_add(if mods.contains(Modifiers::CTRL) { 20 } else { 0 });
        mods -= Modifiers::SHIFT | Modifiers::CTRL;
    }
    let code = match number {
        1..=4 => {
            let last = (b'P' + number - 1) as char;
            return sequence(None, last, true, mods, modify);
        }
        5..=35 => function_key_number(number.into()) as u8,
        _ => return Vec::new(),
    };
    tilde(code, mods, modify)
}

/// Whether a keypad key sends its application sequence: in application mode, unless Num Lock is on. If a digit or
/// decimal key types text, Num Lock is on.
fn is_keypad_application(event: &KeyEvent<'_>, modes: Modes) -> bool {
    let types = matches!(event.key, Key::KeypadDigit(_) | Key::KeypadDecimal)
        && event.text.is_some_and(|text| !text.is_empty());
    modes.contains(Modes::APP_KEYPAD) && !event.modifiers.contains(Modifiers::NUM_LOCK) && !types
}

/// The bytes of a keypad key: its printed character, or `SS3 X` in application mode (`SS3 m X` with modifiers).
fn keypad(char: u8, last: u8, event: &KeyEvent<'_>, modes: Modes) -> Vec<u8> {
    if !is_keypad_application(event, modes) {
        // The text of the decimal key depends on the layout.
        return encode_char(char as char, event, modes);
    }
    match parameter(event.modifiers) {
        Some(code) => format!("\x1bO{code}{}", last as char).into_bytes(),
        None => vec![0x1b, b'O', last],
    }
}

/// The bytes of a character key: its text, or with Ctrl a control character. Alt adds ESC before it.
fn encode_char(char: char, event: &KeyEvent<'_>, modes: Modes) -> Vec<u8> {
    let mods = event.modifiers;
    if mods.intersects(Modifiers::SUPER | Modifiers::HYPER | Modifiers::META) {
        // Send nothing: with Super, the key is a shortcut of the desktop.
        return Vec::new();
    }
    if mods.contains(Modifiers::CTRL) {
        let base = if char.is_ascii() { Some(char) } else { event.latin() };
        if let Some(byte) = base.and_then(control) {
            return plain(&[byte], mods, modes);
        }
    }
    match event.text {
        Some(text) if !text.is_empty() => plain(text.as_bytes(), mods, modes),
        _ => plain(char.encode_utf8(&mut [0; 4]).as_bytes(), mods, modes),
    }
}

/// The control character that Ctrl and an ASCII character produce. `None` if Ctrl does not change the character. The
/// space and the characters from `@` on produce C0 characters. So do the digits and signs that keyboards use for the
/// first and last C0 characters.
pub(super) fn control(char: char) -> Option<u8> {
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
