//! The conformance level that a program selects (DECSCL), and whether replies use 7-bit or 8-bit controls.
//!
//! Source: DEC STD 070 "Select compatibility level", and xterm for the level of each sequence.

use crate::params::Csi;
use crate::term::Term;

/// The initial level: 5, the level of a VT500.
const FIRST_LEVEL: u8 = 5;
/// The initial value of XTCHECKSUM. It is the value that xterm's tests expect since patch 334: the sum is not negated,
/// attributes are ignored, blanks count, and whole code points are used.
const FIRST_CHECKSUM: u16 = 0b10111;

/// The settings of DECSCL, S7C1T, S8C1T, DECSACE and XTCHECKSUM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conformance {
    /// The level, from 1 (VT100) to 5 (VT500).
    pub level: u8,
    /// Whether replies begin and end with 8-bit controls (S8C1T).
    pub eight_bit: bool,
    /// The value of DECSACE. 2 selects rectangles.
    pub extent: u16,
    /// The value of XTCHECKSUM.
    pub checksum: u16,
    /// Whether C1 controls that are encoded as UTF-8 take effect (DECAC1).
    pub accepts_c1: bool,
}

impl Default for Conformance {
    fn default() -> Self {
        Self {
            level: FIRST_LEVEL,
            eight_bit: false,
            extent: 0,
            checksum: FIRST_CHECKSUM,
            accepts_c1: false,
        }
    }
}

impl Conformance {
    /// Appends a reply. Converts its 7-bit CSI, DCS, OSC and ST to one byte each, like xterm.
    pub fn widen(&self, reply: &[u8], out: &mut Vec<u8>) {
        let mut rest = reply;
        while let Some((&byte, after)) = rest.split_first() {
            match (byte, after.first()) {
                (0x1b, Some(&second @ (b'[' | b'P' | b']' | b'\\'))) => {
                    out.push(second + 0x40);
                    rest = &after[1..];
                }
                _ => {
                    out.push(byte);
                    rest = after;
                }
            }
        }
    }

    /// Resets the settings that DECSTR resets.
    pub fn soften(&mut self) {
        self.checksum = FIRST_CHECKSUM;
    }
}

/// The lowest level at which a control sequence has an effect.
fn level_of(csi: &Csi) -> u8 {
    match (csi.intermediate, csi.end) {
        (b'$', b'p' | b'u' | b'w' | b'|' | b'}' | b'~') | (b'&', _) => 3,
        (b'$' | b'*' | b'\'', _) => 4,
        (0, b'W') if csi.private == b'?' => 5, // DECST8C
        (0, b'c') if csi.private == b'=' => 4, // DA3
        _ => 1,
    }
}

impl Term {
    /// Whether the current level has a control sequence.
    #[inline]
    pub(crate) fn knows(&self, csi: &Csi) -> bool {
        self.conformance.level == FIRST_LEVEL || level_of(csi) <= self.conformance.level
    }

    /// DECSCL. `level` is 61–65, and `controls` is 1 for 7-bit controls, 0 or 2 for 8-bit controls. Performs a soft
    /// reset, as DEC STD 070 specifies; the manuals of the VT300 to VT500 require a hard reset.
    pub(crate) fn set_level(&mut self, level: u16, controls: u16) {
        let Some(level @ 1..=5) = level.checked_sub(60) else { return };
        self.soft_reset();
        self.conformance.level = level as u8;
        self.conformance.eight_bit = level > 1 && controls != 1 && controls <= 2;
    }

    /// Whether U+0080–U+009F are C1 controls. Off by default, as in xterm and Windows Terminal: text that was encoded
    /// as UTF-8 twice contains many of these characters, and some of them would begin a string that never ends.
    #[inline]
    pub(crate) fn accepts_c1(&self) -> bool {
        self.conformance.accepts_c1
    }

    /// DECAC1, DECTC1 (DEC STD 070; Windows Terminal).
    pub(crate) fn accept_c1(&mut self, on: bool) {
        self.conformance.accepts_c1 = on;
    }

    /// S7C1T and S8C1T. They have an effect only at level 2 and above.
    pub(crate) fn set_eight_bit_replies(&mut self, on: bool) {
        if self.conformance.level >= 2 {
            self.conformance.eight_bit = on;
        }
    }
}
