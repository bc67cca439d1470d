//! A pane's journal, from which the next owner of the pane rebuilds the pane's terminal.
//!
//! The journal is memory that the keeper and the pane's owner share (memfd_create(2)), with a fixed size. It contains a
//! checkpoint, which is a text that rebuilds the terminal, and the output that was read since. The owner reads output of
//! the pty directly into that memory, so no output is lost if the owner is killed, not even during a read. While a pane
//! has no owner, the keeper itself reads the output ([`Drain`]).
//!
//! Owns the layout of the memory, and the checks of a journal that another process has written. Does not depend on
//! terminals: checkpoints are bytes, and marks are numbers.

mod drain;
mod error;
mod file;
mod layout;
mod memory;
mod owner;
mod recover;

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, ftruncate, memfd_create},
    process::{Resource, getrlimit},
};

pub(crate) use drain::Drain;
pub use error::JournalError;
pub use layout::{MAX_CHECKPOINT, MAX_LOG, MAX_MARKS, PIECE};
pub use owner::{Due, Journal};
pub use recover::{Mark, Recovered};

/// The seals that a journal must have. Without them, another process could shorten the memory while this process uses it,
/// which ends this process (SIGBUS).
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW);

/// The type of the file system that contains memory of memfd_create(2) with pages of the usual size (statfs(2)). Huge
/// pages can run out, which also ends a process that uses them.
const TMPFS: u64 = 0x0102_1994;

/// Creates the memory of an empty journal. Its pages are allocated when they are written.
///
/// # Errors
/// If the system has no such memory, or limits the size of files.
pub(crate) fn create() -> io::Result<OwnedFd> {
    let size = layout::SIZE as u64;
    // A file that exceeds the limit would end this process (SIGXFSZ).
    if getrlimit(Resource::Fsize).current.is_some_and(|limit| limit < size) {
        return Err(io::Error::other("the size of files is limited"));
    }
    let fd = memfd_create("unterm-journal", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    ftruncate(&fd, size)?;
    fcntl_add_seals(&fd, SEALS | SealFlags::SEAL)?;
    rustix::io::pwrite(&fd, &layout::Header::new().to_bytes(), 0)?;
    Ok(fd)
}

/// Checks that no process can change the size of a journal, and that it has the right size.
fn check_memory(fd: impl AsFd) -> Result<(), JournalError> {
    let damaged = |text: &str| Err(JournalError::Damaged(text.to_owned()));
    if rustix::fs::fstatfs(&fd)?.f_type as u64 != TMPFS {
        return damaged("it is no memory with pages of the usual size");
    }
    if !fcntl_get_seals(&fd).is_ok_and(|seals| seals.contains(SEALS)) {
        return damaged("its size is not sealed");
    }
    let size = rustix::fs::fstat(&fd)?.st_size;
    if u64::try_from(size) != Ok(layout::SIZE as u64) {
        return Err(JournalError::Damaged(format!("it has {size} bytes, not {}", layout::SIZE)));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
