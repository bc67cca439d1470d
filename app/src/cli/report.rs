//! What a command prints: text for people, or JSON for programs.

use std::io::Write as _;

use anyhow::Result;
use serde_json::{Value, json};

/// The outcome of a command that needs no running instance.
pub struct Report {
    /// For people, with a line end. Goes to standard error if the command failed.
    pub text: String,
    /// For people, on standard error: what the text does not cover.
    pub notes: String,
    /// The same for `--json`.
    pub json: Value,
    /// Whether the command failed.
    pub is_failure: bool,
}

impl Report {
    /// A command that did what it should.
    pub fn new(text: String, json: Value) -> Self {
        Self { text, notes: String::new(), json, is_failure: false }
    }

    /// A command that found something wrong.
    pub fn failure(text: &str, json: Value) -> Self {
        Self { text: format!("{text}\n"), notes: String::new(), json, is_failure: true }
    }

    /// The same report with notes, each with a line end.
    pub fn with_notes(self, notes: String) -> Self {
        Self { notes, ..self }
    }

    /// A text that is the result by itself, such as a script.
    pub fn of_text(name: &str, text: String) -> Self {
        let json = json!({ name: text });
        Self::new(text, json)
    }
}

/// Prints. A closed pipe, as of `| head`, is not an error.
pub fn write_out(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
