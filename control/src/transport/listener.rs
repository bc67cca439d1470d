//! Sockets that listen, over TCP and of the Unix kind.

use std::{
    io,
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream, UnixListener, UnixStream, tcp, unix},
};

use crate::dialect::contract::Refusal;

/// A socket that listens.
pub trait Listener: Send + Sync + 'static {
    /// A connection.
    type Stream: Send + 'static;
    /// The half of it that the client writes.
    type Reader: AsyncRead + Send + Unpin + 'static;
    /// The half that the client reads.
    type Writer: AsyncWrite + Send + Unpin + 'static;

    /// The next connection.
    fn poll_accept(&self, context: &mut Context<'_>) -> Poll<io::Result<Self::Stream>>;

    /// Why the client of a connection is not served, if it is not.
    fn refusal(stream: &Self::Stream) -> Option<Refusal>;

    /// Both halves of a connection.
    fn split(stream: Self::Stream) -> (Self::Reader, Self::Writer);

    /// The connection as one that does not wait, for a few last words.
    fn into_std(stream: Self::Stream) -> io::Result<impl io::Read + io::Write>;
}

/// Says the last words of a connection, and closes it. What the client has sent is read: the connection would be reset
/// otherwise, and the words lost.
pub fn say(mut stream: impl io::Read + io::Write, words: &[u8]) -> io::Result<()> {
    stream.write_all(words)?;
    let mut sent = [0; 4096];
    // It does not block, and ends where nothing more has come.
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

    /// The file's mode keeps other users out already; this holds where it was changed, and for root.
    fn refusal(stream: &UnixStream) -> Option<Refusal> {
        let own = rustix::process::geteuid().as_raw();
        let is_own = stream.peer_cred().is_ok_and(|peer| peer.uid() == own);
        (!is_own).then_some(Refusal::OtherUser)
    }

    fn split(stream: UnixStream) -> (unix::OwnedReadHalf, unix::OwnedWriteHalf) {
        stream.into_split()
    }

    fn into_std(stream: UnixStream) -> io::Result<impl io::Read + io::Write> {
        stream.into_std()
    }
}
