//! A blocking stream to an instance, for example for the relay of the Model Context Protocol.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpStream},
    os::unix::net::UnixStream,
};

/// A stream to an instance.
#[derive(Debug)]
pub enum BlockingStream {
    /// A connection to the instance's port.
    Tcp(TcpStream),
    /// A connection to the instance's Unix socket.
    Unix(UnixStream),
}

impl BlockingStream {
    /// Creates another handle of this stream.
    ///
    /// # Errors
    /// The operating system can't duplicate the handle.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
        })
    }

    /// Ends the stream for all its handles.
    ///
    /// # Errors
    /// The operating system can't shut the stream down.
    pub fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.shutdown(how),
            Self::Unix(stream) => stream.shutdown(how),
        }
    }
}

impl Read for &BlockingStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            BlockingStream::Tcp(stream) => (&*stream).read(buffer),
            BlockingStream::Unix(stream) => (&*stream).read(buffer),
        }
    }
}

impl Write for &BlockingStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            BlockingStream::Tcp(stream) => (&*stream).write(bytes),
            BlockingStream::Unix(stream) => (&*stream).write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for BlockingStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }
}

impl Write for BlockingStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
