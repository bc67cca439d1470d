//! One cell of the grid in 8 bytes.
//!
//! | bits | holds |
//! |---|---|
//! | 0–20 | code point, or cluster id when bit 21 is set; 0: nothing was printed here |
//! | 21 | the content is a cluster id |
//! | 22–23 | [`Width`] |
//! | 24 | protected (DECSCA) |
//! | 25–26 | [`PromptRole`] |
//! | 27–31 | zero |
//! | 32–47 | style id, in the table of the row's page; 0: the default style |
//! | 48–63 | link id, in the table of the row's page; 0: no link |

/// A cell. All zero bits: an erased cell in the default style.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Cell(pub u64);

/// What a cell shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing was printed here since it was last erased. Reads and draws as a space.
    Empty,
    /// One code point.
    Char(char),
    /// Several code points that make one character; the id is looked up in the row ([`crate::SnapshotRow::cluster`]).
    Cluster(u32),
}

/// How many columns a cell's content takes, and which of them this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// One column.
    Narrow,
    /// The first of two columns.
    Wide,
    /// The second of two columns: holds nothing of its own.
    Tail,
    /// A blank at the end of a line whose next, wide character did not fit: not part of the text.
    Head,
}

/// What a cell is to shell integration (OSC 133).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptRole {
    /// Output of a command, or nothing known.
    #[default]
    Output,
    /// Part of a prompt (after OSC 133 A).
    Prompt,
    /// Part of what the user typed at a prompt (after OSC 133 B).
    Input,
}

const CONTENT: u64 = (1 << 21) - 1;
const CLUSTER: u64 = 1 << 21;
const WIDTH_SHIFT: u32 = 22;
const PROTECTED: u64 = 1 << 24;
const ROLE_SHIFT: u32 = 25;
const STYLE_SHIFT: u32 = 32;
const LINK_SHIFT: u32 = 48;

impl Cell {
    /// What the cell shows.
    pub fn content(self) -> Content {
        match (self.0 & CLUSTER != 0, (self.0 & CONTENT) as u32) {
            (true, id) => Content::Cluster(id),
            (false, 0) => Content::Empty,
            (false, code) => char::from_u32(code).map_or(Content::Empty, Content::Char),
        }
    }

    /// The columns its content takes.
    pub fn width(self) -> Width {
        match self.0 >> WIDTH_SHIFT & 3 {
            0 => Width::Narrow,
            1 => Width::Wide,
            2 => Width::Tail,
            _ => Width::Head,
        }
    }

    /// Whether DECSCA protects it from selective erase.
    pub fn is_protected(self) -> bool {
        self.0 & PROTECTED != 0
    }

    /// Its part in a prompt.
    pub fn prompt_role(self) -> PromptRole {
        match self.0 >> ROLE_SHIFT & 3 {
            1 => PromptRole::Prompt,
            2 => PromptRole::Input,
            _ => PromptRole::Output,
        }
    }

    /// The id of its style in its page.
    pub fn style_id(self) -> u16 {
        (self.0 >> STYLE_SHIFT) as u16
    }

    /// The id of its link in its page, 0 for none.
    pub fn link_id(self) -> u16 {
        (self.0 >> LINK_SHIFT) as u16
    }
}
