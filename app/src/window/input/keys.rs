//! Converts the keys of winit to the keys of the mux.

use unterm_mux::{
    PaneId,
    input::{Key, KeyAction, ModifierKey, Modifiers, Side},
};
use winit::{
    event::{ElementState, KeyEvent},
    keyboard::{
        Key as WinitKey, KeyCode, KeyLocation, ModifiersState, NamedKey, NativeKey, PhysicalKey,
        SmolStr,
    },
    platform::modifier_supplement::KeyEventExtModifierSupplement,
};

/// A pressed key: the key, the character that it types without modifiers, and the character at its position on a US
/// layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pressed {
    pub(crate) key: Key,
    pub(crate) unshifted: Option<char>,
    pub(crate) base: Option<char>,
}

/// A key event. Unlike winit's type, tests can construct it.
#[derive(Clone, Debug)]
pub(crate) struct KeyInput {
    pub(crate) pressed: Pressed,
    pub(crate) physical: PhysicalKey,
    pub(crate) action: KeyAction,
    /// The text that the key types.
    pub(crate) text: Option<SmolStr>,
}

impl KeyInput {
    /// Converts a key event of winit. Returns `None` for dead keys, and for keys that the mux has no name for.
    pub(crate) fn of(event: KeyEvent) -> Option<Self> {
        let action = match (event.state, event.repeat) {
            (ElementState::Released, _) => KeyAction::Release,
            (ElementState::Pressed, true) => KeyAction::Repeat,
            (ElementState::Pressed, false) => KeyAction::Press,
        };
        let pressed = pressed(&event)?;
        Some(Self { pressed, physical: event.physical_key, action, text: event.text })
    }
}

/// Modifiers that winit does not report, derived from key events: Caps Lock, Num Lock, Hyper, Meta, and the side of
/// each modifier key.
#[derive(Debug, Default)]
pub(crate) struct HeldModifiers {
    down: Vec<(ModifierKey, Side)>,
    locks: Modifiers,
}

impl HeldModifiers {
    /// Discards the held modifiers when the window loses the focus, because their release will not be reported.
    pub(crate) fn forget(&mut self) {
        self.down.clear();
    }

    /// The modifiers of a key event, including the effect of the event itself. `reported` is winit's state of the
    /// modifiers.
    pub(crate) fn modifiers(&mut self, event: &KeyInput, reported: Modifiers) -> Modifiers {
        let mut modifiers = reported;
        let goes_down = event.action != KeyAction::Release;
        let is_new = event.action == KeyAction::Press;
        match event.pressed.key {
            Key::Modifier(modifier, side) => {
                self.down.retain(|down| *down != (modifier, side));
                if goes_down {
                    self.down.push((modifier, side));
                }
                // winit may report its state from before or from after this event.
                let is_down = self.down.iter().any(|(down, _)| *down == modifier);
                modifiers.set(modifier.modifiers(), is_down);
            }
            Key::CapsLock if is_new => self.locks ^= Modifiers::CAPS_LOCK,
            Key::NumLock if is_new => self.locks ^= Modifiers::NUM_LOCK,
            key => self.see_locks(key, event.pressed.unshifted, reported),
        }
        for (modifier, _) in &self.down {
            if matches!(modifier, ModifierKey::Hyper | ModifierKey::Meta) {
                modifiers |= modifier.modifiers();
            }
        }
        modifiers | self.locks
    }

    /// Derives the state of Caps Lock from the case of a typed letter, and of Num Lock from a key of the keypad.
    fn see_locks(&mut self, key: Key, unshifted: Option<char>, reported: Modifiers) {
        let shift = reported.contains(Modifiers::SHIFT);
        match key {
            Key::Char(c) if c.is_alphabetic() && c.is_lowercase() != c.is_uppercase() => {
                let same_letter = unshifted.is_some_and(|u| u.to_lowercase().eq(c.to_lowercase()));
                if same_letter {
                    self.locks.set(Modifiers::CAPS_LOCK, c.is_uppercase() != shift);
                }
            }
            Key::KeypadDigit(_) | Key::KeypadDecimal if !shift => {
                self.locks.insert(Modifiers::NUM_LOCK);
            }
            key if key != key.off_keypad() && !shift => self.locks.remove(Modifiers::NUM_LOCK),
            _ => {}
        }
    }
}

