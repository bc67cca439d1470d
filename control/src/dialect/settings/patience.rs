//! A connection that closes if the client stops reading. Without this, a client that sends requests and never reads the
//! responses would occupy a connection forever.

use std::{
    future::Future,
    io::{Error, ErrorKind, Result},
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpStream,
    time::{Sleep, sleep},
};

/// The maximum time that a write may wait for the client.
const PATIENCE: Duration = Duration::from_secs(10);

/// The underlying connection.
pub struct Patient {
    io: TokioIo<TcpStream>,
    /// The timer of the waiting write, if a write is waiting.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Patient {
    /// Wraps a connection.
    pub fn new(stream: TcpStream) -> Self {
        Self { io: TokioIo::new(stream), waiting: None }
    }

    fn bounded<T>(&mut self, context: &mut Context<'_>, done: Poll<Result<T>>) -> Poll<Result<T>> {
        if done.is_ready() {
            self.waiting = None;
            return done;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(PATIENCE)));
        ready!(waiting.as_mut().poll(context));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the other end does not read")))
    }
}

impl Read for Patient {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<Result<()>> {
        Pin::new(&mut self.io).poll_read(context, buffer)
    }
}

impl Write for Patient {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let done = Pin::new(&mut self.io).poll_write(context, bytes);
        self.bounded(context, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[std::io::IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let done = Pin::new(&mut self.io).poll_write_vectored(context, bytes);
        self.bounded(context, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let done = Pin::new(&mut self.io).poll_flush(context);
        self.bounded(context, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let done = Pin::new(&mut self.io).poll_shutdown(context);
        self.bounded(context, done)
    }
}
