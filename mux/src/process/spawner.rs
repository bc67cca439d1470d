//! Where a mux gets the programs of its panes from.
//!
//! Owns the trait, and the implementation that starts local programs on ptys. Never holds a program: it belongs to its pane.

use std::sync::Arc;

use unterm_term::Size;

use crate::{Process, PtyProcess, Spawn, SpawnError};

/// Starts programs for a mux. Called from any thread, with no lock held; may take as long as a start takes.
pub trait Spawner: Send + Sync {
    /// Starts a program in a terminal of `size`. `spawn` is complete: it names the shell where one is set, and every variable
    /// of the mux. What does not start the program on this machine ignores [`Spawn::integration`], whose files lie here.
    ///
    /// # Errors
    /// When the program can't be started.
    fn spawn(&self, spawn: &Spawn, size: Size) -> Result<Arc<dyn Process>, SpawnError>;
}

/// Starts local programs, each on a pty of its own ([`PtyProcess`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct PtySpawner;

impl Spawner for PtySpawner {
    fn spawn(&self, spawn: &Spawn, size: Size) -> Result<Arc<dyn Process>, SpawnError> {
        Ok(Arc::new(PtyProcess::spawn(spawn, size)?))
    }
}
