//! One cell of the grid in 8 bytes.
//!
//! | bits | holds |
//! |---|---|
//! | 0–20 | code point, or cluster id when bit 21 is set; 0: nothing was printed here; from 0x110000: a piece of an image |
//! | 21 | the content is a cluster id |
//! | 22–23 | [`Width`] |
//! | 24 | protected (DECSCA) |
//! | 25–26 | [`PromptRole`]; 3: output of a line editor ([`Cell::is_edited`]) |
//! | 27 | the cell is part of a multicell character |
//! | 28–31 | zero |
//! | 32–47 | style id, in the table of the row's page; 0: the default style |
//! | 48–63 | link id, in the table of the row's page; 0: no link |
//!
//! A multicell character (OSC 66) fills a block of cells. The first cell contains its text, with the width
//! [`Width::Wide`] if the block has more than one column. The other cells have the width [`Width::Tail`]. Their bits
//! 0–5 and 6–8 contain their column and row in the block. The style of every cell contains the size of the block
//! ([`crate::TextSize`]).
//!
//! Cells of a [`crate::Snapshot`] contain no style and link ids, because the snapshot's rows list styles and links as
//! runs.

/// A cell. If all bits are zero, it is an erased cell in the default style.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, bytemuck::Zeroable)]
#[repr(transparent)]
pub struct Cell(pub u64);

/// What a cell shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing was printed here since it was last erased. Reads and draws as a space.
    Empty,
    /// One code point.
    Char(char),
    /// Several code points that form one character. [`crate::SnapshotRow::cluster`] returns the text for the id.
    Cluster(u32),
}

/// The number of columns of a character, and which of its columns this cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// One column.
    Narrow,
    /// The first of two columns, or the first cell of a multicell character with several columns.
    Wide,
    /// The second of two columns, or a cell of a multicell character other than its first. Has no content of its own.
    Tail,
    /// A blank at the end of a line where a wide character did not fit. Not part of the text.
    Head,
}

/// A cell's role in shell integration (OSC 133).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptRole {
    /// Output of a command, or text of unknown origin.
    #[default]
    Output,
    /// Part of a prompt (after OSC 133 A).
    Prompt,
    /// Part of the user's input at a prompt (after OSC 133 B).
    Input,
}

const CONTENT: u64 = (1 << 21) - 1;
pub(crate) const CLUSTER: u64 = 1 << 21;
const WIDTH_SHIFT: u32 = 22;
pub(crate) const WIDTH: u64 = 3 << WIDTH_SHIFT;
pub(crate) const WIDE: u64 = 1 << WIDTH_SHIFT;
pub(crate) const TAIL: u64 = 2 << WIDTH_SHIFT;
pub(crate) const HEAD: u64 = 3 << WIDTH_SHIFT;
/// The bits of a cell without its attributes: content, cluster bit and width.
pub(crate) const SHOWN: u64 = (1 << ATTRS_SHIFT) - 1;
/// The lowest bit of the attributes: protection, role, style, link.
pub(crate) const ATTRS_SHIFT: u32 = 24;
pub(crate) const PROTECTED: u64 = 1 << 24;
/// The cell is part of a multicell character.
pub(crate) const MULTICELL: u64 = 1 << 27;
/// The number of bits for a column in a multicell character. The bits for the row are above them.
const COLUMN_BITS: u32 = 6;
const ROLE_SHIFT: u32 = 25;
/// Both bits of [`PromptRole`] set: the cell is output of a line editor.
pub(crate) const EDITED: u64 = 3 << ROLE_SHIFT;
pub(crate) const STYLE_SHIFT: u32 = 32;
pub(crate) const LINK_SHIFT: u32 = 48;
/// All bits except the ids of style and link.
pub(crate) const WITHOUT_IDS: u64 = (1 << STYLE_SHIFT) - 1;

impl Cell {
    /// An erased cell in the default style.
    pub(crate) const EMPTY: Self = Self(0);

    /// The bits that the pen determines in a cell: everything except [`SHOWN`].
    pub(crate) fn template(style: u16, link: u16, role: PromptRole, protected: bool) -> u64 {
        (style as u64) << STYLE_SHIFT
            | (link as u64) << LINK_SHIFT
            | (role as u64) << ROLE_SHIFT
            | if protected { PROTECTED } else { 0 }
    }

    /// The content bits of a cell in a multicell character, at this column and row of its block. Not for the first
    /// cell.
    pub(crate) fn multicell_part(col: usize, row: usize) -> u64 {
        MULTICELL | TAIL | (row as u64) << COLUMN_BITS | col as u64
    }

    /// This cell with its content erased and its attributes unchanged.
    pub(crate) fn blanked(self) -> Self {
        Self(self.0 & !(SHOWN | PROTECTED | MULTICELL))
    }

    /// Whether the cell has no content and is not a tail. Its style does not matter.
    pub(crate) fn is_blank(self) -> bool {
        self.0 & (CONTENT | CLUSTER) == 0 && self.0 & WIDTH != TAIL
    }

