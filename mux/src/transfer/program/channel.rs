//! The connection of a transfer's program to the terminal: commands to the terminal, and its replies.

use std::{
    collections::VecDeque,
    fs::{File, OpenOptions},
    io::{ErrorKind, Read, Write},
    os::{fd::AsFd, unix::fs::OpenOptionsExt},
    path::Path,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::OFlags,
    termios::{OptionalActions, Termios, tcgetattr, tcsetattr},
};
use unterm_term::{TransferAction, TransferAnswer, TransferCommand};

use super::{
    TransferError, printable, reason,
    scanner::{Received, Scanner},
};
use crate::random;

/// How long the terminal may take to answer a query that needs no user.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time between two lines that show progress.
const PAUSE: Duration = Duration::from_millis(100);
const CLEAR_LINE: &[u8] = b"\r\x1b[K";
/// The maximum number of replies that wait to be handled.
const WAITING_CAP: usize = 1024;

/// A terminal in raw mode. When this value is dropped, the terminal's mode is restored, and unread input is discarded.
pub struct Channel {
    tty: File,
    before: Termios,
    id: String,
    scanner: Scanner,
    waiting: VecDeque<Received>,
    /// When the current progress line was shown. The next line replaces it.
    shown: Option<Instant>,
}

impl Drop for Channel {
    fn drop(&mut self) {
        if self.shown.is_some() {
            let _ = self.write(CLEAR_LINE);
        }
        let _ = tcsetattr(&self.tty, OptionalActions::Flush, &self.before);
    }
}

