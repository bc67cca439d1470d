//! The keys of a display: the key that produces a character, and the names of keys.

use anyhow::{Result, bail};
use x11rb::{
    connection::Connection as _, protocol::xproto::ConnectionExt as _,
    rust_connection::RustConnection,
};

/// The keyboard layout: the keysyms of each key, with and without Shift.
pub(crate) struct Keys {
    first_code: u8,
    per_code: usize,
    keysyms: Vec<u32>,
}

impl Keys {
    /// Requests the layout from the server.
    pub(crate) fn read(connection: &RustConnection) -> Result<Self> {
        let (first, last) = (connection.setup().min_keycode, connection.setup().max_keycode);
        let mapping = connection.get_keyboard_mapping(first, last - first + 1)?.reply()?;
        Ok(Self {
            first_code: first,
            per_code: usize::from(mapping.keysyms_per_keycode),
            keysyms: mapping.keysyms,
        })
    }

    /// The key code for a keysym, and whether Shift must be held.
    pub(crate) fn find(&self, keysym: u32) -> Result<(u8, bool)> {
        for shift in [false, true] {
            for (index, row) in self.keysyms.chunks(self.per_code).enumerate() {
                if row.get(usize::from(shift)) == Some(&keysym) {
                    return Ok((self.first_code + index as u8, shift));
                }
            }
        }
        bail!("the layout has no key for keysym {keysym:#x}")
    }
}

/// The keysym (X11/keysymdef.h) of a character or a named key.
pub(crate) fn keysym(name: &str) -> Result<u32> {
    let mut characters = name.chars();
    if let (Some(character), None) = (characters.next(), characters.next()) {
        // A Latin-1 character is its own keysym. The keysyms of other Unicode characters have an additional bit set.
        let code = u32::from(character);
        return Ok(if code < 0x100 { code } else { 0x0100_0000 | code });
    }
    Ok(match name {
        "BackSpace" => 0xff08,
        "Tab" => 0xff09,
        "Return" => 0xff0d,
        "Escape" => 0xff1b,
        "Home" => 0xff50,
        "Left" => 0xff51,
        "Up" => 0xff52,
        "Right" => 0xff53,
        "Down" => 0xff54,
        "Prior" => 0xff55,
        "Next" => 0xff56,
        "End" => 0xff57,
        "Insert" => 0xff63,
        "ISO_Level3_Shift" => 0xfe03,
        "dead_acute" => 0xfe51,
        "dead_diaeresis" => 0xfe57,
        "Shift_L" => 0xffe1,
        "Control_L" => 0xffe3,
        "Alt_L" => 0xffe9,
        "Delete" => 0xffff,
        _ => bail!("no key is called {name}"),
    })
}
