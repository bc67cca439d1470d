//! What a row carries beside its cells.

/// The row's text goes on in the next row without a line break.
pub(crate) const WRAPPED: u8 = 1;
/// A prompt starts in this row (OSC 133 A).
pub(crate) const PROMPT: u8 = 1 << 1;
/// What the user types starts in this row (OSC 133 B).
pub(crate) const INPUT: u8 = 1 << 2;
/// A command's output starts in this row (OSC 133 C).
pub(crate) const OUTPUT: u8 = 1 << 3;
/// The flags that shell integration set.
pub(crate) const MARKS: u8 = PROMPT | INPUT | OUTPUT;

/// A row's own data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowMeta {
    /// The `seq` that last changed the row.
    pub revision: u64,
    /// Cells from this column on are all zero bits. Not necessarily the least such column.
    pub occ: u16,
    /// [`WRAPPED`] and marks.
    pub flags: u8,
}

impl RowMeta {
    pub fn is_wrapped(&self) -> bool {
        self.flags & WRAPPED != 0
    }
}
