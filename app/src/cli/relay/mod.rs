//! `unterm-cli mcp`: passes messages of the Model Context Protocol between its standard streams and an instance.
//!
//! Messages are passed unchanged. The relay must keep working when the instance ends, so it reads the ids of pending
//! requests, and the messages that initialize the session. If the instance ends, the relay answers pending requests
//! with an error. At the client's next message, it connects the session to another instance.

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
    message::{Message, RequestKind, failure},
};
use crate::cli::unread::until_unread;

/// The error message for a call that was pending when the instance ended.
const ENDED: &str = "Unterm ended before it answered, and its panes are gone. The next call finds or starts an instance";
/// The error message for the first call after the instance ended.
const MOVED: &str = "The Unterm instance ended, and its panes are gone. This call was not made: calls go to another instance from now on, so look at its panes first";

/// Passes messages until the client has closed its side and received all answers, or until standard output is closed.
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

/// The reason why the relay ends.
enum End {
    /// The client has closed its side, and has received every answer.
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

/// The state of the session that is needed to continue it with another instance.
#[derive(Default)]
struct State {
    /// The connection to the instance. `None` after the instance has ended, until the client's next message.
    link: Option<Link>,
    /// The number of connections to instances so far.
    links: u64,
    /// The client's pending requests, by their ids as JSON text.
    pending: HashMap<String, RequestKind>,
    /// The instance's pending requests to the client, such as approvals. Each is identified by its id as JSON text.
    asked: HashSet<String>,
    /// The client's messages `initialize` and `notifications/initialized`.
    opening: [Option<Vec<u8>>; 2],
    /// Whether the client has closed its side.
    is_over: bool,
    /// Whether the client must still be informed that the instance ended.
    is_unsaid: bool,
}

impl Relay {
    /// Connects the session to an instance. If the client has already initialized the session, repeats the
    /// initialization.
    fn connect(self: &Arc<Self>, state: &mut State) -> Result<()> {
        let link = Link::open(&self.home, self.instance.as_deref(), &self.toolset)?;
        let mut stream = link.stream.try_clone()?;
        let [hello, initialized] = &state.opening;
        if let Some(hello) = hello {
            stream.write_all(hello)?;
            stream.write_all(initialized.as_deref().unwrap_or_default())?;
        }
        // The client has already received an answer to its `initialize`, so skip the new instance's answer.
        let skipped = usize::from(hello.is_some());
        state.links += 1;
        state.link = Some(link);
        let relay = Arc::clone(self);
        thread::Builder::new().spawn(move || relay.read_instance(&stream, skipped))?;
        Ok(())
    }

    /// Passes the client's messages to the instance until the client closes its side.
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
        // The client can still receive pending answers. The message starts on a new line, because the client's last
        // line may be incomplete.
        let _ = write!(stream, "\n{{\"jsonrpc\":\"2.0\",\"method\":\"{LAST}\"}}\n");
        if until_unread().is_ok() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Passes a message of the client to the instance.
    ///
    /// # Errors
    /// Fails if an answer can't be written to standard output.
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
        if state.is_unsaid && calls().any(|(_, kind)| kind == RequestKind::Call) {
            state.is_unsaid = false;
            drop(state);
            return self.answer(calls(), MOVED);
        }
        for message in &messages {
            match message {
                Message::Request { id, kind } => {
                    state.pending.insert(id.clone(), *kind);
                }
                // Each instance numbers its requests independently. A late answer to the old instance could approve a
                // different call of the new instance.
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
            // Ignore errors. If the instance has ended, the thread in `read_instance` notices that and sends an
            // answer.
            let _ = stream.write_all(line);
        }
        Ok(())
    }

    /// Passes an instance's messages to the client until the connection ends. The first `skipped` answers are left
    /// out.
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
        state.is_unsaid = !pending.values().any(|kind| *kind == RequestKind::Call);
        drop(state);
        if let Err(error) = self.answer(pending, ENDED) {
            let _ = self.ends.send(End::Output(error));
        }
        // Dropping the link waits until an instance that this relay started has ended.
        drop(link);
    }

    /// Answers requests with an error.
    fn answer(
        &self,
        requests: impl IntoIterator<Item = (String, RequestKind)>,
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
    /// Saves the messages that initialize the session, for another instance. The saved request gets a different id, so
    /// that the answer to it can't match a request of the client.
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

/// Reads a line, including its line end, into `line`. Returns false at the end of the input.
fn next_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> bool {
    line.clear();
    from.read_until(b'\n', line).is_ok_and(|length| length > 0)
}
