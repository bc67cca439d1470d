//! The data of a row besides its cells.

/// The row's text continues in the next row without a line break.
pub(crate) const WRAPPED: u16 = 1;
/// A prompt starts in this row (OSC 133 A).
pub(crate) const PROMPT: u16 = 1 << 1;
/// The user's input starts in this row (OSC 133 B).
pub(crate) const INPUT: u16 = 1 << 2;
/// A command's output starts in this row (OSC 133 C).
pub(crate) const OUTPUT: u16 = 1 << 3;
/// A program marked this row (OSC 1337 SetMark).
pub(crate) const MARK: u16 = 1 << 7;
/// A caller typed while the cursor was in this row.
pub(crate) const TYPED: u16 = 1 << 9;
/// All flags that belong to the text in the row.
pub(crate) const MARKS: u16 = PROMPT | INPUT | OUTPUT | MARK | TYPED;
/// The row wraps after its last cell instead of its last column. Either an image in the next row prevents joining the
/// two rows, or a multicell character did not fit in this row.
pub(crate) const SHORT: u16 = 1 << 6;
/// The size of the row's characters: a [`LineSize`] in two bits (DECSWL, DECDWL, DECDHL).
pub(crate) const SIZE: u16 = 3 << SIZE_SHIFT;
const SIZE_SHIFT: u16 = 4;
/// The row may contain parts of multicell characters. A row without this flag contains none.
pub(crate) const MULTICELL: u16 = 1 << 8;

/// The size of a row's characters (DEC STD 070, DECSWL, DECDWL, DECDHL).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LineSize {
    /// One column wide, one row high.
    #[default]
    Single,
    /// Two columns wide: cell `n` is drawn over columns `2n` and `2n + 1`, and only the first half of the row is used.
    DoubleWidth,
    /// Two columns wide and two rows high; this row shows the upper half.
    DoubleTop,
    /// Two columns wide and two rows high; this row shows the lower half.
    DoubleBottom,
}

/// The data of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowMeta {
    /// The `seq` that last changed the row.
    pub revision: u64,
    /// The number of cells that may be used: all cells from this column on are zero. Cells before it may be zero too.
    pub occ: u16,
    /// The row's flags: [`WRAPPED`], marks, the size of the characters, and [`MULTICELL`].
    pub flags: u16,
}

impl RowMeta {
    pub fn is_wrapped(&self) -> bool {
        self.flags & WRAPPED != 0
    }

    /// The number of a wrapped row's `cols` columns that belong to its line. Columns that were never written count as
    /// blanks.
    pub fn wrapped_cols(&self, cols: usize) -> usize {
        if self.flags & SHORT != 0 { (self.occ as usize).min(cols) } else { cols }
    }

    /// Whether the row may contain parts of multicell characters.
    #[inline]
    pub fn has_multicells(&self) -> bool {
        self.flags & MULTICELL != 0
    }

    /// Whether text must be written cell by cell, because the row's characters are two columns wide or may be
    /// multicell.
    #[inline]
    pub fn needs_care(&self) -> bool {
        self.flags & (SIZE | MULTICELL) != 0
    }

    /// Whether the row's characters are two columns wide.
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
