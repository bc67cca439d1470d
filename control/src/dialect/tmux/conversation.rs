//! The messages between the dialect and the program `tmux`: one JSON object per line.
//!
//! After the login, the client sends a [`Hello`]. The dialect then sends [`Event`]s, and the client answers those that ask for something with an
//! [`Answer`]. The client reads and writes files and runs shell commands, because these need the client's rights and
//! directory.

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};

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
    /// Write a file, and answer.
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
    /// Why it failed, as a system error in words.
    pub error: Option<String>,
}

/// The client has disconnected.
#[derive(Debug)]
pub struct Gone;

/// A conversation with a client.
pub struct Conversation {
    input: BufReader<Input>,
    output: Output,
}

impl Conversation {
    /// Begins a conversation.
    pub fn new(input: Input, output: Output) -> Self {
        Self { input: BufReader::new(input), output }
    }

    /// Sends a message.
    pub async fn send(&mut self, event: &Event) -> Result<(), Gone> {
        let mut line = serde_json::to_vec(event).map_err(|_| Gone)?;
        line.push(b'\n');
        self.output.write_all(&line).await.map_err(|_| Gone)?;
        self.output.flush().await.map_err(|_| Gone)
    }

    /// Waits for the client's first message.
    pub async fn hello(&mut self) -> Result<Hello, Gone> {
        self.receive().await
    }

    /// Sends a message, and waits for the answer.
    pub async fn ask(&mut self, event: &Event) -> Result<Answer, Gone> {
        self.send(event).await?;
        self.receive().await
    }

    async fn receive<T: DeserializeOwned>(&mut self) -> Result<T, Gone> {
        let mut line = Vec::new();
        let mut limited = (&mut self.input).take(LONGEST_MESSAGE as u64);
        let length = limited.read_until(b'\n', &mut line).await.map_err(|_| Gone)?;
        if length == 0 {
            return Err(Gone);
        }
        serde_json::from_slice(&line).map_err(|_| Gone)
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
