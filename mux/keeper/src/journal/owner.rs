//! The journal in the process that owns the pane.

use std::{
    os::fd::{AsFd, OwnedFd},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use rustix::io::Errno;

use super::{
    JournalError, Mark, Recovered, check_memory,
    layout::{self, Header, MARK, MAX_CHECKPOINT, MAX_LOG, MAX_MARKS, PIECE, at, checksum},
    memory::Memory,
    recover::recover,
};

/// A checkpoint is due when the log has this length, in bytes, if the last checkpoint is short. A long log delays the
/// next owner.
const LOG: usize = 4 << 20;

/// A checkpoint is due when the log is this many times as long as the last checkpoint, so that checkpoints take only a
/// small part of the time.
const FACTOR: usize = 16;

/// A checkpoint is due when the log has this length, in bytes, while the program is silent.
const IDLE_LOG: usize = 256 << 10;

/// While the program is silent, a checkpoint is due when the log is this many times as long as the last checkpoint.
const IDLE_FACTOR: usize = 2;

/// The length of the logs of all journals of this process together, in bytes. A journal's log can exceed its share up to
/// [`LOG`], or up to the length of its checkpoint.
const BUDGET: usize = 512 << 20;

/// The number of journals of this process.
static JOURNALS: AtomicUsize = AtomicUsize::new(0);

/// The length of a log that is allocated at once, in bytes.
const ALLOCATED_AT_ONCE: usize = 64 << 10;

/// A checkpoint is due when there are this many marks.
const MANY_MARKS: usize = MAX_MARKS / 2;

/// The size of the smallest page in bytes.
const PAGE: usize = 4096;

/// The space at the end of the log that is left when a checkpoint is overdue.
const RESERVE: usize = 4 << 20;

/// Whether a checkpoint is necessary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Due {
    /// The last checkpoint is new enough.
    No,
    /// A checkpoint is due, at the next moment at which the terminal can be written as a whole.
    Soon,
    /// The journal is almost full. A checkpoint that misses the beginning of an unfinished sequence is better than no
    /// checkpoint.
    Now,
}

/// A pane's journal in the process that owns the pane. Any thread may call the methods. Only one thread may call
/// [`Journal::read`], and it may call [`Journal::checkpoint`] only if it has applied everything that it has read.
#[derive(Debug)]
pub struct Journal(Mutex<Owner>);

#[derive(Debug)]
struct Owner {
    memory: Memory,
    /// The header that this process has written. The shared header is never read again, because other processes may
    /// change it.
    header: Header,
    /// The beginning of each slot's log, up to which it may contain other bytes than zero.
    used: [usize; 2],
    /// The beginning of each slot's log whose pages are allocated.
    allocated: [usize; 2],
    /// The offset in the active log up to which everything after the committed output is zero.
    clean_to: usize,
    /// Whether the terminal has changed in a way that neither output nor marks describe.
    is_stale: bool,
    /// Whether output was read that is not in the journal.
    is_broken: bool,
}

impl Journal {
    /// Opens the journal of a pane that this process has received, and reads the contents that the last owner has
    /// written.
    ///
    /// # Errors
    /// If the journal is damaged, or the system refuses. No later owner can use the journal then, because it misses the
    /// output that this owner reads.
    pub fn open(fd: OwnedFd) -> Result<(Self, Recovered), JournalError> {
        check_memory(&fd)?;
        let spoiled = fd.try_clone().map_err(JournalError::Io)?;
        Self::open_checked(fd).inspect_err(|_| {
            let _ = rustix::io::pwrite(&spoiled, &0u64.to_ne_bytes(), at::VERSION as u64);
        })
    }

    fn open_checked(fd: OwnedFd) -> Result<(Self, Recovered), JournalError> {
        let memory = Memory::map(fd)?;
        memory.allocate(0, layout::HEADER)?;
        let mut bytes = [0; layout::HEADER];
        memory.read(0, &mut bytes)?;
        let mut header = Header::from_bytes(&bytes)?;
        let recovered = recover(&memory, &mut header)?;
        let is_new = header == Header::new();
        if !is_new {
            let (log, at) = (layout::log(header.slot()), header.log_len());
            memory.write(log + at, &[0; PIECE][..PIECE.min(MAX_LOG - at)])?;
        }
        memory.store(at::COMMITTED, header.committed);
        let clean_to = header.log_len() + if is_new { 0 } else { PIECE };
        // Other processes may have written anywhere. A new journal contains only zeros.
        let used = if is_new { [0, 0] } else { [MAX_LOG, MAX_LOG] };
        let (is_stale, is_broken) = (false, false);
        let allocated = [0, 0];
        let owner = Owner { memory, header, used, allocated, clean_to, is_stale, is_broken };
        JOURNALS.fetch_add(1, Ordering::Relaxed);
        let journal = Self(Mutex::new(owner));
        if !is_new {
            journal.free();
        }
        Ok((journal, recovered))
    }

