//! Returns the memory of closed panes to the system.
//!
//! The C library keeps what was freed for later, most of all what threads that have ended freed: of a pane with a long
//! history that is most of it. It has to be asked to let go, once for all panes that are freed at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::process::release_memory;

/// Owners that are being dropped now.
static DROPPING: AtomicUsize = AtomicUsize::new(0);

/// The last field of a struct that owns much memory: dropped after all others, it returns what they freed.
#[derive(Debug, Default)]
pub(crate) struct ReturnMemory(());

impl ReturnMemory {
    /// The owner's own `drop` has begun; its fields follow.
    pub(crate) fn begin(&self) {
        DROPPING.fetch_add(1, Ordering::AcqRel);
    }
}

impl Drop for ReturnMemory {
    fn drop(&mut self) {
        if DROPPING.fetch_sub(1, Ordering::AcqRel) == 1 {
            release_memory();
        }
    }
}
