//! Reads the output of a program on a pty.
//!
//! Owns when reading ends: some time after the program's end if other processes keep writing. Only poll(2) waits.

use std::{io, sync::atomic::Ordering, time::Instant};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

use super::{Look, PtyProcess};
use crate::ReadOutcome;

/// The number of bytes that are still read after the program's end while other processes keep writing. It exceeds the
/// size of the kernel's buffer.
const TAIL: u32 = 256 * 1024;

/// If a pane's output never pauses, the reader checks after this number of reads whether the program has ended.
const READS_PER_LOOK: u32 = 64;

/// The result of reading the master without waiting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Available {
    Bytes(usize),
    Nothing,
    /// No process has the terminal open any more.
    HungUp,
}

impl PtyProcess {
    /// See [`crate::Process::read`].
    pub(super) fn read_output(
        &self,
        buffer: &mut [u8],
        deadline: Option<Instant>,
    ) -> io::Result<ReadOutcome> {
        if buffer.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "a buffer without space"));
        }
        // If output never pauses, this check still notices the program's end and sends SIGKILL when it is due.
        if self.reads.fetch_add(1, Ordering::Relaxed) >= READS_PER_LOOK {
            self.reads.store(0, Ordering::Relaxed);
            self.look();
        }
        loop {
            if self.is_stopped.load(Ordering::Acquire) {
                return Ok(ReadOutcome::Ended);
            }
            if self.is_detached.load(Ordering::Acquire) {
                return Ok(ReadOutcome::Detached);
            }
            // Check for the program's end before reading, so that no output of the program is missed.
            let has_ended = self.state.lock().child.known_status().is_some();
            let available = self.read_available(buffer)?;
            if let Available::Bytes(count) = available {
                if has_ended && self.tail.fetch_add(count as u32, Ordering::Relaxed) >= TAIL {
                    return Ok(ReadOutcome::Ended);
                }
                return Ok(ReadOutcome::Bytes(count));
            }
            if has_ended {
                return Ok(ReadOutcome::Ended);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                return Ok(ReadOutcome::TimedOut);
            }
            self.reads.store(0, Ordering::Relaxed);
            let Look { status, kill_at, watch } = self.look();
            let Some(watch) = watch.filter(|_| status.is_none()) else { continue };
            if self.is_stopped.load(Ordering::Acquire) {
                continue;
            }
            let next = [deadline, kill_at].into_iter().flatten().min();
            let mut fds = [
                PollFd::new(&watch, PollFlags::IN),
                PollFd::new(&self.wake, PollFlags::IN),
                PollFd::new(&self.master, PollFlags::IN),
            ];
            // If no process has the terminal open, the master would always count as ready. Then wait only for the
            // program's end and for wake-ups.
            let count = if available == Available::HungUp { 2 } else { 3 };
            self.is_reader_idle.store(true, Ordering::Release);
            let polled = poll(&mut fds[..count], timeout(next).as_ref());
            self.is_reader_idle.store(false, Ordering::Release);
            match polled {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if fds[1].revents().contains(PollFlags::IN) {
                self.wake.clear();
            }
        }
    }

    /// Reads the available output without waiting.
    fn read_available(&self, buffer: &mut [u8]) -> io::Result<Available> {
        loop {
            return match self.read_master(buffer) {
                Ok(0) | Err(Errno::IO) => Ok(Available::HungUp),
                Ok(count) => Ok(Available::Bytes(count)),
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => Ok(Available::Nothing),
                Err(error) => Err(error.into()),
            };
        }
    }

    fn read_master(&self, buffer: &mut [u8]) -> rustix::io::Result<usize> {
        #[cfg(target_os = "linux")]
        if let Some(journal) = &self.journal {
            return journal.read(&self.master, buffer);
        }
        rustix::io::read(&self.master, buffer)
    }
}

/// The time left until `deadline`, for poll(2). `None` waits without limit.
fn timeout(deadline: Option<Instant>) -> Option<Timespec> {
    let left = deadline?.saturating_duration_since(Instant::now());
    Timespec::try_from(left).ok()
}
