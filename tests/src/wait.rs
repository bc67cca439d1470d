//! Waiting for something that another process does.

use std::{
    cell::RefCell,
    fmt::Debug,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

/// How long a test waits for what should come at once. Long, since the machine may be busy: it bounds a hang and judges
/// no speed.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Asks `probe` until it has an answer. The only loop of its kind here: document 1's wire has no notifications, so what
/// another process did can only be asked for.
///
/// # Errors
///
/// `probe`'s own error, at once; or, after [`PATIENCE`], one that names `what` did not come and what `describe` last saw.
pub fn wait_for<T>(
    what: &str,
    mut probe: impl FnMut() -> Result<Option<T>>,
    describe: impl FnOnce() -> String,
) -> Result<T> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = probe().with_context(|| format!("while waiting for {what}"))? {
            return Ok(answer);
        }
        if Instant::now() > deadline {
            bail!("{what} did not come within {PATIENCE:?}\n{}", describe());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Reads something until it is as `is_there` wants it, and gives it.
///
/// # Errors
///
/// `read`'s own error, at once; or, after [`PATIENCE`], one that names `what` did not come and shows what was there last.
pub fn wait_until<T: Debug>(
    what: &str,
    mut read: impl FnMut() -> Result<T>,
    is_there: impl Fn(&T) -> bool,
) -> Result<T> {
    let last = RefCell::new(None);
    wait_for(
        what,
        || {
            let now = read()?;
            if is_there(&now) {
                return Ok(Some(now));
            }
            *last.borrow_mut() = Some(now);
            Ok(None)
        },
        || last.take().map_or_else(String::new, |last| format!("there was {last:?}")),
    )
}
