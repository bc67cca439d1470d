//! Logs input beyond a cap, which is dropped whole and never truncated. All such log messages come from here.
//!
//! The first time for each kind in a terminal is a warning, so that users can find out why input is missing. Later
//! times are logged at debug level, so that output cannot flood the log. A reset (RIS) does not start over.

/// The kinds for which a terminal has logged a warning.
#[derive(Debug, Default)]
pub(crate) struct Caps {
    warned: Vec<&'static str>,
}

impl Caps {
    /// Logs that a text, list or entry is dropped because it exceeds `cap` bytes or entries of its kind.
    #[cold]
    pub fn dropped(&mut self, what: &'static str, cap: usize) {
        if self.is_first(what) {
            tracing::warn!(
                what,
                cap,
                "dropped whole: beyond the cap; only debug logs tell of more"
            );
        } else {
            tracing::debug!(what, cap, "dropped whole: beyond the cap");
        }
    }

    /// Logs that the oldest entry of a kind is dropped to make room, if its protocol allows that.
    #[cold]
    pub fn oldest_dropped(&mut self, what: &'static str, cap: usize) {
        if self.is_first(what) {
            tracing::warn!(
                what,
                cap,
                "the oldest goes: the cap is reached; only debug logs tell of more"
            );
        } else {
            tracing::debug!(what, cap, "the oldest goes: the cap is reached");
        }
    }

    fn is_first(&mut self, what: &'static str) -> bool {
        let is_first = !self.warned.contains(&what);
        if is_first {
            self.warned.push(what);
        }
        is_first
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;
    use std::sync::{Arc, Mutex};

    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Level, Metadata, Subscriber};

    use crate::{Parser, Size, Term};

    /// A line of the log: its level, what was dropped, and the cap.
    #[derive(Clone, Debug, PartialEq, Eq)]
    struct Line(Level, String, String);

    impl Visit for Line {
        fn record_str(&mut self, field: &Field, value: &str) {
            if field.name() == "what" {
                self.1 = value.to_owned();
            }
        }

        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            if field.name() == "cap" {
                self.2 = format!("{value:?}");
            }
        }
    }

    /// Keeps log messages about caps.
    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<Line>>>);

    impl Subscriber for Log {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &tracing::Event<'_>) {
            let mut line = Line(*event.metadata().level(), String::new(), String::new());
            event.record(&mut line);
            if !line.2.is_empty() {
                self.0.lock().unwrap().push(line);
            }
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    /// The log messages of a terminal that receives `pieces` one after the other, `rounds` times.
    fn logged(pieces: &[String], rounds: usize) -> Vec<Line> {
        let log = Log::default();
        tracing::subscriber::with_default(log.clone(), || {
            let (mut term, mut parser) =
                (Term::new(Size::cells(10, 4), Default::default()), Parser::new());
            for piece in pieces.iter().cycle().take(pieces.len() * rounds) {
                parser.advance(&mut term, piece.as_bytes());
            }
        });
        let lines = log.0.lock().unwrap();
        lines.clone()
    }

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
            // Two beyond the cap; the reset before them does not start the warnings over.
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
        let expected =
            expected.map(|(what, cap): (&str, usize)| (what.to_owned(), cap.to_string()));
        // Each terminal warns again.
        for _ in 0..2 {
            let lines = logged(&pieces, 3);
            let (warned, told): (Vec<_>, Vec<_>) =
                lines.into_iter().partition(|Line(level, ..)| *level == Level::WARN);
            let warned: Vec<_> = warned.into_iter().map(|Line(_, what, cap)| (what, cap)).collect();
            assert_eq!(warned, expected);
            assert!(told.iter().all(|Line(level, ..)| *level == Level::DEBUG));
            for (what, _) in &expected {
                assert!(told.iter().filter(|line| line.1 == *what).count() >= 2, "{what}");
            }
        }
    }
}
