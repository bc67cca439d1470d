//! Keys and what happens to them, whatever device or wire they come from.

use crate::input::Modifiers;

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
    /// The middle key of the keypad without Num Lock.
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
    /// A modifier by itself.
    Modifier(ModifierKey, Side),
}

impl Key {
    /// A key of the keypad as the key elsewhere that does the same; the others as they are.
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

/// Keys that modify others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of the keys say it")]
pub enum ModifierKey {
    Shift,
    Control,
    Alt,
    Super,
    Hyper,
    Meta,
    /// AltGr; it has no side.
    Level3,
    /// ISO level 5; it has no side.
    Level5,
}

impl ModifierKey {
    /// What it adds to the other keys' modifiers.
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

/// Where on the keyboard one of a pair is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Side {
    Left,
    Right,
}

/// What happened to a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeyAction {
    /// It went down.
    #[default]
    Press,
    /// It is held.
    Repeat,
    /// It went up.
    Release,
}

/// A key event. `text` is what the platform says the key types (dead keys and AltGr applied, Ctrl not).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyEvent<'a> {
    /// The key.
    pub key: Key,
    /// What happened to it.
    pub action: KeyAction,
    /// The same key without any modifier in the layout in use, where the platform tells.
    pub unshifted: Option<char>,
    /// The character that the same place of the keyboard has on a US layout (PC-101), where the platform tells. Ctrl uses
    /// it where the layout's own letters are not Latin.
    pub base: Option<char>,
    /// Modifiers; AltGr is none.
    pub modifiers: Modifiers,
    /// Text it types.
    pub text: Option<&'a str>,
}

impl KeyEvent<'_> {
    /// A press of `key`, of which nothing more is known.
    pub fn press(key: Key, modifiers: Modifiers) -> Self {
        Self { key, action: KeyAction::Press, unshifted: None, base: None, modifiers, text: None }
    }

    /// See [`latin`].
    pub fn latin(&self) -> Option<char> {
        latin(self.unshifted, self.base)
    }

    /// The text, if it is any that types something: none comes with Ctrl, Alt and the like, nor from a release.
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

/// The ASCII character that shortcuts and Ctrl know a key by: the layout's own where that is ASCII, else the letter or
/// bracket that a US layout has in its place, so that they work on a layout without Latin letters.
pub fn latin(unshifted: Option<char>, base: Option<char>) -> Option<char> {
    let base = base.filter(|base| base.is_ascii_alphabetic() || "[]\\/-=0".contains(*base));
    unshifted.filter(char::is_ascii).or(base).or(unshifted)
}
