//! The memory of a journal in this process.
//!
//! Owns the mapping and all access to it. Other processes may change the memory at any time, so nothing here creates a
//! reference to it: contents are copied.
//!
//! A process that touches a page for which the system has no memory is ended (SIGBUS). So this module touches only pages
//! of the header, which exist from the start, and pages that [`Memory::allocate`] has allocated. Everything else goes
//! through pread(2) and pwrite(2), which return an error instead.

use std::{
    io,
    os::fd::{AsFd, AsRawFd as _, OwnedFd},
    ptr::NonNull,
    sync::atomic::{AtomicU64, Ordering},
};

use rustix::{
    fs::{FallocateFlags, fallocate},
    io::Errno,
};

use super::{
    file,
    layout::{HEADER, SIZE},
};

/// A journal whose size is sealed, and its mapping.
#[derive(Debug)]
pub(super) struct Memory {
    start: NonNull<u8>,
    fd: OwnedFd,
}

// SAFETY: the mapping belongs to no thread. All access copies, or is atomic.
unsafe impl Send for Memory {}

impl Memory {
    /// Maps a journal. The caller must have checked its size and its seals.
    pub(super) fn map(fd: OwnedFd) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let raw = fd.as_raw_fd();
        // SAFETY: the system chooses the address, so no memory of this process is replaced.
        let start =
            unsafe { libc::mmap(std::ptr::null_mut(), SIZE, protection, libc::MAP_SHARED, raw, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("no address"))?;
        Ok(Self { start, fd })
    }

    /// Allocates the pages of a range. Their contents do not change.
    ///
    /// # Errors
    /// If the system has no memory.
    pub(super) fn allocate(&self, at: usize, len: usize) -> Result<(), Errno> {
        let allocate = || fallocate(&self.fd, FallocateFlags::KEEP_SIZE, at as u64, len as u64);
        file::uninterrupted(allocate)
    }

    /// Gives the whole pages of a range back to the system. They then contain zeros. Returns false if the system refuses.
    pub(super) fn free(&self, at: usize, len: usize) -> bool {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&self.fd, flags, at as u64, len as u64).is_ok()
    }

    /// Makes the system refuse to allocate and to write, as if it had no memory.
    #[cfg(test)]
    pub(super) fn exhaust(&mut self) {
        let path = format!("/proc/self/fd/{}", self.fd.as_raw_fd());
        self.fd = std::fs::File::open(path).unwrap().into();
    }

    /// The address of `len` bytes at an offset.
    fn address(&self, at: usize, len: usize) -> *mut u8 {
        assert!(at <= SIZE && len <= SIZE - at, "{at} and {len} are outside of the journal");
        // SAFETY: the offset is within the mapping.
        unsafe { self.start.as_ptr().add(at) }
    }

    /// Copies bytes out of the journal.
    ///
    /// # Errors
    /// If the system cannot read them.
    pub(super) fn read(&self, at: usize, bytes: &mut [u8]) -> Result<(), Errno> {
        file::read_all(&self.fd, at, bytes)
    }

    /// Copies bytes out of pages that were allocated, without a system call.
    pub(super) fn copy(&self, at: usize, bytes: &mut [u8]) {
        let from = self.address(at, bytes.len());
        // SAFETY: `address` has checked the range, and `bytes` is outside of the mapping.
        unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), bytes.len()) };
    }

    /// Copies bytes into the journal.
    ///
    /// # Errors
    /// If the system has no memory.
    pub(super) fn write(&self, at: usize, bytes: &[u8]) -> Result<(), Errno> {
        file::write_all(&self.fd, at, bytes)
    }

    /// Sets bytes to zero, in pages that were allocated.
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

    /// Reads from a descriptor into pages that were allocated (read(2)).
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
        unsafe { libc::munmap(self.start.as_ptr().cast(), SIZE) };
    }
}
