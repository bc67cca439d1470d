//! A function that runs when the process ends by `exit`, also if a library calls that. Xlib does if its connection breaks.

use std::sync::OnceLock;

static CALL: OnceLock<fn()> = OnceLock::new();

/// Calls a function when the process exits, unless a signal ends it. Only the first call has an effect. Returns whether it had.
pub fn at_exit(call: fn()) -> bool {
    extern "C" fn run() {
        if let Some(call) = CALL.get() {
            call();
        }
    }
    // SAFETY: `run` is a function without arguments that lasts as long as the process.
    CALL.set(call).is_ok() && unsafe { libc::atexit(run) } == 0
}
