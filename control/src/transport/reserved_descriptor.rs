//! If no file descriptor is left for a connection, refuses the connection with a message in the client's dialect.

use std::{fs::File, future::poll_fn, io, task::Poll};

use rustix::io::Errno;

use super::listener::{Listener, send_last_message};

/// Spare file descriptors. When the process has no other descriptor left, a spare descriptor is used to accept and
/// refuse a client. Without it, the client would wait forever. There are several, because another thread may open a
/// file at the same moment.
pub struct ReservedDescriptor(Vec<File>);

/// The number of spare descriptors.
const SPARES: usize = 4;

impl Default for ReservedDescriptor {
    fn default() -> Self {
        Self((0..SPARES).map_while(|_| File::open("/dev/null").ok()).collect())
    }
}

impl ReservedDescriptor {
    /// Accepts a waiting client, if there is one, and sends it `message`. Returns false if the error `why` has another
    /// cause, or if the attempt failed.
    pub async fn refuse<L: Listener>(
        &mut self,
        listener: &L,
        why: &io::Error,
        message: &[u8],
    ) -> bool {
        if !matches!(Errno::from_io_error(why), Some(Errno::MFILE | Errno::NFILE)) {
            return false;
        }
        let had_one = !std::mem::take(&mut self.0).is_empty();
        let accepted = poll_fn(|context| Poll::Ready(listener.poll_accept(context))).await;
        let is_done = match accepted {
            Poll::Ready(Ok(stream)) => {
                L::into_std(stream).and_then(|stream| send_last_message(stream, message)).is_ok()
            }
            Poll::Ready(Err(_)) => false,
            // No client is waiting. `accept` failed nevertheless, because it checks for a free descriptor first.
            Poll::Pending => true,
        };
        *self = Self::default();
        had_one && is_done
    }
}
