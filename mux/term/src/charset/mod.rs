//! Character sets: G0–G3 and their shifts (ECMA-35; DEC STD 070; xterm ctlseqs "Designate Character Set").
//!
//! Owns which set is where and what a character stands for in it; [`tables`] has the sets. A set says what the characters
//! 0x20–0x7f stand for, and, where it is shifted into GR, the bytes 0xa0–0xff. While GR holds another set than ASCII, or
//! national sets are there (DECNRCM), bytes stand for such characters and not for UTF-8, as in xterm.

mod tables;

use tables::{ASCII, Map, PREFERRED, SETS, SUPPLEMENTAL, Set, VT52_GRAPHICS};

use crate::modes::DecModes;
use crate::term::Term;

/// A set of 94 or 96 characters: a place in [`SETS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Charset(u8);

impl Charset {
    /// What characters stand for themselves in.
    pub const ASCII: Self = Self(ASCII);

    /// The set that a designating sequence names: `is_96` by its first intermediate byte, `intermediate` (or 0) and `end` by
    /// what follows. `None` for one that the level, or DECNRCM, does not give.
    fn named(is_96: bool, intermediate: u8, end: u8, level: u8, national: bool) -> Option<Self> {
        // By far the most frequent.
        if (is_96, intermediate, end) == (false, 0, b'B') {
            return Some(Self::ASCII);
        }
        let is_it = |set: &Set| {
            let [first, last] = set.name;
            first == intermediate
                && (last == end || set.aliases.contains(&end))
                && (set.is_96 == is_96 || matches!(set.map, Map::Preferred))
                && (national || !set.national)
                && set.levels.contains(&level)
        };
        SETS.iter().position(is_it).map(|at| Self(at as u8))
    }

    fn set(self) -> &'static Set {
        &SETS[self.0 as usize]
    }

    /// The end of the sequence that designates it.
    pub fn name(self) -> String {
        self.set().name.into_iter().filter(|&byte| byte != 0).map(char::from).collect()
    }

    /// Whether it is of 96 characters.
    pub fn is_96(self) -> bool {
        self.set().is_96
    }

    /// Whether only DECNRCM makes it be there.
    pub fn is_national(self) -> bool {
        self.set().national
    }

    /// Whether it supplements ASCII: DEC's and ISO's sets for GR.
    fn is_supplemental(self) -> bool {
        let set = self.set();
        set.is_96 && !set.national
            || [b"%5", b"&4", b"\"?", b"\"4", b"%0"].iter().any(|name| **name == set.name)
    }

    /// What a character of 0x20–0x7f stands for.
    fn map(self, c: char) -> char {
        match &self.set().map {
            Map::Ascii | Map::Preferred => c,
            Map::Replaced(pairs) => {
                let mut pairs = pairs.chars();
                while let (Some(from), Some(to)) = (pairs.next(), pairs.next()) {
                    if from == c {
                        return to;
                    }
                }
                c
            }
            Map::Whole(map) => map[(c as usize - 0x20) % map.len()],
        }
    }
}

/// The sets designated and those in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Charsets {
    /// G0–G3.
    pub sets: [Charset; 4],
    /// Which of them is in GL (SI, SO, LS2, LS3).
    pub gl: u8,
    /// Which of them is in GR (LS1R, LS2R, LS3R).
    pub gr: u8,
    /// Which of them the next character comes from instead (SS2, SS3).
    pub single: Option<u8>,
    /// The user-preferred supplemental set (DECAUPSS).
    pub preferred: Charset,
}

impl Default for Charsets {
    fn default() -> Self {
        let (sets, preferred) = ([Charset::ASCII; 4], Charset(SUPPLEMENTAL));
        Self { sets, gl: 0, gr: 2, single: None, preferred }
    }
}

