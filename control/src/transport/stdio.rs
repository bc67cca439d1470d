//! Uses blocking streams, such as the standard streams of a process, as a connection.

use std::{
    io::{Read, Write},
    thread,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream},
    runtime::Handle,
};

/// The maximum number of bytes that are buffered in each direction.
const BUFFER: usize = 64 << 10;

/// Non-blocking streams that stand for two blocking ones.
pub struct BridgedStreams {
    /// Reads the bytes that `input` reads.
    pub reader: DuplexStream,
    /// Writes the bytes that `output` writes.
    pub writer: DuplexStream,
    /// The thread that writes to `output`. It ends once the writer is dropped and all bytes are written.
    pub output: thread::JoinHandle<()>,
}

/// Returns non-blocking streams for `input` and `output`. For each, a thread copies bytes until its stream or the
/// connection ends. If the connection ends first, the thread of `input` notices that only when more bytes arrive.
///
/// # Errors
/// The system can't start a thread.
pub fn carry(
    runtime: &Handle,
    mut input: impl Read + Send + 'static,
    mut output: impl Write + Send + 'static,
) -> std::io::Result<BridgedStreams> {
    // Each direction has its own pipe, because the client may close one direction before the other.
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
    Ok(BridgedStreams { reader, writer, output })
}
