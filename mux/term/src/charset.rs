//! Character sets: G0–G3 and their shifts (ECMA-35; DEC STD 070; xterm ctlseqs "Designate Character Set").

/// A set of 94 characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Charset {
    /// `B`, and every set we do not have.
    #[default]
    Ascii,
    /// `0`: DEC Special Character and Line Drawing.
    DecGraphics,
    /// `A`: United Kingdom.
    British,
}

impl Charset {
    /// The set that a designating sequence's final byte names.
    pub fn named(byte: u8) -> Self {
        match byte {
            b'0' => Self::DecGraphics,
            b'A' => Self::British,
            _ => Self::Ascii,
        }
    }

    /// The final byte that names it.
    pub fn name(self) -> u8 {
        match self {
            Self::Ascii => b'B',
            Self::DecGraphics => b'0',
            Self::British => b'A',
        }
    }

    /// The character that `c` stands for.
    pub fn map(self, c: char) -> char {
        match (self, c) {
            (Self::DecGraphics, '_'..='~') => DEC_GRAPHICS[c as usize - '_' as usize],
            (Self::British, '#') => '£',
            _ => c,
        }
    }
}

/// 0x5f–0x7e (DEC STD 070, VT100 user guide table 3-9).
const DEC_GRAPHICS: [char; 32] = [
    '\u{a0}', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻',
    '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

/// The sets designated and the one in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Charsets {
    /// G0–G3.
    pub sets: [Charset; 4],
    /// Which of them is in GL (SI, SO, LS2, LS3).
    pub gl: u8,
    /// Which of them the next character comes from instead (SS2, SS3).
    pub single: Option<u8>,
}

impl Charsets {
    /// Whether characters stand for themselves.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.single.is_none() && self.sets[self.gl as usize] == Charset::Ascii
    }

    /// The character that a byte stands for by the sets in GL, without ending a single shift.
    pub fn look_up(&self, byte: u8) -> char {
        self.sets[self.gl as usize].map(byte as char)
    }

    /// The character that `c` stands for; ends a single shift.
    pub fn map(&mut self, c: char) -> char {
        let set = self.single.take().unwrap_or(self.gl);
        self.sets[set as usize].map(c)
    }
}
