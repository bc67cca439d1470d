//! Reads the journal that the last owner of a pane has written.

use super::{
    JournalError,
    layout::{self, Header, MARK, MAX_LOG, PIECE, checksum},
    memory::Memory,
};

/// A change of the terminal between two bytes of its output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The position in the output.
    pub position: u64,
    /// The change, as a number whose meaning the owner defines.
    pub kind: u64,
    /// The new value.
    pub value: u64,
}

impl Mark {
    pub(super) fn to_bytes(self) -> [u8; MARK] {
        let mut bytes = [0; MARK];
        for (field, number) in
            bytes.as_chunks_mut::<8>().0.iter_mut().zip([self.position, self.kind, self.value])
        {
            *field = number.to_ne_bytes();
        }
        bytes
    }

    fn from_bytes(bytes: [u8; MARK]) -> Self {
        let mut numbers = bytes.as_chunks::<8>().0.iter().map(|field| u64::from_ne_bytes(*field));
        let mut next = || numbers.next().unwrap_or_default();
        Self { position: next(), kind: next(), value: next() }
    }
}

/// The contents of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recovered {
    /// The checkpoint. Empty if the terminal was new.
    pub screen: Vec<u8>,
    /// The output since the checkpoint.
    pub output: Vec<u8>,
    /// The changes between bytes of the output, in order. Their positions count from the beginning of `output`, and are at
    /// most `applied`.
    pub marks: Vec<Mark>,
    /// The beginning of `output` to which the replies were sent.
    pub answered: usize,
    /// The beginning of `output` that the last owner has applied to its terminal.
    pub applied: usize,
    /// Input that the program has not received, if the last owner has left the pane on purpose.
    pub input: Vec<u8>,
}

/// Reads the journal, and completes `header` with the output of an interrupted read.
pub(super) fn recover(memory: &Memory, header: &mut Header) -> Result<Recovered, JournalError> {
    let slot = header.slot();
    let mut screen = vec![0; header.length];
    memory.read(layout::checkpoint(slot), &mut screen)?;
    if checksum(&screen) != header.checksum {
        return Err(JournalError::Damaged("the checksum of its checkpoint is wrong".into()));
    }
    let mut output = vec![0; MAX_LOG.min(header.log_len() + PIECE)];
    memory.read(layout::log(slot), &mut output)?;
    let read = interrupted(&output[header.log_len()..]);
    output.truncate(header.log_len() + read);
    header.committed += read as u64;
    let mut marks = Vec::with_capacity(header.marks);
    let mut last = header.start;
    for index in 0..header.marks {
        let mut bytes = [0; MARK];
        memory.read(layout::marks(slot) + index * MARK, &mut bytes)?;
        let mark = Mark::from_bytes(bytes);
        if mark.position < last || mark.position > header.applied {
            return Err(JournalError::Damaged(format!("its mark {index} has a wrong position")));
        }
        last = mark.position;
        marks.push(Mark { position: mark.position - header.start, ..mark });
    }
    let from_start = |position: u64| (position - header.start) as usize;
    let (answered, applied) = (from_start(header.answered), from_start(header.applied));
    let mut input = vec![0; header.input];
    memory.read(layout::checkpoint(1 - slot), &mut input)?;
    if checksum(&input) != header.input_checksum {
        input.clear();
    }
    Ok(Recovered { screen, output, marks, answered, applied, input })
}

/// The number of bytes that an interrupted read has written after the committed output.
pub(super) fn interrupted(after: &[u8]) -> usize {
    after.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1)
}
