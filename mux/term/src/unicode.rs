//! Properties of code points: their width, and whether they join the character before them.
//!
//! Widths follow UAX #11, and beyond it the conventions of terminals. Joining follows UAX #29. Both come from a
//! two-stage table that `tools/unicode.mjs` generates from Unicode's data. Owns no terminal state.

pub(crate) mod cluster;
mod table;

use table::{BLOCKS, COUNT, PALETTE, RUNS};

/// How a code point may join other code points: Grapheme_Cluster_Break, and the properties that rules GB9c and GB11 of
/// UAX #29 need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    /// Starts a cluster, unless a prepended mark precedes it.
    Other = 0,
    /// Joins the preceding character. Not part of conjuncts.
    Extend = 1,
    /// Joins the preceding character, and may be part of a conjunct.
    ConjunctExtend = 2,
    /// A virama: joins the preceding character, and joins two consonants into a conjunct.
    Linker = 3,
    /// Zero-width joiner.
    Joiner = 4,
    /// A mark that is one column wide and joins the preceding character.
    Spacing = 5,
    /// Joins the following character.
    Prepend = 6,
    /// Joins no other character. A zero-width control still stays in the cell before it, so that no text is lost.
    Control = 7,
    /// Half of a flag (a regional indicator).
    Regional = 8,
    /// Hangul: a leading consonant.
    L = 9,
    /// Hangul: a vowel.
    V = 10,
    /// Hangul: a trailing consonant.
    T = 11,
    /// Hangul: a syllable without a trailing consonant.
    Lv = 12,
    /// Hangul: a whole syllable.
    Lvt = 13,
    /// A pictograph. A zero-width joiner can join it to another pictograph.
    Pictograph = 14,
    /// A consonant that a virama can join to another consonant.
    Consonant = 15,
}

impl Class {
    const ALL: [Self; 16] = [
        Self::Other,
        Self::Extend,
        Self::ConjunctExtend,
        Self::Linker,
        Self::Joiner,
        Self::Spacing,
        Self::Prepend,
        Self::Control,
        Self::Regional,
        Self::L,
        Self::V,
        Self::T,
        Self::Lv,
        Self::Lvt,
        Self::Pictograph,
        Self::Consonant,
    ];
}

/// The properties of a code point. Bits 0–1: columns. Bits 2–5: class. Bit 6: whether a variation selector changes its
/// presentation. Bit 7: whether its width is ambiguous (UAX #11: narrow, but wide in East Asian text).
#[derive(Clone, Copy)]
pub(crate) struct Props(u8);

impl Props {
    pub const NARROW: Self = Self(1);
    pub const WIDE: Self = Self(2);

    /// Properties that contain only the class. The next character needs nothing else of the character before it.
    pub fn of(class: Class) -> Self {
        Self((class as u8) << 2)
    }

    /// Whether `stops` contains the bit for this class after the class of `before`. See [`stops`].
    #[inline]
    pub fn is_stopped(self, stops: &[u16; 16], before: Self) -> bool {
        stops[(self.0 >> 2 & 15) as usize] >> (before.0 >> 2 & 15) & 1 != 0
    }

    /// The number of columns: 0, 1 or 2.
    #[inline]
    pub fn width(self) -> usize {
        (self.0 & 3) as usize
    }

    #[inline]
    pub fn class(self) -> Class {
        Class::ALL[(self.0 >> 2 & 15) as usize]
    }

    /// Whether U+FE0E or U+FE0F after this character selects its text or emoji presentation.
    #[inline]
    pub fn varies(self) -> bool {
        self.0 & 0x40 != 0
    }

    /// These properties with a width of two columns, if the width is ambiguous and `wide` is set.
    #[inline]
    pub fn widened(self, wide: bool) -> Self {
        Self(self.0 + (self.0 >> 7 & wide as u8))
    }
}

const SHIFT: u32 = 7;
const BLOCK: usize = 1 << SHIFT;

/// For each group of 128 code points: the number of its block in [`PROPS`].
static INDEX: [u8; 0x110000 / BLOCK] = {
    let mut index = [0; 0x110000 / BLOCK];
    let (mut at, mut run) = (0, 0);
    while run < RUNS.len() {
        let (block, times) = RUNS[run];
        let end = at + times as usize;
        while at < end {
            index[at] = block;
            at += 1;
        }
        run += 1;
    }
    assert!(at == index.len());
    index
};

/// The blocks of properties. Padded to every number that [`INDEX`] can contain, so that an index needs no check.
static PROPS: [Props; 256 * BLOCK] = {
    let mut props = [Props(0); 256 * BLOCK];
    let mut of_letter = [0; 128];
    let mut i = 0;
    while i < PALETTE.len() {
        of_letter[PALETTE[i].0 as usize] = PALETTE[i].1;
        i += 1;
    }
    i = 0;
    while i < COUNT * BLOCK {
        props[i] = Props(of_letter[BLOCKS[i] as usize]);
        i += 1;
    }
    props
};

