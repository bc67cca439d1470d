//! Reads lines from a pipe or a file. Carries out each line, and prints its result as a line of JSON.

use std::{
    io::{self, BufRead as _, Write as _},
    process::ExitCode,
    sync::mpsc::Receiver,
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result};

use super::{
    client::{Client, CommandResult, line_of},
    connection::Note,
};

/// The time to wait for the last notifications.
const LAST: Duration = Duration::from_secs(5);

/// Carries out all lines. Returns exit status 1 if any line failed.
///
/// # Errors
/// Fails if the connection is lost, the input can't be read, or the output can't be written.
pub fn run(client: &Client, notes: Receiver<Note>) -> Result<ExitCode> {
    let (ended, end) = std::sync::mpsc::channel();
    thread::Builder::new().name("unterm-notes".to_owned()).spawn(move || {
        pass(&notes);
        let _ = ended.send(());
    })?;
    let mut has_failed = false;
    for (index, line) in io::stdin().lock().lines().enumerate() {
        let line = line.with_context(|| format!("line {}", index + 1))?;
        match client.carry_out(&line) {
            CommandResult::Fine(text) => {
                if !print(&text)? {
                    break;
                }
            }
            CommandResult::Failed(why) => {
                has_failed = true;
                let _ = writeln!(io::stderr(), "line {}: {why}", index + 1);
            }
            CommandResult::Quit => break,
            CommandResult::Lost(why) => {
                let _ = writeln!(io::stderr(), "line {}: {why}", index + 1);
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    // The server now sends its pending messages, and then closes its side.
    client.connection.close();
    let _ = end.recv_timeout(LAST);
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Prints notes until the connection ends. Notifications are printed as results, and all other notes as diagnostics.
fn pass(notes: &Receiver<Note>) {
    for note in notes {
        let Some(line) = line_of(&note, true) else { return };
        let is_told = match note {
            Note::Notification { .. } => print(&(line + "\n")).unwrap_or(false),
            _ => writeln!(io::stderr(), "{line}").is_ok(),
        };
        if !is_told {
            return;
        }
    }
}

/// Prints a text. Returns false if standard output is closed.
fn print(text: &str) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}
