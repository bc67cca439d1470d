//! Closes a pane, a tab or the window. If a program runs there, asks first.
//!
//! Owns what counts as in use; `confirm.rs` asks.

use unterm_mux::{Pane, PaneId, PaneState, TabId};
use unterm_term::Command;

use super::{
    App,
    confirm::{Answer, Confirm, Preview},
    toast::first_of,
};
use crate::config::ConfirmClose;

/// Shells: in the foreground, they only wait for a command.
const SHELLS: &[&str] = &[
    "sh", "ash", "bash", "dash", "zsh", "fish", "ksh", "mksh", "csh", "tcsh", "nu", "pwsh",
    "elvish", "xonsh",
];
/// Maximum number of programs in a question.
const NAMED: usize = 6;

/// What to close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    Pane(PaneId),
    Tab(TabId),
    Window,
}

impl App {
    /// Closes a pane, a tab or the window, or asks for confirmation.
    pub(super) fn close(&mut self, what: Closing) {
        let layout = self.mux.layout();
        let panes: Vec<PaneId> = match what {
            Closing::Pane(pane) => vec![pane],
            Closing::Tab(tab) => {
                let tab = layout.tabs.iter().find(|one| one.id == tab);
                tab.map_or_else(Vec::new, |tab| tab.panes())
            }
            Closing::Window => layout.tabs.iter().flat_map(|tab| tab.panes()).collect(),
        };
        let running: Vec<String> = match self.config.confirm_close {
            ConfirmClose::Never => Vec::new(),
            _ => panes.iter().filter_map(|pane| running(&*self.mux.pane(*pane)?)).collect(),
        };
        if running.is_empty() && self.config.confirm_close != ConfirmClose::Always {
            return self.close_now(what);
        }
        let thing = match what {
            Closing::Pane(_) => "pane",
            Closing::Tab(_) => "tab",
            Closing::Window => "window",
        };
        let about = match (running.len(), panes.len()) {
            (0, 0 | 1) => "Its shell will end.".to_owned(),
            (0, shells) => format!("{shells} shells will end."),
            (1, _) => "A running program will end:".to_owned(),
            (many, _) => format!("{many} running programs will end:"),
        };
        let names = first_of(&running, NAMED).into_iter();
        let preview = names.map(|text| Preview { text, ..Preview::default() });
        self.ask(
            Confirm::new(format!("Close this {thing}?"), about)
                .preview(preview.collect())
                .button("Close", 'c', Answer::Close(what))
                .cancel(),
        );
    }

    /// Closes without asking.
    pub(super) fn close_now(&mut self, what: Closing) {
        match what {
            // The program may have exited since the question.
            Closing::Pane(pane) => drop(self.mux.close_pane(pane)),
            Closing::Tab(tab) => drop(self.mux.close_tab(tab)),
            Closing::Window => self.inbox.post(|news| news.stop = true),
        }
    }
}

/// The program or command that runs in a pane; `None` for a waiting shell.
fn running(pane: &Pane) -> Option<String> {
    if pane.state() != PaneState::Running {
        return None;
    }
    let foreground = pane.foreground()?;
    let name = foreground.name.rsplit('/').next().unwrap_or_default();
    if !is_shell(name) {
        return Some(name.to_owned());
    }
    let is_prompting = pane.term().commands().next_back().is_some_and(Command::is_prompting);
    if !foreground.is_root && !is_prompting {
        // A nested shell without prompt marks waits for a command while it reads single keys, as line editors do. A
        // script, or a shell that reads whole lines, leaves the echo on.
        let process = pane.process();
        let edits = process.echo() == Some(false) && !process.reads_secret();
        return (!edits).then(|| name.to_owned());
    }
    // The shell itself may be busy: with a loop, or a builtin.
    let term = pane.term();
    let command = term.commands().next_back().filter(|command| command.is_running())?;
    let line = command.shown().and_then(|line| line.lines().next());
    Some(line.unwrap_or(name).to_owned())
}

/// Whether a program of this name is a shell; a login shell's name starts with a dash.
fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name.strip_prefix('-').unwrap_or(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_one_by_its_name() {
        for name in ["bash", "-zsh", "fish", "sh"] {
            assert!(is_shell(name), "{name}");
        }
        for name in ["vim", "ssh", "bashtop", ""] {
            assert!(!is_shell(name), "{name}");
        }
    }
}
