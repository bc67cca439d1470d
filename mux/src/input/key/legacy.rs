//! Keys in legacy encoding: xterm's PC-style function keys, and characters with Ctrl and Alt.
//!
//! Sources: xterm ctlseqs, "PC-Style Function Keys" and "Alt and Meta Keys". For characters with Ctrl, the table of
//! Xlib, which terminals have copied since.

use unterm_term::{KeyboardMode, Modes, function_key_number};

use super::{Key, KeyEvent};
use crate::input::Modifiers;

/// The highest value of xterm's resources modifyCursorKeys and modifyFunctionKeys; higher values mean the same.
const PRIVATE: i8 = 3;

/// The bytes of a press; empty if the key has no sequence.
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

/// The bytes of a press in VT52 mode: `ESC X` for cursor and PF keys, `ESC ? X` for the keypad's application sequences
/// (DEC STD 070 appendix A; xterm).
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

/// A key whose sequence has no parameters for modifiers: Alt is sent as ESC before it, other modifiers are lost.
fn plain(bytes: &[u8], mods: Modifiers, modes: Modes) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + 1);
    if mods.contains(Modifiers::ALT) && modes.contains(Modes::ALT_SENDS_ESC) {
        out.push(0x1b);
    }
    out.extend_from_slice(bytes);
    out
}

/// The modifiers that these encodings support: Shift, Alt, Ctrl, and Super in place of xterm's Meta.
const KNOWN: Modifiers =
    Modifiers::SHIFT.union(Modifiers::ALT).union(Modifiers::CTRL).union(Modifiers::SUPER);

/// The parameter for the modifiers: one more than their sum; `None` without modifiers.
pub(super) fn parameter(mods: Modifiers) -> Option<u8> {
    let code = (mods & KNOWN).bits();
    (code != 0).then_some(code + 1)
}

/// `CSI number ; m last` in the form of `modify` (xterm's modifyCursorKeys). If `number` is `None`, a number appears
/// only to carry modifiers. With `ss3`, the sequence without parameters is SS3.
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

/// F1 to F4 are the PF keys of a VT100. The others have the numbers of a VT220, with its gaps, continued beyond F20.
fn function(mut number: u8, mut mods: Modifiers, modify: i8) -> Vec<u8> {
    if modify < 0 {
        // As xterm's ctrlFKeys: Shift adds 10 to the number, Ctrl adds 20.
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

/// Whether a keypad key sends its application sequence: in application mode, unless Num Lock is on. A digit or decimal
/// key that types text shows that Num Lock is on.
fn is_keypad_application(event: &KeyEvent<'_>, modes: Modes) -> bool {
    let types = matches!(event.key, Key::KeypadDigit(_) | Key::KeypadDecimal)
        && event.text.is_some_and(|text| !text.is_empty());
    modes.contains(Modes::APP_KEYPAD) && !event.modifiers.contains(Modifiers::NUM_LOCK) && !types
}

/// A keypad key: its printed character, or `SS3 X` in application mode (`SS3 m X` with modifiers).
fn keypad(char: u8, last: u8, event: &KeyEvent<'_>, modes: Modes) -> Vec<u8> {
    if !is_keypad_application(event, modes) {
        // The layout determines the decimal key's text.
        return encode_char(char as char, event, modes);
    }
    match parameter(event.modifiers) {
        Some(code) => format!("\x1bO{code}{}", last as char).into_bytes(),
        None => vec![0x1b, b'O', last],
    }
}

/// A character key: its text, or with Ctrl a control character; Alt adds ESC before it.
fn encode_char(char: char, event: &KeyEvent<'_>, modes: Modes) -> Vec<u8> {
    let mods = event.modifiers;
    if mods.intersects(Modifiers::SUPER | Modifiers::HYPER | Modifiers::META) {
        // A shortcut of the desktop, not text.
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

/// The control character that Ctrl makes of an ASCII character; `None` if Ctrl does not change it. Covers C0 for `@` to
/// DEL and the space, and the digits and signs that keyboards use for the first and last codes of C0.
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
