//! Returns the memory of closed panes to the system.
//!
//! The C library keeps freed memory for later allocations, especially memory that exited threads freed, such as a
//! pane's history. It returns that memory only on request. One request serves all panes that are dropped at the same
//! time.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::process::release_memory;

/// The number of owners that are being dropped now.
static DROPPING: AtomicUsize = AtomicUsize::new(0);

/// Must be the last field of a struct that owns much memory, so that it is dropped last. It then returns the memory of
/// the other fields to the system.
#[derive(Debug, Default)]
pub(crate) struct ReturnMemory(());

impl ReturnMemory {
    /// The owner's `drop` calls this first. The owner's fields are dropped afterward.
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
