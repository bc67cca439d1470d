//! Keys, mouse, paste and focus as bytes, given the modes a program set. Used by the window and by every wire.
//!
//! Owns the tables of xterm's PC-style keyboard and of its mouse encodings (xterm ctlseqs). Never reads a device and
//! keeps no state: an event and the modes in, bytes out.

mod key;
mod mouse;
mod paste;

pub use key::{Key, KeyAction, KeyEvent, ModifierKey, Side, encode_key, encode_text, latin};
pub use mouse::{MouseButton, MouseEvent, MouseKind, encode_alternate_scroll, encode_mouse};
pub use paste::{PasteRisk, encode_focus, encode_paste, join_lines};

bitflags::bitflags! {
    /// Modifier keys that are down, and locks that are on. The bits are those of the kitty keyboard protocol; the first
    /// four are also xterm's.
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
        /// Meta, where it is another key than Alt.
        const META = 1 << 5;
        /// Caps Lock is on.
        const CAPS_LOCK = 1 << 6;
        /// Num Lock is on. Keys of the keypad then send what is printed on them even in application mode, as with
        /// xterm's mode 1035. A digit that has text needs no such hint.
        const NUM_LOCK = 1 << 7;
        /// The locks.
        const LOCKS = Self::CAPS_LOCK.bits() | Self::NUM_LOCK.bits();
    }
}
