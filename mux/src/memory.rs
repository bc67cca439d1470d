//! Returns the memory of closed panes to the system.
//!
//! The C library keeps freed memory for later allocations, most of all memory that exited threads freed, such as a
//! pane's history. It returns that memory on request, once for all panes that are dropped at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::process::release_memory;

/// Number of owners being dropped.
static DROPPING: AtomicUsize = AtomicUsize::new(0);

/// The last field of a struct that owns much memory. Dropped after all other fields, it returns their memory to the
/// system.
#[derive(Debug, Default)]
pub(crate) struct ReturnMemory(());

impl ReturnMemory {
    /// The owner's `drop` calls this first; the fields are dropped next.
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
