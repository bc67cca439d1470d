//! A command that shell integration marks, according to the terminal's records.

use std::sync::Arc;

use unterm_mux::Pane;
use unterm_term::Modes;

use super::follow::Silence;
use crate::services::shell::plain_prompt;

/// A command whose beginning and end are marked by shell integration.
pub struct Block {
    /// The typed line, without Enter.
    pub line: String,
    /// The nonce in the marks.
    pub nonce: Arc<str>,
    /// The command's number in the terminal.
    pub id: u64,
    /// The process id of the shell.
    pub shell: Option<i32>,
}

impl Block {
    /// Whether the shell leads the foreground. True also if the system does not report the leader.
    pub fn may_lead(&self, pane: &Pane) -> bool {
        pane.foreground().is_none_or(|foreground| Some(foreground.pid) == self.shell)
    }

    /// The state of the shell, if it leads the foreground again, edits a line and has read all input.
    pub fn silence(&self, pane: &Pane) -> Option<Silence> {
        let leader = pane.foreground().map(|foreground| foreground.pid);
        let edits = pane.process().echo() == Some(false) && !pane.process().reads_secret();
        // If a shell inside the command edits a line, that shell leads the foreground. `reads`: whether the shell has
        // read all typed input.
        let reads = pane.process().awaits_input() != Some(false);
        if leader.is_none() || leader != self.shell || !edits || !reads {
            return None;
        }
        let is_replaced = pane.is_shell_replaced() != Some(false);
        let is_unreported = plain_prompt::is_unreported(pane);
        let term = pane.term();
        let own = term.command(self.id);
        let last = term.commands().next_back();
        Some(Silence {
            has_prompt: is_unreported
                || last.is_some_and(|last| last.id > self.id && last.is_prompting()),
            has_editor: term.modes().contains(Modes::BRACKETED_PASTE),
            is_replaced,
            has_run: own.is_none_or(|own| own.output_seq != 0),
            exit_code: own.and_then(|own| own.exit_code),
            is_new_shell: false,
        })
    }

    /// The command's exit code in the terminal's records. `None` if the command has not ended.
    pub fn find_end(&self, pane: &Pane) -> Option<Option<i32>> {
        let term = pane.term();
        match term.command(self.id) {
            Some(command) => (command.end_seq != 0).then_some(command.exit_code),
            // The terminal no longer keeps the command. A later prompt proves that the command has ended.
            None => term.commands().any(|later| later.id > self.id).then_some(None),
        }
    }
}
