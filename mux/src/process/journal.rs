//! The journal of a program's output, with which another process can rebuild the program's terminal if this process is
//! killed.
//!
//! Owns the marks between the output: changes of the terminal that the output does not describe. Never reads output or
//! writes a terminal: the process does the former, and the pane the latter.

use unterm_term::{Event, Parser, Size, Term};

/// A change of the terminal that is not part of the program's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TermChange {
    /// The size of the grid.
    Size(Size),
    /// The time at which the following output was applied, in milliseconds since 1970 ([`Term::set_time`]).
    Time(u64),
    /// The history was deleted.
    ClearHistory,
    /// The output of programs was deleted ([`Term::clear_output`]).
    ClearOutput,
    /// The terminal was reset.
    Reset,
    /// The result of [`Term::last_printed`], after a checkpoint.
    LastPrinted {
        /// The character that REP would repeat.
        character: char,
        /// Whether a combining mark would join the character before the cursor.
        joins: bool,
    },
}

/// The sequence that deletes the history (ED 3).
pub(crate) const CLEAR_HISTORY: &[u8] = b"\x1b[3J";
/// The sequence that resets the terminal (RIS).
pub(crate) const RESET: &[u8] = b"\x1bc";

impl TermChange {
    /// The change as numbers: its kind and its value.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has journals"))]
    pub(crate) fn to_numbers(self) -> (u64, u64) {
        match self {
            Self::Size(Size { cols, rows, cell_width, cell_height }) => {
                let sides = [cols, rows, cell_width, cell_height];
                (1, sides.iter().rev().fold(0, |all, side| all << 16 | u64::from(*side)))
            }
            Self::Time(time) => (2, time),
            Self::ClearHistory => (3, 0),
            Self::ClearOutput => (4, 0),
            Self::Reset => (5, 0),
            Self::LastPrinted { character, joins } => {
                (6, u64::from(joins) << 32 | u64::from(u32::from(character)))
            }
        }
    }

    /// The change with these numbers. `None` if the kind is unknown or the value is not valid.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux has journals"))]
    pub(crate) fn from_numbers(kind: u64, value: u64) -> Option<Self> {
        Some(match kind {
            1 => {
                let side = |at: u32| (value >> (16 * at)) as u16;
                let [cols, rows, cell_width, cell_height] = [0, 1, 2, 3].map(side);
                if cols == 0 || rows == 0 {
                    return None;
                }
                Self::Size(Size { cols, rows, cell_width, cell_height })
            }
            2 => Self::Time(value),
            3 => Self::ClearHistory,
            4 => Self::ClearOutput,
            5 => Self::Reset,
            6 => Self::LastPrinted {
                character: char::from_u32(value as u32)?,
                joins: value >> 32 != 0,
            },
            _ => return None,
        })
    }

    /// Applies the change to a terminal.
    pub(crate) fn apply(self, term: &mut Term) {
        match self {
            Self::Size(size) => term.resize(size),
            Self::Time(time) => term.set_time(time),
            Self::ClearHistory => Parser::new().advance(term, CLEAR_HISTORY),
            Self::ClearOutput => term.clear_output(),
            Self::Reset => Parser::new().advance(term, RESET),
            Self::LastPrinted { character, joins } => term.set_last_printed((character, joins)),
        }
    }
}

/// Whether a terminal stores the time of the output that caused an event.
pub(crate) fn stores_time(event: &Event) -> bool {
    matches!(
        event,
        Event::PromptStart
            | Event::CommandStart { .. }
            | Event::CommandEnd { .. }
            | Event::Progress
            | Event::ProgramStatus
    )
}

/// Whether a checkpoint of the terminal is necessary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointDue {
    /// The last checkpoint is new enough.
    No,
    /// A checkpoint is due, at the next moment at which the terminal can be written as a whole.
    Soon,
    /// A checkpoint is overdue, even if it misses the beginning of an unfinished sequence.
    Now,
}

/// The contents of a journal, for the next pane of the program.
#[derive(Clone, Debug, Default)]
pub struct JournalContents {
    /// Bytes that rebuild the terminal. Empty if it was new.
    pub screen: Vec<u8>,
    /// The output since.
    pub output: Vec<u8>,
    /// Changes of the terminal, each with its position in `output`. Positions never decrease.
    pub changes: Vec<(usize, TermChange)>,
    /// The length of the beginning of `output` to which the replies were sent.
    pub answered: usize,
    /// The length of the beginning of `output` that was applied to the terminal.
    pub applied: usize,
    /// Input that the program has not received.
    pub input: Vec<u8>,
}

