//! A connection to a ptywright server. The server is either already running and listens on a Unix socket, or it is a
//! child process that communicates over its standard streams.
//!
//! One thread calls methods, one call at a time. Another thread reads messages of the server: replies go to the
//! caller, and notifications and diagnostics go to the queue of notes.

use std::{
    ffi::OsString,
    io::{self, BufRead as _, BufReader, Read, Write},
    net::Shutdown,
    os::unix::{net::UnixStream, process::CommandExt as _},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{self, Receiver, RecvTimeoutError, SyncSender, TrySendError},
    },
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use unterm_control::{ContentLength, FrameRead, Framing as Frames, Lines, ptywright::FramingKind};

use crate::cli::ptywright::framing::Framing;

/// The maximum size of a message, in bytes. A message with every cell of a screen takes some megabytes.
const LONGEST: usize = 64 << 20;
/// The maximum length of a diagnostic line of the server, in bytes.
const LONGEST_LINE: u64 = 4096;
/// The maximum number of notes that wait to be printed. Further notes are only counted.
const MOST_NOTES: usize = 1000;
/// The time that a server that we started may take to exit.
const END: Duration = Duration::from_secs(5);

/// A message that the server sends without a request.
#[derive(Debug)]
pub enum Note {
    /// A notification of the protocol.
    Notification {
        /// The method of the notification.
        method: String,
        /// The parameters of the notification.
        params: Value,
    },
    /// An error that does not refer to a request.
    Failure(Failure),
    /// A line of the server's diagnostics.
    Diagnostic(String),
    /// The number of notes that were dropped because the queue was full.
    LeftOut(u64),
    /// The reason why the connection was lost.
    Lost(String),
}

/// The error of a failed call.
#[derive(Debug)]
pub struct Failure {
    /// The error code.
    pub code: i64,
    /// The error message.
    pub message: String,
    /// Further data about the error; may be null.
    pub data: Value,
}

/// The reason why a call received no reply.
#[derive(Debug)]
pub enum NoReply {
    /// The reason why the connection was lost.
    Lost(String),
    /// The server did not reply in time.
    TimedOut,
}

/// The state that the threads of a connection share.
struct Shared {
    framing: FramingKind,
    writer: Mutex<Option<Box<dyn Write + Send>>>,
    /// The id of the request that awaits its reply, or 0.
    pending: AtomicU64,
    is_lost: AtomicBool,
    /// The reason why the connection was lost.
    why: Mutex<String>,
}

impl Shared {
    fn send(&self, message: &Value) -> io::Result<()> {
        let mut message = message.to_string().into_bytes();
        let mut framed = Vec::new();
        match self.framing {
            FramingKind::Ndjson => Lines::frame(&mut message, &mut framed),
            FramingKind::Lsp => ContentLength::frame(&mut message, &mut framed),
        }
        let mut writer = self.writer.lock();
        let writer = writer.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        writer.write_all(&framed)?;
        writer.flush()
    }
}

/// Cancels a call from another thread.
pub struct Canceller {
    shared: Arc<Shared>,
    /// The id of the request that was canceled last.
    cancelled: u64,
}

/// The result of an attempt to cancel a call.
#[derive(Debug, PartialEq, Eq)]
pub enum Cancelled {
    /// No call is running.
    Nothing,
    /// A request to cancel the call was sent to the server.
    Asked,
    /// A request to cancel was already sent before, or it can't be sent.
    InVain,
}

impl Canceller {
    /// Requests that the server cancel the running call.
    pub fn cancel(&mut self) -> Cancelled {
        let id = self.shared.pending.load(Ordering::Acquire);
        if id == 0 {
            return Cancelled::Nothing;
        }
        let cancel = json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": id}});
        if self.cancelled == id || self.shared.send(&cancel).is_err() {
            return Cancelled::InVain;
        }
        self.cancelled = id;
        Cancelled::Asked
    }
}

/// The writing half of a socket. When it is dropped, the server reads the end of its input.
struct SocketWriter(UnixStream);

