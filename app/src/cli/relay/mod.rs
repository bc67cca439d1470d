//! `unterm-cli mcp`: relays the Model Context Protocol between its standard streams and an instance.
//!
//! Messages pass unchanged. The relay reads only what it needs to outlive the instance: the ids of requests that have no answer
//! yet, and the messages that open the session. If the instance ends, the relay answers those requests with an error, and
//! connects the session to another instance with the client's next message.

mod instance;
mod message;

use std::{
    collections::{HashMap, HashSet},
    io::{self, BufRead, BufReader, Write},
    net::Shutdown,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
};

use anyhow::Result;
use parking_lot::Mutex;
use serde_json::Value;
use unterm_control::client::{BlockingStream, LAST};

use self::{
    instance::Link,
    message::{Kind, Message, failure},
};
use crate::cli::unread::until_unread;

/// The error of a call that was pending when the instance ended.
const ENDED: &str = "Unterm ended before it answered, and its panes are gone. The next call finds or starts an instance";
/// The error of the first call after the instance ended.
const MOVED: &str = "The Unterm instance ended, and its panes are gone. This call was not made: calls go to another instance from now on, so look at its panes first";

/// Relays until the client closes its side and the instance has answered, or until nobody reads standard output.
pub fn relay(home: &Path, instance: Option<&str>, toolset: Option<&str>) -> Result<()> {
    let (ends, ended) = mpsc::channel();
    let relay = Arc::new(Relay {
        home: home.to_owned(),
        instance: instance.map(str::to_owned),
        toolset: toolset.unwrap_or_default().to_owned(),
        ends,
        state: Mutex::default(),
        stdout: Mutex::new(io::stdout()),
    });
    relay.connect(&mut relay.state.lock())?;
    let reading = Arc::clone(&relay);
    thread::spawn(move || reading.read_client());
    let end = ended.recv();
    let link = relay.state.lock().link.take();
    drop(link);
    match end {
        Ok(End::Output(error)) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Why the relay ends.
enum End {
    /// The client has closed its side, and has every answer.
    Client,
    /// Standard output can't be written.
    Output(io::Error),
}

struct Relay {
    home: PathBuf,
    instance: Option<String>,
    toolset: String,
    ends: mpsc::Sender<End>,
    state: Mutex<State>,
    stdout: Mutex<io::Stdout>,
}

/// The session state that another instance needs to continue.
#[derive(Default)]
struct State {
    /// `None`: the instance has ended, and the client has sent no message since.
    link: Option<Link>,
    /// The number of connections so far.
    links: u64,
    /// The client's pending requests, by their ids as JSON.
    pending: HashMap<String, Kind>,
    /// The instance's pending requests to the client, such as approvals, by their ids as JSON.
    asked: HashSet<String>,
    /// The client's `initialize` and `notifications/initialized`.
    opening: [Option<Vec<u8>>; 2],
    /// Whether the client has closed its side.
    is_over: bool,
    /// Whether the client must still be informed that the instance ended.
    is_unsaid: bool,
}

impl Relay {
    /// Connects the session to an instance. If the client has initialized the session before, initializes it there.
    fn connect(self: &Arc<Self>, state: &mut State) -> Result<()> {
        let link = Link::open(&self.home, self.instance.as_deref(), &self.toolset)?;
        let mut stream = link.stream.try_clone()?;
        let [hello, initialized] = &state.opening;
        if let Some(hello) = hello {
            stream.write_all(hello)?;
            stream.write_all(initialized.as_deref().unwrap_or_default())?;
        }
        // The client already has the answer to its `initialize`.
        let skipped = usize::from(hello.is_some());
        state.links += 1;
        state.link = Some(link);
        let relay = Arc::clone(self);
        thread::Builder::new().spawn(move || relay.read_instance(&stream, skipped))?;
        Ok(())
    }

    /// Sends the client's messages to the instance until the client closes its side.
    fn read_client(self: &Arc<Self>) {
        let mut stdin = io::stdin().lock();
        let mut line = Vec::new();
        while next_line(&mut stdin, &mut line) {
            if let Err(error) = self.pass_on(&line) {
                let _ = self.ends.send(End::Output(error));
                return;
            }
        }
        let stream = {
            let mut state = self.state.lock();
            state.is_over = true;
            state.link.as_ref().and_then(|link| link.stream.try_clone().ok())
        };
        let Some(mut stream) = stream else {
            let _ = self.ends.send(End::Client);
            return;
        };
        // Pending answers still arrive while the client reads them. The message starts on a new line, in case the
        // client's last line was incomplete.
        let _ = write!(stream, "\n{{\"jsonrpc\":\"2.0\",\"method\":\"{LAST}\"}}\n");
        if until_unread().is_ok() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Sends a message of the client to an instance.
    ///
    /// # Errors
    /// If an answer can't be written to standard output.
    fn pass_on(self: &Arc<Self>, line: &[u8]) -> io::Result<()> {
        let messages = Message::read(line);
        let mut state = self.state.lock();
        if state.link.is_none()
            && let Err(error) = self.connect(&mut state)
        {
            drop(state);
            let why = format!("No instance of Unterm can be reached: {error:#}");
            return self.answer(messages.iter().filter_map(Message::request), &why);
        }
        let calls = || messages.iter().filter_map(Message::request);
        if state.is_unsaid && calls().any(|(_, kind)| kind == Kind::Call) {
            state.is_unsaid = false;
            drop(state);
            return self.answer(calls(), MOVED);
        }
        for message in &messages {
            match message {
                Message::Request { id, kind } => {
                    state.pending.insert(id.clone(), *kind);
                }
                // Each instance numbers its own requests: a late answer could approve another call.
                Message::Answer { id } if !state.asked.remove(id) && state.links > 1 => {
                    return Ok(());
                }
                Message::Answer { .. } | Message::Note => {}
            }
        }
        if let [message] = &messages[..] {
            state.note_opening(message, line);
        }
        let stream = state.link.as_ref().and_then(|link| link.stream.try_clone().ok());
        drop(state);
        if let Some(mut stream) = stream {
            // If the instance has ended, the thread in `read_instance` notices it and answers instead.
            let _ = stream.write_all(line);
        }
        Ok(())
    }

    /// Sends an instance's messages to the client until the connection ends, without its first `skipped` answers.
    fn read_instance(&self, stream: &BlockingStream, mut skipped: usize) {
        let mut reader = BufReader::with_capacity(64 << 10, stream);
        let mut line = Vec::new();
        while next_line(&mut reader, &mut line) {
            let messages = Message::read(&line);
            if skipped > 0 && matches!(messages[..], [Message::Answer { .. }]) {
                skipped -= 1;
                continue;
            }
            let mut state = self.state.lock();
            for message in messages {
                match message {
                    Message::Request { id, .. } => drop(state.asked.insert(id)),
                    Message::Answer { id } => drop(state.pending.remove(&id)),
                    Message::Note => {}
                }
            }
            drop(state);
            if let Err(error) = self.write(&line) {
                let _ = self.ends.send(End::Output(error));
                return;
            }
        }
        let mut state = self.state.lock();
        if state.is_over {
            let _ = self.ends.send(End::Client);
            return;
        }
        let link = state.link.take();
        let pending = std::mem::take(&mut state.pending);
        state.asked.clear();
        state.is_unsaid = !pending.values().any(|kind| *kind == Kind::Call);
        drop(state);
        if let Err(error) = self.answer(pending, ENDED) {
            let _ = self.ends.send(End::Output(error));
        }
        // Waits until an instance that this relay started has ended.
        drop(link);
    }

    /// Answers requests with an error.
    fn answer(
        &self,
        requests: impl IntoIterator<Item = (String, Kind)>,
        why: &str,
    ) -> io::Result<()> {
        requests
            .into_iter()
            .try_for_each(|(id, kind)| self.write(failure(&id, kind, why).as_bytes()))
    }

    fn write(&self, line: &[u8]) -> io::Result<()> {
        let mut stdout = self.stdout.lock();
        stdout.write_all(line)?;
        stdout.flush()
    }
}

impl State {
    /// Saves the messages that initialize the session, for another instance. The saved request has its own id, so that
    /// its answer can't match another request of the client.
    fn note_opening(&mut self, message: &Message, line: &[u8]) {
        let Ok(mut value) = serde_json::from_slice::<Value>(line) else { return };
        match (message, value["method"].as_str()) {
            (Message::Request { .. }, Some("initialize")) => {
                value["id"] = "unterm-cli".into();
                self.opening[0] = Some(format!("{value}\n").into_bytes());
            }
            (Message::Note, Some("notifications/initialized")) => {
                self.opening[1] = Some(line.to_owned());
            }
            _ => {}
        }
    }
}

/// Reads a line into `line`, including its end; returns false at the end of the input.
fn next_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> bool {
    line.clear();
    from.read_until(b'\n', line).is_ok_and(|length| length > 0)
}