    fn lock(&self) -> MutexGuard<'_, Owner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads output like read(2). The output is in the journal before this method returns, even if this process is
    /// killed meanwhile: the system writes it directly into the shared memory, whose next bytes are zero. The next
    /// owner recognizes the output because it is not zero. Zeros at the end of such a read can be lost, and a terminal
    /// ignores zeros.
    ///
    /// # Errors
    /// Like read(2). If the source is non-blocking and empty, [`Errno::AGAIN`].
    pub fn read(&self, source: impl AsFd, buffer: &mut [u8]) -> Result<usize, Errno> {
        let mut owner = self.lock();
        let at = owner.header.log_len();
        let len = buffer.len().min(PIECE).min(MAX_LOG - at);
        if owner.is_broken || len == 0 || owner.allocate(at + 2 * PIECE).is_err() {
            owner.give_up();
            drop(owner);
            return rustix::io::read(source, buffer);
        }
        // At every moment, `PIECE` bytes after the committed output are zero: also right after this read.
        owner.clean(at + 2 * PIECE);
        let log = layout::log(owner.header.slot()) + at;
        let count = owner.memory.read_from(source, log, len)?;
        let slot = owner.header.slot();
        owner.used[slot] = owner.used[slot].max(at + count);
        owner.header.committed += count as u64;
        owner.memory.store(at::COMMITTED, owner.header.committed);
        owner.memory.copy(log, &mut buffer[..count]);
        Ok(count)
    }

    /// Notes that the next `count` bytes of the output were applied to the terminal. The caller must hold the terminal's
    /// lock, so that marks are in order.
    pub fn applied(&self, count: usize) {
        let mut owner = self.lock();
        let header = &mut owner.header;
        header.applied = header.committed.min(header.applied + count as u64);
        owner.memory.store(at::APPLIED, owner.header.applied);
    }

    /// Notes that the replies to all applied output were sent.
    pub fn answered(&self) {
        let mut owner = self.lock();
        owner.header.answered = owner.header.applied;
        owner.memory.store(at::ANSWERED, owner.header.answered);
    }

    /// Adds a mark at the position up to which output was applied. If there is no space, it replaces the last mark. The
    /// caller must hold the terminal's lock.
    pub fn mark(&self, kind: u64, value: u64) {
        let mut owner = self.lock();
        if owner.is_broken {
            return;
        }
        let slot = owner.header.slot();
        let index = owner.header.marks.min(MAX_MARKS - 1);
        let mark = Mark { position: owner.header.applied, kind, value };
        if owner.memory.write(layout::marks(slot) + index * MARK, &mark.to_bytes()).is_err() {
            owner.give_up();
            return;
        }
        owner.header.marks = index + 1;
        owner.memory.store(at::slot(slot) + at::MARKS, owner.header.marks as u64);
    }

    /// Notes that the terminal has changed in a way that neither output nor marks describe. A checkpoint is due.
    pub fn set_stale(&self) {
        self.lock().is_stale = true;
    }

    /// Whether a checkpoint is due. `is_idle`: whether the program is silent, so that a checkpoint delays nothing.
    pub fn due(&self, is_idle: bool) -> Due {
        let owner = self.lock();
        let Header { length, marks, .. } = owner.header;
        let log = owner.header.log_len();
        if owner.is_broken {
            return Due::No;
        }
        if log + RESERVE > MAX_LOG {
            return Due::Now;
        }
        let (least, factor) = if is_idle { (IDLE_LOG, IDLE_FACTOR) } else { (LOG, FACTOR) };
        let share = (BUDGET / JOURNALS.load(Ordering::Relaxed).max(1)).max(length);
        let limit = least.max(length.saturating_mul(factor).min(share)).min(MAX_LOG / 2);
        let is_due = log >= limit || marks >= MANY_MARKS || owner.is_stale;
        if is_due { Due::Soon } else { Due::No }
    }

