//! Modified keys as xterm's modifyOtherKeys writes them: `CSI 27 ; modifiers ; code ~`, or `CSI code ; modifiers u` with
//! formatOtherKeys.
//!
//! Source: xterm ctlseqs, "Alt and Meta Keys", and what xterm 379 itself sends, key by key: level 1 leaves alone what has a meaning of
//! old, level 2 leaves alone only Shift on keys that it gives another character.

use unterm_term::{KeyboardMode, Modes};

use super::{Key, KeyEvent, legacy};
use crate::input::Modifiers;

const TAB: u32 = 9;
const RETURN: u32 = 13;
const ESCAPE: u32 = 27;

/// The bytes of a press; `None` when the legacy encoding has them.
pub(super) fn encode(
    event: &KeyEvent<'_>,
    modes: Modes,
    keyboard: &KeyboardMode,
) -> Option<Vec<u8>> {
    let code = match event.key {
        Key::Char(c) => u32::from(c),
        Key::Tab => TAB,
        Key::Enter => RETURN,
        Key::Escape => ESCAPE,
        Key::Backspace if modes.contains(Modes::BACKSPACE_SENDS_BS) => 8,
        Key::Backspace => 127,
        _ => return None,
    };
    let known = event.modifiers & (Modifiers::SHIFT | Modifiers::ALT | Modifiers::CTRL);
    let modifiers = match keyboard.modify_other {
        ..=0 => return None,
        1 => level_1(event, known, modes)?,
        2 => level_2(event, code, known)?,
        _ => known,
    };
    let modifiers = legacy::parameter(modifiers).unwrap_or(1);
    let bytes = match keyboard.format_other {
        true => format!("\x1b[{code};{modifiers}u"),
        false => format!("\x1b[27;{modifiers};{code}~"),
    };
    Some(bytes.into_bytes())
}

/// Whether Ctrl makes a control character of it in every terminal: `@` to DEL.
fn is_control_input(code: u32) -> bool {
    (0x40..=0x7f).contains(&code)
}

/// The modifiers to report with a key that has no sequence of old; `None` for the others.
fn level_1(event: &KeyEvent<'_>, mut mods: Modifiers, modes: Modes) -> Option<Modifiers> {
    if modes.contains(Modes::ALT_SENDS_ESC) || mods == Modifiers::ALT {
        // Alt is the ESC before the key.
        mods -= Modifiers::ALT;
    }
    match event.key {
        Key::Tab if mods.contains(Modifiers::SHIFT) => None,
        Key::Tab | Key::Enter => (!mods.is_empty()).then_some(mods),
        Key::Char(c) if mods.contains(Modifiers::CTRL) => {
            let c = if c.is_ascii() { Some(c) } else { event.latin() };
            // Xlib knows no Ctrl+?.
            let is_control = c.is_some_and(|c| c != '?' && legacy::control(c).is_some());
            (!is_control).then_some(mods)
        }
        _ => None,
    }
}

/// The modifiers to report with any key that has some, but for Shift where the key's character shows it.
fn level_2(event: &KeyEvent<'_>, code: u32, mods: Modifiers) -> Option<Modifiers> {
    match event.key {
        Key::Backspace => {
            // Ctrl makes it the other of BS and DEL.
            let mods = mods - Modifiers::CTRL;
            (!mods.is_empty()).then_some(mods)
        }
        // A tab to the left is a key of its own.
        Key::Tab if mods == Modifiers::SHIFT => None,
        Key::Char(' ') => (!mods.is_empty()).then_some(mods),
        Key::Char(_) if !is_control_input(code) && (mods - Modifiers::SHIFT).is_empty() => None,
        _ => (!mods.is_empty()).then_some(mods),
    }
}
