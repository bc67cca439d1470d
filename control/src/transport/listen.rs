//! Sockets that listen: accepting, and what is served on each connection.

use std::{
    future::poll_fn,
    io,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream, UnixListener, UnixStream, tcp, unix},
};

use super::{
    connection::{self, Service},
    spare::Spare,
};
use crate::dialect::contract::{Dialect, Refusal};

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

/// The next connection of a listener. `full` is sent to those for whom no descriptor is left.
pub async fn accept<L: Listener>(listener: &L, spare: &mut Spare, full: &[u8]) -> L::Stream {
    loop {
        match poll_fn(|context| listener.poll_accept(context)).await {
            Ok(stream) => return stream,
            Err(error) => {
                tracing::warn!(%error, "cannot accept a connection");
                if !spare.refuse(listener, &error, full).await {
                    // There is no event that tells when it would do.
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}

/// Serves the connections of a listener for as long as it is polled.
pub async fn serve<L: Listener, D: Dialect>(listener: L, service: Arc<Service<D>>) {
    let mut spare = Spare::default();
    let full = service.refusal(&Refusal::Full);
    loop {
        let stream = accept(&listener, &mut spare, &full).await;
        if let Some(refusal) = L::refusal(&stream) {
            tracing::warn!(%refusal, "refused a connection");
            let refusal = service.refusal(&refusal);
            let _ = L::into_std(stream).and_then(|stream| say(stream, &refusal));
            continue;
        }
        let (reader, writer) = L::split(stream);
        tokio::spawn(connection::serve(reader, writer, service.clone()));
    }
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
