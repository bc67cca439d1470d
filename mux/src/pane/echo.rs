//! What a pane shows that its program has not written: input echoed by the terminal itself (SRM), and sequences applied
//! for the user or a caller.
//!
//! Owns when input is echoed, and the announcement of the changes. Never replies to such bytes, and never shows a line
//! that the program reads without echo, such as a password.

use std::sync::atomic::Ordering;

use unterm_term::{Event, Parser, Size, Term, TitleSet};

use super::Pane;
use crate::MutexGuard;

/// What bytes from another source than the program did to the terminal.
struct Shown {
    seq: u64,
    size: Size,
    events: Vec<Event>,
    titles: Vec<TitleSet>,
    titles_set: u64,
}

impl Shown {
    /// Releases the terminal. Drops its replies.
    fn take(mut term: MutexGuard<'_, Term>) -> Self {
        term.take_replies();
        let (seq, size, events) = (term.seq(), term.size(), term.take_events());
        let (titles, titles_set) = (term.take_titles_set(), term.titles_set());
        term.unlock_fair();
        Self { seq, size, events, titles, titles_set }
    }
}

impl Pane {
    /// Whether the terminal echoes input: the program asked for it (SRM, as in xterm) and is not reading a line without
    /// echo, such as a password.
    pub(super) fn echoes_input(&self) -> bool {
        self.echoes.load(Ordering::Acquire) && !self.process.reads_secret()
    }

    /// Shows the queued input to be echoed before the program receives it. Queries in it get no reply.
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

    /// Announces what the bytes did to the terminal.
    fn announce_shown(&self, shown: Shown) {
        let Shown { seq, size, mut events, titles, titles_set } = shown;
        self.record_titles(titles, titles_set, &mut events);
        self.follow_requests(&events, size);
        self.announce(seq, events);
    }

    /// Clears the scrollback, as ED 3 from the program would.
    pub fn clear_history(&self) {
        self.show(b"\x1b[3J");
    }

    /// Deletes the output of programs: history, and the screen but for the prompt.
    pub fn clear_screen(&self) {
        let mut term = self.term.lock();
        term.clear_output();
        self.announce_shown(Shown::take(term));
    }

    /// Resets the terminal and clears screen and history, as RIS from the program would.
    pub fn reset(&self) {
        self.show(b"\x1bc");
    }

    /// Applies whole sequences to the terminal.
    fn show(&self, bytes: &[u8]) {
        let mut term = self.term.lock();
        Parser::new().advance(&mut term, bytes);
        self.echoes.store(term.echoes_locally(), Ordering::Release);
        self.announce_shown(Shown::take(term));
    }
}
