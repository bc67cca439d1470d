//! The layout of a journal, and its header.
//!
//! ```text
//! header   4 KiB
//! slot 0   marks · checkpoint · log
//! slot 1   marks · checkpoint · log
//! ```
//!
//! One slot is active. It contains the newest checkpoint, and the output and the marks since. A new checkpoint is written
//! into the other slot, which then becomes active with a single store. So a checkpoint is complete or does not exist.
//!
//! An owner that leaves the pane stores input that the program has not received in place of the other slot's
//! checkpoint.
//!
//! Positions count the bytes of the pane's output from its beginning. Numbers are in the order of the machine, because
//! no other machine reads them.

use super::error::JournalError;

const MAGIC: u64 = u64::from_le_bytes(*b"UTERMJRN");
/// The version of the layout. A journal of another version is refused.
const VERSION: u64 = 1;

/// The maximum number of bytes of one read. After the committed output, this many bytes of the log are zero, except the
/// bytes of an interrupted read.
pub const PIECE: usize = 16 << 10;
/// The maximum number of marks since a checkpoint.
pub const MAX_MARKS: usize = 4096;
/// The maximum length of a checkpoint in bytes.
pub const MAX_CHECKPOINT: usize = 128 << 20;
/// The maximum length of the output since a checkpoint in bytes.
pub const MAX_LOG: usize = 128 << 20;

pub(super) const HEADER: usize = 4096;
/// The length of a mark in bytes: position, kind and value.
pub(super) const MARK: usize = 24;
const MARKS: usize = MAX_MARKS * MARK;
const SLOT: usize = MARKS + MAX_CHECKPOINT + MAX_LOG;
/// The length of a journal in bytes. It is a multiple of 4 KiB.
pub(super) const SIZE: usize = HEADER + 2 * SLOT;

/// The offset of each number of the header.
pub(super) mod at {
    pub(crate) const MAGIC: usize = 0;
    pub(crate) const VERSION: usize = 8;
    pub(crate) const GENERATION: usize = 16;
    pub(crate) const COMMITTED: usize = 24;
    pub(crate) const APPLIED: usize = 32;
    pub(crate) const ANSWERED: usize = 40;
    // Input for the program. It is valid only together with this checkpoint and this position.
    pub(crate) const INPUT_LENGTH: usize = 48;
    pub(crate) const INPUT_CHECKSUM: usize = 56;
    pub(crate) const INPUT_GENERATION: usize = 64;
    pub(crate) const INPUT_APPLIED: usize = 72;

    /// The offset of a slot's numbers.
    pub(crate) const fn slot(slot: usize) -> usize {
        128 + slot * 128
    }
    // The offsets within the numbers of a slot.
    pub(crate) const SLOT_GENERATION: usize = 0;
    pub(crate) const START: usize = 8;
    pub(crate) const LENGTH: usize = 16;
    pub(crate) const CHECKSUM: usize = 24;
    pub(crate) const MARKS: usize = 32;
}

/// The offset of a slot's marks.
pub(super) const fn marks(slot: usize) -> usize {
    HEADER + slot * SLOT
}

/// The offset of a slot's checkpoint.
pub(super) const fn checkpoint(slot: usize) -> usize {
    marks(slot) + MARKS
}

/// The offset of a slot's output.
pub(super) const fn log(slot: usize) -> usize {
    checkpoint(slot) + MAX_CHECKPOINT
}

/// The numbers of the header, including the numbers of the active slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Increases with each checkpoint. Its lowest bit is the number of the active slot.
    pub(super) generation: u64,
    /// The position up to which the output was read.
    pub(super) committed: u64,
    /// The position up to which the output was applied to the terminal.
    pub(super) applied: u64,
    /// The position up to which the terminal's replies were sent.
    pub(super) answered: u64,
    /// The position of the checkpoint, at which the log begins.
    pub(super) start: u64,
    /// The length of the checkpoint.
    pub(super) length: usize,
    pub(super) checksum: u64,
    /// The number of marks.
    pub(super) marks: usize,
    /// The length of the input that the last owner has left for the program.
    pub(super) input: usize,
    pub(super) input_checksum: u64,
}

