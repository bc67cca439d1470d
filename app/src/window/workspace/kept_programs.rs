//! What happens to the window's programs when the window ends without ending them.

use std::sync::Arc;

use crate::{sessions::Sessions, succession::Restart};

#[derive(Default)]
pub(crate) struct KeptPrograms {
    /// How programs outlive this window.
    pub(crate) sessions: Arc<Sessions>,
    /// The program that replaces this one once the window has closed.
    pub(crate) restart: Option<Restart>,
    /// Whether the user ends the programs with the window. Otherwise, a program that is there at the end continues: its
    /// desktop has ended, it has come back after a move that failed, or another window has just moved it here.
    pub(crate) ends_programs: bool,
    /// Whether the user has seen that a new version is installed.
    pub(crate) has_offered_restart: bool,
}
