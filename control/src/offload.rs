//! Runs blocking work and long work outside the async workers.

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

/// The maximum number of futures of [`LongPolls`] that are polled at the same time, in the whole process.
const MOST_LONG: usize = 2;

/// The permits to poll such futures.
static LONG: Semaphore = Semaphore::const_new(MOST_LONG);

/// Runs work that may block, such as starting or ending a program, on a blocking thread.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Error::Panicked(error.to_string()))
}

/// Polls a future outside the async workers as long as `is_long` returns true. It returns true when a poll may take
/// long, such as while a long message is parsed.
pub(crate) async fn long_polls<F: Future>(
    future: F,
    is_long: impl Fn() -> bool + Unpin,
) -> F::Output {
    let future = pin!(future);
    LongPolls { future, is_long, permit: None }.await
}

type Permit = Pin<Box<dyn Future<Output = Option<SemaphorePermit<'static>>> + Send>>;

/// The future that [`long_polls`] waits for.
struct LongPolls<F, L> {
    future: F,
    is_long: L,
    /// The wait for the permit for the next poll.
    permit: Option<Permit>,
}

impl<F: Future + Unpin, L: Fn() -> bool + Unpin> Future for LongPolls<F, L> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { future, is_long, permit } = self.get_mut();
        // `block_in_place` needs other worker threads. It panics in a runtime with one thread, whose other tasks could
        // not move to another worker.
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
        // The runtime has one worker. Each of these futures would block it.
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
