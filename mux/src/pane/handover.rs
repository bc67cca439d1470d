//! A running program on its way from one pane to another, in this mux or between two muxes.
//!
//! Owns everything that the next pane needs to continue. Never reads the program's output or writes input to it: until
//! the next pane starts, output waits in the kernel.

use std::sync::Arc;

use unterm_term::{Options, Parser, Size, Term};

use super::{queue::Unsent, titles::Titles};
use crate::{
    Execution, PaneId, Process,
    process::{JournalContents, Variables},
};

/// A running program without a pane. [`crate::Mux::release`] returns it, and [`crate::Mux::adopt`] creates a pane for
/// it.
///
/// Dropping the handover drops the process. Dropping a [`crate::PtyProcess`] ends its program.
pub struct Handover {
    /// The program.
    pub process: Arc<dyn Process>,
    /// The size of its terminal.
    pub size: Size,
    /// Bytes that rebuild its terminal ([`unterm_term::Term::to_vt`]). If empty, the terminal is new.
    pub screen: Vec<u8>,
    /// The number of the program's previous pane, which its environment contains (`UNTERM_PANE`). The next pane gets
    /// the same number if its mux has not used that number or a higher one.
    pub pane: Option<PaneId>,
    /// Whether the size is pinned ([`crate::Pane::set_pinned`]).
    pub is_pinned: bool,
    /// The pane's name ([`crate::Pane::set_name`]).
    pub name: Option<String>,
    /// The requested program and its arguments. `None`: the default shell.
    pub command: Option<(String, Vec<String>)>,
    /// The secret in the prompt marks of the program's shells. Anyone who knows it can forge the marks.
    pub nonce: Option<Arc<str>>,
    pub(crate) rest: Rest,
}

/// State that can be handed over only between panes of one process, and the journal of another process.
#[derive(Default)]
pub(crate) struct Rest {
    /// The parser of the output, which may be inside a sequence.
    pub(super) parser: Parser,
    pub(super) titles: Titles,
    pub(super) unsent: Unsent,
    /// Output that was read and not applied to the terminal.
    pub(super) unread: Vec<u8>,
    /// The journal of a process that is gone. The terminal is rebuilt from it.
    pub(super) recovered: Option<JournalContents>,
    pub(super) marks: PromptMarks,
    pub(super) variables: Option<Arc<Variables>>,
}

/// The counters at the start of the last prompt.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PromptMarks {
    pub(super) enters: u64,
    pub(super) touches: u64,
    pub(super) inputs: u64,
    pub(super) shell: Option<Execution>,
    pub(super) cwd_reporter: i32,
    pub(super) inputs_shown: u64,
    /// How often the user has typed until the handover.
    pub(super) touches_now: u64,
}

impl Rest {
    /// The state for a program's first pane, with the variables of its shells.
    pub(crate) fn of_variables(variables: Option<Arc<Variables>>) -> Self {
        Self { variables, ..Self::default() }
    }

    /// Rebuilds the terminal of a program whose last owner is gone. `None` if there is no journal. `size` is the size of
    /// the terminal if the journal does not contain one.
    pub(crate) fn rebuild(&mut self, size: Size, options: &Options) -> Option<Term> {
        let mut recovered = self.recovered.take()?;
        self.unsent.waiting.append(&mut recovered.input);
        let rebuilt = recovered.rebuild(size, options.clone());
        self.parser = rebuilt.parser;
        self.unread = rebuilt.unread;
        self.push_reply(&rebuilt.replies);
        Some(rebuilt.term)
    }

    /// Adds a reply of the terminal to the bytes that wait for the program.
    pub(crate) fn push_reply(&mut self, bytes: &[u8]) {
        self.unsent.waiting.extend_from_slice(bytes);
    }
}

impl Handover {
    /// Sets the journal from which the terminal is rebuilt, instead of `screen`.
    #[cfg(target_os = "linux")]
    pub(crate) fn set_recovered(&mut self, recovered: JournalContents) {
        self.rest.recovered = Some(recovered);
    }

    /// Lets the program continue without an owner, so that another process can take it over. Input that the program has not
    /// received waits in its journal.
    pub fn leave(mut self) {
        let mut input = self.rest.recovered.take().map(|it| it.input).unwrap_or_default();
        input.append(&mut self.rest.unsent.waiting);
        let is_lost = || !self.process.journal().is_some_and(|it| it.leave_input(&input));
        if !input.is_empty() && is_lost() {
            let (program, bytes) = (self.process.program(), input.len());
            tracing::warn!(program, bytes, "input is lost: it does not fit into the journal");
        }
        self.process.leave();
    }

    /// Describes a program that never had a pane, in a terminal of `size`.
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
    /// Omits the screen and the nonce, because they are secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handover")
            .field("program", &self.process.program())
            .field("size", &self.size)
            .field("pane", &self.pane)
            .finish_non_exhaustive()
    }
}
