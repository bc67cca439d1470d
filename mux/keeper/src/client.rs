//! The client's side of the protocol: one request at a time, each with a time limit.

use std::{
    io,
    os::fd::{AsFd as _, OwnedFd},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{
        SocketFlags,
        sockopt::{Timeout, set_socket_timeout},
    },
    process::Pid,
};

use crate::{
    exit::ExitPipe,
    fields::Broken,
    frame::Inbox,
    identity::{Identity, Placement},
    message::{Hello, NEWEST, OLDEST, PaneKey, Refusal, Reply, Request, Start},
    socket::{self, MAX_DESCRIPTORS},
    successor::Successor,
};

/// The time limit of a request. It is long, because a program on a slow file system or a busy machine takes its time to
/// start.
const LIMIT: Duration = Duration::from_secs(5);

/// How often to start a keeper, if the last one ends while a client connects.
const ATTEMPTS: u32 = 3;

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The keeper cannot be reached.
    #[error("cannot reach the keeper: {0}")]
    Io(#[from] io::Error),
    /// The keeper does not answer in time, for example because it is stopped.
    #[error("the keeper does not answer within {} seconds", LIMIT.as_secs())]
    TimedOut,
    /// The keeper has ended.
    #[error("the keeper has ended")]
    Ended,
    /// The keeper speaks other versions of the protocol.
    #[error(
        "the keeper speaks the versions {oldest} to {newest} of its protocol, not {OLDEST} to {NEWEST}"
    )]
    Version {
        /// The oldest version that the keeper speaks.
        oldest: u16,
        /// The newest version that the keeper speaks.
        newest: u16,
    },
    /// The keeper refuses the request.
    #[error("{1}")]
    Refused(Refusal, String),
    /// The keeper's answer is not valid.
    #[error("the keeper's answer is not valid: {0}")]
    Broken(#[from] Broken),
}

/// A pane that belongs to this process, until `exit` is dropped.
#[derive(Debug)]
pub struct Held {
    /// The pane.
    pub key: PaneKey,
    /// The pty's master. It is non-blocking.
    pub master: OwnedFd,
    /// The process (pidfd_open(2)), which becomes readable at its end.
    pub process: OwnedFd,
    /// Reports the program's end.
    pub exit: ExitPipe,
    /// The process id of the program. As long as `exit` is open and the keeper lives, no other process gets it.
    pub pid: Pid,
    /// The terminal device, such as `/dev/pts/3`. Empty if unknown.
    pub tty: PathBuf,
    /// The memory of the pane's journal, for [`crate::Journal::open`]. `None` if there is no journal.
    pub journal: Option<OwnedFd>,
}

/// The address of the keeper, and the way to start it.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The path of the program `unterm-keeper`.
    pub program: PathBuf,
    /// The path of the keeper's socket. Its folder must exist and be private.
    pub socket: PathBuf,
}

impl Launcher {
    /// Connects to the keeper, and starts it first if there is none. `name` is the name of this instance.
    ///
    /// # Errors
    /// If the keeper cannot be started or reached, or speaks other versions of the protocol.
    pub fn connect(&self, name: &str) -> Result<Client, Error> {
        let mut attempt = 1;
        loop {
            match Client::connect(&self.socket, name) {
                Err(Error::Ended) if attempt < ATTEMPTS => {}
                Err(Error::Io(error))
                    if attempt < ATTEMPTS
                        && matches!(
                            error.kind(),
                            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused
                        ) => {}
                result => return result,
            }
            attempt += 1;
            self.start()?;
        }
    }

    /// Starts the keeper, and waits until it listens.
    fn start(&self) -> io::Result<()> {
        let mut command = Command::new(&self.program);
        command.arg("--socket").arg(&self.socket).env_clear().current_dir("/");
        let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output();
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", self.program.display());
        let output = output.map_err(|error| io::Error::new(error.kind(), named(&error)))?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        Err(io::Error::other(named(&text.trim().chars().take(500).collect::<String>())))
    }
}

/// A connection to the keeper. After an error other than [`Error::Refused`], it is useless.
#[derive(Debug)]
pub struct Client {
    socket: OwnedFd,
    inbox: Inbox,
    /// Descriptors that came with the reply that is being received.
    descriptors: Vec<OwnedFd>,
    keeper: Hello,
    is_broken: bool,
}

