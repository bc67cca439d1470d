//! Shows text in a pane that its program has not written: input that the terminal itself echoes (SRM), and sequences
//! that a user or a caller applies.
//!
//! Owns the decision when input is echoed, and announces the changes. Never replies to queries in such text, and never
//! shows a line that the program reads without echo, such as a password.

use std::sync::atomic::Ordering;

use unterm_term::{Event, Parser, Size, Term, TitleSet};

use super::Pane;
use crate::{
    MutexGuard,
    process::{CLEAR_HISTORY, RESET, TermChange},
};

/// The effect on the terminal of text from a source other than the program.
struct Shown {
    seq: u64,
    size: Size,
    events: Vec<Event>,
    titles: Vec<TitleSet>,
    titles_set: u64,
}

impl Shown {
    /// Releases the lock of the terminal. Drops the terminal's replies.
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

    /// Shows the queued input that the terminal must echo, before the program receives it. Queries in that input get no
    /// reply.
    pub(super) fn echo_input(&self) {
        self.queue.echo(
            |parser, bytes| {
                let mut term = self.term.lock();
                parser.advance(&mut term, bytes);
                self.note_change(None);
                Shown::take(term)
            },
            |shown| self.announce_shown(shown),
        );
    }

    /// Announces the changes that the shown text made to the terminal.
    fn announce_shown(&self, shown: Shown) {
        let Shown { seq, size, mut events, titles, titles_set } = shown;
        self.record_titles(titles, titles_set, &mut events);
        self.follow_requests(&events, size);
        self.announce(seq, events);
    }

    /// Clears the scrollback, as if the program had sent ED 3.
    pub fn clear_history(&self) {
        self.show(CLEAR_HISTORY, Some(TermChange::ClearHistory));
    }

    /// Deletes the output of programs: the history, and the screen except the prompt.
    pub fn clear_screen(&self) {
        let mut term = self.term.lock();
        term.clear_output();
        self.note_change(Some(TermChange::ClearOutput));
        self.announce_shown(Shown::take(term));
    }

    /// Resets the terminal and clears screen and history, as if the program had sent RIS.
    pub fn reset(&self) {
        self.show(RESET, Some(TermChange::Reset));
    }

    /// Applies complete sequences to the terminal. `change` describes them, if the journal can.
    pub(super) fn show(&self, bytes: &[u8], change: Option<TermChange>) {
        let mut term = self.term.lock();
        Parser::new().advance(&mut term, bytes);
        self.note_change(change);
        self.echoes.store(term.echoes_locally(), Ordering::Release);
        self.announce_shown(Shown::take(term));
    }
}
