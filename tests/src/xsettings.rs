//! A desktop's settings on X11 (XSETTINGS), as a settings daemon publishes them.

use anyhow::Result;
use x11rb::{
    COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT, CURRENT_TIME,
    connection::Connection as _,
    protocol::xproto::{ConnectionExt as _, CreateWindowAux, PropMode, WindowClass},
    wrapper::ConnectionExt as _,
};

use crate::Display;

impl Display {
    /// Publishes one setting, an integer, in the place of all that were.
    ///
    /// # Errors
    ///
    /// When the X server has gone.
    pub fn publish_setting(&self, name: &str, value: u32) -> Result<()> {
        let connection = &self.connection;
        let owner = connection.generate_id()?;
        let kind = WindowClass::INPUT_OUTPUT;
        let attributes = CreateWindowAux::new();
        let depth = COPY_DEPTH_FROM_PARENT;
        connection.create_window(
            depth,
            owner,
            self.root,
            0,
            0,
            1,
            1,
            0,
            kind,
            COPY_FROM_PARENT,
            &attributes,
        )?;
        // Little-endian, serial 1, one setting of type 0; its name is padded, and a serial of its own stands behind it.
        let mut bytes = [[0; 4], 1u32.to_le_bytes(), 1u32.to_le_bytes()].concat();
        bytes.extend([0, 0]);
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend([1u32.to_le_bytes(), value.to_le_bytes()].concat());
        let settings = connection.intern_atom(false, b"_XSETTINGS_SETTINGS")?.reply()?.atom;
        connection.change_property8(PropMode::REPLACE, owner, settings, settings, &bytes)?;
        let selection = connection.intern_atom(false, b"_XSETTINGS_S0")?.reply()?.atom;
        connection.set_selection_owner(owner, selection, CURRENT_TIME)?.check()?;
        Ok(())
    }
}