#[cfg(target_os = "linux")]
impl From<unterm_keeper::Recovered> for JournalContents {
    /// Leaves out marks that this version does not define.
    fn from(recovered: unterm_keeper::Recovered) -> Self {
        let unterm_keeper::Recovered { screen, output, marks, answered, applied, input } =
            recovered;
        let change = |mark: unterm_keeper::Mark| {
            let position = usize::try_from(mark.position).ok()?;
            Some((position, TermChange::from_numbers(mark.kind, mark.value)?))
        };
        let changes = marks.into_iter().filter_map(change).collect();
        Self { screen, output, changes, answered, applied, input }
    }
}

/// The journal of a program's output. The process writes the output into it while reading. Any thread may call the
/// methods. If the documentation of a method requires it, the pane must hold the lock of its terminal, so that changes and
/// output are in order.
pub trait OutputJournal: Send + Sync {
    /// Notes that the next `count` bytes of the output were applied to the terminal. Call it with the terminal's lock.
    fn applied(&self, count: usize);
    /// Notes that the replies to all applied output were sent.
    fn answered(&self);
    /// Notes a change after the output that was applied. Call it with the terminal's lock.
    fn note(&self, change: TermChange);
    /// Notes that the terminal has changed in another way, so that only a checkpoint can describe it.
    fn set_stale(&self);
    /// Whether a checkpoint is due. `is_idle`: whether the program is silent.
    fn due(&self, is_idle: bool) -> CheckpointDue;
    /// Stores bytes that rebuild the terminal, and the changes to apply afterward, beginning with its size. Call it with
    /// the terminal's lock, if all output that was read has been applied. Returns whether the bytes were stored: there is
    /// a maximum length.
    fn checkpoint(&self, screen: &[u8], changes: &[TermChange]) -> bool;
    /// The contents that another process would find if this process were killed now.
    ///
    /// # Errors
    /// If another process would refuse the journal. The error is the reason, in words.
    fn inspect(&self) -> Result<JournalContents, String>;
    /// Stores input that the program has not received, for the next owner. Call it last, before the program is left.
    /// Returns false if the input could not be stored.
    fn leave_input(&self, input: &[u8]) -> bool;
    /// Whether the journal has much memory that it no longer needs, because a checkpoint was stored while the program
    /// printed.
    fn has_unused_memory(&self) -> bool;
    /// Gives memory back to the system that the journal no longer needs.
    fn free(&self);
}

#[cfg(target_os = "linux")]
impl OutputJournal for unterm_keeper::Journal {
    fn applied(&self, count: usize) {
        self.applied(count);
    }

    fn answered(&self) {
        self.answered();
    }

    fn note(&self, change: TermChange) {
        let (kind, value) = change.to_numbers();
        self.mark(kind, value);
    }

    fn set_stale(&self) {
        self.set_stale();
    }

    fn due(&self, is_idle: bool) -> CheckpointDue {
        match self.due(is_idle) {
            unterm_keeper::Due::No => CheckpointDue::No,
            unterm_keeper::Due::Soon => CheckpointDue::Soon,
            unterm_keeper::Due::Now => CheckpointDue::Now,
        }
    }

    fn checkpoint(&self, screen: &[u8], changes: &[TermChange]) -> bool {
        let marks: Vec<(u64, u64)> = changes.iter().map(|change| change.to_numbers()).collect();
        self.checkpoint(screen, &marks)
    }

    fn inspect(&self) -> Result<JournalContents, String> {
        self.inspect().map(JournalContents::from).map_err(|error| error.to_string())
    }

    fn leave_input(&self, input: &[u8]) -> bool {
        self.leave_input(input)
    }

    fn has_unused_memory(&self) -> bool {
        self.has_unused_memory()
    }

    fn free(&self) {
        self.free();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_as_they_were_written() {
        let size = Size { cols: 80, rows: 24, cell_width: 9, cell_height: 65_535 };
        for change in [
            TermChange::Size(size),
            TermChange::Time(u64::MAX),
            TermChange::ClearHistory,
            TermChange::ClearOutput,
            TermChange::Reset,
            TermChange::LastPrinted { character: '日', joins: true },
            TermChange::LastPrinted { character: '\0', joins: false },
        ] {
            let (kind, value) = change.to_numbers();
            assert_eq!(TermChange::from_numbers(kind, value), Some(change));
        }
        for (kind, value) in [(0, 0), (7, 0), (1, 0), (1, 80), (1, 24 << 16), (6, 0xd800)] {
            assert_eq!(TermChange::from_numbers(kind, value), None);
        }
    }
}
