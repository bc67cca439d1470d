//! Device control strings and application program commands: the method of each.

use crate::term::Term;

impl Term {
    /// Handles a DCS, the text between `ESC P` and its terminator.
    pub(crate) fn dcs(&mut self, string: &[u8]) {
        // Parameters come first.
        let digits = string.iter().take_while(|b| matches!(b, b'0'..=b';')).count();
        match &string[digits..] {
            [b'$', b'q', setting @ ..] => self.report_setting(setting), // DECRQSS
            [b'+', b'q', names @ ..] => self.report_capabilities(names), // XTGETTCAP
            [b'$', b't', state @ ..] => self.restore_presentation(&string[..digits], state), // DECRSPS
            [b'$', b'p', state @ ..] => self.restore_terminal_state(&string[..digits], state), // DECRSTS
            [b'!', b'u', name @ ..] => self.assign_preferred_set(&string[..digits], name), // DECAUPSS
            [b'q', data @ ..] => self.sixel(&string[..digits], data),                      // sixel
            other => tracing::debug!(length = other.len(), "unknown device control string"),
        }
        self.end_operation();
    }

    /// Handles an APC, the text between `ESC _` and its terminator.
    pub(crate) fn apc(&mut self, string: &[u8]) {
        match string {
            [b'G', command @ ..] => self.kitty_graphics(command), // kitty graphics
            [b'2', b'5', b'a', b'1', request @ ..] => self.glyph_protocol(request), // glyph protocol
            _ => tracing::debug!(length = string.len(), "unknown application program command"),
        }
        self.end_operation();
    }
}
