//! Small parts of pictures on X11, sent to the server together with their pixels.
//!
//! softbuffer makes the server copy pixels from shared memory and report when the copy is done. The report wakes the
//! window, and the copy delays the server, at the moment when a key's echo should appear. This module avoids both.

#[cfg(all(unix, not(target_os = "macos")))]
mod stream;

use crate::PixelRect;

#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) use server::Parts;

/// The maximum number of pixels to send directly. For more pixels, a copy from shared memory is faster.
const SMALL: u64 = 16 * 1024;

/// Whether parts are small enough to send.
pub(crate) fn are_small(parts: &[PixelRect]) -> bool {
    parts.iter().map(|part| u64::from(part.width) * u64::from(part.height)).sum::<u64>() <= SMALL
}

#[cfg(all(unix, not(target_os = "macos")))]
mod server {
    use raw_window_handle::{HasWindowHandle, RawWindowHandle};
    use x11rb::{
        connection::{Connection as _, RequestConnection as _},
        errors::{ConnectionError, ReplyError, ReplyOrIdError},
        protocol::{
            shm::{self, ConnectionExt as _},
            xproto::{self, ConnectionExt as _},
        },
        rust_connection::RustConnection,
    };

    use super::stream::{self, PromptStream};
    use crate::PixelRect;

    /// The maximum number of bytes in transit to the server. The server's socket accepts more, so sending never blocks
    /// while the server is busy.
    const UNDER_WAY: usize = 128 * 1024;
    /// The size of a request in bytes, without its pixels.
    const REQUEST: usize = 64;

    /// Sends parts of pictures to a window. Uses its own connection, because the event loop reads the window's
    /// connection.
    pub(crate) struct Parts {
        connection: RustConnection<PromptStream>,
        window: xproto::Window,
        gc: xproto::Gcontext,
        depth: u8,
        /// Bytes that the server may not have received yet.
        under_way: usize,
        /// The pixels of one part, row by row.
        pixels: Vec<u32>,
    }

    impl Parts {
        /// Connects if the window belongs to an X server that uses this machine's pixel layout and shares memory with
        /// this process. Without shared memory, Unterm can't detect when a picture sent through softbuffer has arrived.
        pub(crate) fn connect(window: &impl HasWindowHandle) -> Option<Self> {
            let window = match window.window_handle().ok()?.as_raw() {
                RawWindowHandle::Xlib(handle) => handle.window as xproto::Window,
                RawWindowHandle::Xcb(handle) => handle.window.get(),
                _ => return None,
            };
            let connection = stream::connect().ok()?;
            Self::with(connection, window).unwrap_or_else(|error| {
                tracing::debug!(%error, "the window takes no small parts of pictures");
                None
            })
        }

        fn with(
            connection: RustConnection<PromptStream>,
            window: xproto::Window,
        ) -> Result<Option<Self>, ReplyOrIdError> {
            if connection.extension_information(shm::X11_EXTENSION_NAME)?.is_none() {
                return Ok(None);
            }
            let segment = connection.generate_id()?;
            connection.shm_create_segment(segment, 4096, false)?.reply()?;
            connection.shm_detach(segment)?.ignore_error();
            let depth = connection.get_geometry(window)?.reply()?.depth;
            let setup = connection.setup();
            let is_little = setup.image_byte_order == xproto::ImageOrder::LSB_FIRST;
            let fits =
                |format: &xproto::Format| format.depth == depth && format.bits_per_pixel == 32;
            if is_little != cfg!(target_endian = "little") || !setup.pixmap_formats.iter().any(fits)
            {
                return Ok(None);
            }
            let gc = connection.generate_id()?;
            connection.create_gc(gc, window, &xproto::CreateGCAux::new())?.check()?;
            let pixels = Vec::new();
            Ok(Some(Self { connection, window, gc, depth, under_way: 0, pixels }))
        }

        /// Whether so many bytes are in transit that the next [`Parts::put`] waits for the server.
        pub(crate) fn are_many(&self) -> bool {
            self.under_way > UNDER_WAY
        }

        /// Sends small parts of a picture that has `width` pixels per row. Returns before the window shows them.
        pub(crate) fn put(
            &mut self,
            picture: &[u32],
            width: u32,
            parts: &[PixelRect],
        ) -> Result<(), ReplyError> {
            if self.are_many() {
                self.settle()?;
            }
            Ok(self.send(picture, width as usize, parts)?)
        }

        fn send(
            &mut self,
            picture: &[u32],
            width: usize,
            parts: &[PixelRect],
        ) -> Result<(), ConnectionError> {
            for part in parts {
                self.pixels.clear();
                let rows = picture.chunks_exact(width).skip(part.y as usize);
                for row in rows.take(part.height as usize) {
                    let start = part.x as usize;
                    self.pixels.extend_from_slice(&row[start..start + part.width as usize]);
                }
                self.under_way += REQUEST + size_of_val(self.pixels.as_slice());
                let put = self.connection.put_image(
                    xproto::ImageFormat::Z_PIXMAP,
                    self.window,
                    self.gc,
                    part.width as u16,
                    part.height as u16,
                    part.x as i16,
                    part.y as i16,
                    0,
                    self.depth,
                    bytemuck::cast_slice(&self.pixels),
                )?;
                put.ignore_error();
            }
            self.connection.flush()
        }

        /// Waits until the window shows everything that was sent, so that requests of other connections are executed
        /// later.
        pub(crate) fn settle(&mut self) -> Result<(), ReplyError> {
            if self.under_way > 0 {
                self.connection.get_input_focus()?.reply()?;
                self.under_way = 0;
                // The server reports keyboard changes to every connection. Discard them.
                while self.connection.poll_for_event()?.is_some() {}
            }
            Ok(())
        }
    }
}

/// Never constructed, because this platform has no X server.
#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(crate) enum Parts {}

#[cfg(not(all(unix, not(target_os = "macos"))))]
impl Parts {
    pub(crate) fn connect(_: &impl raw_window_handle::HasWindowHandle) -> Option<Self> {
        None
    }

    pub(crate) fn are_many(&self) -> bool {
        match *self {}
    }

    pub(crate) fn put(
        &mut self,
        _: &[u32],
        _: u32,
        _: &[PixelRect],
    ) -> Result<(), std::convert::Infallible> {
        match *self {}
    }

    pub(crate) fn settle(&mut self) -> Result<(), std::convert::Infallible> {
        match *self {}
    }
}
