//! A window on a display: its properties, its picture, and the mouse over it.

use anyhow::{Result, ensure};
use x11rb::{
    connection::Connection as _,
    protocol::xproto::{
        self, ConfigureWindowAux, ConnectionExt as _, CreateWindowAux, ImageFormat, WindowClass,
    },
};

use crate::{Display, Picture, display::SyncAll as _, wait_for, wait_until};

/// A window.
#[derive(Clone, Copy)]
pub struct Window<'a> {
    pub(crate) display: &'a Display,
    pub(crate) id: xproto::Window,
}

impl Window<'_> {
    /// The window's width and height in pixels.
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn size(&self) -> Result<(u16, u16)> {
        let geometry = self.display.connection.get_geometry(self.id)?.reply()?;
        Ok((geometry.width, geometry.height))
    }

    /// Sets the window's width and height in pixels.
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn resize(&self, width: u16, height: u16) -> Result<()> {
        let size = ConfigureWindowAux::new().width(u32::from(width)).height(u32::from(height));
        self.display.connection.configure_window(self.id, &size)?.check()?;
        Ok(())
    }

    /// Whether the window is mapped.
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn is_shown(&self) -> Result<bool> {
        let attributes = self.display.connection.get_window_attributes(self.id)?.reply()?;
        Ok(attributes.map_state != xproto::MapState::UNMAPPED)
    }

    /// Whether the window requests attention (WM_HINTS, ICCCM 4.1.2.4).
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn is_urgent(&self) -> Result<bool> {
        const URGENT: u32 = 1 << 8;
        let (hints, kind) = (xproto::AtomEnum::WM_HINTS, xproto::AtomEnum::WM_HINTS);
        let hints = self.display.connection.get_property(false, self.id, hints, kind, 0, 1)?;
        let flags = hints.reply()?.value32().and_then(|mut values| values.next());
        Ok(flags.is_some_and(|flags| flags & URGENT != 0))
    }

    /// Whether the window has this property, even if it is empty.
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn has_property(&self, name: &str) -> Result<bool> {
        let connection = &self.display.connection;
        let atom = connection.intern_atom(false, name.as_bytes())?.reply()?.atom;
        Ok(connection.list_properties(self.id)?.reply()?.atoms.contains(&atom))
    }

    /// The window's title.
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn title(&self) -> Result<String> {
        let connection = &self.display.connection;
        let name = connection.intern_atom(false, b"_NET_WM_NAME")?.reply()?.atom;
        let kind = connection.intern_atom(false, b"UTF8_STRING")?.reply()?.atom;
        let title = connection.get_property(false, self.id, name, kind, 0, 1024)?.reply()?.value;
        Ok(String::from_utf8_lossy(&title).into_owned())
    }

    /// The window's `WM_NAME`, if its type is `UTF8_STRING`.
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn wm_name(&self) -> Result<Option<String>> {
        let connection = &self.display.connection;
        let utf8 = connection.intern_atom(false, b"UTF8_STRING")?.reply()?.atom;
        let (kind, any) = (xproto::AtomEnum::WM_NAME, xproto::AtomEnum::ANY);
        let name = connection.get_property(false, self.id, kind, any, 0, 1024)?;
        let name = name.reply()?;
        Ok((name.type_ == utf8).then(|| String::from_utf8_lossy(&name.value).into_owned()))
    }

    /// Waits until `is_it` accepts the title, and returns it.
    ///
    /// # Errors
    ///
    /// If no title is accepted in time.
    pub fn wait_for_title(&self, is_it: impl Fn(&str) -> bool) -> Result<String> {
        wait_until("the title", || self.title(), |title| is_it(title))
    }

    /// Waits until the title ends with the name of a tab or a program.
    ///
    /// # Errors
    ///
    /// If the title does not end with the name in time.
    pub fn wait_until_called(&self, name: &str) -> Result<()> {
        self.wait_for_title(|title| title.split(" — ").last() == Some(name)).map(drop)
    }

    /// Requests the window to close, like a window manager's close button.
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn close(&self) -> Result<()> {
        self.ask("WM_DELETE_WINDOW").map(drop)
    }

    /// Waits until the window has handled all earlier keys and clicks: it answers a window manager's ping
    /// (`_NET_WM_PING`, EWMH) after them, in order. Without this wait, an action over the control port would be handled
    /// before them.
    ///
    /// # Errors
    ///
    /// If the window has closed, or does not answer.
    pub fn wait_for_input(&self) -> Result<()> {
        let answers = self.display.messages_to_root()?;
        let asked = self.ask("_NET_WM_PING")?;
        answers.wait("the answer to a ping", |answer| {
            (answer.type_, answer.data.as_data32()) == (asked.type_, asked.data.as_data32())
        })
    }

    /// Sends the window a window manager's message (WM_PROTOCOLS, ICCCM 4.1.2.7), and returns the message.
    fn ask(&self, protocol: &str) -> Result<xproto::ClientMessageEvent> {
        let connection = &self.display.connection;
        let protocols = connection.intern_atom(false, b"WM_PROTOCOLS")?.reply()?.atom;
        let protocol = connection.intern_atom(false, protocol.as_bytes())?.reply()?.atom;
        let data = [protocol, x11rb::CURRENT_TIME, self.id, 0, 0];
        let event = xproto::ClientMessageEvent::new(32, self.id, protocols, data);
        connection.send_event(false, self.id, xproto::EventMask::NO_EVENT, event)?.check()?;
        Ok(event)
    }

    /// Covers the window with another window, and removes the other window again. The window's contents are then lost,
    /// and the server requests a redraw (Expose, X11 protocol).
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn lose_picture(&self) -> Result<()> {
        let (connection, root) = (&self.display.connection, self.display.root);
        let (width, height) = self.size()?;
        let place = connection.translate_coordinates(self.id, root, 0, 0)?.reply()?;
        let cover = connection.generate_id()?;
        let looks = CreateWindowAux::new().override_redirect(1).background_pixel(0);
        let (x, y) = (place.dst_x, place.dst_y);
        let (depth, kind) = (x11rb::COPY_DEPTH_FROM_PARENT, WindowClass::INPUT_OUTPUT);
        connection
            .create_window(depth, cover, root, x, y, width, height, 0, kind, 0, &looks)?
            .check()?;
        connection.map_window(cover)?.check()?;
        connection.destroy_window(cover)?.check()?;
        Ok(())
    }

    /// Moves the pointer to a point of the window, in pixels.
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn point(&self, x: i16, y: i16) -> Result<()> {
        let connection = &self.display.connection;
        let at = connection.translate_coordinates(self.id, self.display.root, x, y)?.reply()?;
        self.display.fake(xproto::MOTION_NOTIFY_EVENT, 0, at.dst_x, at.dst_y)?;
        connection.sync_all()
    }

    /// Presses or releases a mouse button at the pointer (1 left, 2 middle, 3 right, 4 and 5 the wheel).
    ///
    /// # Errors
    ///
    /// If the connection to the display is broken.
    pub fn button(&self, button: u8, down: bool) -> Result<()> {
        let kind = if down { xproto::BUTTON_PRESS_EVENT } else { xproto::BUTTON_RELEASE_EVENT };
        self.display.fake(kind, button, 0, 0)?;
        self.display.connection.sync_all()
    }

    /// Clicks with a mouse button at a point of the window, in pixels.
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn click(&self, button: u8, (x, y): (i16, i16)) -> Result<()> {
        self.point(x, y)?;
        self.button(button, true)?;
        self.button(button, false)
    }

    /// Presses the left button twice at the pointer, as fast as the display accepts it.
    ///
    /// # Errors
    ///
    /// If the connection to the display is broken.
    pub fn double_click(&self) -> Result<()> {
        for kind in [xproto::BUTTON_PRESS_EVENT, xproto::BUTTON_RELEASE_EVENT].repeat(2) {
            self.display.fake(kind, 1, 0, 0)?;
        }
        self.display.connection.sync_all()
    }

    /// Drags with the left button from one point to another.
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn drag(&self, from: (i16, i16), to: (i16, i16)) -> Result<()> {
        self.point(from.0, from.1)?;
        self.button(1, true)?;
        // Move through points in between, like a hand.
        for step in 1..=8 {
            let along = |from: i16, to: i16| from + (to - from) * step / 8;
            self.point(along(from.0, to.0), along(from.1, to.1))?;
        }
        self.button(1, false)
    }

    /// Waits until most of the window has one color, such as a theme's background.
    ///
    /// # Errors
    ///
    /// If the color does not fill most of the window in time.
    pub fn wait_for_background(&self, color: [u8; 3]) -> Result<()> {
        wait_for(
            &format!("a window in {color:x?}"),
            || {
                let picture = self.picture()?;
                Ok((picture.count(color) * 2 > picture.pixels.len()).then_some(()))
            },
            String::new,
        )
    }

    /// A picture of the window.
    ///
    /// # Errors
    ///
    /// If the window has closed.
    pub fn picture(&self) -> Result<Picture> {
        let (width, height) = self.size()?;
        let all_planes = u32::MAX;
        let connection = &self.display.connection;
        let image = connection
            .get_image(ImageFormat::Z_PIXMAP, self.id, 0, 0, width, height, all_planes)?
            .reply()?;
        // Pixels have 24 bits in 32, in the order B G R x (little-endian).
        ensure!(image.depth == 24, "depth {}", image.depth);
        let pixels =
            image.data.chunks_exact(4).map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect();
        Ok(Picture { width: usize::from(width), pixels })
    }
}
