//! Shows programs that another process left behind with the keeper.

use std::sync::Arc;

use unterm_term::Size;

use super::{Mux, open::PanePlacement};
use crate::{Handover, KeptSpawner, LeftProgram, OnExit, Pane};

/// A program that could not be taken over. It continues without an owner.
#[derive(Debug, thiserror::Error)]
#[error("cannot show {program} again: {why}")]
pub struct NotAttached {
    /// The program.
    pub program: String,
    /// The reason.
    pub why: String,
}

impl Mux {
    /// Takes over a program that continues without an owner, and creates a pane for it. The terminal is empty except for
    /// a line about that, and the program receives a changed size, so that it draws again.
    ///
    /// # Errors
    /// If another process has taken over the program, or the pane cannot be created.
    pub fn attach(
        &self,
        keeper: &KeptSpawner,
        left: &LeftProgram,
        place: PanePlacement,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, NotAttached> {
        let failed = |why: String| NotAttached { program: left.program.clone(), why };
        let process = keeper.take(left).map_err(|error| failed(error.to_string()))?;
        // Programs draw again when the size changes. The pane sets the right size afterward.
        let rows = if left.size.rows > 1 { left.size.rows - 1 } else { 2 };
        let size = Size { rows, ..left.size };
        if let Err(error) = process.resize(size) {
            tracing::debug!(%error, "cannot resize the terminal of a program that was left behind");
        }
        let name = left.program.rsplit('/').next().unwrap_or_default();
        let mut handover = Handover::new(process, size);
        handover.screen = note(name).into_bytes();
        handover.pane = left.origin.pane;
        handover.command.clone_from(&left.origin.command);
        handover.nonce.clone_from(&left.nonce);
        self.adopt(handover, place, on_exit).map_err(|refused| {
            refused.handover.process.leave();
            failed(refused.error.to_string())
        })
    }
}

/// The first line of the terminal, in dim text. `name` must not control the terminal.
fn note(name: &str) -> String {
    let name: String = name.chars().filter(|c| !c.is_control()).collect();
    format!("\x1b[2m[{name} continues. What it printed before is lost.]\x1b[m\r\n")
}
