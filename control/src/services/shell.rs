//! Shells: determines which shell reads a line, recognizes prompts and commands, and types commands.

pub mod awaited;
pub mod command_parts;
pub mod echoes;
pub mod kind;
pub mod output;
pub mod plain_prompt;
pub mod policy;
pub mod question_line;
pub mod reading;
pub mod refused_lines;
pub mod rewrites;
pub mod run;
pub mod secret;

use std::sync::Arc;

use self::{
    echoes::Echoes, kind::TypedRuns, policy::Policy, refused_lines::RefusedLines, run::RunTurns,
};

/// The lines that callers type in an instance's panes.
#[derive(Default)]
pub struct Lines {
    /// The rules on input lines.
    pub policy: Arc<Policy>,
    /// The lines that the rules refused.
    pub refused_lines: Arc<RefusedLines>,
    /// The echoes of text that callers typed.
    pub echoes: Arc<Echoes>,
    /// The commands that were typed with marks around their output.
    pub runs: Arc<TypedRuns>,
    /// The turns of callers that run a command in the same pane.
    pub run_turns: RunTurns,
}
