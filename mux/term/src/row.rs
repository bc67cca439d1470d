//! What a row carries beside its cells.

/// The row's text goes on in the next row without a line break.
pub(crate) const WRAPPED: u16 = 1;
/// A prompt starts in this row (OSC 133 A).
pub(crate) const PROMPT: u16 = 1 << 1;
/// What the user types starts in this row (OSC 133 B).
pub(crate) const INPUT: u16 = 1 << 2;
/// A command's output starts in this row (OSC 133 C).
pub(crate) const OUTPUT: u16 = 1 << 3;
/// A program marked this row (OSC 1337 SetMark).
pub(crate) const MARK: u16 = 1 << 7;
/// The flags that belong to the text in the row.
pub(crate) const MARKS: u16 = PROMPT | INPUT | OUTPUT | MARK;
/// The row wraps behind its last cell rather than its last column: an image in the next one keeps both from being joined, or
/// a multicell character had no room in it.
pub(crate) const SHORT: u16 = 1 << 6;
/// How large the row's characters are: [`LineSize`] in two bits (DECSWL, DECDWL, DECDHL).
pub(crate) const SIZE: u16 = 3 << SIZE_SHIFT;
const SIZE_SHIFT: u16 = 4;
/// The row may hold parts of multicell characters. A row without it holds none.
pub(crate) const MULTICELL: u16 = 1 << 8;

/// How large the characters of a row are (DEC STD 070, DECSWL, DECDWL, DECDHL).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LineSize {
    /// One column wide, one row high.
    #[default]
    Single,
    /// Two columns wide: cell `n` is drawn over columns `2n` and `2n + 1`, and only the row's first half is used.
    DoubleWidth,
    /// Two columns wide and two rows high, of which this row shows the upper half.
    DoubleTop,
    /// Two columns wide and two rows high, of which this row shows the lower half.
    DoubleBottom,
}

/// A row's own data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowMeta {
    /// The `seq` that last changed the row.
    pub revision: u64,
    /// Cells from this column on are all zero bits. Not necessarily the least such column.
    pub occ: u16,
    /// [`WRAPPED`], marks, the characters' size and [`MULTICELL`].
    pub flags: u16,
}

impl RowMeta {
    pub fn is_wrapped(&self) -> bool {
        self.flags & WRAPPED != 0
    }

    /// Columns of a wrapped row of `cols` that belong to its line: those that were never written are blanks in it.
    pub fn wrapped_cols(&self, cols: usize) -> usize {
        if self.flags & SHORT != 0 { (self.occ as usize).min(cols) } else { cols }
    }

    /// Whether it may hold parts of multicell characters.
    #[inline]
    pub fn has_multicells(&self) -> bool {
        self.flags & MULTICELL != 0
    }

    /// Whether text goes into it cell by cell: its characters are two columns wide, or some are multicell characters.
    #[inline]
    pub fn needs_care(&self) -> bool {
        self.flags & (SIZE | MULTICELL) != 0
    }

    /// Whether its characters are two columns wide.
    #[inline]
    pub fn is_double(&self) -> bool {
        self.flags & SIZE != 0
    }

    pub fn line_size(&self) -> LineSize {
        match (self.flags & SIZE) >> SIZE_SHIFT {
            0 => LineSize::Single,
            1 => LineSize::DoubleWidth,
            2 => LineSize::DoubleTop,
            _ => LineSize::DoubleBottom,
        }
    }

    pub fn set_line_size(&mut self, size: LineSize) {
        self.flags = self.flags & !SIZE | (size as u16) << SIZE_SHIFT;
    }
}
