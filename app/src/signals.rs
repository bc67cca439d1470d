//! SIGTERM, SIGINT and SIGHUP, handled on their own thread.

use anyhow::{Context, Result};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

/// Calls `stop` with the first signal that requests the end of the process. A second signal ends the process
/// immediately.
///
/// # Errors
/// Fails if the operating system provides no thread or no signals.
pub fn on_stop(stop: impl FnOnce(i32) + Send + 'static) -> Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).context("cannot wait for signals")?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            let mut arrived = signals.forever();
            let Some(signal) = arrived.next() else { return };
            stop(signal);
            if let Some(signal) = arrived.next() {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        })
        .context("cannot start the thread that waits for signals")?;
    Ok(())
}