impl Channel {
    /// Opens a terminal, usually `/dev/tty`, and enters raw mode.
    ///
    /// # Errors
    /// If the path is no terminal that this process may use.
    pub fn open(path: &Path) -> Result<Self, TransferError> {
        // Only this descriptor becomes non-blocking, not the standard streams.
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let tty = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(flags.bits() as i32)
            .open(path)?;
        let before = tcgetattr(&tty).map_err(std::io::Error::from)?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&tty, OptionalActions::Now, &raw).map_err(std::io::Error::from)?;
        let id = random::hex()?;
        Ok(Self {
            tty,
            before,
            id,
            scanner: Scanner::default(),
            waiting: VecDeque::new(),
            shown: None,
        })
    }

    /// A command of this session.
    pub(super) fn command(&self, action: TransferAction) -> TransferCommand {
        TransferCommand::new(action, &self.id)
    }

    /// Asks for the terminal's name (XTVERSION). Returns it, or an empty text if the terminal does not report one.
    ///
    /// # Errors
    /// If the terminal does not answer, or if it is a multiplexer that drops transfers.
    pub fn terminal_name(&mut self) -> Result<String, TransferError> {
        self.write(b"\x1b[>q\x1b[c")?;
        let until = Instant::now() + PATIENCE;
        let mut name = String::new();
        loop {
            match self.received(Some(until))?.ok_or(TransferError::Silent)? {
                Received::Dcs(text) => {
                    if let Some(text) = text.strip_prefix(b">|") {
                        name = printable(&String::from_utf8_lossy(text));
                    }
                }
                // The reply to DA1, which every terminal sends.
                Received::Csi(text) if text.starts_with(b"?") && text.ends_with(b"c") => break,
                _ => {}
            }
        }
        match name.split([' ', '(']).next() {
            Some(multiplexer @ ("tmux" | "screen" | "zellij" | "Zellij")) => {
                Err(TransferError::Multiplexer(multiplexer.to_owned()))
            }
            _ => Ok(name),
        }
    }

    /// Shows a line to the user, in place of the line that it showed before.
    ///
    /// # Errors
    /// If the terminal can't be written.
    pub fn show(&mut self, line: &str) -> Result<(), TransferError> {
        self.shown = Some(Instant::now());
        // A line that is too long is cut off.
        let line = format!("\x1b[?7l{}\x1b[?7h", printable(line));
        self.write(&[CLEAR_LINE, line.as_bytes()].concat())
    }

    /// Shows how much of a file has been copied, at most ten times a second.
    pub(super) fn show_progress(&mut self, path: &str, bytes: u64) -> Result<(), TransferError> {
        match self.shown {
            Some(before) if before.elapsed() < PAUSE => Ok(()),
            _ => self.show(&format!("{} KiB of {path}", bytes >> 10)),
        }
    }

    pub(super) fn send(&mut self, command: &TransferCommand) -> Result<(), TransferError> {
        self.write(command.encode().as_bytes())
    }

    /// Waits for the next reply of this session. The user decides when it comes.
    pub(super) fn answer(&mut self) -> Result<TransferAnswer, TransferError> {
        loop {
            let received = self.received(None)?;
            if let Some(answer) = received.and_then(|received| self.own_answer(received)) {
                return Ok(answer);
            }
        }
    }

    /// The next reply of this session that has already arrived.
    pub(super) fn arrived(&mut self) -> Result<Option<TransferAnswer>, TransferError> {
        loop {
            match self.received(Some(Instant::now()))? {
                None => return Ok(None),
                Some(received) => match self.own_answer(received) {
                    None => {}
                    answer => return Ok(answer),
                },
            }
        }
    }

    fn own_answer(&self, received: Received) -> Option<TransferAnswer> {
        let Received::Osc(text) = received else { return None };
        TransferAnswer::parse(&text).filter(|answer| answer.id == self.id)
    }

    /// Waits until the user has allowed the session.
    pub(super) fn permission(&mut self) -> Result<(), TransferError> {
        let status = self.answer()?.status;
        match status.as_str() {
            "OK" => Ok(()),
            _ => Err(TransferError::Refused(reason(&status))),
        }
    }

    /// Cancels the session, and discards all replies until the terminal confirms it, so that they don't reach the shell.
    pub(super) fn cancel(&mut self) {
        let command = self.command(TransferAction::Cancel);
        // The session ends with its first error, which the caller reports.
        if self.send(&command).is_err() {
            return;
        }
        let until = Instant::now() + PATIENCE;
        loop {
            match self.received(Some(until)) {
                Ok(Some(received)) => {
                    if self.own_answer(received).is_some_and(|answer| answer.status == "CANCELED") {
                        return;
                    }
                }
                // Another Ctrl+C changes nothing.
                Err(TransferError::Interrupted) => {}
                Ok(None) | Err(_) => return,
            }
        }
    }

    /// The next part of the input; `None` if there is none until then.
    fn received(&mut self, until: Option<Instant>) -> Result<Option<Received>, TransferError> {
        loop {
            match self.waiting.pop_front() {
                Some(Received::Interrupt) => return Err(TransferError::Interrupted),
                Some(received) => return Ok(Some(received)),
                None => {}
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if !self.wait(PollFlags::IN, left)?.contains(PollFlags::IN) {
                return Ok(None);
            }
            self.read()?;
        }
    }

    /// Writes everything. Also reads, because a terminal may stop reading until this program reads its replies.
    fn write(&mut self, mut bytes: &[u8]) -> Result<(), TransferError> {
        while !bytes.is_empty() {
            match self.tty.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let ready = self.wait(PollFlags::IN | PollFlags::OUT, None)?;
                    if ready.contains(PollFlags::IN) {
                        self.read()?;
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Waits until the terminal can be read or written. No flags: the time is over.
    fn wait(&self, flags: PollFlags, left: Option<Duration>) -> Result<PollFlags, TransferError> {
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        loop {
            let mut ready = [PollFd::from_borrowed_fd(self.tty.as_fd(), flags)];
            match poll(&mut ready, left.as_ref()) {
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(std::io::Error::from(error).into()),
                Ok(_) => {
                    let found = ready[0].revents();
                    let is_closed = found.intersects(PollFlags::HUP | PollFlags::ERR);
                    if is_closed && !found.intersects(PollFlags::IN) {
                        return Err(std::io::Error::from(ErrorKind::UnexpectedEof).into());
                    }
                    return Ok(found);
                }
            }
        }
    }

    fn read(&mut self) -> Result<(), TransferError> {
        let mut bytes = [0; 4096];
        let count = match self.tty.read(&mut bytes) {
            Ok(0) => return Err(std::io::Error::from(ErrorKind::UnexpectedEof).into()),
            Ok(count) => count,
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
            {
                0
            }
            Err(error) => return Err(error.into()),
        };
        self.waiting.extend(bytes[..count].iter().filter_map(|byte| self.scanner.next(*byte)));
        if self.waiting.len() > WAITING_CAP {
            return Err(TransferError::Flood("more than 1,024 replies at once"));
        }
        Ok(())
    }
}
