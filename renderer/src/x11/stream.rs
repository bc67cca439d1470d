//! A connection to the X server that writes at once, without polling first whether the server accepts a request.

use std::{
    io::{ErrorKind, IoSlice, Result},
    sync::atomic::{AtomicBool, Ordering},
};

use x11rb::{
    errors::ConnectError,
    reexports::x11rb_protocol::{parse_display::parse_display, xauth::get_auth},
    rust_connection::{DefaultStream, PollMode, RustConnection, Stream},
    utils::RawFdContainer,
};

/// Connects to the display of this session, like [`x11rb::connect`].
pub(super) fn connect() -> std::result::Result<RustConnection<PromptStream>, ConnectError> {
    let display = parse_display(None)?;
    let mut failure = ConnectError::UnknownError;
    for address in display.connect_instruction() {
        match DefaultStream::connect(&address) {
            Ok((stream, (family, host))) => {
                let stream = PromptStream { stream, is_full: AtomicBool::new(false) };
                // Connect even without an authorization key.
                let auth = get_auth(family, &host, display.display).ok().flatten();
                let (name, data) = auth.unwrap_or_default();
                let screen = display.screen.into();
                return RustConnection::connect_to_stream_with_auth_info(
                    stream, screen, name, data,
                );
            }
            Err(error) => failure = error.into(),
        }
    }
    Err(failure)
}

/// A stream that counts as writable until a write fails.
pub(super) struct PromptStream {
    stream: DefaultStream,
    /// Whether the last write returned `WouldBlock`.
    is_full: AtomicBool,
}

impl PromptStream {
    fn note(&self, written: Result<usize>) -> Result<usize> {
        let is_full = written.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
        if is_full {
            self.is_full.store(true, Ordering::Relaxed);
        }
        written
    }
}

impl Stream for PromptStream {
    fn poll(&self, mode: PollMode) -> Result<()> {
        // Report that writing is possible without polling. If the write then fails, x11rb polls again.
        let may_write = matches!(mode, PollMode::ReadAndWritable);
        if may_write && !self.is_full.swap(false, Ordering::Relaxed) {
            return Ok(());
        }
        self.stream.poll(mode)
    }

    fn read(&self, into: &mut [u8], files: &mut Vec<RawFdContainer>) -> Result<usize> {
        self.stream.read(into, files)
    }

    fn write(&self, bytes: &[u8], files: &mut Vec<RawFdContainer>) -> Result<usize> {
        self.note(self.stream.write(bytes, files))
    }

    fn write_vectored(
        &self,
        parts: &[IoSlice<'_>],
        files: &mut Vec<RawFdContainer>,
    ) -> Result<usize> {
        self.note(self.stream.write_vectored(parts, files))
    }
}
