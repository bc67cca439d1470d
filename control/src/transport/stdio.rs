//! The standard streams of a process as a connection, or any other two that block.

use std::{
    io::{Read, Write},
    thread,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream},
    runtime::Handle,
};

/// Bytes on their way in either direction.
const BUFFER: usize = 64 << 10;

/// Streams that don't block: what comes from `input`, and what goes to `output`. A thread carries each, until its stream ends
/// or the connection does. That of the input notices the latter with the next bytes.
///
/// # Errors
/// When the system gives no threads.
pub fn carry(
    runtime: &Handle,
    mut input: impl Read + Send + 'static,
    mut output: impl Write + Send + 'static,
) -> std::io::Result<(DuplexStream, DuplexStream)> {
    // One for each direction: either end of one may go without the other.
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
    thread::Builder::new().name("unterm-output".to_owned()).spawn(move || {
        let mut buffer = vec![0; BUFFER];
        while let Ok(count @ 1..) = handle.block_on(from_server.read(&mut buffer)) {
            if output.write_all(&buffer[..count]).and_then(|()| output.flush()).is_err() {
                return;
            }
        }
    })?;
    Ok((reader, writer))
}
