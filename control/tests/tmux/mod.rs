//! Tests of the dialect of tmux: calls of the program `tmux`, as other programs make them.

mod authority;
mod control_mode;
mod events;
mod hooks;
mod keys;
mod layout;
mod pipes;
mod popups;
mod scripts;
mod sessions;
mod teams;

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    process::{Command, Stdio},
};

use serde_json::json;
use unterm_control::tmux::{Answer, Event, Hello};
use unterm_mux::PaneId;

use crate::support::{Fixture, Session, Wire, until};

/// The result of a call of `tmux`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Called {
    pub out: String,
    pub err: String,
    pub status: u8,
}

/// A program that calls `tmux`.
pub struct Program<'a> {
    pub fixture: &'a Fixture,
    /// The pane that it runs in.
    pub pane: Option<u64>,
}

impl Program<'_> {
    /// Sends the arguments, and returns the connection.
    pub fn begin(&self, args: &[&str]) -> Wire {
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        self.connect(Hello { args, ..Hello::default() })
    }

    /// Sends the first message, with the values that all programs of the tests have.
    fn connect(&self, hello: Hello) -> Wire {
        let mut wire = self.fixture.connect();
        let login = json!({"token": self.fixture.token(), "client": "tmux", "tmux": true});
        assert_eq!(wire.call("auth.login", login), json!({"status": "ok"}));
        let folder = self.fixture.home.path().display().to_string();
        let path = std::env::var("PATH").unwrap();
        let hello = Hello {
            cwd: folder.clone(),
            pane: self.pane,
            pid: 4711,
            user: "user".to_owned(),
            term: "xterm".to_owned(),
            env: BTreeMap::from([
                ("HOME".to_owned(), folder),
                ("PATH".to_owned(), path),
                ("SHELL".to_owned(), "/bin/sh".to_owned()),
            ]),
            ..hello
        };
        wire.send(serde_json::to_string(&hello).unwrap() + "\n");
        wire
    }

    /// Carries out the dialect's requests, until it sends the status.
    pub fn end(&self, mut wire: Wire) -> Called {
        let mut called = Called::default();
        loop {
            let line = wire.receive().expect("a message");
            let folder = self.fixture.home.path();
            let answer = match serde_json::from_str(&line).unwrap() {
                Event::Out(text) => {
                    called.out += &text;
                    continue;
                }
                Event::Err(text) => {
                    called.err += &text;
                    continue;
                }
                Event::Exit(status) => {
                    called.status = status;
                    return called;
                }
                Event::Read(path) => match std::fs::read_to_string(folder.join(path)) {
                    Ok(text) => Answer { text, ..Answer::default() },
                    Err(_) => {
                        let error = Some("No such file or directory".to_owned());
                        Answer { error, ..Answer::default() }
                    }
                },
                Event::Write { path, append, text } => {
                    let mut file = std::fs::OpenOptions::new()
                        .create(true)
                        .append(append)
                        .write(true)
                        .open(folder.join(path))
                        .unwrap();
                    file.write_all(text.as_bytes()).unwrap();
                    Answer::default()
                }
                Event::Shell { command, .. } => {
                    let output = Command::new("sh").args(["-c", &command]).output().unwrap();
                    let text = String::from_utf8_lossy(&output.stdout).into_owned();
                    let status = output.status.code().unwrap_or(1);
                    Answer { text, status, error: None }
                }
                Event::Pipe(ticket) => {
                    self.serve_pipe(ticket);
                    Answer::default()
                }
                event @ (Event::Line | Event::Command { .. }) => panic!("{event:?}"),
            };
            wire.send(serde_json::to_string(&answer).unwrap() + "\n");
        }
    }

    /// Serves the pipe with this ticket, like the process that a client starts.
    fn serve_pipe(&self, ticket: String) {
        let mut wire = self.connect(Hello { pipe: Some(ticket), ..Hello::default() });
        let folder = self.fixture.home.path().to_owned();
        std::thread::spawn(move || {
            // The process of hooks gets nothing if no hook asks for something.
            let Some(line) = wire.receive() else { return };
            let event = serde_json::from_str(&line).unwrap();
            let Event::Command { command, reads, writes } = event else {
                return run_hooks(wire, &event);
            };
            let mut started = Command::new("sh")
                .args(["-c", &command])
                .current_dir(folder)
                .stdin(if reads { Stdio::piped() } else { Stdio::null() })
                .stdout(if writes { Stdio::piped() } else { Stdio::null() })
                .spawn()
                .unwrap();
            let mut back = wire.stream().try_clone().unwrap();
            if let Some(mut output) = started.stdout.take() {
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut output, &mut back);
                    let _ = back.shutdown(std::net::Shutdown::Both);
                });
            }
            let mut reader = wire.into_reader();
            let mut bytes = [0; 4096];
            let mut stdin = started.stdin.take();
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                if let Some(stdin) = &mut stdin
                    && stdin.write_all(&bytes[..count]).is_err()
                {
                    break;
                }
            }
            drop(stdin);
            let _ = started.wait();
        });
    }

    /// Calls `tmux`.
    pub fn tmux(&self, args: &[&str]) -> Called {
        let wire = self.begin(args);
        self.end(wire)
    }

    /// Calls `tmux`, which must succeed, and returns its output without the last line end.
    pub fn prints(&self, args: &[&str]) -> String {
        let called = self.tmux(args);
        assert_eq!((called.err.as_str(), called.status), ("", 0), "{args:?}");
        called.out.trim_end_matches('\n').to_owned()
    }

    /// Calls `tmux`, which must fail, and returns the message.
    pub fn fails(&self, args: &[&str]) -> String {
        let called = self.tmux(args);
        assert_eq!((called.out.as_str(), called.status), ("", 1), "{args:?}: {called:?}");
        called.err.trim_end_matches('\n').to_owned()
    }

    /// Calls `tmux` until it prints this.
    pub fn until(&self, args: &[&str], expected: &str) {
        let mut last = String::new();
        until(expected, || {
            last = self.prints(args);
            (last == expected).then_some(())
        });
    }
}

/// Waits until something is true.
fn until_true(what: &str, mut is_true: impl FnMut() -> bool) {
    until(what, || is_true().then_some(()));
}

/// Runs the shell commands of hooks, like the process that a client starts.
fn run_hooks(mut wire: Wire, first: &Event) {
    let answer = |wire: &mut Wire, event: &Event| match event {
        Event::Shell { command, .. } => {
            let output = Command::new("sh").args(["-c", command]).output().unwrap();
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let status = output.status.code().unwrap_or(1);
            let answer = Answer { text, status, error: None };
            wire.send(serde_json::to_string(&answer).unwrap() + "\n");
        }
        Event::Out(_) => {}
        event => panic!("{event:?}"),
    };
    answer(&mut wire, first);
    while let Some(line) = wire.receive() {
        let event: Event = serde_json::from_str(&line).unwrap();
        answer(&mut wire, &event);
    }
}

/// Opens a tab of 120×30 cells that a window or a split may resize.
pub fn open(fixture: &Fixture, wire: &mut Wire, program: &str, args: &[&str]) -> Session {
    let params = json!({"program": program, "args": args, "cwd": fixture.home.path()});
    let id = wire.call("session.create", params)["id"].as_u64().unwrap();
    Session { id, pane: fixture.mux.pane(PaneId(id)).unwrap() }
}
