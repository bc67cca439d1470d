//! A pane of a running Unterm. Types into it and reads its screen through the control port.

use std::cell::RefCell;

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::{Instance, PROMPT, wait_for};

/// A pane, by its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pane {
    /// The pane's session id in the control protocol.
    pub id: u64,
}

impl Pane {
    /// Types text unchanged.
    ///
    /// # Errors
    ///
    /// The server's error.
    pub fn type_text(self, unterm: &mut Instance, input: &str) -> Result<()> {
        unterm.call("session.input", json!({"id": self.id, "input": input}))?;
        Ok(())
    }

    /// The rows of the screen, without trailing blanks.
    ///
    /// # Errors
    ///
    /// The server's error.
    pub fn lines(self, unterm: &mut Instance) -> Result<Vec<String>> {
        let screen = unterm.call("screen.text", json!({"id": self.id}))?;
        let lines = screen["lines"].as_array().context("screen.text gave no lines")?;
        Ok(lines.iter().map(|line| line.as_str().unwrap_or_default().trim_end().into()).collect())
    }

    /// Waits until `is_there` accepts the rows of the screen. Returns the rows.
    ///
    /// # Errors
    ///
    /// If no screen is accepted in time. The message shows the screen.
    pub fn wait(
        self,
        unterm: &mut Instance,
        what: &str,
        mut is_there: impl FnMut(&[String]) -> bool,
    ) -> Result<Vec<String>> {
        let last = RefCell::new(Vec::new());
        wait_for(
            what,
            || {
                let lines = self.lines(unterm)?;
                let found = is_there(&lines);
                *last.borrow_mut() = lines.clone();
                Ok(found.then_some(lines))
            },
            || format!("--- the screen\n{}\n---", last.borrow().join("\n").trim_end()),
        )
    }

    /// Waits until a row contains `text`.
    ///
    /// # Errors
    ///
    /// If the text does not appear.
    pub fn wait_for_text(self, unterm: &mut Instance, text: &str) -> Result<Vec<String>> {
        self.wait(unterm, &format!("{text:?}"), |lines| {
            lines.iter().any(|line| line.contains(text))
        })
    }

    /// Waits for an empty prompt on the cursor's row.
    ///
    /// # Errors
    ///
    /// If no prompt appears.
    pub fn wait_for_prompt(self, unterm: &mut Instance) -> Result<Vec<String>> {
        self.wait(unterm, "a prompt", |lines| {
            lines
                .iter()
                .rev()
                .find(|line| !line.is_empty())
                .is_some_and(|line| line == PROMPT.trim_end())
        })
    }

    /// Closes the pane.
    ///
    /// # Errors
    ///
    /// The server's error.
    pub fn close(self, unterm: &mut Instance) -> Result<()> {
        unterm.call("session.destroy", json!({"id": self.id}))?;
        Ok(())
    }
}
