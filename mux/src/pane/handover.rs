//! A running program between two panes, of this mux or of two muxes.
//!
//! Owns everything the next pane needs to continue. Never reads the program or writes to it: until the next pane
//! starts, the program's output waits in the kernel.

use std::sync::Arc;

use unterm_term::{Parser, Size};

use super::{queue::Unsent, titles::Titles};
use crate::{Execution, PaneId, Process, process::Variables};

/// A running program without a pane: [`crate::Mux::release`] returns it and [`crate::Mux::adopt`] takes it.
///
/// Dropping it drops the process; a [`crate::PtyProcess`] then ends its program.
pub struct Handover {
    /// The program.
    pub process: Arc<dyn Process>,
    /// The size of its terminal.
    pub size: Size,
    /// Bytes that rebuild its terminal ([`unterm_term::Term::to_vt`]). If empty, the terminal is new.
    pub screen: Vec<u8>,
    /// The number of its last pane, which the program's environment contains (`UNTERM_PANE`). The next pane gets it if
    /// all numbers that its mux has used are lower.
    pub pane: Option<PaneId>,
    /// Whether the size is pinned ([`crate::Pane::set_pinned`]).
    pub is_pinned: bool,
    /// The pane's name ([`crate::Pane::set_name`]).
    pub name: Option<String>,
    /// The requested program and its arguments; `None`: a shell.
    pub command: Option<(String, Vec<String>)>,
    /// The nonce in the prompt marks of its shells. Anyone who has it can forge the marks.
    pub nonce: Option<Arc<str>>,
    pub(crate) rest: Rest,
}

/// State that only panes of the same process can hand over.
#[derive(Default)]
pub(crate) struct Rest {
    /// The parser of the output, which may be inside a sequence.
    pub(super) parser: Parser,
    pub(super) titles: Titles,
    pub(super) unsent: Unsent,
    pub(super) marks: PromptMarks,
    pub(super) variables: Option<Arc<Variables>>,
}

/// The counts at the start of the last prompt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PromptMarks {
    pub(super) enters: u64,
    pub(super) touches: u64,
    pub(super) inputs: u64,
    pub(super) shell: Option<Execution>,
    pub(super) cwd_reporter: i32,
    pub(super) inputs_shown: u64,
    /// How often the user has typed so far.
    pub(super) touches_now: u64,
}

impl Rest {
    /// For a program's first pane, with the variables of its shells.
    pub(crate) fn of_variables(variables: Option<Arc<Variables>>) -> Self {
        Self { variables, ..Self::default() }
    }

    /// Adds the terminal's reply to the bytes for the program.
    pub(crate) fn push_reply(&mut self, bytes: &[u8]) {
        self.unsent.waiting.extend_from_slice(bytes);
    }
}

impl Handover {
    /// A program that never had a pane, in a terminal of `size`.
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
    /// Omits the screen and the nonce, which are secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handover")
            .field("program", &self.process.program())
            .field("size", &self.size)
            .field("pane", &self.pane)
            .finish_non_exhaustive()
    }
}
