//! Character sets: G0–G3 and their shifts (ECMA-35; DEC STD 070; xterm ctlseqs "Designate Character Set").
//!
//! Owns which sets are designated and how characters map through them; [`tables`] holds the sets.
//!
//! Invariant: output is UTF-8, whatever was designated or invoked. A set maps only the printed characters U+0020–U+007F,
//! through GL or a single shift. Bytes from 0x80 on are always UTF-8, and no set maps the characters they encode. So
//! a binary file on the screen can disturb ASCII until a reset, but never the encoding. ghostty, kitty and VTE do the
//! same. xterm reads bytes as 8-bit characters while GR holds another set than ASCII or DECNRCM is set,
//! so that `ESC * 0` breaks all later UTF-8. As xterm does in a UTF-8 locale, `ESC % @` and `ESC % G` have no effect.
//!
//! GR (LS1R, LS2R, LS3R) is kept for reports, and for DECFRA, whose parameter is a code of the sets and not a byte.

mod tables;

use tables::{ASCII, Map, PREFERRED, SETS, SUPPLEMENTAL, Set, VT52_GRAPHICS};

use crate::term::Term;
use crate::term::settings::modes::DecModes;

/// A set of 94 or 96 characters: an index into [`SETS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Charset(u8);

impl Charset {
    /// The set in which characters stand for themselves.
    pub const ASCII: Self = Self(ASCII);

    /// The set that a designating sequence names. Its first intermediate byte decides `is_96`; `intermediate` (or 0)
    /// and `end` follow. Returns `None` if the conformance level or DECNRCM does not provide the set.
    fn named(is_96: bool, intermediate: u8, end: u8, level: u8, national: bool) -> Option<Self> {
        // By far the most common case.
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

    /// The end of the sequence that designates the set.
    pub fn name(self) -> String {
        self.set().name.into_iter().filter(|&byte| byte != 0).map(char::from).collect()
    }

    /// Whether the set has 96 characters.
    pub fn is_96(self) -> bool {
        self.set().is_96
    }

    /// Whether the set requires DECNRCM.
    pub fn is_national(self) -> bool {
        self.set().national
    }

    /// Whether the set supplements ASCII: the sets of DEC and ISO for GR.
    fn is_supplemental(self) -> bool {
        let set = self.set();
        set.is_96 && !set.national
            || [b"%5", b"&4", b"\"?", b"\"4", b"%0"].iter().any(|name| **name == set.name)
    }

    /// Maps a character of U+0020–U+007F.
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

/// The designated sets, and which are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Charsets {
    /// G0–G3.
    pub sets: [Charset; 4],
    /// Index of the set in GL (SI, SO, LS2, LS3).
    pub gl: u8,
    /// Index of the set in GR (LS1R, LS2R, LS3R).
    pub gr: u8,
    /// Index of the set for the next character only (SS2, SS3).
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
    /// The sets of a VT52: ASCII, with its graphics in G1.
    pub fn vt52() -> Self {
        let mut charsets = Self::default();
        charsets.sets[1] = Charset(VT52_GRAPHICS);
        charsets
    }

    /// Whether all characters stand for themselves.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.single.is_none() && self.sets[self.gl as usize] == Charset::ASCII
    }

    /// Whether DEL is a printable character.
    pub fn prints_delete(&self) -> bool {
        let set = self.sets[self.single.unwrap_or(self.gl) as usize];
        set.is_96() && set.map('\x7f') != '\x7f'
    }

    /// The set at a place, G0 to G3.
    fn at(&self, place: u8) -> Charset {
        match self.sets[place as usize] {
            Charset(PREFERRED) => self.preferred,
            set => set,
        }
    }

    /// The character for a code of GL (0x20–0x7f) or GR (0xa0–0xff), as DECFRA names it. Keeps a pending single shift.
    pub fn look_up(&self, code: u8) -> char {
        let c = char::from(code);
        match code {
            0x20..=0x7f => self.at(self.gl).map(c),
            0xa0..=0xff => match self.at(self.gr) {
                Charset::ASCII => c,
                // A set of 94 leaves space and DEL unchanged.
                set if !set.is_96() && matches!(code, 0xa0 | 0xff) => c,
                // The 96-character national set ends in DEL, which is not a printable character.
                set => match set.map(char::from(code & 0x7f)) {
                    '\x7f' => c,
                    shown => shown,
                },
            },
            _ => c,
        }
    }

    /// The character to print for `c`. Ends a single shift.
    pub fn map(&mut self, c: char) -> char {
        let single = self.single.take();
        match c {
            ' '..='\x7f' => self.at(single.unwrap_or(self.gl)).map(c),
            _ => c,
        }
    }
}

impl Term {
    /// SCS. The first intermediate byte, `place`, selects G0 to G3 and the kind of set; `more` and `end` name the set.
    /// An unknown set becomes ASCII.
    pub(crate) fn designate(&mut self, place: u8, more: &[u8], end: u8) {
        let (is_96, first) = if place < b'-' { (false, b'(') } else { (true, b',') };
        let set = self.charset(is_96, more, end).unwrap_or_default();
        self.charsets.sets[(place - first) as usize] = set;
    }

    /// The set with this name, if the current level and DECNRCM provide it.
    pub(crate) fn charset(&self, is_96: bool, more: &[u8], end: u8) -> Option<Charset> {
        let intermediate = match more {
            [] => 0,
            [one] => *one,
            _ => return None,
        };
        let national = self.dec.contains(DecModes::NATIONAL);
        Charset::named(is_96, intermediate, end, self.conformance.level, national)
    }

    /// DECAUPSS: assigns the user-preferred supplemental set, given the parameter for 94 (0) or 96 (1) characters and
    /// the set's name (DEC VT510 manual). Only supplemental sets are allowed.
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

    /// DECRQUPSS: reports the set in the form of DECAUPSS.
    pub(crate) fn report_preferred_set(&mut self) {
        let set = self.charsets.preferred;
        self.reply_text(format!("\x1bP{}!u{}\x1b\\", set.is_96() as u8, set.name()));
    }
}
