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

/// The maximum size of the images and of the history in a checkpoint, in bytes of memory before the history is compressed.
/// The checkpoint of a larger terminal leaves out its images, and then its oldest rows. It is about as long as plain text,
/// and must fit into the journal.
const MAX_WHOLE: usize = 96 << 20;

/// The sizes of history to try if the text of a checkpoint is too long for the journal, because it has many colors.
const SMALLER: [usize; 3] = [24 << 20, 2 << 20, 0];

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
    pub(super) fn checkpoint(&self, parser: &Parser) {
        lock::assert_none();
        let Some(journal) = self.process.journal() else { return };
        let rest = parser.resume().unwrap_or_default();
        let is_stored = {
            let term = self.term.lock();
            let (character, joins) = term.last_printed();
            let last_printed = TermChange::LastPrinted { character, joins };
            let changes = [TermChange::Size(term.size()), last_printed];
            // In base64.
            let images = term.image_bytes() / 3 * 4;
            let has_images = images <= MAX_WHOLE;
            let most = if has_images { MAX_WHOLE - images } else { MAX_WHOLE };
            let smaller = SMALLER.into_iter().map(|history| (history, false));
            std::iter::once((most, has_images)).chain(smaller).any(|(history, has_images)| {
                let mut screen = term.to_vt_within(history, has_images);
                screen.extend_from_slice(&rest);
                journal.checkpoint(&screen, &changes)
            })
        };
        if !is_stored {
            tracing::warn!(pane = self.id.0, "the terminal is too large for its journal");
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A terminal and the journal of its output.
    struct Journaled {
        term: Term,
        parser: Parser,
        contents: JournalContents,
    }

    impl Journaled {
        fn new(size: Size) -> Self {
            let changes = vec![(0, TermChange::Size(size))];
            let contents = JournalContents { changes, ..JournalContents::default() };
            let term = Term::new(size, Options::default());
            Self { term, parser: Parser::new(), contents }
        }

        fn output(&mut self, bytes: &[u8]) {
            self.parser.advance(&mut self.term, bytes);
            self.contents.output.extend_from_slice(bytes);
            self.contents.applied = self.contents.output.len();
        }

        fn change(&mut self, change: TermChange) {
            change.apply(&mut self.term);
            self.contents.changes.push((self.contents.applied, change));
        }

        fn checkpoint(&mut self) {
            let Some(rest) = self.parser.resume() else { return };
            let (character, joins) = self.term.last_printed();
            let changes =
                [TermChange::Size(self.term.size()), TermChange::LastPrinted { character, joins }];
            self.contents = JournalContents {
                screen: [self.term.to_vt(), rest].concat(),
                changes: changes.map(|change| (0, change)).to_vec(),
                ..JournalContents::default()
            };
        }

        fn rebuilt(&self) -> Rebuilt {
            self.contents.clone().rebuild(Size::cells(1, 1), Options::default())
        }
    }

    #[test]
    fn replies_are_sent_once_and_unapplied_output_stays() {
        let mut journaled = Journaled::new(Size::cells(20, 5));
        journaled.output(b"one\x1b[6n");
        journaled.contents.answered = journaled.contents.applied;
        journaled.output(b"two\x1b[6n");
        journaled.contents.output.extend_from_slice(b"three");
        let rebuilt = journaled.rebuilt();
        assert_eq!(rebuilt.term.dump(), journaled.term.dump());
        assert_eq!(rebuilt.replies, b"\x1b[1;7R");
        assert_eq!(rebuilt.unread, b"three");
    }

    #[test]
    fn contents_that_contradict_each_other_are_harmless() {
        let size = Size::cells(20, 5);
        let contents = JournalContents {
            screen: b"\x1b[".to_vec(),
            output: b"text".to_vec(),
            changes: vec![(9, TermChange::Reset), (2, TermChange::Size(size))],
            answered: 99,
            applied: 77,
            input: Vec::new(),
        };
        assert!(contents.rebuild(size, Options::default()).unread.is_empty());
    }

    /// A piece of output, a change, or a checkpoint.
    #[derive(Clone, Debug)]
    enum Step {
        Output(Vec<u8>),
        Change(TermChange),
        Checkpoint,
    }

    fn step() -> impl Strategy<Value = Step> {
        let output = prop_oneof![
            "[ -~]{0,30}".prop_map(String::into_bytes),
            Just(b"\r\n".to_vec()),
            Just("日本e\u{301}".as_bytes().to_vec()),
            Just(b"\x1b[3;4H\x1b[1;32m".to_vec()),
            Just(b"\x1b]2;title".to_vec()),
            Just(b"\x07\x1b[m".to_vec()),
            Just(b"\x1b]133;A\x07$ \x1b]133;B\x07ls\r\n\x1b]133;C\x07".to_vec()),
            Just(b"\x1b]133;D;1\x07".to_vec()),
            Just(b"\x1b[?1049h".to_vec()),
            Just(b"\x1b[?1049l".to_vec()),
            Just(vec![0xe6, 0x97]),
            Just(vec![0xa5]),
            Just(b"\x1b[3b".to_vec()),
        ];
        let size = (2..40u16, 2..12u16).prop_map(|(cols, rows)| Size::cells(cols, rows));
        prop_oneof![
            8 => output.prop_map(Step::Output),
            1 => size.prop_map(|size| Step::Change(TermChange::Size(size))),
            1 => Just(Step::Change(TermChange::ClearHistory)),
            1 => Just(Step::Change(TermChange::ClearOutput)),
            1 => Just(Step::Change(TermChange::Reset)),
        ]
    }

    proptest! {
        #[test]
        fn output_and_changes_rebuild_an_equal_terminal(
            steps in prop::collection::vec(step(), 0..40),
        ) {
            let mut journaled = Journaled::new(Size::cells(20, 5));
            for step in steps {
                match step {
                    Step::Output(bytes) => journaled.output(&bytes),
                    Step::Change(change) => journaled.change(change),
                    Step::Checkpoint => journaled.checkpoint(),
                }
                prop_assert_eq!(journaled.rebuilt().term.dump(), journaled.term.dump());
            }
        }

        // Plain output, because `to_vt` does not write everything.
        #[test]
        fn a_checkpoint_and_the_output_since_rebuild_an_equal_terminal(
            steps in prop::collection::vec(
                prop_oneof![
                    6 => "[a-z]{0,12}".prop_map(|text| Step::Output(text.into_bytes())),
                    3 => Just(Step::Output(b"\r\n\x1b[1;33m".to_vec())),
                    1 => Just(Step::Output(b"\x1b]2;ti".to_vec())),
                    1 => Just(Step::Output(b"tle\x07".to_vec())),
                    1 => Just(Step::Output(vec![0xe6, 0x97])),
                    2 => Just(Step::Checkpoint),
                ],
                0..40,
            ),
        ) {
            let mut journaled = Journaled::new(Size::cells(20, 5));
            for step in steps {
                match step {
                    Step::Output(bytes) => journaled.output(&bytes),
                    Step::Change(change) => journaled.change(change),
                    Step::Checkpoint => journaled.checkpoint(),
                }
                prop_assert_eq!(journaled.rebuilt().term.dump(), journaled.term.dump());
            }
        }
    }
}
