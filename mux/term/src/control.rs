//! C0 and C1 controls: one method each.

use crate::Event;
use crate::term::Term;

impl Term {
    /// A control character (ECMA-48 8.2; C1 only as UTF-8 gives them, U+0080–U+009F).
    #[inline]
    pub(crate) fn execute(&mut self, byte: u8) {
        self.last_printed = '\0';
        match byte {
            0x07 => self.event(Event::Bell),              // BEL
            0x08 => self.move_left(1),                    // BS
            0x09 => self.tab_forward(1),                  // HT
            0x0a..=0x0c => self.line_feed(),              // LF, VT, FF
            0x0d => self.carriage_return(),               // CR
            0x0e => self.charsets.gl = 1,                 // SO, LS1
            0x0f => self.charsets.gl = 0,                 // SI, LS0
            0x84 => self.index(),                         // IND
            0x85 => self.next_line(),                     // NEL
            0x88 => self.tabs.set(self.cursor.col, true), // HTS
            0x8d => self.reverse_index(),                 // RI
            0x8e => self.charsets.single = Some(2),       // SS2
            0x8f => self.charsets.single = Some(3),       // SS3
            0x96 => self.guard_area(true),                // SPA
            0x97 => self.guard_area(false),               // EPA
            0x9a => self.report_primary_attributes(),     // DECID
            _ => {}
        }
        self.end_operation();
    }
}
