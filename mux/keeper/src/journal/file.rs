//! Access to the memory of a journal as a file, which returns an error if the system has no memory.

use std::os::fd::OwnedFd;

use rustix::io::{Errno, pread, pwrite};

/// Repeats a system call until no signal interrupts it.
pub(super) fn uninterrupted<T>(mut call: impl FnMut() -> Result<T, Errno>) -> Result<T, Errno> {
    loop {
        match call() {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

/// Reads bytes at an offset. Allocates nothing.
pub(super) fn read_all(journal: &OwnedFd, at: usize, mut bytes: &mut [u8]) -> Result<(), Errno> {
    let mut at = at as u64;
    while !bytes.is_empty() {
        match uninterrupted(|| pread(journal, &mut *bytes, at))? {
            0 => return Err(Errno::IO),
            count => {
                at += count as u64;
                bytes = &mut bytes[count..];
            }
        }
    }
    Ok(())
}

/// Writes bytes at an offset.
///
/// # Errors
/// If the system has no memory.
pub(super) fn write_all(journal: &OwnedFd, at: usize, mut bytes: &[u8]) -> Result<(), Errno> {
    let mut at = at as u64;
    while !bytes.is_empty() {
        match uninterrupted(|| pwrite(journal, bytes, at))? {
            0 => return Err(Errno::IO),
            count => {
                at += count as u64;
                bytes = &bytes[count..];
            }
        }
    }
    Ok(())
}
