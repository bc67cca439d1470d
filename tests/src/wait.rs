//! Waits for the effects of other processes.

use std::{
    cell::RefCell,
    fmt::Debug,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};

/// The longest wait for something that should happen at once. It is long because the machine may be busy: it only ends
/// tests that hang, and does not judge speed.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Polls `probe` until it returns an answer. This is the only polling loop in the tests. Polling is necessary because
/// the control port sends no notifications.
///
/// # Errors
///
/// The error of `probe`, immediately. After [`PATIENCE`], an error that names `what` and contains the text from
/// `describe`.
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

/// Reads a value until `is_there` accepts it, and returns it.
///
/// # Errors
///
/// The error of `read`, immediately. After [`PATIENCE`], an error that names `what` and shows the last value.
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
