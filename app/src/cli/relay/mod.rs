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
    net::{Shutdown, TcpStream},
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    thread,
};

use anyhow::Result;
use parking_lot::Mutex;
use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};
use serde_json::Value;
use unterm_control::client::LAST;

use self::{
    instance::Link,
    message::{Kind, Message, failure},
};

/// What a model reads of a call that was under way when the instance ended.
const ENDED: &str = "Unterm ended before it answered, and its panes are gone. The next call finds or starts an instance";
/// What a model reads of its first call after the instance ended.
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

/// Why a relay ends.
enum End {
    /// The client asks for nothing more, and everything it asked for is answered.
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

/// The session, as far as another instance needs it to go on.
#[derive(Default)]
struct State {
    /// `None`: the instance has ended, and the client has sent nothing since.
    link: Option<Link>,
    /// How many connections there have been.
    links: u64,
    /// Requests of the client without an answer, by their ids as JSON.
    pending: HashMap<String, Kind>,
    /// Requests of the instance to the client, such as questions for an approval, likewise.
    asked: HashSet<String>,
    /// The client's `initialize` and `notifications/initialized`.
    opening: [Option<Vec<u8>>; 2],
    /// The client has closed its side.
    is_over: bool,
    /// The instance ended, and no answer has said so.
    is_unsaid: bool,
}

impl Relay {
    /// Connects the session to an instance, and opens it there if the client has opened it before.
    fn connect(self: &Arc<Self>, state: &mut State) -> Result<()> {
        let link = Link::open(&self.home, self.instance.as_deref(), &self.toolset)?;
        let mut stream = link.stream.try_clone()?;
        let [hello, initialized] = &state.opening;
        if let Some(hello) = hello {
            stream.write_all(hello)?;
            stream.write_all(initialized.as_deref().unwrap_or_default())?;
        }
        // The client has the answer to its `initialize` already.
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
        // Answers that are under way still come, as long as somebody reads them. The message starts on a line of its own,
        // whatever the client's last bytes were.
        let _ = write!(stream, "\n{{\"jsonrpc\":\"2.0\",\"method\":\"{LAST}\"}}\n");
        if until_unread().is_ok() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Passes a message of the client to an instance.
    ///
    /// # Errors
    /// An answer can't be written to standard output.
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
                // An instance numbers its own requests: an answer meant for one that ended could approve another's call.
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
            // The thread that reads answers notices that the instance has ended, and answers for it.
            let _ = stream.write_all(line);
        }
        Ok(())
    }

    /// Passes an instance's messages to the client until the connection ends. `skipped`: how many of its first answers to leave
    /// out.
    fn read_instance(&self, stream: &TcpStream, mut skipped: usize) {
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
        // Waits for an instance that was started here.
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
    /// Keeps the messages that open the session. An instance that opens it again must not answer with an id that the client
    /// may use for another request.
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

/// Reads a line with its end into `line`; false: there is none.
fn next_line(from: &mut impl BufRead, line: &mut Vec<u8>) -> bool {
    line.clear();
    from.read_until(b'\n', line).is_ok_and(|length| length > 0)
}

/// Waits until nobody can read standard output any more.
fn until_unread() -> rustix::io::Result<()> {
    let stdout = io::stdout();
    loop {
        // No event is asked for: poll reports errors and hang-ups all the same (POSIX).
        match poll(&mut [PollFd::new(&stdout, PollFlags::empty())], None) {
            Ok(0) | Err(Errno::INTR) => {}
            told => return told.map(drop),
        }
    }
}
