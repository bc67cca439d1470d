//! The process that outlives a client: it serves a pipe of `pipe-pane`, or runs hooks at events.
//!
//! For a pipe it runs the command, and passes bytes between it and the instance. For hooks, it carries out the
//! instance's requests, as a client does.

use std::{
    io::{self, BufRead as _, BufReader, Read},
    net::Shutdown,
    process::{Child, Command, ExitCode, Stdio},
};

use anyhow::Result;
use unterm_control::{
    client::{BlockingStream, Client, Endpoint},
    tmux::{Event, Hello},
};

use super::{
    answers::respond,
    messages::{hello, send},
};

/// Serves the pipe or the hooks with this ticket, until the instance ends the connection or the command ends.
///
/// # Errors
/// The command can't be started.
pub fn serve(endpoints: Vec<Endpoint>, ticket: &str, instance: Option<&str>) -> Result<ExitCode> {
    for endpoint in endpoints {
        let Ok(stream) = Client::tmux(&endpoint) else { continue };
        let pipe = Some(ticket.to_owned());
        if send(&stream, &Hello { pipe, ..hello(&[], true) }).is_err() {
            continue;
        }
        let mut input = BufReader::new(&stream);
        let mut line = String::new();
        // An instance that does not know the ticket ends the connection.
        if !input.read_line(&mut line).is_ok_and(|length| length > 0) {
            continue;
        }
        match serde_json::from_str(&line) {
            Ok(Event::Command { command, reads, writes }) => {
                pass(&stream, input, start_command(&command, reads, writes)?)?;
            }
            Ok(event) => run_hooks(&stream, input, event, instance)?,
            Err(_) => continue,
        }
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}

/// Carries out the instance's requests, beginning with this message, until the instance ends the connection. Hooks
/// print nothing.
fn run_hooks(
    stream: &BlockingStream,
    mut input: impl io::BufRead,
    first: Event,
    instance: Option<&str>,
) -> io::Result<()> {
    let mut event = Some(first);
    let mut line = String::new();
    loop {
        if let Some(answer) = event.take().and_then(|event| respond(event, instance)) {
            send(stream, &answer)?;
        }
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        event = serde_json::from_str(&line).ok();
    }
}

fn start_command(command: &str, reads: bool, writes: bool) -> io::Result<Child> {
    let stdio = |is_piped: bool| if is_piped { Stdio::piped() } else { Stdio::null() };
    let mut program = Command::new("/bin/sh");
    program.args(["-c", command]).stdin(stdio(reads)).stdout(stdio(writes)).stderr(Stdio::null());
    program.spawn()
}

/// Passes bytes in both directions, until the instance or the command ends.
fn pass(stream: &BlockingStream, mut input: impl Read, mut command: Child) -> io::Result<()> {
    let stdin = command.stdin.take();
    let output = match command.stdout.take() {
        Some(mut output) => {
            let back = stream.try_clone()?;
            Some(std::thread::spawn(move || {
                // An error means that one side has ended.
                let _ = io::copy(&mut output, &mut &back);
                let _ = back.shutdown(Shutdown::Both);
            }))
        }
        None => None,
    };
    let _ = match stdin {
        Some(mut stdin) => io::copy(&mut input, &mut stdin),
        None => io::copy(&mut input, &mut io::sink()),
    };
    // The command's input is closed now, but its remaining output still belongs to the pipe.
    if let Some(output) = output {
        let _ = output.join();
    }
    let _ = stream.shutdown(Shutdown::Both);
    command.wait().map(drop)
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, os::unix::net::UnixStream};

    use super::*;

    #[test]
    fn bytes_pass_in_both_directions_until_the_instance_ends() {
        let (mut instance, own) = UnixStream::pair().unwrap();
        let stream = BlockingStream::Unix(own);
        instance.write_all(b"one\ntwo\n").unwrap();
        instance.shutdown(Shutdown::Write).unwrap();
        let command = start_command("tr a-z A-Z", true, true).unwrap();
        pass(&stream, &stream, command).unwrap();
        let mut answer = String::new();
        instance.read_to_string(&mut answer).unwrap();
        assert_eq!(answer, "ONE\nTWO\n");
    }
}