impl Charsets {
    /// Those of a VT52: ASCII, and its graphics in G1.
    pub fn vt52() -> Self {
        let mut charsets = Self::default();
        charsets.sets[1] = Charset(VT52_GRAPHICS);
        charsets
    }

    /// Whether characters stand for themselves.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.single.is_none()
            && self.sets[self.gl as usize] == Charset::ASCII
            && self.sets[self.gr as usize] == Charset::ASCII
    }

    /// Whether DEL is a character like others.
    pub fn prints_delete(&self) -> bool {
        let set = self.sets[self.single.unwrap_or(self.gl) as usize];
        set.is_96() && set.map('\x7f') != '\x7f'
    }

    /// The character that a byte stands for, without ending a single shift.
    pub fn look_up(&self, byte: u8) -> char {
        Self { single: None, ..*self }.map(byte as char)
    }

    /// The character that `c` stands for; ends a single shift.
    pub fn map(&mut self, c: char) -> char {
        let single = self.single.take();
        let set = |place: u8| match self.sets[place as usize] {
            Charset(PREFERRED) => self.preferred,
            set => set,
        };
        match c {
            ' '..='\x7f' => set(single.unwrap_or(self.gl)).map(c),
            '\u{a0}'..='\u{ff}' => match set(single.unwrap_or(self.gr)) {
                Charset::ASCII => c,
                // A space and DEL stay what they are in a set of 94.
                set if !set.is_96() && matches!(c, '\u{a0}' | '\u{ff}') => c,
                // The national set of 96 ends in DEL, which is no character to show.
                set => match set.map((c as u8 & 0x7f) as char) {
                    '\x7f' => c,
                    shown => shown,
                },
            },
            _ => c,
        }
    }
}

impl Term {
    /// Whether bytes from 0x80 on stand for characters of GR rather than for UTF-8.
    #[inline]
    pub(crate) fn takes_bytes(&self) -> bool {
        self.charsets.sets[self.charsets.gr as usize] != Charset::ASCII
            || self.dec.contains(DecModes::NATIONAL)
    }

    /// SCS: `place` is its first intermediate byte, which says G0 to G3 and the kind of set, `more` and `end` the set's
    /// name. An unknown set is ASCII.
    pub(crate) fn designate(&mut self, place: u8, more: &[u8], end: u8) {
        let (is_96, first) = if place < b'-' { (false, b'(') } else { (true, b',') };
        let set = self.charset(is_96, more, end).unwrap_or_default();
        self.charsets.sets[(place - first) as usize] = set;
    }

    /// The set of a name, as far as the level in force and DECNRCM have it.
    pub(crate) fn charset(&self, is_96: bool, more: &[u8], end: u8) -> Option<Charset> {
        let intermediate = match more {
            [] => 0,
            [one] => *one,
            _ => return None,
        };
        let national = self.dec.contains(DecModes::NATIONAL);
        Charset::named(is_96, intermediate, end, self.conformance.level, national)
    }

    /// DECAUPSS: assigns the user-preferred supplemental set, by the parameter that says 94 (0) or 96 (1) characters and by
    /// its name (DEC VT510 manual; only a supplemental set may be it).
    pub(crate) fn assign_preferred_set(&mut self, params: &[u8], name: &[u8]) {
        let is_96 = match params {
            b"" | b"0" => false,
            b"1" => true,
            _ => return,
        };
        let Some((&end, more)) = name.split_last() else { return };
        let set = self.charset(is_96, more, end).filter(|set| set.is_supplemental());
        match set {
            Some(set) if self.conformance.level >= 3 => self.charsets.preferred = set,
            _ => tracing::debug!(is_96, ?name, "no supplemental set"),
        }
    }

    /// DECRQUPSS: the set in the form of DECAUPSS.
    pub(crate) fn report_preferred_set(&mut self) {
        let set = self.charsets.preferred;
        self.reply_text(format!("\x1bP{}!u{}\x1b\\", set.is_96() as u8, set.name()));
    }
}
