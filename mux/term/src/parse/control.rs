//! Dispatches C0 and C1 controls to their methods.

use crate::Event;
use crate::term::Term;

impl Term {
    /// Executes a control character (ECMA-48 8.2). By default, U+0080–U+009F are ignored, because UTF-8 cannot encode
    /// C1 controls (xterm ctlseqs "Control Bytes, Characters, and Sequences"). If the program enabled them (DECAC1),
    /// they act as their 7-bit forms (ECMA-48 5.3). The parser handles controls that begin a string or a control
    /// sequence.
    #[inline]
    pub(crate) fn execute(&mut self, byte: u8) {
        match byte {
            0x07 => self.event(Event::Bell), // BEL
            0x08 => self.move_left(1),       // BS
            0x09 => self.tab_forward(1),     // HT
            0x0a..=0x0c => self.line_feed(), // LF, VT, FF
            0x0d => self.carriage_return(),  // CR
            0x0e | 0x0f if self.is_vt52() => {}
            0x0e => self.charsets.gl = 1, // SO, LS1
            0x0f => self.charsets.gl = 0, // SI, LS0
            0x80..=0x9f if self.accepts_c1() => return self.esc(&[], byte - 0x40),
            _ => {}
        }
        self.end_operation();
    }
}