/// Keys whose press ran an action of Unterm. Their repeats and their release are not sent to the program. Otherwise, a
/// Ctrl+C that is held too long would copy and then interrupt, and an Enter in a menu would repeat in the shell.
#[derive(Debug, Default)]
pub(crate) struct HandledKeys(Vec<PhysicalKey>);

impl HandledKeys {
    pub(crate) fn take(&mut self, key: PhysicalKey) {
        if !self.0.contains(&key) {
            self.0.push(key);
        }
    }

    /// Discards the keys when the window loses the focus, because their release will not be reported.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }

    /// Whether this event repeats or releases a key whose press ran an action. A new press returns false.
    pub(crate) fn has(&mut self, key: PhysicalKey, action: KeyAction) -> bool {
        let is_taken = self.0.contains(&key);
        if action != KeyAction::Repeat {
            self.0.retain(|taken| *taken != key);
        }
        is_taken && action != KeyAction::Press
    }
}

/// Keys that are held down, and the pane whose program received the press. Only that program receives the release. A
/// program must never receive the release of a key that an input method composed, that ran an action, or that another
/// pane received.
#[derive(Debug, Default)]
pub(crate) struct SentKeys(Vec<(PhysicalKey, PaneId)>);

impl SentKeys {
    /// Records a press or a repeat.
    pub(crate) fn press(&mut self, key: PhysicalKey, pane: PaneId) {
        if !self.0.contains(&(key, pane)) {
            self.0.retain(|(sent, _)| *sent != key);
            self.0.push((key, pane));
        }
    }

    /// Removes a released key. Returns the pane whose program received the press of this key.
    pub(crate) fn release(&mut self, key: PhysicalKey) -> Option<PaneId> {
        let at = self.0.iter().position(|(sent, _)| *sent == key)?;
        Some(self.0.swap_remove(at).1)
    }

    /// Discards the keys when the window loses the focus, because their release will not be reported.
    pub(crate) fn forget(&mut self) {
        self.0.clear();
    }
}

/// Converts the modifiers of winit's state. AltGr is not among them, because the keyboard layout has already applied
/// it.
pub(crate) fn modifiers(state: ModifiersState) -> Modifiers {
    let mut modifiers = Modifiers::empty();
    modifiers.set(Modifiers::SHIFT, state.shift_key());
    modifiers.set(Modifiers::CTRL, state.control_key());
    modifiers.set(Modifiers::ALT, state.alt_key());
    modifiers.set(Modifiers::SUPER, state.super_key());
    modifiers
}

fn pressed(event: &KeyEvent) -> Option<Pressed> {
    let keypad = event.location == KeyLocation::Numpad;
    let side = match event.location {
        KeyLocation::Right => Side::Right,
        _ => Side::Left,
    };
    let key = match &event.logical_key {
        WinitKey::Named(name) => named(*name, keypad, side)?,
        WinitKey::Character(text) => {
            let c = text.chars().next()?;
            if keypad { on_keypad(c).unwrap_or(Key::Char(c)) } else { Key::Char(c) }
        }
        WinitKey::Unidentified(native) => unnamed(native, event.physical_key)?,
        WinitKey::Dead(_) => return None,
    };
    if !matches!(key, Key::Char(_)) {
        return Some(Pressed { key, unshifted: None, base: None });
    }
    let unshifted = match event.key_without_modifiers() {
        WinitKey::Character(text) => text.chars().next(),
        WinitKey::Named(NamedKey::Space) => Some(' '),
        _ => None,
    };
    Some(Pressed { key, unshifted, base: us_layout(event.physical_key) })
}

/// Keys that have a name on X11 but not in winit (X11/keysymdef.h).
fn unnamed(native: &NativeKey, physical: PhysicalKey) -> Option<Key> {
    let NativeKey::Xkb(keysym) = native else {
        // Without Num Lock, winit has no name for the middle key of the keypad.
        let is_middle = physical == PhysicalKey::Code(KeyCode::Numpad5);
        return is_middle.then_some(Key::KeypadBegin);
    };
    Some(match keysym {
        0xff9d => Key::KeypadBegin,
        0xffe7 => Key::Modifier(ModifierKey::Meta, Side::Left),
        0xffe8 => Key::Modifier(ModifierKey::Meta, Side::Right),
        0xfe11 => Key::Modifier(ModifierKey::Level5, Side::Left),
        _ => return None,
    })
}