    /// Whether this is the second half of a wide character.
    pub(crate) fn is_tail(self) -> bool {
        self.0 & (WIDTH | MULTICELL) == TAIL
    }

    /// Whether this is the first half of a wide character.
    pub(crate) fn is_wide(self) -> bool {
        self.0 & (WIDTH | MULTICELL) == WIDE
    }

    /// Whether this is the blank at the end of a line where a wide character did not fit.
    pub(crate) fn is_head(self) -> bool {
        self.0 & WIDTH == HEAD
    }

    /// The cluster's id, if the cell contains a cluster.
    pub(crate) fn cluster_id(self) -> Option<u16> {
        (self.0 & CLUSTER != 0).then_some(self.0 as u16)
    }

    /// This cell with other ids.
    pub(crate) fn with_ids(self, style: u16, link: u16, cluster: Option<u16>) -> Self {
        let base = self.0 & WITHOUT_IDS;
        let base = match cluster {
            Some(id) => base & !CONTENT | CLUSTER | id as u64,
            None => base,
        };
        Self(base | (style as u64) << STYLE_SHIFT | (link as u64) << LINK_SHIFT)
    }

    /// This cell with other content and width. A cluster's id must be valid in the row into which the cell is put.
    pub fn with_content(self, content: Content, width: Width) -> Self {
        let content = match content {
            Content::Empty => 0,
            Content::Char(c) => u64::from(u32::from(c)),
            Content::Cluster(id) => CLUSTER | u64::from(id) & CONTENT,
        };
        let width = match width {
            Width::Narrow => 0,
            Width::Wide => WIDE,
            Width::Tail => TAIL,
            Width::Head => HEAD,
        };
        Self(self.0 & !SHOWN | content | width)
    }

    /// Whether the cell is part of a multicell character.
    pub fn is_multicell(self) -> bool {
        self.0 & MULTICELL != 0
    }

    /// The column and row of the cell in its multicell character. 0 if it is not part of one.
    pub fn multicell_offset(self) -> (u16, u16) {
        if self.0 & (MULTICELL | WIDTH) != MULTICELL | TAIL {
            return (0, 0);
        }
        let offset = self.0 & CONTENT;
        ((offset & ((1 << COLUMN_BITS) - 1)) as u16, (offset >> COLUMN_BITS) as u16)
    }

    /// Whether the cell lies below the first row of a multicell character.
    pub(crate) fn is_below(self) -> bool {
        self.multicell_offset().1 > 0
    }

    /// The content of the cell.
    pub fn content(self) -> Content {
        if self.0 & WIDTH == TAIL {
            return Content::Empty;
        }
        match (self.0 & CLUSTER != 0, (self.0 & CONTENT) as u32) {
            (true, id) => Content::Cluster(id),
            (false, 0) => Content::Empty,
            (false, code) => char::from_u32(code).map_or(Content::Empty, Content::Char),
        }
    }

    /// The code point, or the cluster's id with bit 21 set.
    #[inline]
    pub fn code(self) -> u32 {
        (self.0 & (CONTENT | CLUSTER)) as u32
    }

    /// The cell's text if it is one byte: a narrow ASCII character, or a blank.
    #[inline]
    pub(crate) fn ascii(self) -> Option<u8> {
        match (self.0 & (CONTENT | CLUSTER | 3 << WIDTH_SHIFT)) as u32 {
            0 => Some(b' '),
            code @ 1..=0x7f => Some(code as u8),
            _ => None,
        }
    }

    /// The width of the content.
    pub fn width(self) -> Width {
        match self.0 >> WIDTH_SHIFT & 3 {
            0 => Width::Narrow,
            1 => Width::Wide,
            2 => Width::Tail,
            _ => Width::Head,
        }
    }

    /// The bits that do not depend on the content: style, link, role and protection.
    pub(crate) fn attributes(self) -> u64 {
        self.0 >> ATTRS_SHIFT
    }

    /// Whether DECSCA protects the cell from selective erase.
    pub fn is_protected(self) -> bool {
        self.0 & PROTECTED != 0
    }

    /// The cell's role in shell integration.
    pub fn prompt_role(self) -> PromptRole {
        match self.0 >> ROLE_SHIFT & 3 {
            1 => PromptRole::Prompt,
            2 => PromptRole::Input,
            _ => PromptRole::Output,
        }
    }

    /// Whether a line editor drew the cell: when the cell was printed, the program had requested bracketed pastes (mode
    /// 2004), and the cell was not part of a marked prompt.
    pub fn is_edited(self) -> bool {
        self.0 & EDITED == EDITED
    }

    /// The id of the cell's style in its page.
    pub fn style_id(self) -> u16 {
        (self.0 >> STYLE_SHIFT) as u16
    }

    /// The id of the cell's link in its page. 0 if the cell has no link.
    pub fn link_id(self) -> u16 {
        (self.0 >> LINK_SHIFT) as u16
    }
}
