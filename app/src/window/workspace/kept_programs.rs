//! What happens to the window's programs when the window ends without ending them.

use std::sync::Arc;

use crate::{sessions::Sessions, succession::Restart};

#[derive(Default)]
pub(crate) struct KeptPrograms {
    /// How programs outlive this window.
    pub(crate) sessions: Arc<Sessions>,
    /// The program that replaces this one once the window has closed.
    pub(crate) restart: Option<Restart>,
    /// Whether the user ends the programs with the window. If false, programs that are in the window at its end
    /// continue, for example because the desktop has ended, because a move to another window has failed, or because
    /// another window has just moved them here.
    pub(crate) ends_programs: bool,
    /// Whether the user has seen that a new version is installed.
    pub(crate) has_offered_restart: bool,
}
