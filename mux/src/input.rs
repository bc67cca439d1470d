//! Encodes keys, mouse events, pastes and focus changes as bytes, according to the modes that a program has set. The
//! window and every control protocol use it.
//!
//! Owns the tables of xterm's PC-style keyboard and of its mouse encodings (xterm ctlseqs). Never reads a device and
//! keeps no state: it maps events and modes to bytes.

mod key;
mod mouse;
mod paste;

pub use key::{Key, KeyAction, KeyEvent, ModifierKey, Side, encode_key, encode_text, latin};
pub use mouse::{MouseButton, MouseEvent, MouseKind, encode_alternate_scroll, encode_mouse};
pub use paste::{PasteRisk, encode_focus, encode_paste, join_lines};

bitflags::bitflags! {
    /// Modifier keys that are down, and locks that are on. The bits are those of the kitty keyboard protocol; the first
    /// four also match xterm.
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
        /// Hyper.
        const HYPER = 1 << 4;
        /// Meta, if it is a separate key from Alt.
        const META = 1 << 5;
        /// Caps Lock is on.
        const CAPS_LOCK = 1 << 6;
        /// Num Lock is on. Keypad keys then send the characters printed on them even in application mode, like xterm
        /// with mode 1035. A digit key whose event contains text is sent as that text without this flag.
        const NUM_LOCK = 1 << 7;
        /// Caps Lock and Num Lock.
        const LOCKS = Self::CAPS_LOCK.bits() | Self::NUM_LOCK.bits();
    }
}
