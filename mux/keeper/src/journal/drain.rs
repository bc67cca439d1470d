//! Reads the output of a pane without an owner into the pane's journal, so that the program continues.
//!
//! Owns the limit of that output: afterward, the program waits as soon as the kernel's buffer is full. Trusts nothing that
//! the last owner has written, and never maps the journal.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;

use super::{
    JournalError, check_memory,
    file::{read_all, write_all},
    layout::{self, HEADER, Header, MAX_LOG, PIECE, at},
    recover::interrupted,
};

/// The maximum length of the output that the keeper reads, in bytes.
const MAX_DRAINED: usize = 16 << 20;

/// The space at the end of the log that is left to the next owner.
const RESERVE: usize = 8 << 20;

/// The state of reading the output of one pane.
#[derive(Debug)]
pub(crate) struct Drain {
    header: Header,
    /// The number of bytes that may still be read.
    left: usize,
}

impl Drain {
    /// Continues the journal of an owner that is gone.
    ///
    /// # Errors
    /// If the journal is damaged.
    pub(crate) fn new(journal: &OwnedFd) -> Result<Self, JournalError> {
        check_memory(journal)?;
        let mut bytes = [0; HEADER];
        read_all(journal, 0, &mut bytes)?;
        let mut header = Header::from_bytes(&bytes)?;
        let at = header.log_len();
        let mut after = vec![0; PIECE.min(MAX_LOG - at)];
        read_all(journal, layout::log(header.slot()) + at, &mut after)?;
        header.committed += interrupted(&after) as u64;
        let left = MAX_DRAINED.min((MAX_LOG - RESERVE).saturating_sub(header.log_len()));
        let drain = Self { header, left };
        drain.commit(journal)?;
        Ok(drain)
    }

    /// Whether there is space for more output.
    pub(crate) fn has_room(&self) -> bool {
        self.left > 0
    }

    /// Reads one piece of output from the non-blocking `master`. Afterward, there is no room if no more output can come.
    pub(crate) fn step(&mut self, master: impl AsFd, journal: &OwnedFd) -> Result<(), Errno> {
        let mut buffer = [0; PIECE];
        let len = buffer.len().min(self.left);
        let count = match rustix::io::read(master, &mut buffer[..len]) {
            // No program has the terminal open any more.
            Ok(0) | Err(Errno::IO) => {
                self.left = 0;
                return Ok(());
            }
            Ok(count) => count,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(()),
            Err(error) => return Err(error),
        };
        self.left -= count;
        let log = layout::log(self.header.slot()) + self.header.log_len();
        write_all(journal, log, &buffer[..count])?;
        self.header.committed += count as u64;
        self.commit(journal)
    }

    /// Stores the length of the output, and clears the bytes after it, which the next owner must not mistake for output
    /// of an interrupted read.
    fn commit(&self, journal: &OwnedFd) -> Result<(), Errno> {
        let at = self.header.log_len();
        let zeros = [0; PIECE];
        let len = PIECE.min(MAX_LOG - at);
        write_all(journal, layout::log(self.header.slot()) + at, &zeros[..len])?;
        write_all(journal, at::COMMITTED, &self.header.committed.to_ne_bytes())
    }
}
