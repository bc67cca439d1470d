//! Reports a program's end to the program's owner, through a pipe for each pane.
//!
//! The keeper writes one record when the program ends. The pipe also reports two other events. If the owner reads the
//! end of the pipe without a record, the keeper is gone. If the keeper gets an error, the owner is gone, or has read
//! the record and no longer needs the process id.

use std::{
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::{Duration, SystemTime},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    pipe::SpliceFlags,
};

/// The length of a record in bytes: the kind of the end (4), its value (4), and the time (8), little-endian.
const RECORD: usize = 16;
const CODE: u32 = 0;
const SIGNAL: u32 = 1;

/// How and when a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The exit code, or the number of the signal that ended the program.
    pub how: Result<i32, i32>,
    /// The time of the end, in milliseconds since 1970.
    pub at: u64,
}

impl Ending {
    /// A program's end at this moment. `how` is the exit code, or the number of the signal.
    pub(crate) fn now(how: Result<i32, i32>) -> Self {
        Self { how, at: now() }
    }

    pub(crate) fn to_bytes(self) -> [u8; RECORD] {
        let (kind, value) = match self.how {
            Ok(code) => (CODE, code),
            Err(signal) => (SIGNAL, signal),
        };
        let mut bytes = [0; RECORD];
        bytes[..4].copy_from_slice(&kind.to_le_bytes());
        bytes[4..8].copy_from_slice(&value.to_le_bytes());
        bytes[8..].copy_from_slice(&self.at.to_le_bytes());
        bytes
    }

    /// `None` if a newer keeper wrote an end of an unknown kind.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first_chunk()?;
        let (value, time) = rest.split_first_chunk()?;
        let value = i32::from_le_bytes(*value);
        let how = match u32::from_le_bytes(*kind) {
            CODE => Ok(value),
            SIGNAL => Err(value),
            _ => return None,
        };
        Some(Self { how, at: u64::from_le_bytes(time.try_into().ok()?) })
    }
}

/// The time, in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    u64::try_from(now.unwrap_or(Duration::ZERO).as_millis()).unwrap_or(u64::MAX)
}

/// The known state of a program's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The program has not ended, or the keeper has not reported it yet.
    Running,
    /// The program has ended.
    Ended(Ending),
    /// The keeper is gone, so the status is lost. The program may still run.
    Lost,
}

/// The owner's end of the pipe. It becomes readable once the program has ended or the keeper is gone. As long as it is
/// open, the program belongs to this owner, and the process id is not reused.
#[derive(Debug)]
pub struct ExitPipe(OwnedFd);

impl ExitPipe {
    pub(crate) fn new(pipe: OwnedFd) -> Self {
        Self(pipe)
    }

    /// Reads the record without waiting. A record can be read once, so the caller must store it.
    pub fn read(&self) -> Exit {
        let mut record = [0; RECORD];
        loop {
            return match rustix::io::read(&self.0, &mut record) {
                Ok(count) => Ending::from_bytes(&record[..count]).map_or(Exit::Lost, Exit::Ended),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => Exit::Running,
                Err(_) => Exit::Lost,
            };
        }
    }

    /// Like [`Self::read`], but leaves the record in the pipe. So the keeper keeps the pane for the next owner, even after
    /// the end of its program.
    pub fn peek(&self) -> Exit {
        let Ok((copy, writer)) = io::pipe() else { return Exit::Running };
        match rustix::pipe::tee(&self.0, writer, RECORD, SpliceFlags::NONBLOCK) {
            Ok(0) => Exit::Lost,
            Ok(_) => Self(copy.into()).read(),
            Err(Errno::AGAIN | Errno::INTR) => Exit::Running,
            Err(_) => Exit::Lost,
        }
    }
}

impl AsFd for ExitPipe {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The keeper's end of the pipe.
#[derive(Debug)]
pub(crate) struct ExitReport(OwnedFd);

impl ExitReport {
    /// Creates a pipe. Returns the keeper's end and the owner's end.
    pub(crate) fn new() -> io::Result<(Self, OwnedFd)> {
        let (owner, keeper) = io::pipe()?;
        let (owner, keeper) = (OwnedFd::from(owner), OwnedFd::from(keeper));
        for end in [&owner, &keeper] {
            rustix::io::ioctl_fionbio(end, true)?;
        }
        Ok((Self(keeper), owner))
    }

    /// Writes the record. A new pipe has room for it, and writing it is atomic.
    pub(crate) fn write(&self, ending: Ending) -> Result<(), Errno> {
        rustix::io::write(&self.0, &ending.to_bytes()).map(|_| ())
    }

    /// Whether the owner has read everything that was written. Call it only if the owner has closed its end.
    pub(crate) fn is_read(&self) -> bool {
        rustix::io::ioctl_fionread(&self.0).is_ok_and(|unread| unread == 0)
    }

    /// Whether the owner's end is still open.
    pub(crate) fn has_owner(&self) -> bool {
        let mut fds = [PollFd::new(&self.0, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        match poll(&mut fds, Some(&at_once)) {
            Ok(_) => !fds[0].revents().contains(PollFlags::ERR),
            Err(_) => true,
        }
    }
}

impl AsFd for ExitReport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        for how in [Ok(0), Ok(255), Err(9)] {
            let ending = Ending::now(how);
            assert_eq!(Ending::from_bytes(&ending.to_bytes()), Some(ending));
        }
        let mut unknown = Ending::now(Ok(0)).to_bytes();
        unknown[0] = 7;
        assert_eq!(Ending::from_bytes(&unknown), None);
        assert_eq!(Ending::from_bytes(&unknown[..15]), None);
    }

    #[test]
    fn both_ends_of_the_pipe_notice_each_other() {
        let (report, owner) = ExitReport::new().unwrap();
        let pipe = ExitPipe::new(owner);
        assert_eq!(pipe.read(), Exit::Running);
        assert!(report.has_owner());
        let ending = Ending::now(Ok(3));
        report.write(ending).unwrap();
        assert!(!report.is_read());
        assert_eq!(pipe.read(), Exit::Ended(ending));
        assert!(report.is_read());
        drop(report);
        assert_eq!(pipe.read(), Exit::Lost);
        let (report, owner) = ExitReport::new().unwrap();
        report.write(ending).unwrap();
        drop(owner);
        assert!(!report.is_read());
        assert!(!report.has_owner());
        assert!(report.write(ending).is_err());
    }
}
