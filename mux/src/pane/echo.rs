//! What a pane shows that its program has not written: input that the terminal itself echoes (SRM), and sequences that the person
//! or a caller has it act on.
//!
//! Owns when input is echoed, and what is announced of all this. Never answers what such bytes ask for, and never shows a line
//! that the program reads without echo, which is a password.

use std::sync::atomic::Ordering;

use unterm_term::{Event, Parser, Size, Term, TitleSet};

use super::Pane;
use crate::MutexGuard;

/// What bytes that the program has not written did to its terminal.
struct Shown {
    seq: u64,
    size: Size,
    events: Vec<Event>,
    titles: Vec<TitleSet>,
    titles_set: u64,
}

impl Shown {
    /// Lets go of the terminal. What the bytes asked it is not answered.
    fn take(mut term: MutexGuard<'_, Term>) -> Self {
        term.take_replies();
        let (seq, size, events) = (term.seq(), term.size(), term.take_events());
        let (titles, titles_set) = (term.take_titles_set(), term.titles_set());
        term.unlock_fair();
        Self { seq, size, events, titles, titles_set }
    }
}

impl Pane {
    /// Whether the terminal itself shows input: if the program asked for that (SRM, as in xterm) and does not read a line
    /// without echo, which is a password.
    pub(super) fn echoes_input(&self) -> bool {
        self.echoes.load(Ordering::Acquire) && !self.process.reads_secret()
    }

    /// Shows the queued input that is to be echoed, before the program gets it. What it holds may look like a question:
    /// nothing is answered.
    pub(super) fn echo_input(&self) {
        self.queue.echo(
            |parser, bytes| {
                let mut term = self.term.lock();
                parser.advance(&mut term, bytes);
                Shown::take(term)
            },
            |shown| self.announce_shown(shown),
        );
    }

    /// Announces what bytes that the program has not written did to the terminal.
    fn announce_shown(&self, shown: Shown) {
        let Shown { seq, size, mut events, titles, titles_set } = shown;
        self.record_titles(titles, titles_set, &mut events);
        self.follow_requests(&events, size);
        self.announce(seq, events);
    }

    /// Forgets what has scrolled off the screen, as the program could (ED 3).
    pub fn clear_history(&self) {
        self.show(b"\x1b[3J");
    }

    /// Brings the terminal to its first state, with an empty screen and history, as the program could (RIS).
    pub fn reset(&self) {
        self.show(b"\x1bc");
    }

    /// Does to the terminal what whole sequences do.
    fn show(&self, bytes: &[u8]) {
        let mut term = self.term.lock();
        Parser::new().advance(&mut term, bytes);
        self.echoes.store(term.echoes_locally(), Ordering::Release);
        self.announce_shown(Shown::take(term));
    }
}
