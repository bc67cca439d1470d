//! Refusing connections for which there is no descriptor, in the words of the dialect that they came to.

use std::{fs::File, future::poll_fn, io, task::Poll};

use rustix::io::Errno;

use super::listener::{Listener, say};

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
    pub async fn refuse<L: Listener>(
        &mut self,
        listener: &L,
        why: &io::Error,
        told: &[u8],
    ) -> bool {
        if !matches!(Errno::from_io_error(why), Some(Errno::MFILE | Errno::NFILE)) {
            return false;
        }
        let had_one = self.0.take().is_some();
        let accepted = poll_fn(|context| Poll::Ready(listener.poll_accept(context))).await;
        let is_done = match accepted {
            Poll::Ready(Ok(stream)) => {
                L::into_std(stream).and_then(|stream| say(stream, told)).is_ok()
            }
            Poll::Ready(Err(_)) => false,
            // Nobody waits: the system looks for a descriptor first.
            Poll::Pending => true,
        };
        *self = Self::default();
        had_one && is_done
    }
}