    /// Replaces the checkpoint, the log and the marks by a checkpoint of the terminal and its first marks. The caller
    /// must hold the terminal's lock. Returns whether the journal contains the checkpoint: it must not be too long, all
    /// output that was read must have been applied, and the system must have memory for it.
    pub fn checkpoint(&self, screen: &[u8], marks: &[(u64, u64)]) -> bool {
        let mut owner = self.lock();
        let Header { committed, applied, generation, .. } = owner.header;
        if owner.is_broken
            || committed != applied
            || screen.len() > MAX_CHECKPOINT
            || marks.len() > MAX_MARKS
        {
            return false;
        }
        let next = Header {
            generation: generation.wrapping_add(1),
            committed,
            applied,
            answered: applied,
            start: applied,
            length: screen.len(),
            checksum: checksum(screen),
            marks: marks.len(),
        };
        let (memory, slot) = (&owner.memory, next.slot());
        let mark = |(kind, value): &(u64, u64)| {
            Mark { position: applied, kind: *kind, value: *value }.to_bytes()
        };
        let marks: Vec<u8> = marks.iter().flat_map(mark).collect();
        // The next owner must not take old output for the output of an interrupted read.
        let zeros = &[0; PIECE][..PIECE.min(owner.used[slot])];
        let parts = [
            (layout::checkpoint(slot), screen),
            (layout::marks(slot), &marks),
            (layout::log(slot), zeros),
        ];
        if parts.iter().any(|(at, bytes)| memory.write(*at, bytes).is_err()) {
            owner.give_up();
            return false;
        }
        for (at, number) in [
            (at::SLOT_GENERATION, next.generation),
            (at::START, next.start),
            (at::LENGTH, next.length as u64),
            (at::CHECKSUM, next.checksum),
            (at::MARKS, next.marks as u64),
        ] {
            memory.store(at::slot(slot) + at, number);
        }
        memory.store(at::ANSWERED, next.answered);
        // From here on, the new checkpoint is active.
        memory.store(at::GENERATION, next.generation);
        owner.header = next;
        owner.clean_to = PIECE;
        owner.is_stale = false;
        true
    }

    /// Reads the contents that the next owner would find if this process were killed now. Changes nothing.
    ///
    /// # Errors
    /// If the next owner would refuse the journal.
    pub fn inspect(&self) -> Result<Recovered, JournalError> {
        let owner = self.lock();
        let mut bytes = [0; layout::HEADER];
        owner.memory.read(0, &mut bytes)?;
        let mut header = Header::from_bytes(&bytes)?;
        recover(&owner.memory, &mut header)
    }

    /// Makes the system refuse memory from now on.
    #[cfg(test)]
    pub(super) fn exhaust_memory(&self) {
        self.lock().memory.exhaust();
    }

    /// Gives memory back to the system that the journal no longer needs.
    pub fn free(&self) {
        let mut owner = self.lock();
        let slot = owner.header.slot();
        let other = 1 - slot;
        if owner.memory.free(layout::checkpoint(other), MAX_CHECKPOINT + MAX_LOG) {
            owner.used[other] = 0;
            owner.allocated[other] = 0;
        }
        // The bytes after the output are left from an earlier log.
        let end = owner.header.log_len().next_multiple_of(PAGE).min(MAX_LOG);
        let is_longer = owner.used[slot] > end || owner.allocated[slot] > end;
        if is_longer && owner.memory.free(layout::log(slot) + end, MAX_LOG - end) {
            owner.used[slot] = owner.used[slot].min(end);
            owner.allocated[slot] = owner.allocated[slot].min(end);
        }
    }
}

impl Owner {
    /// Allocates the pages of the active log up to an offset.
    fn allocate(&mut self, to: usize) -> Result<(), Errno> {
        let (slot, to) = (self.header.slot(), to.min(MAX_LOG));
        let from = self.allocated[slot];
        if from < to {
            let to = to.max(from + ALLOCATED_AT_ONCE).min(MAX_LOG);
            self.memory.allocate(layout::log(slot) + from, to - from)?;
            self.allocated[slot] = to;
        }
        Ok(())
    }

    /// Clears the active log up to an offset. Its pages must be allocated.
    fn clean(&mut self, to: usize) {
        let to = to.min(MAX_LOG);
        let slot = self.header.slot();
        let end = to.min(self.used[slot]);
        if self.clean_to < end {
            self.memory.clear(layout::log(slot) + self.clean_to, end - self.clean_to);
        }
        self.clean_to = self.clean_to.max(to);
    }

    /// Makes the journal useless, because it misses output from now on.
    fn give_up(&mut self) {
        if !self.is_broken {
            self.is_broken = true;
            self.memory.store(at::VERSION, 0);
            self.memory.free(layout::HEADER, layout::SIZE - layout::HEADER);
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        JOURNALS.fetch_sub(1, Ordering::Relaxed);
    }
}
