//! Encodes modified keys like xterm's modifyOtherKeys: `CSI 27 ; modifiers ; code ~`, or `CSI code ; modifiers u` with
//! formatOtherKeys.
//!
//! Sources: xterm ctlseqs, "Alt and Meta Keys", and the output of xterm 379 for each key. Level 1 does not change keys
//! that have a legacy meaning. Level 2 changes every modified key, except Shift on a key whose character already shows
//! Shift.

use unterm_term::{KeyboardMode, Modes};

use super::{Key, KeyEvent, legacy};
use crate::input::Modifiers;

const TAB: u32 = 9;
const RETURN: u32 = 13;
const ESCAPE: u32 = 27;

/// The bytes of a key press. `None` if the legacy encoding applies.
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

/// Whether Ctrl turns this code into a control character in every terminal: the codes from `@` to DEL.
fn is_control_input(code: u32) -> bool {
    (0x40..=0x7f).contains(&code)
}

/// The modifiers to report at level 1, for a key without a legacy sequence. `None` for keys with a legacy sequence.
fn level_1(event: &KeyEvent<'_>, mut mods: Modifiers, modes: Modes) -> Option<Modifiers> {
    if modes.contains(Modes::ALT_SENDS_ESC) || mods == Modifiers::ALT {
        // Alt is sent as ESC before the key, so it is not reported as a modifier.
        mods -= Modifiers::ALT;
    }
    match event.key {
        Key::Tab if mods.contains(Modifiers::SHIFT) => None,
        Key::Tab | Key::Enter => (!mods.is_empty()).then_some(mods),
        Key::Char(c) if mods.contains(Modifiers::CTRL) => {
            let c = if c.is_ascii() { Some(c) } else { event.latin() };
            // Xlib defines no control character for Ctrl+?.
            let is_control = c.is_some_and(|c| c != '?' && legacy::control(c).is_some());
            (!is_control).then_some(mods)
        }
        _ => None,
    }
}

/// The modifiers to report at level 2, for any modified key. Shift is omitted if the key's character already shows it.
fn level_2(event: &KeyEvent<'_>, code: u32, mods: Modifiers) -> Option<Modifiers> {
    match event.key {
        Key::Backspace => {
            // For Backspace, Ctrl selects between BS and DEL, so it is not reported as a modifier.
            let mods = mods - Modifiers::CTRL;
            (!mods.is_empty()).then_some(mods)
        }
        // Shift+Tab keeps its own sequence.
        Key::Tab if mods == Modifiers::SHIFT => None,
        Key::Char(' ') => (!mods.is_empty()).then_some(mods),
        Key::Char(_) if !is_control_input(code) && (mods - Modifiers::SHIFT).is_empty() => None,
        _ => (!mods.is_empty()).then_some(mods),
    }
}
