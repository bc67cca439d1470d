//! Blocking streams, such as the standard streams of a process, as a connection.

use std::{
    io::{Read, Write},
    thread,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream},
    runtime::Handle,
};

/// The most bytes buffered in each direction.
const BUFFER: usize = 64 << 10;

/// Non-blocking streams for blocking ones.
pub struct Carried {
    /// What `input` yields.
    pub reader: DuplexStream,
    /// What goes to `output`.
    pub writer: DuplexStream,
    /// The thread that writes to `output`. Ends once everything is written and the writer is dropped.
    pub output: thread::JoinHandle<()>,
}

/// Returns non-blocking streams for `input` and `output`. A thread copies each, until its stream or the connection
/// ends. If the connection ends first, the input's thread notices only when more bytes arrive.
///
/// # Errors
/// The system can't start a thread.
pub fn carry(
    runtime: &Handle,
    mut input: impl Read + Send + 'static,
    mut output: impl Write + Send + 'static,
) -> std::io::Result<Carried> {
    // A separate pipe for each direction, because the client may close one before the other.
    let (reader, mut to_server) = tokio::io::duplex(BUFFER);
    let (mut from_server, writer) = tokio::io::duplex(BUFFER);
    let handle = runtime.clone();
    thread::Builder::new().name("unterm-input".to_owned()).spawn(move || {
        let mut buffer = vec![0; BUFFER];
        loop {
            match input.read(&mut buffer) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Ok(count) if count > 0 => {
                    if handle.block_on(to_server.write_all(&buffer[..count])).is_err() {
                        return;
                    }
                }
                _ => return,
            }
        }
    })?;
    let handle = runtime.clone();
    let output = thread::Builder::new().name("unterm-output".to_owned()).spawn(move || {
        let mut buffer = vec![0; BUFFER];
        while let Ok(count @ 1..) = handle.block_on(from_server.read(&mut buffer)) {
            if output.write_all(&buffer[..count]).and_then(|()| output.flush()).is_err() {
                return;
            }
        }
    })?;
    Ok(Carried { reader, writer, output })
}
