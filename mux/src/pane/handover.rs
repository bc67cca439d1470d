//! A running program on its way from one pane to another, be that of this mux or of another.
//!
//! Owns all that the next pane needs to go on where the last one stopped. Never reads the program or writes to it: while it is
//! on its way, the program's output waits in the system.

use std::sync::Arc;

use unterm_term::{Parser, Size};

use super::{queue::Unsent, titles::Titles};
use crate::{PaneId, Process, process::Variables};

/// A running program without a pane: what [`crate::Mux::release`] gives and [`crate::Mux::adopt`] takes.
///
/// Whoever drops it drops the process, and a [`crate::PtyProcess`] ends its program with that.
pub struct Handover {
    /// The program.
    pub process: Arc<dyn Process>,
    /// The size of its terminal.
    pub size: Size,
    /// Bytes that rebuild its terminal ([`unterm_term::Term::to_vt`]); none: a new one.
    pub screen: Vec<u8>,
    /// The number of its last pane, which is in the program's environment (`UNTERM_PANE`). The next pane gets it if its mux has
    /// given out neither that number nor a higher one.
    pub pane: Option<PaneId>,
    /// The size is pinned ([`crate::Pane::set_pinned`]).
    pub is_pinned: bool,
    /// The title that it was given.
    pub name: Option<String>,
    /// The program that was asked for, with its arguments; `None`: a shell.
    pub command: Option<(String, Vec<String>)>,
    /// What the marks of its shells carry. Whoever has it can forge them.
    pub nonce: Option<Arc<str>>,
    pub(crate) rest: Rest,
}

/// What only panes of one process can give each other.
#[derive(Default)]
pub(crate) struct Rest {
    /// The parser of the output, which may have stopped within a sequence.
    pub(super) parser: Parser,
    pub(super) titles: Titles,
    pub(super) unsent: Unsent,
    pub(super) marks: PromptMarks,
    pub(super) variables: Option<Arc<Variables>>,
}

/// What was true when the last prompt began.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PromptMarks {
    pub(super) enters: u64,
    pub(super) touches: u64,
    pub(super) cwd_reporter: i32,
    pub(super) inputs_shown: u64,
    /// How often a person has typed by now.
    pub(super) touches_now: u64,
}

impl Rest {
    /// For a program that no pane has had, and the variables of its shells.
    pub(crate) fn of_variables(variables: Option<Arc<Variables>>) -> Self {
        Self { variables, ..Self::default() }
    }

    /// Adds what the terminal answers to the program.
    pub(crate) fn push_reply(&mut self, bytes: &[u8]) {
        self.unsent.waiting.extend_from_slice(bytes);
    }
}

impl Handover {
    /// A program that no pane has had, in a terminal of `size`.
    pub fn new(process: Arc<dyn Process>, size: Size) -> Self {
        Self {
            process,
            size,
            screen: Vec::new(),
            pane: None,
            is_pinned: false,
            name: None,
            command: None,
            nonce: None,
            rest: Rest::default(),
        }
    }
}

impl std::fmt::Debug for Handover {
    /// Leaves out the screen and the nonce, which are secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handover")
            .field("program", &self.process.program())
            .field("size", &self.size)
            .field("pane", &self.pane)
            .finish_non_exhaustive()
    }
}
