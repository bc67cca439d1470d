//! Publishes a desktop's settings on X11 (XSETTINGS), like a settings daemon.

use anyhow::Result;
use x11rb::{
    COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT, CURRENT_TIME, NONE,
    connection::Connection as _,
    protocol::xproto::{ConnectionExt as _, CreateWindowAux, PropMode, Window, WindowClass},
    wrapper::ConnectionExt as _,
};

use crate::Display;

impl Display {
    /// Publishes one integer setting, which replaces all earlier settings. Notifies listeners.
    ///
    /// # Errors
    ///
    /// If the connection to the X server is broken.
    pub fn publish_setting(&self, name: &str, value: u32) -> Result<()> {
        let connection = &self.connection;
        let selection = connection.intern_atom(false, b"_XSETTINGS_S0")?.reply()?.atom;
        let owner = match connection.get_selection_owner(selection)?.reply()?.owner {
            NONE => self.hidden_window()?,
            owner => owner,
        };
        // The data is little-endian, with the serial number 1 and one setting of type 0. The setting's name is padded,
        // and followed by a serial number of its own.
        let mut bytes = [[0; 4], 1u32.to_le_bytes(), 1u32.to_le_bytes()].concat();
        bytes.extend([0, 0]);
        bytes.extend((name.len() as u16).to_le_bytes());
        bytes.extend(name.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend([1u32.to_le_bytes(), value.to_le_bytes()].concat());
        let settings = connection.intern_atom(false, b"_XSETTINGS_SETTINGS")?.reply()?.atom;
        connection.change_property8(PropMode::REPLACE, owner, settings, settings, &bytes)?;
        connection.set_selection_owner(owner, selection, CURRENT_TIME)?.check()?;
        Ok(())
    }

    fn hidden_window(&self) -> Result<Window> {
        let connection = &self.connection;
        let (id, kind) = (connection.generate_id()?, WindowClass::INPUT_OUTPUT);
        let (depth, visual) = (COPY_DEPTH_FROM_PARENT, COPY_FROM_PARENT);
        let attributes = CreateWindowAux::new();
        connection
            .create_window(depth, id, self.root, 0, 0, 1, 1, 0, kind, visual, &attributes)?
            .check()?;
        Ok(id)
    }
}
