//! Device control strings and application program commands: each one's method.

use crate::term::Term;

impl Term {
    /// A DCS, from behind `ESC P` to before its end.
    pub(crate) fn dcs(&mut self, string: &[u8]) {
        // Parameters come first; no string we know looks at them.
        let digits = string.iter().take_while(|b| matches!(b, b'0'..=b';')).count();
        match &string[digits..] {
            [b'$', b'q', setting @ ..] => self.report_setting(setting), // DECRQSS
            [b'+', b'q', names @ ..] => self.report_capabilities(names), // XTGETTCAP
            other => tracing::debug!(length = other.len(), "unknown device control string"),
        }
    }

    /// An APC, from behind `ESC _` to before its end. Nothing is known by that way yet.
    pub(crate) fn apc(&mut self, string: &[u8]) {
        tracing::debug!(length = string.len(), "unknown application program command");
    }
}
