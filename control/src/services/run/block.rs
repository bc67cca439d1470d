//! A command as the terminal keeps it, where the shell's integration marks it.

use std::sync::Arc;

use unterm_mux::Pane;
use unterm_term::Modes;

use super::follow::Silence;

/// A command of a shell whose integration marks where it begins and ends.
pub struct Block {
    /// What was typed, without Enter.
    pub line: String,
    /// What the marks carry.
    pub nonce: Arc<str>,
    /// The command, as the terminal counts them.
    pub id: u64,
    /// The shell.
    pub shell: Option<i32>,
}

impl Block {
    /// Whether the shell leads the foreground, as far as the system says who does.
    pub fn may_lead(&self, pane: &Pane) -> bool {
        pane.foreground().is_none_or(|foreground| Some(foreground.pid) == self.shell)
    }

    /// The shell, if it leads the foreground again and edits a line.
    pub fn silence(&self, pane: &Pane) -> Option<Silence> {
        let leader = pane.foreground().map(|foreground| foreground.pid);
        let edits = pane.process().echo() == Some(false) && !pane.process().reads_secret();
        // The foreground of a shell inside the command is that shell's.
        if leader.is_none() || leader != self.shell || !edits {
            return None;
        }
        let is_replaced = pane.is_shell_replaced() != Some(false);
        let term = pane.term();
        let own = term.command(self.id);
        let last = term.commands().next_back();
        Some(Silence {
            has_prompt: last.is_some_and(|last| last.id > self.id && last.is_prompting()),
            has_editor: term.modes().contains(Modes::BRACKETED_PASTE),
            is_replaced,
            has_run: own.is_none_or(|own| own.output_seq != 0),
            exit_code: own.and_then(|own| own.exit_code),
        })
    }

    /// The exit code of the command, once it has ended, from what the terminal keeps.
    pub fn find_end(&self, pane: &Pane) -> Option<Option<i32>> {
        let term = pane.term();
        match term.command(self.id) {
            Some(command) => (command.end_seq != 0).then_some(command.exit_code),
            // Its prompt has scrolled out of the history: a later one says that it is over.
            None => term.commands().any(|later| later.id > self.id).then_some(None),
        }
    }
}
