//! The output of a command: text for the user, or JSON for programs.

use std::io::Write as _;

use anyhow::Result;
use serde_json::{Value, json};

/// The result of a command that needs no running instance.
pub struct Report {
    /// The text for the user, with a line end. It is printed to standard error if the command failed.
    pub text: String,
    /// Additional notes for the user, printed to standard error.
    pub notes: String,
    /// The result as JSON, for `--json`.
    pub json: Value,
    /// Whether the command failed.
    pub is_failure: bool,
}

impl Report {
    /// The result of a command that succeeded.
    pub fn new(text: String, json: Value) -> Self {
        Self { text, notes: String::new(), json, is_failure: false }
    }

    /// The result of a command that failed or found a problem.
    pub fn failure(text: &str, json: Value) -> Self {
        Self { text: format!("{text}\n"), notes: String::new(), json, is_failure: true }
    }

    /// Adds notes to the report. Each note must have a line end.
    pub fn with_notes(self, notes: String) -> Self {
        Self { notes, ..self }
    }

    /// A report whose text is the whole result, such as a script.
    pub fn of_text(name: &str, text: String) -> Self {
        let json = json!({ name: text });
        Self::new(text, json)
    }
}

/// Prints a line to standard error. Unlike `eprintln!`, does not panic if that fails, for example on a full disk.
pub fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints a text. A closed pipe, for example of `| head`, is not an error.
pub fn write_out(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
