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

/// The longest part of a log that is allocated at once, in bytes. A short log is allocated in shorter parts, because most
/// panes print little.
const MAX_ALLOCATED_AT_ONCE: usize = 1 << 20;

/// The maximum number of bytes of one read. A pty returns no more at once, and a longer read would need more memory in a
/// pane that prints little.
const READ: usize = 4096;

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
    /// Whether the slot that is not active may contain a checkpoint or a log.
    has_old_slot: bool,
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
        // This owner sends the input to the program.
        memory.store(at::INPUT_LENGTH, 0);
        header.input = 0;
        let clean_to = header.log_len() + if is_new { 0 } else { PIECE };
        // Other processes may have written anywhere. A new journal contains only zeros.
        let used = if is_new { [0, 0] } else { [MAX_LOG, MAX_LOG] };
        let (is_stale, is_broken) = (false, false);
        let allocated = [0, 0];
        let has_old_slot = !is_new;
        let owner =
            Owner { memory, header, used, allocated, clean_to, has_old_slot, is_stale, is_broken };
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
        let len = buffer.len().min(READ).min(MAX_LOG - at);
        // At every moment, `PIECE` bytes after the committed output are zero: also right after this read.
        if owner.is_broken || len == 0 || owner.prepare(at + len, PIECE).is_err() {
            owner.give_up();
            drop(owner);
            return rustix::io::read(source, buffer);
        }
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
            input: 0,
            input_checksum: 0,
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
        owner.has_old_slot = true;
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

    /// Stores input that the program has not received, for the next owner. Call it last, before the pane is left. Returns
    /// false if the input is too long, or the system has no memory for it.
    pub fn leave_input(&self, input: &[u8]) -> bool {
        let mut owner = self.lock();
        let Header { generation, applied, .. } = owner.header;
        let at = layout::checkpoint(1 - owner.header.slot());
        if owner.is_broken || input.len() > MAX_CHECKPOINT || owner.memory.write(at, input).is_err()
        {
            return false;
        }
        owner.has_old_slot = true;
        for (at, number) in [
            (at::INPUT_CHECKSUM, checksum(input)),
            (at::INPUT_GENERATION, generation),
            (at::INPUT_APPLIED, applied),
            (at::INPUT_LENGTH, input.len() as u64),
        ] {
            owner.memory.store(at, number);
        }
        true
    }

    /// Makes the system refuse memory from now on.
    #[cfg(test)]
    pub(super) fn exhaust_memory(&self) {
        self.lock().memory.exhaust();
    }

    /// Whether the journal has much memory that it no longer needs. See [`Self::free`].
    pub fn has_unused_memory(&self) -> bool {
        let owner = self.lock();
        !owner.is_broken && (owner.has_old_slot || owner.rest() > MAX_ALLOCATED_AT_ONCE)
    }

    /// Gives memory back to the system that the journal no longer needs. Does that while the program is silent: memory that
    /// is used again at once costs time.
    pub fn free(&self) {
        let mut owner = self.lock();
        let slot = owner.header.slot();
        let other = 1 - slot;
        if owner.memory.free(layout::checkpoint(other), MAX_CHECKPOINT + MAX_LOG) {
            owner.used[other] = 0;
            owner.allocated[other] = 0;
        }
        // If the system refuses, it would refuse again.
        owner.has_old_slot = false;
        let rest = owner.rest();
        let end = owner.end();
        if rest > 0 && owner.memory.free(layout::log(slot) + end, MAX_LOG - end) {
            owner.used[slot] = owner.used[slot].min(end);
            owner.allocated[slot] = owner.allocated[slot].min(end);
        }
    }
}

impl Owner {
    /// The end of the pages of the active log that contain output.
    fn end(&self) -> usize {
        self.header.log_len().next_multiple_of(PAGE).min(MAX_LOG)
    }

    /// The length of what follows the output in the active log, which is left of an earlier log or allocated for the next
    /// output.
    fn rest(&self) -> usize {
        let slot = self.header.slot();
        self.used[slot].max(self.allocated[slot]).saturating_sub(self.end())
    }

    /// Allocates the pages of the active log up to the offset `to`, and clears what an earlier log has left up to `zeros`
    /// bytes after it. Pages that were never written contain zeros.
    fn prepare(&mut self, to: usize, zeros: usize) -> Result<(), Errno> {
        let slot = self.header.slot();
        let clear_to = (to + zeros).min(MAX_LOG);
        let dirty_to = clear_to.min(self.used[slot]);
        self.allocate(to.max(dirty_to))?;
        if self.clean_to < dirty_to {
            self.memory.clear(layout::log(slot) + self.clean_to, dirty_to - self.clean_to);
        }
        self.clean_to = self.clean_to.max(clear_to);
        Ok(())
    }

    /// Allocates the pages of the active log up to an offset.
    fn allocate(&mut self, to: usize) -> Result<(), Errno> {
        let slot = self.header.slot();
        let from = self.allocated[slot];
        if from < to {
            let more = (from / 4).min(MAX_ALLOCATED_AT_ONCE);
            let to = to.max(from + more).next_multiple_of(PAGE).min(MAX_LOG);
            self.memory.allocate(layout::log(slot) + from, to - from)?;
            self.allocated[slot] = to;
        }
        Ok(())
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
