//! The memory of a journal in this process.
//!
//! Owns the mapping and all access to it. Other processes may change the memory at any time, so nothing here creates a
//! reference to it: contents are copied.

use std::{
    io,
    os::fd::{AsFd, AsRawFd as _},
    ptr::NonNull,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::io::Errno;

use super::layout::{HEADER, SIZE};

/// The mapping of a journal whose size is sealed.
#[derive(Debug)]
pub(super) struct Memory(NonNull<u8>);

// SAFETY: the mapping belongs to no thread. All access copies, or is atomic.
unsafe impl Send for Memory {}

impl Memory {
    /// Maps a journal. The caller must have checked its size and its seals.
    pub(super) fn map(fd: impl AsFd) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let fd = fd.as_fd().as_raw_fd();
        // SAFETY: the system chooses the address, so no memory of this process is replaced.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), SIZE, protection, libc::MAP_SHARED, fd, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        NonNull::new(start.cast()).map(Self).ok_or_else(|| io::Error::other("no address"))
    }

    /// The address of `len` bytes at an offset.
    fn address(&self, at: usize, len: usize) -> *mut u8 {
        assert!(at <= SIZE && len <= SIZE - at, "{at} and {len} are outside of the journal");
        // SAFETY: the offset is within the mapping.
        unsafe { self.0.as_ptr().add(at) }
    }

    /// Copies bytes out of the journal.
    pub(super) fn read(&self, at: usize, bytes: &mut [u8]) {
        let from = self.address(at, bytes.len());
        // SAFETY: `address` has checked the range, and `bytes` is outside of the mapping.
        unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len()) };
    }

    /// Copies bytes into the journal.
    pub(super) fn write(&self, at: usize, bytes: &[u8]) {
        let to = self.address(at, bytes.len());
        // SAFETY: `address` has checked the range, and `bytes` is outside of the mapping.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
    }

    /// Sets bytes to zero.
    pub(super) fn clear(&self, at: usize, len: usize) {
        let to = self.address(at, len);
        // SAFETY: `address` has checked the range.
        unsafe { std::ptr::write_bytes(to, 0, len) };
    }

    /// Stores a number of the header, after everything that this thread has written before.
    pub(super) fn store(&self, at: usize, number: u64) {
        assert!(at.is_multiple_of(8) && at < HEADER);
        let to = self.address(at, 8).cast::<u64>();
        // SAFETY: the range was checked, and it is aligned: the mapping is aligned to a page.
        unsafe { AtomicU64::from_ptr(to) }.store(number, Ordering::Release);
    }

    /// Reads from a descriptor into the journal (read(2)).
    pub(super) fn read_from(
        &self,
        source: impl AsFd,
        at: usize,
        len: usize,
    ) -> Result<usize, Errno> {
        let to = self.address(at, len);
        let source = source.as_fd().as_raw_fd();
        loop {
            // SAFETY: `address` has checked the range.
            let count = unsafe { libc::read(source, to.cast(), len) };
            if let Ok(count) = usize::try_from(count) {
                return Ok(count);
            }
            match Errno::from_io_error(&io::Error::last_os_error()) {
                Some(Errno::INTR) => {}
                error => return Err(error.unwrap_or(Errno::IO)),
            }
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: nothing refers to the mapping any more.
        unsafe { libc::munmap(self.0.as_ptr().cast(), SIZE) };
    }
}
