//! Escape sequences other than CSI and strings: the method of each.

use crate::term::Term;
use crate::{LineSize, Modes};

impl Term {
    /// `ESC` with `intermediates` and the final byte `end` (ECMA-35; xterm ctlseqs "C1 (8-Bit) Control Characters").
    pub(crate) fn esc(&mut self, intermediates: &[u8], end: u8) {
        if self.is_vt52() {
            return self.esc_vt52(intermediates, end);
        }
        match (intermediates, end) {
            ([], b'6' | b'9') if self.conformance.level < 4 => {}
            ([], b'6') => self.back_index(),     // DECBI
            ([], b'9') => self.forward_index(),  // DECFI
            ([], b'7') => self.save_cursor(),    // DECSC
            ([], b'8') => self.restore_cursor(), // DECRC
            ([], b'=') => self.modes.insert(Modes::APP_KEYPAD), // DECKPAM
            ([], b'>') => self.modes.remove(Modes::APP_KEYPAD), // DECKPNM
            ([], b'D') => self.index(),          // IND
            ([], b'E') => self.next_line(),      // NEL
            ([], b'H') => self.tabs.set(self.cursor.col, true), // HTS
            ([], b'M') => self.reverse_index(),  // RI
            ([], b'N') => self.charsets.single = Some(2), // SS2
            ([], b'O') => self.charsets.single = Some(3), // SS3
            ([], b'V') => self.guard_area(true), // SPA
            ([], b'W') => self.guard_area(false), // EPA
            ([], b'Z') => self.report_primary_attributes(), // DECID
            ([], b'c') => self.reset(),          // RIS
            ([], b'n') => self.charsets.gl = 2,  // LS2
            ([], b'o') => self.charsets.gl = 3,  // LS3
            ([b' '], b'6') => self.accept_c1(false), // DECTC1
            ([b' '], b'7') => self.accept_c1(true), // DECAC1
            ([b' '], b'F') => self.set_eight_bit_replies(false), // S7C1T
            ([b' '], b'G') => self.set_eight_bit_replies(true), // S8C1T
            ([b'#'], b'3') => self.set_line_size(LineSize::DoubleTop), // DECDHL
            ([b'#'], b'4') => self.set_line_size(LineSize::DoubleBottom), // DECDHL
            ([b'#'], b'5') => self.set_line_size(LineSize::Single), // DECSWL
            ([b'#'], b'6') => self.set_line_size(LineSize::DoubleWidth), // DECDWL
            ([b'#'], b'8') => self.alignment_test(), // DECALN
            ([], b'~') => self.charsets.gr = 1,  // LS1R
            ([], b'}') => self.charsets.gr = 2,  // LS2R
            ([], b'|') => self.charsets.gr = 3,  // LS3R
            ([place @ b'('..=b'+' | place @ b'-'..=b'/', more @ ..], end) => {
                self.designate(*place, more, end); // SCS
            }
            ([], b'\\') => {} // ST
            // DOCS (ECMA-35; ISO 8859-1 or UTF-8): output is always UTF-8, see `charset`.
            ([b'%'], b'@' | b'G') => {}
            _ => tracing::debug!(?intermediates, end, "unknown escape sequence"),
        }
        self.end_operation();
    }
}
