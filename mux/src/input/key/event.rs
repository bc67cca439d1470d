//! Keys and key events, independent of the device or protocol that sends them.

use crate::input::Modifiers;

/// A key, after the keyboard layout, Shift and AltGr were applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of the keys say it")]
pub enum Key {
    /// A key that produces this character.
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
    /// The thousands separator.
    KeypadSeparator,
    KeypadLeft,
    KeypadRight,
    KeypadUp,
    KeypadDown,
    KeypadPageUp,
    KeypadPageDown,
    KeypadHome,
    KeypadEnd,
    KeypadInsert,
    KeypadDelete,
    /// The key in the middle of the keypad (5), while Num Lock is off.
    KeypadBegin,
    Menu,
    CapsLock,
    ScrollLock,
    NumLock,
    PrintScreen,
    Pause,
    MediaPlay,
    MediaPause,
    MediaPlayPause,
    MediaReverse,
    MediaStop,
    MediaFastForward,
    MediaRewind,
    MediaTrackNext,
    MediaTrackPrevious,
    MediaRecord,
    LowerVolume,
    RaiseVolume,
    MuteVolume,
    /// A modifier key.
    Modifier(ModifierKey, Side),
}

impl Key {
    /// Maps a keypad key to the key with the same function outside the keypad. Returns other keys unchanged.
    pub fn off_keypad(self) -> Self {
        match self {
            Self::KeypadLeft => Self::Left,
            Self::KeypadRight => Self::Right,
            Self::KeypadUp => Self::Up,
            Self::KeypadDown => Self::Down,
            Self::KeypadPageUp => Self::PageUp,
            Self::KeypadPageDown => Self::PageDown,
            Self::KeypadHome => Self::Home,
            Self::KeypadEnd => Self::End,
            Self::KeypadInsert => Self::Insert,
            Self::KeypadDelete => Self::Delete,
            key => key,
        }
    }
}

/// Modifier keys: keys that change the meaning of other keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of the keys say it")]
pub enum ModifierKey {
    Shift,
    Control,
    Alt,
    Super,
    Hyper,
    Meta,
    /// AltGr. The keyboard side is ignored.
    Level3,
    /// ISO level 5 shift. The keyboard side is ignored.
    Level5,
}

impl ModifierKey {
    /// The modifier that the key sets on other keys.
    pub fn modifiers(self) -> Modifiers {
        match self {
            Self::Shift => Modifiers::SHIFT,
            Self::Control => Modifiers::CTRL,
            Self::Alt => Modifiers::ALT,
            Self::Super => Modifiers::SUPER,
            Self::Hyper => Modifiers::HYPER,
            Self::Meta => Modifiers::META,
            Self::Level3 | Self::Level5 => Modifiers::empty(),
        }
    }
}

/// The side of the keyboard, for a key that exists on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Side {
    Left,
    Right,
}

/// The action on a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyAction {
    /// The key went down.
    #[default]
    Press,
    /// The key is held.
    Repeat,
    /// The key went up.
    Release,
}

/// A key event. `text` is the text that the platform reports for the key, with dead keys and AltGr applied but not
/// Ctrl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyEvent<'a> {
    /// The key.
    pub key: Key,
    /// The action on the key.
    pub action: KeyAction,
    /// The key's character without modifiers in the current layout, if the platform reports it.
    pub unshifted: Option<char>,
    /// The character at the key's position on a US layout (PC-101), if the platform reports it. Ctrl uses this
    /// character if the layout's own letters are not Latin.
    pub base: Option<char>,
    /// The modifiers that are down. AltGr is not included, because the layout has already applied it.
    pub modifiers: Modifiers,
    /// The text that the key types.
    pub text: Option<&'a str>,
}

impl KeyEvent<'_> {
    /// A press of `key` without further details.
    pub fn press(key: Key, modifiers: Modifiers) -> Self {
        Self { key, action: KeyAction::Press, unshifted: None, base: None, modifiers, text: None }
    }

    /// See [`latin`].
    pub fn latin(&self) -> Option<char> {
        latin(self.unshifted, self.base)
    }

    /// The text, if the event types text: a press without modifiers other than Shift and the locks.
    pub(super) fn typed(&self) -> Option<&str> {
        let mods = self.modifiers & !(Modifiers::SHIFT | Modifiers::LOCKS);
        self.text.filter(|text| {
            mods.is_empty()
                && self.action != KeyAction::Release
                && !text.is_empty()
                && !text.contains(char::is_control)
        })
    }
}

/// The ASCII character that identifies a key in shortcuts and with Ctrl. This is the layout's own character if it is
/// ASCII, otherwise the letter or sign at the key's position on a US layout. So shortcuts also work on layouts without
/// Latin letters.
pub fn latin(unshifted: Option<char>, base: Option<char>) -> Option<char> {
    let base = base.filter(|base| base.is_ascii_alphabetic() || "[]\\/-=0".contains(*base));
    unshifted.filter(char::is_ascii).or(base).or(unshifted)
}
