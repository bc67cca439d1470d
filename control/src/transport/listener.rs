//! Listening sockets: TCP and Unix.

use std::{
    io,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream, UnixListener, UnixStream, tcp, unix},
};

use crate::transport::contract::Refusal;

/// A listening socket.
pub trait Listener: Send + Sync + 'static {
    /// A connection.
    type Stream: Send + 'static;
    /// The half of a connection that reads what the client sends.
    type Reader: AsyncRead + Send + Unpin + 'static;
    /// The half of a connection that writes to the client.
    type Writer: AsyncWrite + Send + Unpin + 'static;

    /// Accepts the next connection.
    fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<Self::Stream>>;

    /// The reason to refuse a client. `None` if the client is accepted.
    fn refusal(stream: &Self::Stream) -> Option<Refusal>;

    /// The process that connected, if the system reports it.
    fn process(_stream: &Self::Stream) -> Option<i32> {
        None
    }

    /// Splits a connection into its two halves.
    fn split(stream: Self::Stream) -> (Self::Reader, Self::Writer);

    /// The connection as a non-blocking `std` stream, for a last message.
    fn into_std(stream: Self::Stream) -> io::Result<impl io::Read + io::Write>;
}

/// Sends a last message, then reads what the client has sent and closes the connection. Closing a socket with unread
/// bytes would reset the connection, and the client would not receive the message.
pub fn send_last_message(mut stream: impl io::Read + io::Write, words: &[u8]) -> io::Result<()> {
    stream.write_all(words)?;
    let mut sent = [0; 4096];
    // The stream does not block, so the loop ends when no more input is available.
    for _ in 0..16 {
        if !matches!(stream.read(&mut sent), Ok(count) if count > 0) {
            break;
        }
    }
    Ok(())
}

impl Listener for TcpListener {
    type Stream = TcpStream;
    type Reader = tcp::OwnedReadHalf;
    type Writer = tcp::OwnedWriteHalf;

    fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<TcpStream>> {
        self.poll_accept(context).map_ok(|(stream, address)| {
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(%error, %address, "cannot set TCP_NODELAY");
            }
            stream
        })
    }

    fn refusal(_: &TcpStream) -> Option<Refusal> {
        None
    }

    fn split(stream: TcpStream) -> (tcp::OwnedReadHalf, tcp::OwnedWriteHalf) {
        stream.into_split()
    }

    fn into_std(stream: TcpStream) -> io::Result<impl io::Read + io::Write> {
        stream.into_std()
    }
}

impl Listener for UnixListener {
    type Stream = UnixStream;
    type Reader = unix::OwnedReadHalf;
    type Writer = unix::OwnedWriteHalf;

    fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<UnixStream>> {
        self.poll_accept(context).map_ok(|(stream, _)| stream)
    }

    /// The mode of the socket's file already excludes other users. This check is needed if the mode was changed, and
    /// for root.
    fn refusal(stream: &UnixStream) -> Option<Refusal> {
        let own = rustix::process::geteuid().as_raw();
        let is_own = stream.peer_cred().is_ok_and(|peer| peer.uid() == own);
        (!is_own).then_some(Refusal::OtherUser)
    }

    fn process(stream: &UnixStream) -> Option<i32> {
        stream.peer_cred().ok()?.pid()
    }

    fn split(stream: UnixStream) -> (unix::OwnedReadHalf, unix::OwnedWriteHalf) {
        stream.into_split()
    }

    fn into_std(stream: UnixStream) -> io::Result<impl io::Read + io::Write> {
        stream.into_std()
    }
}