/// The character of a key on a US layout (PC-101 keyboard).
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
        KeyCode::Semicolon => ';',
        KeyCode::Quote => '\'',
        KeyCode::Backquote => '`',
        KeyCode::Comma => ',',
        KeyCode::Period => '.',
        KeyCode::Space => ' ',
        KeyCode::Digit0 => '0',
        KeyCode::Digit1 => '1',
        KeyCode::Digit2 => '2',
        KeyCode::Digit3 => '3',
        KeyCode::Digit4 => '4',
        KeyCode::Digit5 => '5',
        KeyCode::Digit6 => '6',
        KeyCode::Digit7 => '7',
        KeyCode::Digit8 => '8',
        KeyCode::Digit9 => '9',
        _ => return None,
    })
}

fn named(name: NamedKey, keypad: bool, side: Side) -> Option<Key> {
    if keypad && let Some(key) = named_on_keypad(name) {
        return Some(key);
    }
    Some(match name {
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
        NamedKey::F21 => Key::F(21),
        NamedKey::F22 => Key::F(22),
        NamedKey::F23 => Key::F(23),
        NamedKey::F24 => Key::F(24),
        NamedKey::F25 => Key::F(25),
        NamedKey::F26 => Key::F(26),
        NamedKey::F27 => Key::F(27),
        NamedKey::F28 => Key::F(28),
        NamedKey::F29 => Key::F(29),
        NamedKey::F30 => Key::F(30),
        NamedKey::F31 => Key::F(31),
        NamedKey::F32 => Key::F(32),
        NamedKey::F33 => Key::F(33),
        NamedKey::F34 => Key::F(34),
        NamedKey::F35 => Key::F(35),
        NamedKey::CapsLock => Key::CapsLock,
        NamedKey::ScrollLock => Key::ScrollLock,
        NamedKey::NumLock => Key::NumLock,
        NamedKey::PrintScreen => Key::PrintScreen,
        NamedKey::Pause => Key::Pause,
        NamedKey::MediaPlay => Key::MediaPlay,
        NamedKey::MediaPause => Key::MediaPause,
        NamedKey::MediaPlayPause => Key::MediaPlayPause,
        NamedKey::MediaStop => Key::MediaStop,
        NamedKey::MediaFastForward => Key::MediaFastForward,
        NamedKey::MediaRewind => Key::MediaRewind,
        NamedKey::MediaTrackNext => Key::MediaTrackNext,
        NamedKey::MediaTrackPrevious => Key::MediaTrackPrevious,
        NamedKey::MediaRecord => Key::MediaRecord,
        NamedKey::AudioVolumeDown => Key::LowerVolume,
        NamedKey::AudioVolumeUp => Key::RaiseVolume,
        NamedKey::AudioVolumeMute => Key::MuteVolume,
        NamedKey::Shift => Key::Modifier(ModifierKey::Shift, side),
        NamedKey::Control => Key::Modifier(ModifierKey::Control, side),
        NamedKey::Alt => Key::Modifier(ModifierKey::Alt, side),
        NamedKey::Super => Key::Modifier(ModifierKey::Super, side),
        NamedKey::Hyper => Key::Modifier(ModifierKey::Hyper, side),
        NamedKey::Meta => Key::Modifier(ModifierKey::Meta, side),
        NamedKey::AltGraph => Key::Modifier(ModifierKey::Level3, Side::Right),
        _ => return None,
    })
}

