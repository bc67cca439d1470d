//! Character sets: G0–G3 and their shifts (ECMA-35; DEC STD 070; xterm ctlseqs "Designate Character Set").
//!
//! A set says what the characters 0x20–0x7e stand for, and, where it is shifted into GR, U+00A0–U+00FF as Latin-1 would
//! bring them. What comes as UTF-8 beyond that stands for itself.

/// A set of 94 or 96 characters: a place in [`SETS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Charset(u8);

/// How a set's characters follow from 0x20–0x7e.
enum Map {
    /// Themselves.
    Ascii,
    /// All but some are themselves.
    Replaced(&'static [(char, char)]),
    /// From this character on, those of the table; the rest are themselves.
    From(char, &'static [char]),
    /// The upper half of Latin-1, but for some.
    Upper(&'static [(char, char)]),
}

/// A set there is.
struct Set {
    /// Designating sequence's end.
    name: &'static str,
    /// Others that mean the same.
    aliases: &'static [&'static str],
    /// Of 96 characters: designated by `-`, `.`, `/` rather than `(`, `)`, `*`, `+`.
    is_96: bool,
    /// A national replacement set: there only while DECNRCM is set.
    national: bool,
    map: Map,
}

const fn national(
    name: &'static str,
    aliases: &'static [&'static str],
    replaced: &'static [(char, char)],
) -> Set {
    Set { name, aliases, is_96: false, national: true, map: Map::Replaced(replaced) }
}

const fn plain(name: &'static str, aliases: &'static [&'static str], map: Map) -> Set {
    Set { name, aliases, is_96: false, national: false, map }
}

/// The sets; the first is what every unknown name means.
#[rustfmt::skip]
static SETS: &[Set] = &[
    plain("B", &[], Map::Ascii),
    // DEC Special Character and Line Drawing; United Kingdom; DEC Technical; DEC Supplemental.
    plain("0", &["2"], Map::From('_', &DEC_GRAPHICS)),
    plain("A", &[], Map::Replaced(&[('#', '£')])),
    plain(">", &[], Map::From('!', &DEC_TECHNICAL)),
    plain("%5", &["<"], Map::Upper(&[
        ('(', '¤'), ('W', 'Œ'), (']', 'Ÿ'), ('w', 'œ'), ('}', 'ÿ'),
    ])),
    Set { name: "A", aliases: &[], is_96: true, national: false, map: Map::Upper(&[]) }, // ISO Latin-1
    Set { name: "M", aliases: &[], is_96: true, national: false, map: Map::Upper(&[ // ISO Latin-5
        ('P', 'Ğ'), (']', 'İ'), ('^', 'Ş'), ('p', 'ğ'), ('}', 'ı'), ('~', 'ş'),
    ]) },
    national("4", &[], &[ // Dutch
        ('#', '£'), ('@', '¾'), ('[', 'ĳ'), ('\\', '½'), (']', '|'), ('{', '¨'), ('|', 'ƒ'),
        ('}', '¼'), ('~', '´'),
    ]),
    national("C", &["5"], &[ // Finnish
        ('[', 'Ä'), ('\\', 'Ö'), (']', 'Å'), ('^', 'Ü'), ('`', 'é'), ('{', 'ä'), ('|', 'ö'),
        ('}', 'å'), ('~', 'ü'),
    ]),
    national("R", &["f"], &[ // French
        ('#', '£'), ('@', 'à'), ('[', '°'), ('\\', 'ç'), (']', '§'), ('{', 'é'), ('|', 'ù'),
        ('}', 'è'), ('~', '¨'),
    ]),
    national("Q", &["9"], &[ // French Canadian
        ('@', 'à'), ('[', 'â'), ('\\', 'ç'), (']', 'ê'), ('^', 'î'), ('`', 'ô'), ('{', 'é'),
        ('|', 'ù'), ('}', 'è'), ('~', 'û'),
    ]),
    national("K", &[], &[ // German
        ('@', '§'), ('[', 'Ä'), ('\\', 'Ö'), (']', 'Ü'), ('{', 'ä'), ('|', 'ö'), ('}', 'ü'),
        ('~', 'ß'),
    ]),
    national("Y", &[], &[ // Italian
        ('#', '£'), ('@', '§'), ('[', '°'), ('\\', 'ç'), (']', 'é'), ('`', 'ù'), ('{', 'à'),
        ('|', 'ò'), ('}', 'è'), ('~', 'ì'),
    ]),
    national("E", &["6", "`"], &[ // Norwegian and Danish
        ('@', 'Ä'), ('[', 'Æ'), ('\\', 'Ø'), (']', 'Å'), ('^', 'Ü'), ('`', 'ä'), ('{', 'æ'),
        ('|', 'ø'), ('}', 'å'), ('~', 'ü'),
    ]),
    national("%6", &[], &[ // Portuguese
        ('[', 'Ã'), ('\\', 'Ç'), (']', 'Õ'), ('{', 'ã'), ('|', 'ç'), ('}', 'õ'),
    ]),
    national("Z", &[], &[ // Spanish
        ('#', '£'), ('@', '§'), ('[', '¡'), ('\\', 'Ñ'), (']', '¿'), ('{', '°'), ('|', 'ñ'),
        ('}', 'ç'),
    ]),
    national("H", &["7"], &[ // Swedish
        ('@', 'É'), ('[', 'Ä'), ('\\', 'Ö'), (']', 'Å'), ('^', 'Ü'), ('`', 'é'), ('{', 'ä'),
        ('|', 'ö'), ('}', 'å'), ('~', 'ü'),
    ]),
    national("=", &[], &[ // Swiss
        ('#', 'ù'), ('@', 'à'), ('[', 'é'), ('\\', 'ç'), (']', 'ê'), ('^', 'î'), ('_', 'è'),
        ('`', 'ô'), ('{', 'ä'), ('|', 'ö'), ('}', 'ü'), ('~', 'û'),
    ]),
    national("%2", &[], &[ // Turkish
        ('&', 'ğ'), ('@', 'İ'), ('[', 'Ş'), ('\\', 'Ö'), (']', 'Ç'), ('^', 'Ü'), ('`', 'Ğ'),
        ('{', 'ş'), ('|', 'ö'), ('}', 'ç'), ('~', 'ü'),
    ]),
];

/// 0x5f–0x7e (DEC STD 070, VT100 user guide table 3-9).
static DEC_GRAPHICS: [char; 32] = [
    '\u{a0}', '◆', '▒', '␉', '␌', '␍', '␊', '°', '±', '␤', '␋', '┘', '┐', '┌', '└', '┼', '⎺', '⎻',
    '─', '⎼', '⎽', '├', '┤', '┴', '┬', '│', '≤', '≥', 'π', '≠', '£', '·',
];

/// 0x21–0x7e (DEC VT330 manual). What Unicode lacks (the parts of a large sigma), and what the set does, is U+FFFD.
static DEC_TECHNICAL: [char; 94] = [
    '⎷', '┌', '─', '⌠', '⌡', '│', '⎡', '⎣', '⎤', '⎦', '⎧', '⎩', '⎫', '⎭', '⎨', '⎬', '\u{fffd}',
    '\u{fffd}', '\u{fffd}', '\u{fffd}', '\u{fffd}', '\u{fffd}', '\u{fffd}', '\u{fffd}', '\u{fffd}',
    '\u{fffd}', '\u{fffd}', '≤', '≠', '≥', '∫', '∴', '∝', '∞', '÷', 'Δ', '∇', 'Φ', 'Γ', '∼', '≃',
    'Θ', '×', 'Λ', '⇔', '⇒', '≡', 'Π', 'Ψ', '\u{fffd}', 'Σ', '\u{fffd}', '\u{fffd}', '√', 'Ω', 'Ξ',
    'Υ', '⊂', '⊃', '∩', '∪', '∧', '∨', '¬', 'α', 'β', 'χ', 'δ', 'ε', 'φ', 'γ', 'η', 'ι', 'θ', 'κ',
    'λ', '\u{fffd}', 'ν', '∂', 'π', 'ψ', 'ρ', 'σ', 'τ', '\u{fffd}', 'ƒ', 'ω', 'ξ', 'υ', 'ζ', '←',
    '↑', '→', '↓',
];

impl Charset {
    /// What characters stand for themselves in.
    pub const ASCII: Self = Self(0);

    /// The set that a designating sequence names: `is_96` by its first intermediate byte, `name` by what follows.
    pub fn named(is_96: bool, name: &[u8], national: bool) -> Self {
        let found = SETS.iter().position(|set| {
            set.is_96 == is_96
                && (national || !set.national)
                && (set.name.as_bytes() == name
                    || set.aliases.iter().any(|alias| alias.as_bytes() == name))
        });
        Self(found.unwrap_or(0) as u8)
    }

    fn set(self) -> &'static Set {
        &SETS[self.0 as usize]
    }

    /// The end of the sequence that designates it.
    pub fn name(self) -> &'static str {
        self.set().name
    }

