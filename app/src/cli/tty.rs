//! `unterm-cli mcp tty`: finds the terminal that an agent's program runs in. The agent's program calls this command in
//! a hook when a session starts. The standard streams of a hook are pipes, and it may have no controlling terminal.
//! Then the terminal of a parent process is used.

use std::{path::Path, process::Command};

use anyhow::{Context, Result};
use unterm_control::{
    client::{self, Client},
    methods::{params::NoParams, session::List},
};

use crate::cli::own_pane::OwnPane;

/// The maximum number of parent processes to check.
const MOST_ABOVE: usize = 64;

/// The path of the terminal's device file.
///
/// # Errors
/// Fails if no terminal is found.
pub fn path(home: &Path) -> Result<String> {
    let found = of_streams().or_else(of_processes).or_else(|| of_pane(home));
    found.context(
        "this does not run in a terminal: standard streams, parent processes and UNTERM_PANE name none",
    )
}

/// The terminal on a standard stream.
fn of_streams() -> Option<String> {
    let names = [
        rustix::termios::ttyname(std::io::stdin(), Vec::new()),
        rustix::termios::ttyname(std::io::stdout(), Vec::new()),
        rustix::termios::ttyname(std::io::stderr(), Vec::new()),
    ];
    names.into_iter().find_map(|name| name.ok()?.into_string().ok())
}

/// The controlling terminal of this process, or of its nearest parent with a terminal. Uses `ps`, which every Unix
/// has.
fn of_processes() -> Option<String> {
    let mut process = std::process::id();
    for _ in 0..MOST_ABOVE {
        let mut ps = Command::new("ps");
        ps.args(["-o", "ppid=", "-o", "tty=", "-p"]).arg(process.to_string());
        let said = ps.output().ok().filter(|said| said.status.success())?;
        let (above, terminal) = parsed(&String::from_utf8_lossy(&said.stdout))?;
        if terminal.is_some() {
            return terminal;
        }
        process = above;
    }
    None
}

/// Parses a line of `ps`. Returns the parent process and the terminal. The values `?`, `??` and `-` mean that there is
/// no terminal.
fn parsed(line: &str) -> Option<(u32, Option<String>)> {
    let mut words = line.split_ascii_whitespace();
    let above = words.next()?.parse().ok()?;
    let name = words.next().filter(|name| !name.starts_with(['?', '-']));
    Some((above, name.map(|name| format!("/dev/{name}"))))
}

/// The terminal of the pane in the environment variables. It is checked last, because a program may keep the variables
/// after its pane is closed.
fn of_pane(home: &Path) -> Option<String> {
    let own = OwnPane::of_environment()?;
    let client = Client::connect_to(&client::find_by_name(home, &own.instance).ok()?).ok()?;
    let mut sessions = client.call::<List>(NoParams {}).ok()?.sessions.into_iter();
    let session = sessions.find(|session| session.id == own.session)?;
    Some(session.tty).filter(|tty| !tty.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_ps_names_a_terminal_or_none() {
        let terminal = |name: &str| Some(name.to_owned());
        assert_eq!(parsed("  4711 pts/3\n"), Some((4711, terminal("/dev/pts/3"))));
        assert_eq!(parsed("1 ttys004\n"), Some((1, terminal("/dev/ttys004"))));
        for none in ["1 ?\n", "1 ??\n", "1 -\n"] {
            assert_eq!(parsed(none), Some((1, None)), "{none:?}");
        }
        assert_eq!(parsed(""), None);
    }
}
