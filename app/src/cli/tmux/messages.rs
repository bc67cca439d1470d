//! The messages of this program to an instance.

use std::io::{self, Write as _};

use serde::Serialize;
use time::UtcOffset;
use unterm_control::{client::BlockingStream, tmux::Hello};

/// The variables that programs in new panes get.
const PASSED: [&str; 4] = ["HOME", "PATH", "SHELL", "TMUX"];

/// The facts about this program that the instance needs. `is_around`: whether the instance contains this program's
/// pane.
pub fn hello(args: &[String], is_around: bool) -> Hello {
    let var = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let own = var("TMUX_PANE").and_then(|pane| pane.strip_prefix('%')?.parse().ok());
    let own = own.or_else(|| var("UNTERM_PANE")?.parse().ok());
    let cwd = std::env::current_dir().map(|cwd| cwd.display().to_string());
    let offset = UtcOffset::current_local_offset().map_or(0, UtcOffset::whole_seconds);
    Hello {
        args: args.to_vec(),
        cwd: cwd.unwrap_or_else(|_| "/".to_owned()),
        pane: own.filter(|_| is_around),
        pid: std::process::id(),
        uid: rustix::process::getuid().as_raw(),
        user: var("USER").or_else(|| var("LOGNAME")).unwrap_or_default(),
        tty: terminal().unwrap_or_default(),
        term: var("TERM").unwrap_or_default(),
        is_nested: var("TMUX").is_some(),
        env: PASSED.iter().filter_map(|name| Some(((*name).to_owned(), var(name)?))).collect(),
        utc_offset: offset,
        pipe: None,
    }
}

/// The terminal on a standard stream.
fn terminal() -> Option<String> {
    let name = rustix::termios::ttyname(io::stdin(), Vec::new())
        .or_else(|_| rustix::termios::ttyname(io::stdout(), Vec::new()))
        .or_else(|_| rustix::termios::ttyname(io::stderr(), Vec::new()));
    name.ok()?.into_string().ok()
}

/// Sends a message.
///
/// # Errors
/// The instance has gone.
pub fn send(mut stream: &BlockingStream, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    stream.write_all(&line)
}
