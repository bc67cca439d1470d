//! Keys, mouse, paste and focus as bytes, given the modes a program set. Used by the window and by every wire.

use unterm_term::{Modes, MouseEncoding, MouseTracking};

bitflags::bitflags! {
    /// Modifier keys that are down.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Modifiers: u8 {
        /// Shift.
        const SHIFT = 1 << 0;
        /// Alt (Option).
        const ALT = 1 << 1;
        /// Control.
        const CTRL = 1 << 2;
        /// Super (Windows, Command).
        const SUPER = 1 << 3;
    }
}

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
    /// The same key without Shift and AltGr, where the platform tells; Ctrl and Alt combinations use it.
    pub unshifted: Option<char>,
    /// Modifiers; AltGr is none.
    pub modifiers: Modifiers,
    /// Text it types.
    pub text: Option<&'a str>,
}

/// A mouse button, or the wheel as buttons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of the buttons say it")]
pub enum MouseButton {
    Left,
    Middle,
    Right,
    WheelUp,
    WheelDown,
    WheelLeft,
    WheelRight,
    Back,
    Forward,
}

/// What a mouse did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MouseKind {
    /// A button went down, or the wheel turned one step.
    Press(MouseButton),
    /// A button went up.
    Release(MouseButton),
    /// The pointer moved with this button down, or with none.
    Motion(Option<MouseButton>),
}

/// A mouse event in a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MouseEvent {
    /// What happened.
    pub kind: MouseKind,
    /// Modifiers.
    pub modifiers: Modifiers,
    /// Column, from 0.
    pub col: u16,
    /// Row of the live screen, from 0.
    pub row: u16,
    /// Pixels from the grid's left edge.
    pub x: u32,
    /// Pixels from the grid's top edge.
    pub y: u32,
}

/// The bytes of a key press in legacy encoding (xterm's PC-style), empty when the key sends nothing.
pub fn encode_key(event: &KeyEvent<'_>, modes: Modes) -> Vec<u8> {
    let _ = (event, modes);
    todo!()
}

/// The bytes of a mouse event, `None` when the program did not ask for it.
pub fn encode_mouse(
    event: &MouseEvent,
    tracking: MouseTracking,
    encoding: MouseEncoding,
) -> Option<Vec<u8>> {
    let _ = (event, tracking, encoding);
    todo!()
}

/// The bytes of a paste: line ends become CR; when bracketed, wrapped in `CSI 200~` and `CSI 201~`. Control bytes other
/// than tab and line ends are dropped, so that no text can end the bracket or run a command.
pub fn encode_paste(text: &str, modes: Modes) -> Vec<u8> {
    let _ = (text, modes);
    todo!()
}

/// The bytes that tell a program of focus (mode 1004), empty when it did not ask.
pub fn encode_focus(focused: bool, modes: Modes) -> &'static [u8] {
    let _ = (focused, modes);
    todo!()
}
