//! Runs blocking work, and work that takes long, off the async workers.

use std::{
    future::Future,
    pin::{Pin, pin},
    task::{Context, Poll, ready},
};

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::{Semaphore, SemaphorePermit},
    task::block_in_place,
};

use crate::error::{Error, Result};

/// The most futures of [`LongPolls`] that are polled at a time, in the whole process.
const MOST_LONG: usize = 2;

/// Permits to poll such a future.
static LONG: Semaphore = Semaphore::const_new(MOST_LONG);

/// Runs what may take its time (starting and ending programs) outside of the workers.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Error::Panicked(error.to_string()))
}

/// Polls a future off the workers while `is_long` says that a poll may take long, such as while it parses a long message.
pub(crate) async fn long_polls<F: Future>(
    future: F,
    is_long: impl Fn() -> bool + Unpin,
) -> F::Output {
    let future = pin!(future);
    LongPolls { future, is_long, permit: None }.await
}

type Permit = Pin<Box<dyn Future<Output = Option<SemaphorePermit<'static>>> + Send>>;

/// See [`long_polls`].
struct LongPolls<F, L> {
    future: F,
    is_long: L,
    /// Waits for the permit for the next poll.
    permit: Option<Permit>,
}

impl<F: Future + Unpin, L: Fn() -> bool + Unpin> Future for LongPolls<F, L> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { future, is_long, permit } = self.get_mut();
        // A runtime with one thread can't move its other tasks to another worker, so `block_in_place` panics there.
        let has_workers = || {
            Handle::try_current().is_ok_and(|of| of.runtime_flavor() == RuntimeFlavor::MultiThread)
        };
        if !is_long() || !has_workers() {
            return Pin::new(future).poll(context);
        }
        let waiting = permit.get_or_insert_with(|| Box::pin(async { LONG.acquire().await.ok() }));
        let _permit = ready!(waiting.as_mut().poll(context));
        *permit = None;
        block_in_place(|| Pin::new(future).poll(context))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, mpsc};

    use tokio::{sync::mpsc::unbounded_channel, task::yield_now};

    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn long_polls_leave_the_worker_free_and_are_limited_in_number() {
        let (begin, mut begun) = unbounded_channel();
        let (release, released) = mpsc::channel();
        let released = Arc::new(Mutex::new(released));
        let polls: Vec<_> = (0..MOST_LONG + 1)
            .map(|_| {
                let (begin, released) = (begin.clone(), released.clone());
                let work = async move {
                    begin.send(()).unwrap();
                    released.lock().unwrap().recv().unwrap();
                };
                tokio::spawn(long_polls(work, || true))
            })
            .collect();
        // There is one worker, which each of them would block.
        for _ in 0..MOST_LONG {
            begun.recv().await.unwrap();
        }
        tokio::spawn(async {
            for _ in 0..100 {
                yield_now().await;
            }
        })
        .await
        .unwrap();
        assert!(begun.try_recv().is_err(), "the next one waits");
        release.send(()).unwrap();
        begun.recv().await.unwrap();
        for _ in 0..MOST_LONG {
            release.send(()).unwrap();
        }
        for poll in polls {
            poll.await.unwrap();
        }
    }
}
