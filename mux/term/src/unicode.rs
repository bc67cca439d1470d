//! What the engine asks of a code point: how wide it is, and how it may join the one before it.
//!
//! Widths follow UAX #11 and what terminals agree on beyond it, joining follows UAX #29. Both are looked up in a table
//! of two stages that `tools/unicode.mjs` writes from Unicode's data. Owns no terminal state.

mod table;

use table::{BLOCKS, COUNT, PALETTE, RUNS};

/// How a code point may join others: Grapheme_Cluster_Break, and what rules GB9c and GB11 of UAX #29 ask beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Class {
    /// Starts a cluster, except after a prepended mark.
    Other = 0,
    /// Belongs to what is before it, and has no part in conjuncts.
    Extend = 1,
    /// The same, and may stand inside a conjunct.
    ConjunctExtend = 2,
    /// The same, and joins two consonants to a conjunct: a virama.
    Linker = 3,
    /// Zero-width joiner.
    Joiner = 4,
    /// A mark that takes a column and belongs to what is before it.
    Spacing = 5,
    /// Belongs to what comes after it.
    Prepend = 6,
    /// Joins nothing. Those without width stay in the cell before them all the same, so that no text is lost.
    Control = 7,
    /// Half of a flag.
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
    /// A pictograph, joined by a zero-width joiner.
    Pictograph = 14,
    /// A consonant that a virama may join.
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

/// All about a code point: bits 0–1 columns, 2–5 class, 6 whether a variation selector changes its presentation, 7
/// whether its width is ambiguous (UAX #11: narrow, and wide in East Asian text).
#[derive(Clone, Copy)]
pub(crate) struct Props(u8);

impl Props {
    pub const NARROW: Self = Self(1);
    pub const WIDE: Self = Self(2);

    /// Those that matter to what comes next.
    pub fn of(class: Class) -> Self {
        Self((class as u8) << 2)
    }

    /// Whether `stops` (see [`stops`]) says so of a character of this class behind one of that of `before`.
    #[inline]
    pub fn is_stopped(self, stops: &[u16; 16], before: Self) -> bool {
        stops[(self.0 >> 2 & 15) as usize] >> (before.0 >> 2 & 15) & 1 != 0
    }

    /// Columns: 0, 1 or 2.
    #[inline]
    pub fn width(self) -> usize {
        (self.0 & 3) as usize
    }

    #[inline]
    pub fn class(self) -> Class {
        Class::ALL[(self.0 >> 2 & 15) as usize]
    }

    /// Whether U+FE0E and U+FE0F behind it ask for its presentation as text and as emoji.
    #[inline]
    pub fn varies(self) -> bool {
        self.0 & 0x40 != 0
    }

    /// The same, two columns wide where the width is ambiguous and `wide`.
    #[inline]
    pub fn widened(self, wide: bool) -> Self {
        Self(self.0 + (self.0 >> 7 & wide as u8))
    }
}

const SHIFT: u32 = 7;
const BLOCK: usize = 1 << SHIFT;

/// The block of each 128 code points.
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

/// The blocks, and as many more as [`INDEX`] could name: so no index needs a check.
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

/// Width and class of `c`.
#[inline]
pub(crate) fn props(c: char) -> Props {
    props_of(c as u32)
}

/// Most of what is wide, all alike: it joins nothing.
#[inline]
pub(crate) fn is_ideograph(code: u32) -> bool {
    code.wrapping_sub(0x4e00) < 0x5200
}

/// The same for a code point.
#[inline]
pub(crate) fn props_of(code: u32) -> Props {
    if is_ideograph(code) {
        return Props::WIDE;
    }
    let code = code as usize;
    PROPS[(INDEX[code >> SHIFT] as usize) << SHIFT | code & (BLOCK - 1)]
}

/// Bit `b` of item `c`: class `c` may join what ends in class `b`.
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

/// Whether a character of class `class` can join something that ends in `before`: a no, or "ask [`joins`]".
#[inline]
pub(crate) fn may_join(before: Class, class: Class) -> bool {
    JOINS[class as usize] >> before as u8 & 1 != 0
}

/// Bit `b` of item `c`: a character of class `c` behind one of class `b` starts no cell at once. With clusters (mode 2027)
/// those are the ones that may join, and halves of flags, which take two columns; without, none.
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
    // An emoji modifier behind a blank modifies nothing and shows as itself (UTS #51, 2.4).
    if before == " " && props(c).width() == 2 && class == Class::ConjunctExtend {
        return false;
    }
    match class {
        _ if last_class == Class::Prepend => true, // GB9b
        // GB9c: a consonant, then marks with a virama among them. More than the rule has, as programs count columns
        // (wcwidth since its version 0.3): vowel signs before the virama, as Tai Tham has them, and what `bears_virama`.
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
        // GB11: a pictograph, any marks, a joiner.
        Class::Pictograph => {
            let mark = |class: &Class| {
                matches!(class, Class::Extend | Class::ConjunctExtend | Class::Linker)
            };
            earlier.map(|(_, class)| class).find(|class| !mark(class)) == Some(Class::Pictograph)
        }
        // GB12, GB13: in pairs.
        Class::Regional => {
            earlier.take_while(|(_, class)| *class == Class::Regional).count() % 2 == 0
        }
        _ => true,
    }
}

/// What a virama joins to the next consonant although it is none to UAX #29: Malayalam's chillus (ൻ്റ), and the vowel signs of
/// Tai Tham that are letters to it.
fn bears_virama(c: char) -> bool {
    matches!(c, '\u{d7a}'..='\u{d7f}' | '\u{1a61}' | '\u{1a63}' | '\u{1a64}')
}

#[cfg(test)]
mod tests;