/// The width and class of `c`.
#[inline]
pub(crate) fn props(c: char) -> Props {
    props_of(c as u32)
}

/// Whether `code` is in the range that contains most wide characters. All of them have the same properties, and none
/// joins another character.
#[inline]
pub(crate) fn is_ideograph(code: u32) -> bool {
    code.wrapping_sub(0x4e00) < 0x5200
}

/// The width and class of a code point.
#[inline]
pub(crate) fn props_of(code: u32) -> Props {
    if is_ideograph(code) {
        return Props::WIDE;
    }
    let code = code as usize;
    PROPS[(INDEX[code >> SHIFT] as usize) << SHIFT | code & (BLOCK - 1)]
}

/// Bit `b` of item `c` is set if class `c` may join text that ends in class `b`.
const JOINS: [u16; 16] = {
    const fn any_of(classes: &[Class]) -> u16 {
        let (mut bits, mut i) = (1 << Class::Prepend as u8, 0);
        while i < classes.len() {
            bits |= 1 << classes[i] as u8;
            i += 1;
        }
        bits
    }
    use Class::*;
    let mut joins = [any_of(&[]); 16];
    joins[Control as usize] = 0;
    let mut class = Extend as usize;
    while class <= Spacing as usize {
        joins[class] = !(1 << Control as u8);
        class += 1;
    }
    joins[Regional as usize] = any_of(&[Regional]);
    joins[L as usize] = any_of(&[L]);
    joins[Lv as usize] = any_of(&[L]);
    joins[Lvt as usize] = any_of(&[L]);
    joins[V as usize] = any_of(&[L, V, Lv]);
    joins[T as usize] = any_of(&[V, T, Lv, Lvt]);
    joins[Pictograph as usize] = any_of(&[Joiner]);
    joins[Consonant as usize] = any_of(&[Linker, ConjunctExtend, Joiner]);
    joins
};

/// Whether a character of class `class` may join text that ends in `before`. If false, it does not join. If true,
/// [`joins`] must decide.
#[inline]
pub(crate) fn may_join(before: Class, class: Class) -> bool {
    JOINS[class as usize] >> before as u8 & 1 != 0
}

/// Bit `b` of item `c` is set if a character of class `c` after class `b` may do more than start a new cell. With
/// clusters (mode 2027), this is true for characters that may join, and for halves of flags, which are two columns
/// wide. Without clusters, no bit is set.
#[inline]
pub(crate) fn stops(graphemes: bool) -> &'static [u16; 16] {
    const STOPS: [u16; 16] = {
        let mut stops = JOINS;
        stops[Class::Regional as usize] = !0;
        stops
    };
    if graphemes { &STOPS } else { &[0; 16] }
}

/// Whether `c` belongs to the grapheme cluster `before` (UAX #29, extended clusters, version 17).
pub(crate) fn joins(before: &str, c: char) -> bool {
    let class = props(c).class();
    let mut chars = before.chars().rev();
    let Some(last) = chars.next() else { return false };
    let earlier = chars.map(|c| (c, props(c).class()));
    let last_class = props(last).class();
    if (last, c) == ('\r', '\n') {
        return true; // GB3
    }
    if !may_join(last_class, class) {
        return false;
    }
    // An emoji modifier after a blank does not modify it, and is shown as itself (UTS #51, 2.4).
    if before == " " && props(c).width() == 2 && class == Class::ConjunctExtend {
        return false;
    }
    match class {
        _ if last_class == Class::Prepend => true, // GB9b
        // GB9c: a consonant, then marks of which one is a virama. To count columns like programs do (wcwidth 0.3 and
        // later), this goes beyond the rule: vowel signs before the virama are allowed, as in Tai Tham, and so are the
        // letters of `bears_virama`.
        Class::Consonant => {
            let mut linked = last_class == Class::Linker;
            for (c, class) in earlier {
                match class {
                    Class::Linker => linked = true,
                    Class::ConjunctExtend | Class::Joiner => {}
                    Class::Spacing if linked => {}
                    class => return linked && (class == Class::Consonant || bears_virama(c)),
                }
            }
            false
        }
        // GB11: a pictograph, then any marks, then a joiner.
        Class::Pictograph => {
            let mark = |class: &Class| {
                matches!(class, Class::Extend | Class::ConjunctExtend | Class::Linker)
            };
            earlier.map(|(_, class)| class).find(|class| !mark(class)) == Some(Class::Pictograph)
        }
        // GB12, GB13: regional indicators join in pairs.
        Class::Regional => {
            earlier.take_while(|(_, class)| *class == Class::Regional).count() % 2 == 0
        }
        _ => true,
    }
}

/// Whether a virama joins `c` to the next consonant, although UAX #29 does not count `c` as a consonant. True for
/// Malayalam's chillus (ൻ്റ), and for Tai Tham vowel signs that UAX #29 treats as letters.
fn bears_virama(c: char) -> bool {
    matches!(c, '\u{d7a}'..='\u{d7f}' | '\u{1a61}' | '\u{1a63}' | '\u{1a64}')
}

#[cfg(test)]
mod tests;