impl Header {
    /// The header of an empty journal. Its checkpoint is a new terminal.
    pub(super) fn new() -> Self {
        let checksum = checksum(&[]);
        Self {
            generation: 0,
            committed: 0,
            applied: 0,
            answered: 0,
            start: 0,
            length: 0,
            checksum,
            marks: 0,
            input: 0,
            input_checksum: 0,
        }
    }

    /// The number of the active slot.
    pub(super) fn slot(&self) -> usize {
        (self.generation & 1) as usize
    }

    /// The length of the output since the checkpoint.
    pub(super) fn log_len(&self) -> usize {
        (self.committed - self.start) as usize
    }

    pub(super) fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let slot = at::slot(self.slot());
        for (at, number) in [
            (at::MAGIC, MAGIC),
            (at::VERSION, VERSION),
            (at::GENERATION, self.generation),
            (at::COMMITTED, self.committed),
            (at::APPLIED, self.applied),
            (at::ANSWERED, self.answered),
            (slot + at::SLOT_GENERATION, self.generation),
            (slot + at::START, self.start),
            (slot + at::LENGTH, self.length as u64),
            (slot + at::CHECKSUM, self.checksum),
            (slot + at::MARKS, self.marks as u64),
        ] {
            bytes[at..at + 8].copy_from_slice(&number.to_ne_bytes());
        }
        bytes
    }

    /// Reads a header that another process has written.
    ///
    /// # Errors
    /// If the numbers contradict each other, or another version has written them.
    pub(super) fn from_bytes(bytes: &[u8; HEADER]) -> Result<Self, JournalError> {
        let number = |at: usize| {
            let number = bytes[at..].first_chunk();
            u64::from_ne_bytes(*number.unwrap_or(&[0; 8]))
        };
        let damaged = |text: String| Err(JournalError::Damaged(text));
        if number(at::MAGIC) != MAGIC {
            return damaged("it is no journal".into());
        }
        if number(at::VERSION) != VERSION {
            let version = number(at::VERSION);
            return damaged(format!("its layout has the version {version}, not {VERSION}"));
        }
        let generation = number(at::GENERATION);
        let slot = at::slot((generation & 1) as usize);
        if number(slot + at::SLOT_GENERATION) != generation {
            return damaged("it has no checkpoint".into());
        }
        let [committed, applied, answered, start] =
            [at::COMMITTED, at::APPLIED, at::ANSWERED, slot + at::START].map(number);
        let [length, marks] = [at::LENGTH, at::MARKS].map(|at| number(slot + at));
        let is_sorted = start <= answered && answered <= applied && applied <= committed;
        // No pane prints this much. With the limit, the sum of a position and a length does not overflow.
        let is_huge = committed > u64::MAX / 2;
        if is_huge || !is_sorted || committed - start > MAX_LOG as u64 {
            return damaged(format!(
                "its positions contradict each other: {start}, {answered}, {applied}, {committed}"
            ));
        }
        if length > MAX_CHECKPOINT as u64 || marks > MAX_MARKS as u64 {
            return damaged(format!("it has a checkpoint of {length} bytes and {marks} marks"));
        }
        // Another version may have used the journal in between.
        let is_current = number(at::INPUT_GENERATION) == generation
            && number(at::INPUT_APPLIED) == applied
            && number(at::INPUT_LENGTH) <= MAX_CHECKPOINT as u64;
        let input = if is_current { number(at::INPUT_LENGTH) as usize } else { 0 };
        Ok(Self {
            generation,
            committed,
            applied,
            answered,
            start,
            length: length as usize,
            checksum: number(slot + at::CHECKSUM),
            marks: marks as usize,
            input,
            input_checksum: number(at::INPUT_CHECKSUM),
        })
    }
}

/// A checksum of `bytes` against accidental damage. It does not protect from attackers.
pub(super) fn checksum(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain(std::iter::once(&last));
    words.fold(bytes.len() as u64, |sum, word| {
        (sum ^ u64::from_ne_bytes(*word)).wrapping_mul(FACTOR).rotate_left(29)
    })
}
