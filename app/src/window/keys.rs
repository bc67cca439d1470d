//! Keys of winit as keys of the mux.

use unterm_mux::input::{Key, Modifiers};
use winit::{
    event::KeyEvent,
    keyboard::{Key as WinitKey, KeyCode, KeyLocation, ModifiersState, NamedKey, PhysicalKey},
    platform::modifier_supplement::KeyEventExtModifierSupplement,
};

/// A pressed key: what it is, and what it would be without Shift and AltGr on a layout of Latin letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pressed {
    pub(super) key: Key,
    pub(super) unshifted: Option<char>,
}

impl Pressed {
    /// Num Lock, as far as this key shows it: winit does not tell, but a digit of the keypad was typed with it.
    pub(super) fn num_lock(self) -> Modifiers {
        match self.key {
            Key::KeypadDigit(_) | Key::KeypadDecimal => Modifiers::NUM_LOCK,
            _ => Modifiers::empty(),
        }
    }
}

/// The modifiers that are down. AltGr is none: the layout has applied it.
pub(super) fn modifiers(state: ModifiersState) -> Modifiers {
    let mut modifiers = Modifiers::empty();
    modifiers.set(Modifiers::SHIFT, state.shift_key());
    modifiers.set(Modifiers::CTRL, state.control_key());
    modifiers.set(Modifiers::ALT, state.alt_key());
    modifiers.set(Modifiers::SUPER, state.super_key());
    modifiers
}

/// The key of an event; `None` for modifiers, dead keys and keys that type nothing.
pub(super) fn pressed(event: &KeyEvent) -> Option<Pressed> {
    let keypad = event.location == KeyLocation::Numpad;
    let base = event.key_without_modifiers();
    let unshifted = latin(&base, event.physical_key);
    let key = match &event.logical_key {
        WinitKey::Named(name) => named(*name, keypad)?,
        WinitKey::Character(text) => {
            let c = text.chars().next()?;
            if keypad { on_keypad(c).unwrap_or(Key::Char(c)) } else { Key::Char(c) }
        }
        // The keypad's middle key without Num Lock (KP_Begin) has no name in winit.
        WinitKey::Unidentified(_) if event.physical_key == PhysicalKey::Code(KeyCode::Numpad5) => {
            Key::KeypadBegin
        }
        WinitKey::Dead(_) | WinitKey::Unidentified(_) => return None,
    };
    let unshifted = matches!(key, Key::Char(_)).then_some(unshifted).flatten();
    Some(Pressed { key, unshifted })
}

/// The key's character without modifiers; on a layout without Latin letters the one a US layout has in its place, so
/// that Ctrl and shortcuts work there.
fn latin(base: &WinitKey, physical: PhysicalKey) -> Option<char> {
    let own = match base {
        WinitKey::Character(text) => text.chars().next(),
        WinitKey::Named(NamedKey::Space) => Some(' '),
        _ => None,
    };
    match own {
        Some(c) if c.is_ascii() => Some(c),
        other => us_layout(physical).or(other),
    }
}

fn us_layout(physical: PhysicalKey) -> Option<char> {
    let PhysicalKey::Code(code) = physical else { return None };
    Some(match code {
        KeyCode::KeyA => 'a',
        KeyCode::KeyB => 'b',
        KeyCode::KeyC => 'c',
        KeyCode::KeyD => 'd',
        KeyCode::KeyE => 'e',
        KeyCode::KeyF => 'f',
        KeyCode::KeyG => 'g',
        KeyCode::KeyH => 'h',
        KeyCode::KeyI => 'i',
        KeyCode::KeyJ => 'j',
        KeyCode::KeyK => 'k',
        KeyCode::KeyL => 'l',
        KeyCode::KeyM => 'm',
        KeyCode::KeyN => 'n',
        KeyCode::KeyO => 'o',
        KeyCode::KeyP => 'p',
        KeyCode::KeyQ => 'q',
        KeyCode::KeyR => 'r',
        KeyCode::KeyS => 's',
        KeyCode::KeyT => 't',
        KeyCode::KeyU => 'u',
        KeyCode::KeyV => 'v',
        KeyCode::KeyW => 'w',
        KeyCode::KeyX => 'x',
        KeyCode::KeyY => 'y',
        KeyCode::KeyZ => 'z',
        KeyCode::BracketLeft => '[',
        KeyCode::BracketRight => ']',
        KeyCode::Backslash => '\\',
        KeyCode::Slash => '/',
        KeyCode::Minus => '-',
        KeyCode::Equal => '=',
        KeyCode::Digit0 => '0',
        _ => return None,
    })
}

fn named(name: NamedKey, keypad: bool) -> Option<Key> {
    Some(match name {
        NamedKey::Enter if keypad => Key::KeypadEnter,
        NamedKey::Enter => Key::Enter,
        NamedKey::Tab => Key::Tab,
        NamedKey::Space => Key::Char(' '),
        NamedKey::Backspace => Key::Backspace,
        NamedKey::Escape => Key::Escape,
        NamedKey::ArrowUp => Key::Up,
        NamedKey::ArrowDown => Key::Down,
        NamedKey::ArrowLeft => Key::Left,
        NamedKey::ArrowRight => Key::Right,
        NamedKey::Home => Key::Home,
        NamedKey::End => Key::End,
        NamedKey::PageUp => Key::PageUp,
        NamedKey::PageDown => Key::PageDown,
        NamedKey::Insert => Key::Insert,
        NamedKey::Delete => Key::Delete,
        NamedKey::Clear if keypad => Key::KeypadBegin,
        NamedKey::ContextMenu => Key::Menu,
        NamedKey::F1 => Key::F(1),
        NamedKey::F2 => Key::F(2),
        NamedKey::F3 => Key::F(3),
        NamedKey::F4 => Key::F(4),
        NamedKey::F5 => Key::F(5),
        NamedKey::F6 => Key::F(6),
        NamedKey::F7 => Key::F(7),
        NamedKey::F8 => Key::F(8),
        NamedKey::F9 => Key::F(9),
        NamedKey::F10 => Key::F(10),
        NamedKey::F11 => Key::F(11),
        NamedKey::F12 => Key::F(12),
        NamedKey::F13 => Key::F(13),
        NamedKey::F14 => Key::F(14),
        NamedKey::F15 => Key::F(15),
        NamedKey::F16 => Key::F(16),
        NamedKey::F17 => Key::F(17),
        NamedKey::F18 => Key::F(18),
        NamedKey::F19 => Key::F(19),
        NamedKey::F20 => Key::F(20),
        _ => return None,
    })
}

fn on_keypad(c: char) -> Option<Key> {
    Some(match c {
        '0'..='9' => Key::KeypadDigit(c as u8 - b'0'),
        '.' | ',' => Key::KeypadDecimal,
        '/' => Key::KeypadDivide,
        '*' => Key::KeypadMultiply,
        '-' => Key::KeypadSubtract,
        '+' => Key::KeypadAdd,
        '=' => Key::KeypadEqual,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cyrillic_key_stands_for_the_latin_one_in_its_place() {
        let base = WinitKey::Character("с".into());
        assert_eq!(latin(&base, PhysicalKey::Code(KeyCode::KeyC)), Some('c'));
    }

    #[test]
    fn a_latin_layout_keeps_its_own_letters() {
        let base = WinitKey::Character("z".into());
        assert_eq!(latin(&base, PhysicalKey::Code(KeyCode::KeyY)), Some('z'), "a German layout");
    }
}
