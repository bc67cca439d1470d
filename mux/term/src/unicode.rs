//! What the engine asks of a code point: how wide it is, and how it may join the one before it.
//!
//! Widths follow the `unicode-width` crate, joining follows UAX #29 through `unicode-segmentation`. Asking the crates
//! for every printed character would cost more than printing it, so their answers are kept in blocks of 256 code
//! points, made when a block is first asked for. Owns no terminal state.

use std::sync::OnceLock;

use unicode_segmentation::GraphemeCursor;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How a code point may join the one before it (after UAX #29, as far as a terminal can tell them apart).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    /// Starts a cluster, except after a prepended mark.
    Other = 0,
    /// Belongs to what is before it: combining and spacing marks, variation selectors, modifiers, zero-width ones.
    Extend = 1,
    /// Zero-width joiner.
    Joiner = 2,
    /// Half of a flag.
    Regional = 3,
    /// A pictograph, joined by a zero-width joiner.
    Pictograph = 4,
    /// A part of a Hangul syllable (conjoining jamo).
    Jamo = 5,
    /// Belongs to what comes after it.
    Prepend = 6,
    /// A consonant that a virama may join.
    Consonant = 7,
    /// A whole Hangul syllable, or the start of one: joins a leading jamo, and is joined by others.
    Syllable = 8,
}

/// Width and class in one byte: bits 0–1 columns, bits 2–5 class.
#[derive(Clone, Copy)]
pub(crate) struct Props(u8);

impl Props {
    const NARROW: Self = Self(1);
    const WIDE: Self = Self(2);

    const fn new(width: usize, class: Class) -> Self {
        Self(width as u8 | (class as u8) << 2)
    }

    /// Whether it takes columns and starts a cluster, unless a prepended mark is before it.
    #[inline]
    pub fn is_plain(self) -> bool {
        self.0.wrapping_sub(1) < 2
    }

    /// Columns: 0, 1 or 2.
    #[inline]
    pub fn width(self) -> usize {
        (self.0 & 3) as usize
    }

    #[inline]
    pub fn class(self) -> Class {
        match self.0 >> 2 {
            0 => Class::Other,
            1 => Class::Extend,
            2 => Class::Joiner,
            3 => Class::Regional,
            4 => Class::Pictograph,
            5 => Class::Jamo,
            6 => Class::Prepend,
            7 => Class::Consonant,
            _ => Class::Syllable,
        }
    }
}

const BLOCKS: usize = 0x110000 / 256;
static TABLE: [OnceLock<Box<[Props; 256]>>; BLOCKS] = [const { OnceLock::new() }; BLOCKS];

/// Width and class of `c`.
#[inline]
pub(crate) fn props(c: char) -> Props {
    let code = c as u32;
    if code < 0xa9 {
        return Props::NARROW;
    }
    // Ideographs: most of what is wide, all alike.
    if matches!(code, 0x4e00..=0x9fff | 0x3400..=0x4dbf) {
        return Props::WIDE;
    }
    let block = TABLE[(code >> 8) as usize].get_or_init(|| make_block(code & !0xff));
    block[(code & 0xff) as usize]
}

#[cold]
fn make_block(first: u32) -> Box<[Props; 256]> {
    let mut block = Box::new([Props::NARROW; 256]);
    for (i, props) in block.iter_mut().enumerate() {
        if let Some(c) = char::from_u32(first + i as u32) {
            *props = look_up(c);
        }
    }
    block
}

fn look_up(c: char) -> Props {
    let code = c as u32;
    // Soft hyphen: shown as a hyphen by terminals (xterm), unlike in text set in lines.
    if code == 0xad {
        return Props::NARROW;
    }
    let width = c.width().unwrap_or(0).min(2);
    let class = match code {
        0x200d => Class::Joiner,
        0xac00..=0xd7a3 => Class::Syllable,
        _ if joins("a", c) => Class::Extend,
        _ if joins("\u{1f1e6}", c) => Class::Regional,
        _ if joins("\u{1f469}\u{200d}", c) => Class::Pictograph,
        _ if joins("\u{1100}", c) || joins("\u{ac00}", c) => Class::Jamo,
        _ if joins("\u{915}\u{94d}", c) => Class::Consonant,
        _ if joins(c.encode_utf8(&mut [0; 4]), 'a') => Class::Prepend,
        _ if width == 0 => Class::Extend,
        _ => Class::Other,
    };
    Props::new(width, class)
}

/// Whether `c` belongs to the same grapheme cluster as the end of `before` (UAX #29, extended clusters).
pub(crate) fn joins(before: &str, c: char) -> bool {
    let mut text = String::with_capacity(before.len() + 4);
    text.push_str(before);
    text.push(c);
    let mut cursor = GraphemeCursor::new(before.len(), text.len(), true);
    cursor.is_boundary(&text, 0) == Ok(false)
}

/// Whether `c`, of class `class`, can join something that ends in `before`: a quick no, or "ask [`joins`]".
#[inline]
pub(crate) fn may_join(before: Class, class: Class) -> bool {
    match class {
        Class::Extend | Class::Joiner => true,
        _ if before == Class::Prepend => true,
        Class::Regional => before == Class::Regional,
        Class::Pictograph => before == Class::Joiner,
        Class::Syllable => before == Class::Jamo,
        Class::Jamo => matches!(before, Class::Jamo | Class::Syllable),
        Class::Consonant => matches!(before, Class::Extend | Class::Joiner),
        Class::Other | Class::Prepend => false,
    }
}

/// Columns a cluster takes: 1 or 2.
pub(crate) fn cluster_width(text: &str) -> usize {
    text.width().clamp(1, 2)
}
