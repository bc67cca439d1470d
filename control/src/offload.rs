//! Runs blocking work off the async workers.

use crate::error::{Error, Result};

/// Runs what may take its time (starting and ending programs) outside of the workers.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|error| Error::Panicked(error.to_string()))
}
