//! Checkpoints of a pane's terminal in the journal of its program's output, and the terminal that is rebuilt from a
//! journal.
//!
//! Owns the moment of a checkpoint: everything that was read has been applied, and neither the parser nor the terminal is
//! inside a sequence. Never decides how often a checkpoint is necessary: the journal does.

use unterm_term::{Options, Parser, Size, Term};

use super::Pane;
use crate::{
    lock,
    process::{CheckpointDue, JournalContents, TermChange},
};

/// The size of history and images in bytes from which on a checkpoint leaves out images and most of the history, so that
/// it fits into the journal.
const MAX_WHOLE: usize = 96 << 20;

/// The most rows of history in a checkpoint of a terminal that is too large for the journal.
const FEW_ROWS: u64 = 10_000;

/// A terminal that was rebuilt from a journal.
pub(crate) struct Rebuilt {
    pub(crate) term: Term,
    /// The parser, which may be inside a sequence.
    pub(crate) parser: Parser,
    /// Replies that the program may not have received.
    pub(crate) replies: Vec<u8>,
    /// Output that was not applied to the terminal.
    pub(crate) unread: Vec<u8>,
}

impl JournalContents {
    /// The size with which the terminal began.
    fn first_size(&self) -> Option<Size> {
        self.changes.iter().take_while(|(at, _)| *at == 0).find_map(|(_, change)| match change {
            TermChange::Size(size) => Some(*size),
            _ => None,
        })
    }

    /// Rebuilds the terminal. `size` is its size if the journal does not contain one.
    pub(crate) fn rebuild(mut self, size: Size, options: Options) -> Rebuilt {
        let mut term = Term::new(self.first_size().unwrap_or(size), options);
        let mut parser = Parser::new();
        parser.advance(&mut term, &self.screen);
        // The last owner has sent these replies and announced these events.
        forget_effects(&mut term);
        let applied = self.applied.min(self.output.len());
        let mut at = 0;
        let ends = self.changes.iter().map(|(at, change)| (*at, Some(*change)));
        for (end, change) in ends.chain([(self.answered, None), (applied, None)]) {
            let end = end.clamp(at, applied);
            // Replies to a piece that begins before this position were sent.
            for piece in [at..end.min(self.answered.max(at)), self.answered.clamp(at, end)..end] {
                parser.advance(&mut term, &self.output[piece.clone()]);
                if piece.end <= self.answered {
                    forget_effects(&mut term);
                }
            }
            at = end;
            if let Some(change) = change {
                change.apply(&mut term);
                if at <= self.answered {
                    forget_effects(&mut term);
                }
            }
        }
        let replies = term.take_replies();
        forget_effects(&mut term);
        Rebuilt { term, parser, replies, unread: self.output.split_off(applied) }
    }
}

fn forget_effects(term: &mut Term) {
    term.take_replies();
    term.take_events();
    term.take_titles_set();
}

impl Pane {
    /// Notes a change in the journal, after it was made. Call it with the terminal's lock. `None`: the journal cannot
    /// describe the change.
    pub(super) fn note_change(&self, change: Option<TermChange>) {
        if let Some(journal) = self.process.journal() {
            change.map_or_else(|| journal.set_stale(), |change| journal.note(change));
        }
    }

    /// Whether the terminal can be written as a whole, and the journal needs it. `parser` is the parser of the output.
    pub(super) fn is_checkpoint_due(&self, parser: &Parser, is_idle: bool) -> bool {
        match self.process.journal().map(|journal| journal.due(is_idle)) {
            None | Some(CheckpointDue::No) => false,
            Some(CheckpointDue::Soon) => {
                parser.resume().is_some() && self.term.lock().unfinished_bytes() == 0
            }
            Some(CheckpointDue::Now) => true,
        }
    }

    /// Writes the terminal into the journal. The reader calls it after it has applied everything that it has read.
    /// Returns whether the journal contains the terminal.
    pub(super) fn checkpoint(&self, parser: &Parser, is_idle: bool) -> bool {
        lock::assert_none();
        let Some(journal) = self.process.journal() else { return false };
        let rest = parser.resume().unwrap_or_default();
        let is_stored = {
            let term = self.term.lock();
            let is_whole = term.image_bytes() + term.history_size() <= MAX_WHOLE;
            let mut screen = if is_whole { term.to_vt() } else { term.to_vt_text(FEW_ROWS) };
            screen.extend_from_slice(&rest);
            let (character, joins) = term.last_printed();
            let last_printed = TermChange::LastPrinted { character, joins };
            journal.checkpoint(&screen, &[TermChange::Size(term.size()), last_printed])
        };
        // While the program prints, the memory is used again at once.
        if is_stored && is_idle {
            journal.free();
        }
        if !is_stored {
            tracing::warn!(pane = self.id.0, "the terminal is too large for its journal");
        }
        is_stored
    }
}