    /// Whether it is of 96 characters.
    pub fn is_96(self) -> bool {
        self.set().is_96
    }

    /// Whether only DECNRCM makes it be there.
    pub fn is_national(self) -> bool {
        self.set().national
    }

    /// What a character of 0x20–0x7f stands for.
    fn map(self, c: char) -> char {
        let replaced =
            |table: &[(char, char)]| table.iter().find(|(from, _)| *from == c).map(|(_, to)| *to);
        match self.set().map {
            Map::Ascii => c,
            Map::Replaced(table) => replaced(table).unwrap_or(c),
            Map::From(first, table) => {
                let at = (c as usize).checked_sub(first as usize);
                at.and_then(|at| table.get(at)).copied().unwrap_or(c)
            }
            // A space and DEL stay what they are in a set of 94.
            Map::Upper(_) if !self.is_96() && matches!(c, ' ' | '\x7f') => c,
            Map::Upper(table) => {
                replaced(table).or_else(|| char::from_u32(c as u32 | 0x80)).unwrap_or(c)
            }
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
}

impl Default for Charsets {
    fn default() -> Self {
        Self { sets: [Charset::ASCII; 4], gl: 0, gr: 2, single: None }
    }
}

impl Charsets {
    /// Whether characters stand for themselves.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.single.is_none()
            && self.sets[self.gl as usize] == Charset::ASCII
            && self.sets[self.gr as usize] == Charset::ASCII
    }

    /// The character that a byte stands for, without ending a single shift.
    pub fn look_up(&self, byte: u8) -> char {
        Self { single: None, ..*self }.map(byte as char)
    }

    /// The character that `c` stands for; ends a single shift.
    pub fn map(&mut self, c: char) -> char {
        let single = self.single.take();
        match c {
            ' '..='\x7f' => self.sets[single.unwrap_or(self.gl) as usize].map(c),
            '\u{a0}'..='\u{ff}' => match self.sets[single.unwrap_or(self.gr) as usize] {
                Charset::ASCII => c,
                set => set.map((c as u8 & 0x7f) as char),
            },
            _ => c,
        }
    }
}
