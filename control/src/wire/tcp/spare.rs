//! Refusing connections for which there is no descriptor, in the words of the wire that they came to.

use std::{
    fs::File,
    future::poll_fn,
    io::{self, Read, Write},
    task::Poll,
};

use rustix::io::Errno;
use tokio::net::TcpListener;

/// What a client is told for whom no descriptor is left.
pub const FULL: &str = "This Unterm has too many files and connections open to take another. Close some, or start it \
                        with a higher limit (ulimit -n)";

/// A descriptor that is kept for those who come when there is no other: they are told so, and not left to wait.
pub struct Spare(Option<File>);

impl Default for Spare {
    fn default() -> Self {
        Self(File::open("/dev/null").ok())
    }
}

impl Spare {
    /// Sends `told` to one who waits, and no more, if anybody does and this is why they can't be accepted. False: it could
    /// not be tried, or did not work.
    pub async fn refuse(&mut self, listener: &TcpListener, why: &io::Error, told: &[u8]) -> bool {
        if !matches!(Errno::from_io_error(why), Some(Errno::MFILE | Errno::NFILE)) {
            return false;
        }
        let had_one = self.0.take().is_some();
        let accepted = poll_fn(|context| Poll::Ready(listener.poll_accept(context))).await;
        let is_done = match accepted {
            Poll::Ready(Ok((stream, _))) => {
                stream.into_std().and_then(|stream| tell(stream, told)).is_ok()
            }
            Poll::Ready(Err(_)) => false,
            // Nobody waits: the system looks for a descriptor first.
            Poll::Pending => true,
        };
        *self = Self::default();
        had_one && is_done
    }
}

/// Says why, and closes the connection. What the client has sent is read: it would be reset otherwise, and the refusal lost.
fn tell(mut stream: std::net::TcpStream, told: &[u8]) -> io::Result<()> {
    stream.write_all(told)?;
    let mut sent = [0; 4096];
    // It does not block, and ends where nothing more has come.
    for _ in 0..16 {
        if !matches!(stream.read(&mut sent), Ok(count) if count > 0) {
            break;
        }
    }
    Ok(())
}
