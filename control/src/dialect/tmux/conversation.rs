//! The messages between the dialect and the program `tmux`: one JSON object per line.
//!
//! After the login, the client sends a [`Hello`]. The dialect then sends [`Event`]s, and the client answers requests
//! among them with an [`Answer`]. The client reads and writes files and runs shell commands, because these need the
//! client's rights and directory.
//!
//! A client that serves a pipe sends a ticket in its [`Hello`]. After [`Event::Command`], the connection carries the
//! bytes of the pipe in both directions.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    sync::mpsc,
};

use crate::transport::{
    contract::{Input, Output},
    limits::LONGEST_MESSAGE,
};

/// What the client reports about itself at login.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Hello {
    /// The arguments of the program.
    pub args: Vec<String>,
    /// The working directory.
    pub cwd: String,
    /// The pane that the client runs in.
    pub pane: Option<u64>,
    /// The process id.
    pub pid: u32,
    /// The user id.
    pub uid: u32,
    /// The user name.
    pub user: String,
    /// The terminal. Empty if there is none.
    pub tty: String,
    /// The value of `TERM`.
    pub term: String,
    /// Whether `TMUX` is set.
    pub is_nested: bool,
    /// Variables for the programs in panes that the client opens.
    pub env: std::collections::BTreeMap<String, String>,
    /// The local time zone, in seconds east of UTC.
    pub utc_offset: i32,
    /// The ticket of the pipe that the client serves, from [`Event::Pipe`]. Then the arguments are ignored.
    pub pipe: Option<String>,
}

/// A message to the client.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// Print this to standard output.
    Out(String),
    /// Print this to standard error.
    Err(String),
    /// Read a file, and answer with its text. `-` is standard input.
    Read(String),
    /// Write a file, and answer with the exit status.
    Write {
        /// The path. `-` is standard output.
        path: String,
        /// Whether the text is added at the end.
        append: bool,
        /// The text.
        text: String,
    },
    /// Run a command with `sh -c`, and answer with its output and status.
    Shell {
        /// The command.
        command: String,
        /// Whether the client does not wait for the command.
        background: bool,
    },
    /// Read a line of standard input, and answer with it. At the end of standard input, answer with status 1.
    Line,
    /// Start a process that outlives the client and serves the pipe with this ticket, and answer.
    Pipe(String),
    /// Run a command with `sh -c`, and pass bytes between this connection and the command. No further message follows.
    Command {
        /// The command.
        command: String,
        /// Whether the command's standard input receives the bytes of the connection.
        reads: bool,
        /// Whether the connection receives the command's standard output.
        writes: bool,
    },
    /// End with this status.
    Exit(u8),
}

/// An answer of the client.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub struct Answer {
    /// The text of a file, or the output of a command.
    pub text: String,
    /// The exit status of a command.
    pub status: i32,
    /// The system's error message, if the request failed.
    pub error: Option<String>,
}

/// The client has disconnected.
#[derive(Debug)]
pub struct Disconnected;

/// A conversation with a client.
pub struct Conversation {
    input: BufReader<Input>,
    sink: Sink,
}

/// The destination of messages.
enum Sink {
    /// Messages are sent to the client.
    Client(Output),
    /// Text is collected, because in control mode it belongs to a block. Other messages go to the task that writes to
    /// the client.
    Writer { text: String, sender: mpsc::Sender<Event> },
}

/// Reads the client's first message.
pub async fn hello(input: &mut BufReader<Input>) -> Result<Hello, Disconnected> {
    receive(input).await
}

/// Writes a message.
pub async fn write(output: &mut Output, event: &Event) -> Result<(), Disconnected> {
    let mut line = serde_json::to_vec(event).map_err(|_| Disconnected)?;
    line.push(b'\n');
    output.write_all(&line).await.map_err(|_| Disconnected)?;
    output.flush().await.map_err(|_| Disconnected)
}

async fn receive<T: DeserializeOwned>(input: &mut BufReader<Input>) -> Result<T, Disconnected> {
    let mut line = Vec::new();
    let mut limited = input.take(LONGEST_MESSAGE as u64);
    let length = limited.read_until(b'\n', &mut line).await.map_err(|_| Disconnected)?;
    if length == 0 {
        return Err(Disconnected);
    }
    serde_json::from_slice(&line).map_err(|_| Disconnected)
}

impl Conversation {
    /// A conversation after the client's first message.
    pub fn new(input: BufReader<Input>, output: Output) -> Self {
        Self { input, sink: Sink::Client(output) }
    }

    /// A conversation in control mode. `sender` leads to the task that writes to the client.
    pub fn in_control_mode(input: BufReader<Input>, sender: mpsc::Sender<Event>) -> Self {
        Self { input, sink: Sink::Writer { text: String::new(), sender } }
    }

    /// Sends a message. In control mode, text waits for [`Self::take_text`].
    pub async fn send(&mut self, event: &Event) -> Result<(), Disconnected> {
        match &mut self.sink {
            Sink::Client(output) => write(output, event).await,
            Sink::Writer { text, sender } => match event {
                Event::Out(more) | Event::Err(more) => {
                    text.push_str(more);
                    Ok(())
                }
                event => sender.send(event.clone()).await.map_err(|_| Disconnected),
            },
        }
    }

    /// Sends a message, and waits for the answer.
    pub async fn ask(&mut self, event: &Event) -> Result<Answer, Disconnected> {
        self.send(event).await?;
        receive(&mut self.input).await
    }

    /// Takes the text that was collected since the last call.
    pub fn take_text(&mut self) -> String {
        match &mut self.sink {
            Sink::Client(_) => String::new(),
            Sink::Writer { text, .. } => std::mem::take(text),
        }
    }

    /// Sends a text to the client in control mode, outside the block of a command that is in progress.
    pub async fn send_block(&mut self, block: String) -> Result<(), Disconnected> {
        match &mut self.sink {
            Sink::Client(output) => write(output, &Event::Out(block)).await,
            Sink::Writer { sender, .. } => {
                sender.send(Event::Out(block)).await.map_err(|_| Disconnected)
            }
        }
    }

    /// Waits until the client has disconnected.
    pub async fn gone(&mut self) {
        loop {
            match self.input.fill_buf().await {
                Ok(bytes) if !bytes.is_empty() => {
                    // The client sends nothing without being asked, so the bytes are ignored.
                    let length = bytes.len();
                    self.input.consume(length);
                }
                _ => return,
            }
        }
    }
}
