//! Variables that are set for a pane's shells.
//!
//! Owns what a caller may ask of them; their files belong to [`Variables`](crate::process::Variables). Never types anything into a shell.

use std::io;

use unterm_term::Command;

use super::Pane;
use crate::{Signal, process::is_name};

impl Pane {
    /// Has the pane's shells set a variable (`None`: take it away) before their next prompt, and most before their next command; what is split off
    /// the pane has it too. False: a shell of the pane has to have integration for that, and none has marked a prompt. Nothing is
    /// typed. Writes files.
    ///
    /// # Errors
    /// When the name is none that every shell takes, and when the files can't be written.
    pub fn set_variable(&self, name: &str, value: Option<&str>) -> io::Result<bool> {
        if !is_name(name) || value.is_some_and(|value| value.contains('\0')) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no variable of a shell"));
        }
        let Some(variables) = &self.variables else { return Ok(false) };
        variables.set(name, value)?;
        Ok(self.term.lock().commands().next_back().is_some())
    }

    /// Has a shell that waits at a prompt look at the variables that were set: bash does so by itself only before the next
    /// prompt.
    pub fn announce_variables(&self) {
        let is_prompting =
            self.term.lock().commands().next_back().is_some_and(Command::is_prompting);
        if is_prompting && let Err(error) = self.process.signal(Signal::WindowChanged) {
            tracing::debug!(pane = self.id.0, %error, "a shell was not told of variables");
        }
    }

    /// What [`Pane::set_variable`] last said of a variable: its value, `Some(None)` if it was taken away.
    pub fn variable(&self, name: &str) -> Option<Option<String>> {
        self.variables.as_ref()?.get(name)
    }

    /// The variables of [`Pane::set_variable`] that are set.
    pub fn variables(&self) -> Vec<(String, String)> {
        self.variables.as_ref().map(|variables| variables.all()).unwrap_or_default()
    }
}