impl Write for SocketWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for SocketWriter {
    fn drop(&mut self) {
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

/// A connection to a server. When it is dropped, a server that was started for it is ended.
pub struct Connection {
    shared: Arc<Shared>,
    next: AtomicU64,
    replies: Receiver<Value>,
    child: Option<(Pid, Receiver<ExitStatus>)>,
}

impl Connection {
    /// Connects to the server that listens on a socket.
    ///
    /// # Errors
    /// Fails if no server listens there, or if the server belongs to another user.
    pub fn to_socket(path: &Path, framing: Framing) -> Result<(Self, Receiver<Note>)> {
        let shown = path.display();
        let stream = UnixStream::connect(path).with_context(|| {
            format!(
                "cannot connect to {shown}; start a server with `ptywright serve --socket {shown}`"
            )
        })?;
        refuse_other_user(&stream, path)?;
        let reader = stream.try_clone()?;
        Self::start(framing, Box::new(reader), Box::new(SocketWriter(stream)), None)
    }

    /// Starts a server and connects to its standard streams.
    ///
    /// # Errors
    /// Fails if the server can't be started.
    pub fn to_child(words: &[OsString], framing: Framing) -> Result<(Self, Receiver<Note>)> {
        let Some((program, args)) = words.split_first() else {
            bail!("the server's command is empty")
        };
        let mut command = Command::new(program);
        // Start the server in its own process group, so that Ctrl+C at the prompt does not end it.
        command.args(args).process_group(0);
        Self::of_command(command, framing)
    }

    /// Starts `ptywright serve --stdio` with additional arguments, and connects to it.
    ///
    /// # Errors
    /// Fails if the server can't be started.
    pub fn to_own(args: &[OsString], framing: Framing) -> Result<(Self, Receiver<Note>)> {
        let own = std::env::current_exe().context("cannot find this program's file")?;
        let mut command = Command::new(own);
        // Set the name explicitly, because this program may have been called by the name of a link.
        command.arg0("unterm-cli").args([
            "ptywright",
            "serve",
            "--stdio",
            "--framing",
            framing.name(),
        ]);
        command.args(args).process_group(0);
        Self::of_command(command, framing)
    }

    fn of_command(mut command: Command, framing: Framing) -> Result<(Self, Receiver<Note>)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let program = command.get_program().display().to_string();
        let mut child = command.spawn().with_context(|| format!("cannot start {program}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("the server has no standard streams");
        };
        Self::start(framing, Box::new(output), Box::new(input), Some(child))
    }

    fn start(
        framing: Framing,
        reader: Box<dyn Read + Send>,
        writer: Box<dyn Write + Send>,
        child: Option<Child>,
    ) -> Result<(Self, Receiver<Note>)> {
        let shared = Arc::new(Shared {
            framing: framing.into(),
            writer: Mutex::new(Some(writer)),
            pending: AtomicU64::new(0),
            is_lost: AtomicBool::new(false),
            why: Mutex::default(),
        });
        let (sender, replies) = mpsc::channel();
        let (notes, noted) = mpsc::sync_channel(MOST_NOTES);
        let notes = Notes { sender: notes, left_out: 0 };
        let mut child = child;
        if let Some(stderr) = child.as_mut().and_then(|child| child.stderr.take()) {
            let notes = notes.clone();
            spawn("unterm-diagnostics", move || pass_diagnostics(stderr, notes))?;
        }
        let child = child.map(await_end).transpose()?;
        let reading = Reading { shared: shared.clone(), replies: sender, notes };
        spawn("unterm-replies", move || reading.read(reader))?;
        Ok((Self { shared, next: AtomicU64::new(1), replies, child }, noted))
    }

    /// Returns a handle with which another thread can cancel calls of this connection.
    pub fn canceller(&self) -> Canceller {
        Canceller { shared: self.shared.clone(), cancelled: 0 }
    }

    /// Ends the sending direction. The server then closes its side.
    pub fn close(&self) {
        drop(self.shared.writer.lock().take());
    }

    /// Whether the connection to the server is lost.
    pub fn is_lost(&self) -> bool {
        self.shared.is_lost.load(Ordering::Acquire)
    }

    /// The reason why the connection was lost.
    pub fn why_lost(&self) -> String {
        self.shared.why.lock().clone()
    }

    /// Calls a method, and waits for the reply until `limit` has passed. The outer error means that no reply arrived;
    /// the inner result is the reply.
    ///
    /// # Errors
    /// Fails if no reply arrives.
    pub fn call(
        &self,
        method: &str,
        params: Value,
        limit: Option<Duration>,
    ) -> Result<Result<Value, Failure>, NoReply> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.shared.pending.store(id, Ordering::Release);
        // Ignore a failed write. If the server is exiting, it may have sent its reason before. The reader reports both
        // this reason and the lost connection.
        let _ = self.shared.send(&request);
        let reply = self.reply(id, limit);
        self.shared.pending.store(0, Ordering::Release);
        let mut reply = reply?;
        Ok(match reply.get_mut("error").map(Value::take) {
            Some(error) => Err(Failure::of(error)),
            None => Ok(reply["result"].take()),
        })
    }

    fn reply(&self, id: u64, limit: Option<Duration>) -> Result<Value, NoReply> {
        loop {
            let received = match limit {
                Some(limit) => self.replies.recv_timeout(limit),
                None => self.replies.recv().map_err(RecvTimeoutError::from),
            };
            match received {
                // If the server could not parse the request, its error has no id.
                Ok(reply) if reply["id"] == id || reply["id"].is_null() => return Ok(reply),
                // Ignore this message. It is the late reply to an earlier call that timed out.
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => return Err(NoReply::TimedOut),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(NoReply::Lost(self.why_lost()));
                }
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // A server that we started ends when its input ends.
        self.close();
        if let Some((pid, ended)) = &self.child
            && ended.recv_timeout(END) == Err(RecvTimeoutError::Timeout)
        {
            let _ = kill_process(*pid, Signal::KILL);
            let _ = ended.recv();
        }
    }
}

impl Failure {
    fn of(mut error: Value) -> Self {
        let message = error["message"].as_str().unwrap_or("the server gives no reason").to_owned();
        Self {
            code: error["code"].as_i64().unwrap_or_default(),
            message,
            data: error["data"].take(),
        }
    }
}

/// Fails if the server belongs to another user, because that user would receive everything that is sent.
fn refuse_other_user(stream: &UnixStream, path: &Path) -> Result<()> {
    #[cfg(target_os = "linux")]
    {
        let peer = rustix::net::sockopt::socket_peercred(stream)?.uid;
        let own = rustix::process::geteuid();
        if peer != own && !peer.is_root() {
            let (peer, own) = (peer.as_raw(), own.as_raw());
            bail!("the server on {} belongs to user {peer}, not to user {own}", path.display());
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (stream, path);
    Ok(())
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
}

/// Waits for the server's exit on another thread.
fn await_end(mut child: Child) -> io::Result<(Pid, Receiver<ExitStatus>)> {
    let pid = Pid::from_child(&child);
    let (sender, ended) = mpsc::channel();
    spawn("unterm-server", move || {
        if let Ok(status) = child.wait() {
            let _ = sender.send(status);
        }
    })?;
    Ok((pid, ended))
}

/// The queue of notes. If the queue is full, further notes are only counted.
#[derive(Clone)]
struct Notes {
    sender: SyncSender<Note>,
    left_out: u64,
}

impl Notes {
    fn add(&mut self, note: Note) {
        if self.left_out > 0 && self.sender.try_send(Note::LeftOut(self.left_out)).is_ok() {
            self.left_out = 0;
        }
        if let Err(TrySendError::Full(_)) = self.sender.try_send(note) {
            self.left_out += 1;
        }
    }
}

/// The thread that reads the server's messages.
struct Reading {
    shared: Arc<Shared>,
    replies: mpsc::Sender<Value>,
    notes: Notes,
}

impl Reading {
    fn read(mut self, reader: Box<dyn Read + Send>) {
        let why = match self.shared.framing {
            FramingKind::Ndjson => self.read_frames::<Lines>(reader),
            FramingKind::Lsp => self.read_frames::<ContentLength>(reader),
        };
        self.shared.why.lock().clone_from(&why);
        self.shared.is_lost.store(true, Ordering::Release);
        let Self { replies, notes, .. } = self;
        // Dropping the sender ends the call that waits for a reply.
        drop(replies);
        // Wait until the queue has space, because this note is the last one and must arrive.
        let _ = notes.sender.send(Note::Lost(why));
    }

    /// Reads messages until the connection ends. Returns the reason for the end.
    fn read_frames<F: Frames>(&mut self, mut reader: Box<dyn Read + Send>) -> String {
        let mut frames = F::default();
        let mut chunk = vec![0; 64 << 10];
        loop {
            match frames.next(LONGEST) {
                FrameRead::Message(message) => {
                    let message = message.trim_ascii();
                    if message.is_empty() {
                        continue;
                    }
                    let Ok(message) = serde_json::from_slice(message) else {
                        let start = String::from_utf8_lossy(message);
                        let start: String = start.chars().take(80).collect();
                        return format!(
                            "the server sent no JSON but {start:?}; is --framing right?"
                        );
                    };
                    self.pass(message);
                    continue;
                }
                FrameRead::More => {}
                FrameRead::Http => return "the server speaks HTTP".to_owned(),
                FrameRead::TooLong => {
                    return format!("the server sent a message of more than {} MiB", LONGEST >> 20);
                }
                FrameRead::Broken(why) => {
                    return format!("the server's frame is broken: {why}; is --framing right?");
                }
            }
            match reader.read(&mut chunk) {
                Ok(0) => return "the server has closed the connection".to_owned(),
                Ok(count) => frames.space().extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return format!("the connection to the server is lost: {error}"),
            }
        }
    }

    fn pass(&mut self, mut message: Value) {
        if let Some(method) = message["method"].as_str().map(str::to_owned) {
            return self.notes.add(Note::Notification { method, params: message["params"].take() });
        }
        let is_pending = self.shared.pending.load(Ordering::Acquire) != 0;
        if message["id"].is_null() && !is_pending {
            return self.notes.add(Note::Failure(Failure::of(message["error"].take())));
        }
        let _ = self.replies.send(message);
    }
}

/// Adds the diagnostics of a server to the notes, line by line.
fn pass_diagnostics(stderr: impl Read, mut notes: Notes) {
    let mut stderr = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        match stderr.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let line = String::from_utf8_lossy(&line);
                notes.add(Note::Diagnostic(line.trim_end().to_owned()));
            }
        }
    }
}
