//! Environment variables that a user or caller sets for a pane's shells.
//!
//! Owns the operations for callers; [`Variables`](crate::process::Variables) owns the files. Never types anything into
//! a shell.

use std::io;

use unterm_term::Command;

use super::Pane;
use crate::{Signal, process::is_name};

impl Pane {
    /// Sets a variable in the pane's shells (`None`: unsets it). Shells apply the change before their next prompt, and
    /// most shells before their next command. Panes split off this one get the variable too. Types nothing; writes
    /// files. Returns false if no shell of the pane has integration and has marked a prompt.
    ///
    /// # Errors
    /// If not every shell accepts the name, or the files cannot be written.
    pub fn set_variable(&self, name: &str, value: Option<&str>) -> io::Result<bool> {
        if !is_name(name) || value.is_some_and(|value| value.contains('\0')) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no variable of a shell"));
        }
        let Some(variables) = &self.variables else { return Ok(false) };
        variables.set(name, value)?;
        Ok(self.term.lock().commands().next_back().is_some())
    }

    /// Signals a shell that waits at a prompt to read the changed variables. Without the signal, bash reads them only
    /// before the next prompt.
    pub fn announce_variables(&self) {
        let is_prompting =
            self.term.lock().commands().next_back().is_some_and(Command::is_prompting);
        if is_prompting && let Err(error) = self.process.signal(Signal::WindowChanged) {
            tracing::debug!(pane = self.id.0, %error, "can't pass variables to a shell");
        }
    }

    /// The last value set by [`Pane::set_variable`]. `Some(None)` if the variable was unset, and `None` if it was never
    /// set.
    pub fn variable(&self, name: &str) -> Option<Option<String>> {
        self.variables.as_ref()?.get(name)
    }

    /// The variables set by [`Pane::set_variable`].
    pub fn variables(&self) -> Vec<(String, String)> {
        self.variables.as_ref().map(|variables| variables.all()).unwrap_or_default()
    }
}
