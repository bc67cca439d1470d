//! Starts the programs of a mux's panes.
//!
//! Owns the trait, and the implementation that starts local programs on ptys. A pane owns its program, not the spawner.

use std::sync::Arc;

use unterm_term::Size;

use crate::{Process, PtyProcess, Spawn, SpawnError};

/// Starts programs for a mux. Any thread may call it, with no lock held. It may block until the program has started.
pub trait Spawner: Send + Sync {
    /// Starts a program in a terminal of `size`. `spawn` is complete: it contains the configured shell and all
    /// variables of the mux. An implementation that starts programs elsewhere must ignore [`Spawn::integration`],
    /// because its files are local.
    ///
    /// # Errors
    /// If the program cannot be started.
    fn spawn(&self, spawn: &Spawn, size: Size) -> Result<Arc<dyn Process>, SpawnError>;

    /// The mux is about to leave programs behind that nothing takes over at once.
    fn will_leave(&self) {}
}

/// Starts local programs, each on its own pty ([`PtyProcess`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct PtySpawner;

impl Spawner for PtySpawner {
    fn spawn(&self, spawn: &Spawn, size: Size) -> Result<Arc<dyn Process>, SpawnError> {
        Ok(Arc::new(PtyProcess::spawn(spawn, size)?))
    }
}
