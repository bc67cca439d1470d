//! Keys, mouse, paste and focus as bytes, given the modes a program set. Used by the window and by every wire.
//!
//! Owns the tables of xterm's PC-style keyboard and of its mouse encodings (xterm ctlseqs). Never reads a device and
//! keeps no state: an event and the modes in, bytes out. The kitty keyboard protocol will be a second encoder beside
//! [`encode_key`]'s legacy one, chosen by the flags a program pushed.

mod key;
mod mouse;
mod paste;

pub use key::{Key, KeyEvent, encode_key};
pub use mouse::{MouseButton, MouseEvent, MouseKind, encode_alternate_scroll, encode_mouse};
pub use paste::{encode_focus, encode_paste};

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
        /// Num Lock is on. Keys of the keypad then send what is printed on them even in application mode, as with
        /// xterm's mode 1035. A digit that has text needs no such hint.
        const NUM_LOCK = 1 << 4;
    }
}
