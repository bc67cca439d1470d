//! The programs and commands that run in panes.

use unterm_mux::{Pane, PaneState};
use unterm_term::Command;

/// Names of shells. A shell in the foreground normally only waits for a command.
const SHELLS: &[&str] = &[
    "sh", "ash", "bash", "dash", "zsh", "fish", "ksh", "mksh", "csh", "tcsh", "nu", "pwsh",
    "elvish", "xonsh",
];

/// The name of the program or command that runs in a pane. `None` if a shell waits for a command.
pub(crate) fn running(pane: &Pane) -> Option<String> {
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
        // A nested shell without prompt marks waits for a command if it reads single keys, as line editors do. A
        // script, or a shell that reads whole lines, leaves the terminal's echo on.
        let process = pane.process();
        let edits = process.echo() == Some(false) && !process.reads_secret();
        return (!edits).then(|| name.to_owned());
    }
    // The shell itself may be busy, for example with a loop or a builtin command.
    let term = pane.term();
    let command = term.commands().next_back().filter(|command| command.is_running())?;
    let line = command.shown().and_then(|line| line.lines().next());
    Some(line.unwrap_or(name).to_owned())
}

/// Whether a program of this name is a shell. The name of a login shell starts with a dash.
pub(crate) fn is_shell(name: &str) -> bool {
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
