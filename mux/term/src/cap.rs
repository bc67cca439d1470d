//! Logs input that exceeds a cap. Such input is dropped whole and never truncated. All such log messages come from this
//! module.
//!
//! In each terminal, the first message of each kind is a warning, so that users can find out why input is missing.
//! Later messages of that kind are logged at debug level, so that output cannot flood the log. A reset (RIS) does not
//! allow another warning.

/// The kinds of input for which a terminal has already logged a warning.
#[derive(Debug, Default)]
pub(crate) struct Caps {
    warned: Vec<&'static str>,
    /// The level, kind and cap of each message, for tests. A tracing subscriber would miss messages: threads of other
    /// tests have no subscriber, and tracing then drops a message on all threads.
    #[cfg(test)]
    logged: Vec<(tracing::Level, &'static str, usize)>,
}

impl Caps {
    /// Logs that a text, list or entry was dropped because it exceeds `cap`, a number of bytes or entries.
    #[cold]
    pub fn dropped(&mut self, what: &'static str, cap: usize) {
        self.log(what, cap, "dropped whole, because it exceeds the cap");
    }

    /// Logs that the oldest entry of a kind was dropped to make room for a new one. Some protocols allow that.
    #[cold]
    pub fn oldest_dropped(&mut self, what: &'static str, cap: usize) {
        self.log(what, cap, "the oldest entry was dropped, because the cap is reached");
    }

    fn log(&mut self, what: &'static str, cap: usize, event: &str) {
        let is_first = !self.warned.contains(&what);
        if is_first {
            self.warned.push(what);
            tracing::warn!(what, cap, "{event}; further ones are logged at debug level");
        } else {
            tracing::debug!(what, cap, "{event}");
        }
        #[cfg(test)]
        self.logged.push((
            if is_first { tracing::Level::WARN } else { tracing::Level::DEBUG },
            what,
            cap,
        ));
    }
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use crate::{Parser, Size, Term};

    #[test]
    fn each_kind_is_warned_of_once_in_a_terminal() {
        let pieces = [
            format!("\x1b]2;{}\x07", "x".repeat(4097)),
            format!("\x1b]8;;http://{}\x07", "x".repeat(2083)),
            format!("\x1b]8;id={};http://x\x07", "x".repeat(251)),
            format!("\x1b]7;file:///{}\x07", "x".repeat(8192)),
            format!("\x1b]633;E;{}\x07", "x".repeat(4097)),
            format!("\x1b]99;;{}\x07", "x".repeat(4097)),
            format!("\x1b]21;1=?{}\x07", ";2=?".repeat(512)),
            format!("\x1bP+q{}\x1b\\", "544e;".repeat(256)),
            format!("\x1b[{}m", "1;".repeat(32)),
            format!("\x1b]2;{}\x07", "x".repeat(1 << 20)),
            // Push two entries more than the cap allows. The reset before them does not allow another warning.
            format!("\x1bc{}", "\x1b[>1u".repeat(33)),
        ];
        let expected = [
            ("title", 4096),
            ("target of a link", 2083),
            ("id of a link", 250),
            ("working directory", 8192),
            ("command line", 4096),
            ("payload of OSC 99", 4096),
            ("OSC 21", 512),
            ("XTGETTCAP", 256),
            ("parameter of a control sequence", 32),
            ("string of an OSC", 1 << 20),
            ("flags of the keyboard", 32),
        ];
        let (mut term, mut parser) =
            (Term::new(Size::cells(10, 4), Default::default()), Parser::new());
        for piece in pieces.iter().cycle().take(pieces.len() * 3) {
            parser.advance(&mut term, piece.as_bytes());
        }
        let (warned, later): (Vec<_>, Vec<_>) =
            term.caps.logged.iter().partition(|(level, ..)| *level == Level::WARN);
        let warned: Vec<_> = warned.into_iter().map(|(_, what, cap)| (what, cap)).collect();
        assert_eq!(warned, expected);
        for (what, _) in expected {
            assert!(later.iter().filter(|(_, of, _)| *of == what).count() >= 2, "{what}");
        }
    }
}