impl Client {
    /// Connects to a keeper that listens on `path`. `name` is the name of this instance.
    ///
    /// # Errors
    /// If there is none, if another user runs it, or if it speaks other versions of the protocol.
    pub fn connect(path: &Path, name: &str) -> Result<Self, Error> {
        let socket = connected(path)?;
        socket::check_peer(&socket)?;
        let own = Hello::own(name);
        let mut client = Self {
            socket,
            inbox: Inbox::default(),
            descriptors: Vec::new(),
            keeper: own.clone(),
            is_broken: false,
        };
        match client.request(&Request::Hello(own))? {
            Reply::Hello(keeper) if keeper.common_version().is_some() => {
                client.keeper = keeper;
                Ok(client)
            }
            Reply::Hello(Hello { oldest, newest, .. }) => Err(Error::Version { oldest, newest }),
            reply => Err(unexpected(&reply)),
        }
    }

    /// The greeting of the keeper.
    pub fn keeper(&self) -> &Hello {
        &self.keeper
    }

    /// Whether further requests can succeed.
    pub fn is_usable(&self) -> bool {
        !self.is_broken
    }

    /// Starts a program. The pane belongs to this process.
    ///
    /// # Errors
    /// If the program cannot be started, or the keeper does not answer. If the keeper answers too late, it ends the
    /// program, so the caller may start the program in another way.
    pub fn start(&mut self, start: Start) -> Result<Held, Error> {
        let reply = self.request(&Request::Start(Box::new(start)))?;
        self.hold(reply)
    }

    /// Takes over a pane that no other process owns. This process must write the pane's journal if there is one.
    ///
    /// # Errors
    /// If there is no such pane, or another process owns it.
    pub fn take(&mut self, number: u64) -> Result<Held, Error> {
        let reply = self.request(&Request::Take { pane: number, has_journal: true })?;
        self.hold(reply)
    }

    /// The numbers of all panes, oldest first.
    ///
    /// # Errors
    /// If the keeper does not answer.
    pub fn panes(&mut self) -> Result<Vec<u64>, Error> {
        match self.request(&Request::List)? {
            Reply::Panes(panes) => Ok(panes),
            reply => Err(self.broken(unexpected(&reply))),
        }
    }

    /// Everything that the keeper stores about a pane.
    ///
    /// # Errors
    /// If there is no such pane.
    pub fn identify(&mut self, number: u64) -> Result<Identity, Error> {
        match self.request(&Request::Identify(number))? {
            Reply::Identity(identity) => Ok(*identity),
            reply => Err(self.broken(unexpected(&reply))),
        }
    }

    /// Stores the data that the next owner of a pane needs.
    ///
    /// # Errors
    /// If the keeper cannot be reached. The keeper ignores the call if this process does not own the pane.
    pub fn describe(&mut self, pane: PaneKey, placement: Placement) -> Result<(), Error> {
        self.send(&Request::Describe(pane, placement))
    }

    /// Makes the keeper close its duplicate of the pane's master, and forget the pane after the program's end. The
    /// system hangs up the terminal as soon as this process has closed its own master, too.
    ///
    /// # Errors
    /// If the keeper cannot be reached.
    pub fn close(&mut self, pane: PaneKey) -> Result<(), Error> {
        self.send(&Request::Close(pane))
    }

    /// Sets the program that the keeper starts if this process ends and leaves running programs behind. It replaces an
    /// earlier program. `None`: no program.
    ///
    /// # Errors
    /// If the keeper does not answer, its version is too old ([`Refusal::UnknownRequest`]), or the successor is too
    /// long. The connection stays usable after the last two errors.
    pub fn set_successor(&mut self, successor: Option<Successor>) -> Result<(), Error> {
        let request = Request::Succeed(successor.map(Box::new));
        if let Request::Succeed(Some(successor)) = &request {
            successor.check(request.to_frame().body.len())?;
        }
        match self.request(&request)? {
            Reply::Done => Ok(()),
            reply => Err(self.broken(unexpected(&reply))),
        }
    }

    fn hold(&mut self, reply: Reply) -> Result<Held, Error> {
        let Reply::Held { pane: key, pid, tty } = reply else {
            return Err(self.broken(unexpected(&reply)));
        };
        let pid = Pid::from_raw(pid).filter(|pid| *pid != Pid::INIT);
        let pid =
            pid.ok_or_else(|| self.broken(Broken("a pane without a process".into()).into()))?;
        let mut descriptors = std::mem::take(&mut self.descriptors);
        let journal = (descriptors.len() == 4).then(|| descriptors.pop()).flatten();
        let descriptors: Result<[OwnedFd; 3], _> = descriptors.try_into();
        let [master, process, exit] = descriptors.map_err(|descriptors| {
            let count = descriptors.len();
            let text = format!("a pane comes with {count} descriptors, not 3 or 4");
            self.broken(Broken(text).into())
        })?;
        self.send(&Request::Confirm(key))?;
        Ok(Held { key, master, process, exit: ExitPipe::new(exit), pid, tty, journal })
    }

