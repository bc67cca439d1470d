//! The conversation with an instance: one JSON object per line.

use std::{
    io::{self, BufRead, BufReader, Write},
    process::ExitCode,
};

use anyhow::Result;
use unterm_control::{
    client::BlockingStream,
    tmux::{Control, Event, Hello, control},
};

use super::{answers::respond, control_mode::Lines, messages::send};
use crate::cli::report::{complain, write_out};

/// Sends the first message, and then carries out the instance's requests, until it sends the exit status. `instance`:
/// the option `--instance`.
///
/// # Errors
/// Fails if standard output can't be written.
pub fn talk(stream: BlockingStream, hello: Hello, instance: Option<&str>) -> Result<ExitCode> {
    let lost = || {
        match control(&hello.args) {
            Control::Off => complain("lost server"),
            Control::Lines => write_out("%exit server exited unexpectedly\n")?,
            Control::Terminal => write_out("%exit server exited unexpectedly\n\u{1b}\\")?,
        }
        Ok(ExitCode::FAILURE)
    };
    let mut input: Option<Lines> = None;
    let mut lines = BufReader::new(&stream);
    if send(&stream, &hello).is_err() {
        return lost();
    }
    let mut line = String::new();
    loop {
        line.clear();
        match lines.read_line(&mut line) {
            Ok(0) | Err(_) => return lost(),
            Ok(_) => {}
        }
        let answer = match serde_json::from_str(&line) {
            Ok(Event::Out(text)) => {
                write_out(&text)?;
                continue;
            }
            Ok(Event::Err(text)) => {
                // A closed standard error is ignored.
                let _ = io::stderr().write_all(text.as_bytes());
                continue;
            }
            Ok(Event::Exit(status)) => return Ok(ExitCode::from(status)),
            Ok(Event::Line) => {
                match &input {
                    Some(lines) => lines.answer_next(),
                    None => input.insert(Lines::start(stream.try_clone()?)).answer_next(),
                }
                continue;
            }
            // A newer instance may ask for something that this program does not know.
            Err(_) => return lost(),
            Ok(event) => match respond(event, instance) {
                Some(answer) => answer,
                // Only the process of a pipe gets a command.
                None => return lost(),
            },
        };
        if send(&stream, &answer).is_err() {
            return lost();
        }
    }
}
