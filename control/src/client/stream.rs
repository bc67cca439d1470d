//! The stream to an instance: to its Unix socket, or to its port.

use std::{
    io,
    net::Ipv4Addr,
    path::Path,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use super::blocking_stream::BlockingStream;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, UnixStream},
};

/// The maximum time until an instance accepts a connection.
const CONNECT: Duration = Duration::from_secs(5);

/// A stream to an instance.
#[derive(Debug)]
pub enum Stream {
    /// A connection to the instance's port.
    Tcp(TcpStream),
    /// A connection to the instance's Unix socket.
    Unix(UnixStream),
}

impl Stream {
    /// Connects to a port of the loopback address.
    pub(super) async fn to_port(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port));
        let stream = tokio::time::timeout(CONNECT, stream).await??;
        stream.set_nodelay(true)?;
        Ok(Self::Tcp(stream))
    }

    /// Connects to a Unix socket.
    pub(super) async fn to_socket(path: &Path) -> io::Result<Self> {
        let stream = tokio::time::timeout(CONNECT, UnixStream::connect(path));
        Ok(Self::Unix(stream.await??))
    }

    /// Makes a later close of the stream reset the connection, and discard unsent data. The other end can then
    /// distinguish a closed client from a client that only stopped sending. A Unix socket needs no option for that.
    pub(super) fn reset_on_close(&self) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_zero_linger(),
            Self::Unix(_) => Ok(()),
        }
    }

    /// Converts the stream to one whose reads and writes block.
    ///
    /// # Errors
    /// The system can't change the mode of the stream.
    pub fn into_blocking(self) -> io::Result<BlockingStream> {
        Ok(match self {
            Self::Tcp(stream) => {
                let stream = stream.into_std()?;
                stream.set_nonblocking(false)?;
                BlockingStream::Tcp(stream)
            }
            Self::Unix(stream) => {
                let stream = stream.into_std()?;
                stream.set_nonblocking(false)?;
                BlockingStream::Unix(stream)
            }
        })
    }
}

/// Applies an expression to the stream, of either kind.
macro_rules! either {
    ($self:ident, $stream:ident => $body:expr) => {
        match $self.get_mut() {
            Self::Tcp(stream) => {
                let $stream = Pin::new(stream);
                $body
            }
            Self::Unix(stream) => {
                let $stream = Pin::new(stream);
                $body
            }
        }
    };
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        either!(self, stream => stream.poll_read(context, buffer))
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        either!(self, stream => stream.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        either!(self, stream => stream.poll_shutdown(context))
    }
}
