//! `unterm-cli agent state`: reports what a program is doing (OSC 7501), for hooks of agents and for scripts.
//!
//! A hook that fails can stop its agent, so this command always exits with status 0, and prints nothing to standard
//! output, which some agents add to their conversation.

use std::{
    fs::OpenOptions,
    io::{IsTerminal as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::mpsc::channel,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::{Subcommand, ValueEnum};

use crate::cli::{replay, report::complain, tty};

/// The terminal that controls this process.
const OWN: &str = "/dev/tty";
/// The maximum time to wait for a terminal that accepts no output.
const PATIENCE: Duration = Duration::from_secs(2);
/// The maximum number of bytes of a message, and of a program's name (OSC 7501).
const LONGEST: usize = 2048;
const LONGEST_APP: usize = 32;

/// Commands for agents and scripts in a pane.
#[derive(Subcommand)]
pub enum AgentCommand {
    /// Report what a program is doing. Always exits with status 0.
    ///
    /// Writes OSC 7501 to the terminal of this process, of a parent process or of the pane that UNTERM_PANE names.
    State {
        /// State of the program.
        #[arg(value_enum)]
        state: AgentState,
        /// Message for the user, in one line.
        text: Vec<String>,
        /// What the program needs, with needs-you.
        #[arg(long, value_enum)]
        kind: Option<Need>,
        /// Name of the program: letters, digits and any of `_.+-`.
        #[arg(long, value_name = "NAME", value_parser = app)]
        app: Option<String>,
    },
    /// Apply the rules for screens to replays, which `explain --save` writes.
    ///
    /// Exits with status 1 if their result differs from the `state` of a replay.
    Check {
        /// Replays.
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
}

/// The states of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AgentState {
    /// The program is working.
    Working,
    /// The program can't continue without the user.
    NeedsYou,
    /// The program has finished.
    Done,
    /// The program has failed.
    Failed,
    /// The program waits for the next instruction.
    Idle,
}

/// What a program needs from the user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Need {
    /// Permission to do something.
    Permission,
    /// An answer.
    Question,
    /// A login.
    Login,
}

/// Whether the words of a command line call this command, so that even a wrong command line must exit with status 0.
pub fn is_called(mut words: impl Iterator<Item = std::ffi::OsString>) -> bool {
    words.any(|word| word == "agent") && words.next().is_some_and(|word| word == "state")
}

/// Reports a state. If no terminal is found, prints the reason to standard error.
pub fn run(command: &AgentCommand, home: &Path) -> ExitCode {
    let (state, text, kind, app) = match command {
        AgentCommand::State { state, text, kind, app } => (state, text, kind, app),
        AgentCommand::Check { files } => return replay::check(files, home),
    };
    let report = report(*state, *kind, app.as_deref(), &text.join(" "));
    if let Err(error) = write(report, home) {
        complain(&format!("the state was not reported: {error:#}"));
    }
    ExitCode::SUCCESS
}

/// Parses the name of a program.
fn app(name: &str) -> Result<String, String> {
    let is_valid = |char: char| char.is_ascii_alphanumeric() || "_.+-".contains(char);
    match (1..=LONGEST_APP).contains(&name.len()) && name.chars().all(is_valid) {
        true => Ok(name.to_owned()),
        false => Err(format!(
            "a name has at most {LONGEST_APP} letters, digits and characters of `_.+-`"
        )),
    }
}

/// The sequence that reports a state.
fn report(state: AgentState, kind: Option<Need>, app: Option<&str>, text: &str) -> String {
    let state = match state {
        AgentState::Working => "working",
        AgentState::NeedsYou => "blocked",
        AgentState::Done => "done",
        AgentState::Failed => "error",
        AgentState::Idle => "idle",
    };
    let mut report = format!("\x1b]7501;state={state}");
    let kind = kind.map(|kind| match kind {
        Need::Permission => "permission",
        Need::Question => "question",
        Need::Login => "auth",
    });
    let message = line(text);
    let message = (!message.is_empty()).then(|| STANDARD.encode(message));
    for (key, value) in [("kind", kind), ("app", app), ("msg", message.as_deref())] {
        if let Some(value) = value {
            report.push_str(&format!(":{key}={value}"));
        }
    }
    report + "\x1b\\"
}

/// A text as one line without control characters, cut to the maximum length of a message.
fn line(text: &str) -> String {
    let words = text.split(|char: char| char.is_whitespace() || char.is_control());
    let mut line = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if line.len() > LONGEST {
        let mut end = LONGEST - '…'.len_utf8();
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        line.truncate(end);
        line.push('…');
    }
    line
}

/// Writes a sequence to the terminal of this process. A terminal that accepts no output, for example after Ctrl+S, must
/// not stop the agent, so another thread writes.
fn write(sequence: String, home: &Path) -> Result<()> {
    let open = |path: &str| {
        let flags = rustix::fs::OFlags::NOCTTY.bits().cast_signed();
        OpenOptions::new().write(true).custom_flags(flags).open(path)
    };
    let mut terminal = match open(OWN) {
        Ok(terminal) => terminal,
        Err(_) => {
            let path = tty::path(home)?;
            let terminal = open(&path).with_context(|| path.clone())?;
            if !terminal.is_terminal() {
                bail!("{path} is not a terminal");
            }
            terminal
        }
    };
    let (done, written) = channel();
    std::thread::spawn(move || {
        let _ = done.send(terminal.write_all(sequence.as_bytes()));
    });
    match written.recv_timeout(PATIENCE) {
        Ok(written) => Ok(written?),
        Err(_) => bail!("the terminal accepts no output"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_has_the_form_of_the_protocol() {
        let needs =
            report(AgentState::NeedsYou, Some(Need::Permission), Some("claude-code"), "Run it?");
        let expected =
            "\x1b]7501;state=blocked:kind=permission:app=claude-code:msg=UnVuIGl0Pw==\x1b\\";
        assert_eq!(needs, expected);
        assert_eq!(report(AgentState::Failed, None, None, ""), "\x1b]7501;state=error\x1b\\");
        // A message of the maximum length fits into a report.
        let long = report(AgentState::Done, None, None, &"ä".repeat(5000));
        assert!(long.len() <= 4096 && long.ends_with("\x1b\\"), "{}", long.len());
    }

    #[test]
    fn a_message_is_one_line_without_control_characters() {
        assert_eq!(line(" a\nb\t\x1b]0;c\x07d "), "a b ]0;c d");
        let long = line(&"ä".repeat(2000));
        assert!(long.len() <= LONGEST && long.ends_with("ä…"), "{}", long.len());
    }

    #[test]
    fn even_a_wrong_command_line_is_recognized() {
        let is_called = |line: &str| is_called(line.split(' ').map(std::ffi::OsString::from));
        assert!(is_called("unterm-cli agent state dancing"));
        assert!(is_called("unterm-cli --json agent state"));
        assert!(!is_called("unterm-cli agent"));
        assert!(!is_called("unterm-cli session list"));
    }

    #[test]
    fn a_programs_name_is_short_and_plain() {
        assert_eq!(app("claude-code").as_deref(), Ok("claude-code"));
        for wrong in ["", "a b", "a:b", &"x".repeat(33)] {
            assert!(app(wrong).is_err(), "{wrong}");
        }
    }
}
