//! The server: its sessions, and the connections that share them.

use std::{future::Future, io, path::Path, sync::Arc};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::UnixListener,
    runtime::Handle,
};

use super::{
    adapters::Adapters, connection, error::Error, plugins::Plugins, request::failure,
    sessions::Sessions, slots::Slots,
};
use crate::{
    backend::Backend,
    caller::Caller,
    transport::{
        contract::Refusal,
        framing::{ContentLength, Framing, Lines},
        listen::accept,
        listener::{Listener, send_last_message},
        reserved_descriptor::ReservedDescriptor,
        stdio,
        unix::{self, SocketFile},
    },
};

/// The maximum number of connections.
const MOST_CONNECTIONS: usize = 64;

/// The way in which messages are framed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FramingKind {
    /// One JSON object per line.
    #[default]
    Ndjson,
    /// `Content-Length` headers, as in the Language Server Protocol.
    Lsp,
}

impl FramingKind {
    /// The name of the framing.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Lsp => "lsp",
        }
    }

    fn framed(self, mut message: Vec<u8>) -> Vec<u8> {
        let mut framed = Vec::new();
        match self {
            Self::Ndjson => Lines::frame(&mut message, &mut framed),
            Self::Lsp => ContentLength::frame(&mut message, &mut framed),
        }
        framed
    }
}

/// A server of the protocol.
pub struct Server {
    adapters: Arc<Adapters>,
    framing: FramingKind,
}

impl Server {
    /// Creates a server whose sessions are panes of a backend. `caller`: the caller of all calls to the backend.
    pub fn new(
        backend: Arc<dyn Backend>,
        caller: Caller,
        framing: FramingKind,
        plugins: Plugins,
    ) -> Self {
        let sessions = Sessions::new(backend, caller, plugins);
        Self { adapters: Adapters::new(sessions), framing }
    }

    /// Serves a client until its input has ended and every request is answered.
    pub async fn serve(
        &self,
        reader: impl AsyncRead + Send + Unpin,
        writer: impl AsyncWrite + Send + Unpin,
    ) {
        serve(self.adapters.clone(), self.framing, reader, writer).await;
    }

    /// Serves a client over blocking streams, such as the standard streams of this process. Returns once all replies
    /// are written.
    ///
    /// # Errors
    /// The system can't start a thread.
    pub async fn serve_blocking(
        &self,
        input: impl io::Read + Send + 'static,
        output: impl io::Write + Send + 'static,
    ) -> io::Result<()> {
        let carried = stdio::carry(&Handle::current(), input, output)?;
        self.serve(carried.reader, carried.writer).await;
        let written = tokio::task::spawn_blocking(move || carried.output.join());
        drop(written.await);
        Ok(())
    }

    /// Listens on a Unix socket, which only this user can connect to. The returned future serves clients as long as it
    /// is polled. Dropping it removes the socket.
    ///
    /// # Errors
    /// The socket can't be created: another process listens on it, the path is another kind of file, or other users
    /// could replace the socket.
    pub fn listen(&self, path: &Path) -> io::Result<impl Future<Output = ()> + use<>> {
        if path.as_os_str().as_encoded_bytes().starts_with(br"\\.\pipe\") {
            let why = "named pipes exist on Windows only; give the path of a Unix socket";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let (listener, file) = unix::bind_anywhere(path)?;
        let listener = UnixListener::from_std(listener)?;
        Ok(accept_all(listener, file, self.adapters.clone(), self.framing))
    }

    /// Closes all adapters and sessions.
    pub async fn close(&self) {
        self.adapters.close_all().await;
    }
}

async fn serve(
    adapters: Arc<Adapters>,
    framing: FramingKind,
    reader: impl AsyncRead + Unpin,
    writer: impl AsyncWrite + Unpin,
) {
    let name = framing.name();
    match framing {
        FramingKind::Ndjson => connection::serve::<Lines>(adapters, name, reader, writer).await,
        FramingKind::Lsp => {
            connection::serve::<ContentLength>(adapters, name, reader, writer).await;
        }
    }
}

async fn accept_all(
    listener: UnixListener,
    _file: SocketFile,
    adapters: Arc<Adapters>,
    framing: FramingKind,
) {
    let refusal = |error: &Error| framing.framed(failure(&serde_json::Value::Null, error));
    let full = refusal(&Error::internal(Refusal::Full.to_string()));
    let mut reserved = ReservedDescriptor::default();
    let slots = Slots::new(MOST_CONNECTIONS, "connections");
    loop {
        let stream = accept(&listener, &mut reserved, &full).await;
        let slot = match UnixListener::refusal(&stream) {
            Some(refusal) => Err(Error::internal(refusal.to_string())),
            None => slots.take(),
        };
        let slot = match slot {
            Ok(slot) => slot,
            Err(error) => {
                tracing::warn!(error.message, "refused a connection");
                let message = refusal(&error);
                let stream = <UnixListener as Listener>::into_std(stream);
                let _ = stream.and_then(|stream| send_last_message(stream, &message));
                continue;
            }
        };
        let (reader, writer) = UnixListener::split(stream);
        let adapters = adapters.clone();
        tokio::spawn(async move {
            let _slot = slot;
            serve(adapters, framing, reader, writer).await;
        });
    }
}