fn named_on_keypad(name: NamedKey) -> Option<Key> {
    Some(match name {
        NamedKey::Enter => Key::KeypadEnter,
        NamedKey::ArrowUp => Key::KeypadUp,
        NamedKey::ArrowDown => Key::KeypadDown,
        NamedKey::ArrowLeft => Key::KeypadLeft,
        NamedKey::ArrowRight => Key::KeypadRight,
        NamedKey::Home => Key::KeypadHome,
        NamedKey::End => Key::KeypadEnd,
        NamedKey::PageUp => Key::KeypadPageUp,
        NamedKey::PageDown => Key::KeypadPageDown,
        NamedKey::Insert => Key::KeypadInsert,
        NamedKey::Delete => Key::KeypadDelete,
        NamedKey::Clear => Key::KeypadBegin,
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

    fn letter(c: char, unshifted: char, reported: Modifiers) -> Modifiers {
        let mut held = HeldModifiers::default();
        held.see_locks(Key::Char(c), Some(unshifted), reported);
        held.locks
    }

    #[test]
    fn a_shortcut_is_ours_until_it_is_let_go() {
        let mut taken = HandledKeys::default();
        let (c, d) = (PhysicalKey::Code(KeyCode::KeyC), PhysicalKey::Code(KeyCode::KeyD));
        taken.take(c);
        assert!(taken.has(c, KeyAction::Repeat) && taken.has(c, KeyAction::Repeat));
        assert!(!taken.has(d, KeyAction::Repeat) && !taken.has(d, KeyAction::Release));
        assert!(taken.has(c, KeyAction::Release));
        assert!(!taken.has(c, KeyAction::Repeat), "pressed anew it is the program's");
        taken.take(c);
        assert!(!taken.has(c, KeyAction::Press), "its release was not heard");
        assert!(!taken.has(c, KeyAction::Release));
    }

    #[test]
    fn a_release_goes_where_the_press_went() {
        let mut sent = SentKeys::default();
        let (e, d) = (PhysicalKey::Code(KeyCode::KeyE), PhysicalKey::Code(KeyCode::KeyD));
        // An input method composed the press of this key.
        assert_eq!(sent.release(e), None);
        sent.press(e, PaneId(1));
        sent.press(e, PaneId(1));
        sent.press(d, PaneId(2));
        assert_eq!((sent.release(e), sent.release(e)), (Some(PaneId(1)), None));
        assert_eq!(sent.release(d), Some(PaneId(2)));
        // Another pane received the repeats of this key.
        sent.press(e, PaneId(1));
        sent.press(e, PaneId(2));
        assert_eq!((sent.release(e), sent.release(e)), (Some(PaneId(2)), None));
        sent.press(e, PaneId(1));
        sent.forget();
        assert_eq!(sent.release(e), None);
    }

    #[test]
    fn letters_show_caps_lock() {
        let shift = Modifiers::SHIFT;
        assert_eq!(letter('a', 'a', Modifiers::empty()), Modifiers::empty());
        assert_eq!(letter('A', 'a', Modifiers::empty()), Modifiers::CAPS_LOCK);
        assert_eq!(letter('A', 'a', shift), Modifiers::empty());
        assert_eq!(letter('a', 'a', shift), Modifiers::CAPS_LOCK);
        assert_eq!(letter('Ä', 'ä', Modifiers::empty()), Modifiers::CAPS_LOCK);
        // AltGr typed a different letter, so the state of Caps Lock stays unknown.
        assert_eq!(letter('Ω', 'q', Modifiers::empty()), Modifiers::empty());
        assert_eq!(letter('1', '1', Modifiers::empty()), Modifiers::empty());
    }

    #[test]
    fn the_keypad_shows_num_lock() {
        let mut held = HeldModifiers::default();
        held.see_locks(Key::KeypadDigit(4), None, Modifiers::empty());
        assert_eq!(held.locks, Modifiers::NUM_LOCK);
        // Shift inverts Num Lock, so the state of Num Lock stays unknown.
        held.see_locks(Key::KeypadLeft, None, Modifiers::SHIFT);
        assert_eq!(held.locks, Modifiers::NUM_LOCK);
        held.see_locks(Key::KeypadLeft, None, Modifiers::empty());
        assert_eq!(held.locks, Modifiers::empty());
    }

    #[test]
    fn a_german_key_has_its_own_letter_and_the_place_of_another() {
        assert_eq!(us_layout(PhysicalKey::Code(KeyCode::KeyY)), Some('y'), "where German has z");
    }
}
