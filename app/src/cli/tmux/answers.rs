//! Carries out requests of an instance to a client: files, shell commands, and a process that outlives the client.

use std::{
    io::{self, Read, Write},
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::Path,
    process::{Command, Stdio},
};

use unterm_control::tmux::{Answer, Event};
use unterm_mux::private;

/// The maximum size of a file that is read, and of a command's output, in bytes.
const LONGEST: u64 = 8 << 20;

/// Carries out a request of an instance: reads or writes a file, runs a shell command, or starts a process. `None` for
/// other messages.
pub fn respond(event: Event, instance: Option<&str>) -> Option<Answer> {
    Some(match event {
        Event::Read(path) => answered(read(&path)),
        Event::Write { path, append, text } => {
            answered(write(&path, append, &text).map(|()| String::new()))
        }
        Event::Shell { command, background } => shell(&command, background),
        Event::Pipe(ticket) => answered(start(instance, &ticket).map(|()| String::new())),
        _ => return None,
    })
}

fn answered(result: io::Result<String>) -> Answer {
    match result {
        Ok(text) => Answer { text, ..Answer::default() },
        Err(error) => Answer { error: Some(words(&error)), ..Answer::default() },
    }
}

/// A system error as tmux prints it, without its number.
pub fn words(error: &io::Error) -> String {
    let text = error.to_string();
    match text.find(" (os error ") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

fn read(path: &str) -> io::Result<String> {
    let bytes = match path {
        "-" => {
            let mut bytes = Vec::new();
            io::stdin().take(LONGEST).read_to_end(&mut bytes)?;
            bytes
        }
        path => private::read_of_anyone(Path::new(path), LONGEST)?,
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn write(path: &str, append: bool, text: &str) -> io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).append(append).truncate(!append);
    options.open(path)?.write_all(text.as_bytes())
}

/// Runs a command, as tmux does: without input, and without its standard error.
fn shell(command: &str, background: bool) -> Answer {
    let mut program = Command::new("/bin/sh");
    program.args(["-c", command]).stdin(Stdio::null()).stderr(Stdio::null());
    if background {
        // The command continues when this program ends.
        let started = program.stdout(Stdio::null()).process_group(0).spawn();
        return answered(started.map(|_| String::new()));
    }
    let mut run = || -> io::Result<(String, i32)> {
        let mut child = program.stdout(Stdio::piped()).spawn()?;
        let mut output = Vec::new();
        if let Some(out) = child.stdout.take() {
            out.take(LONGEST).read_to_end(&mut output)?;
        }
        let status = child.wait()?;
        let status = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
        Ok((String::from_utf8_lossy(&output).into_owned(), status))
    };
    match run() {
        Ok((text, status)) => Answer { text, status, error: None },
        Err(error) => Answer { status: 1, ..answered(Err(error)) },
    }
}

/// Starts a process that serves the pipe or the hooks with this ticket and outlives this one. `instance`: the option `--instance`.
///
/// # Errors
/// The process can't be started.
fn start(instance: Option<&str>, ticket: &str) -> io::Result<()> {
    let mut program = Command::new(crate::own_program::beside("unterm-cli")?);
    if let Some(instance) = instance {
        program.args(["--instance", instance]);
    }
    program.args(["tmux-pipe", ticket]);
    program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    program.process_group(0);
    program.spawn().map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_words_of_the_system() {
        assert_eq!(words(&read("/no/such/file").unwrap_err()), "No such file or directory");
    }

    #[test]
    fn a_command_has_output_and_status() {
        let answer = shell("echo out; echo err >&2; exit 3", false);
        assert_eq!((answer.text.as_str(), answer.status), ("out\n", 3));
        assert_eq!(shell("kill -9 $$", false).status, 137);
        assert_eq!(shell("exit 1", true).status, 0);
    }

    #[test]
    fn a_file_is_written_and_added_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("buffer").display().to_string();
        write(&path, false, "one\n").unwrap();
        write(&path, true, "two\n").unwrap();
        assert_eq!(read(&path).unwrap(), "one\ntwo\n");
        write(&path, false, "three").unwrap();
        assert_eq!(read(&path).unwrap(), "three");
    }
}
