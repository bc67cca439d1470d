//! A function that runs when the process ends by `exit`, even if a library calls `exit`. Xlib does so when its
//! connection breaks.

use std::sync::OnceLock;

static CALL: OnceLock<fn()> = OnceLock::new();

/// Calls a function when the process exits, unless a signal ends the process. Only the first call registers its
/// function. Returns whether this call did.
pub fn at_exit(call: fn()) -> bool {
    extern "C" fn run() {
        if let Some(call) = CALL.get() {
            call();
        }
    }
    // SAFETY: `run` takes no arguments and is never unloaded while the process runs.
    CALL.set(call).is_ok() && unsafe { libc::atexit(run) } == 0
}