    /// Sends a request, and waits for the reply.
    fn request(&mut self, request: &Request) -> Result<Reply, Error> {
        let until = Instant::now() + LIMIT;
        self.send_until(request, until)?;
        let reply = self.receive(until).map_err(|error| self.broken(error))?;
        match reply {
            Reply::Refused(refusal, text) => {
                self.is_broken |= matches!(refusal, Refusal::Version | Refusal::Malformed);
                Err(Error::Refused(refusal, text))
            }
            reply => Ok(reply),
        }
    }

    fn send(&mut self, request: &Request) -> Result<(), Error> {
        self.send_until(request, Instant::now() + LIMIT)
    }

    fn send_until(&mut self, request: &Request, until: Instant) -> Result<(), Error> {
        if self.is_broken {
            return Err(Error::Ended);
        }
        // A message that is too long is not sent, so the connection stays usable.
        let bytes = request.to_frame().encode()?;
        let mut sent = 0;
        while sent < bytes.len() {
            match socket::send(&self.socket, &bytes[sent..], &[]) {
                Ok(count) => sent += count,
                Err(Errno::AGAIN) => {
                    self.wait(PollFlags::OUT, until).map_err(|error| self.broken(error))?;
                }
                // The keeper closes a connection after it has refused it, so its reply may still be readable.
                Err(Errno::PIPE | Errno::CONNRESET) if matches!(request, Request::Hello(_)) => {
                    break;
                }
                Err(Errno::PIPE | Errno::CONNRESET) => return Err(self.broken(Error::Ended)),
                Err(error) => return Err(self.broken(Error::Io(error.into()))),
            }
        }
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Reply, Error> {
        let mut buffer = [0; 16 * 1024];
        loop {
            if let Some(frame) = self.inbox.next()? {
                if usize::from(frame.descriptors) != self.descriptors.len() {
                    let (said, got) = (frame.descriptors, self.descriptors.len());
                    let text = format!("{got} descriptors came with a message, not {said}");
                    return Err(Broken(text).into());
                }
                return Ok(Reply::from_frame(&frame)?);
            }
            match socket::receive(&self.socket, &mut buffer, Some(&mut self.descriptors)) {
                Ok(received)
                    if received.has_dropped || self.descriptors.len() > MAX_DESCRIPTORS =>
                {
                    return Err(Broken("too many descriptors".into()).into());
                }
                Ok(received) if received.bytes == 0 => return Err(Error::Ended),
                Ok(received) => self.inbox.push(&buffer[..received.bytes]),
                Err(Errno::AGAIN) => self.wait(PollFlags::IN, until)?,
                Err(Errno::CONNRESET) => return Err(Error::Ended),
                Err(error) => return Err(Error::Io(error.into())),
            }
        }
    }

    fn wait(&self, events: PollFlags, until: Instant) -> Result<(), Error> {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(Error::TimedOut);
        }
        let left = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::from_borrowed_fd(self.socket.as_fd(), events)], left.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(Error::Io(error.into())),
        }
    }

    /// Marks the connection as useless.
    fn broken(&mut self, error: Error) -> Error {
        self.is_broken = true;
        self.descriptors.clear();
        error
    }
}

/// A connection to the socket on `path`. If the socket's queue of clients is full, waits until the keeper accepts a
/// client, at most for [`LIMIT`].
fn connected(path: &Path) -> Result<OwnedFd, Error> {
    let socket = socket::new(SocketFlags::empty())?;
    let address = socket::address(path)?;
    set_socket_timeout(&socket, Timeout::Send, Some(LIMIT)).map_err(io::Error::from)?;
    loop {
        match rustix::net::connect(&socket, &address) {
            Ok(()) => return Ok(socket),
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => return Err(Error::TimedOut),
            Err(error) => return Err(Error::Io(error.into())),
        }
    }
}

fn unexpected(reply: &Reply) -> Error {
    let kind = reply.to_frame(0).kind;
    Broken(format!("a reply of the kind {kind:#x} to another request")).into()
}
