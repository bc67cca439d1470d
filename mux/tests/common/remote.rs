//! A program that is not a child of this process. Its terminal is a queue in memory, and the test acts as the program.

use std::{collections::VecDeque, io, sync::Arc, time::Instant};

use parking_lot::{Condvar, Mutex};
use unterm_mux::{ExitStatus, Process, ReadOutcome, Signal, Spawn, SpawnError, Spawner};
use unterm_term::Size;

use super::LIMIT;

#[derive(Default)]
struct State {
    output: VecDeque<u8>,
    input: Vec<u8>,
    size: Option<Size>,
    status: Option<ExitStatus>,
    is_detached: bool,
    /// Whether the program reads nothing, so that a write to its terminal waits.
    is_deaf: bool,
    is_written_to: bool,
}

#[derive(Default)]
pub struct Remote {
    state: Mutex<State>,
    changed: Condvar,
}

impl Remote {
    /// Writes program output to the terminal.
    pub fn print(&self, text: &str) {
        self.state.lock().output.extend(text.as_bytes());
        self.changed.notify_all();
    }

    pub fn exit(&self, code: i32) {
        self.state.lock().status = Some(ExitStatus::Code(code));
        self.changed.notify_all();
    }

    pub fn set_deaf(&self, is_deaf: bool) {
        self.state.lock().is_deaf = is_deaf;
        self.changed.notify_all();
    }

    fn wait(&self, what: &str, mut condition: impl FnMut(&State) -> bool) {
        let deadline = Instant::now() + LIMIT;
        let mut state = self.state.lock();
        while !condition(&state) {
            let is_late = self.changed.wait_until(&mut state, deadline).timed_out();
            assert!(!is_late, "{what}: {:?}", String::from_utf8_lossy(&state.input));
        }
    }

    /// Waits until text of this length was typed, and requires that it is exactly this text. Consumes it.
    pub fn wait_input(&self, expected: &str) {
        let is_all = |state: &State| state.input.len() >= expected.len();
        self.wait(expected, is_all);
        let input = std::mem::take(&mut self.state.lock().input);
        assert_eq!(String::from_utf8_lossy(&input), expected);
    }

    /// Waits until a write to the terminal is blocked, because the program reads nothing.
    pub fn wait_blocked(&self) {
        self.wait("a write", |state| state.is_written_to);
    }

    pub fn size(&self) -> Option<Size> {
        self.state.lock().size
    }
}

impl Process for Remote {
    fn read(&self, buffer: &mut [u8], deadline: Option<Instant>) -> io::Result<ReadOutcome> {
        let mut state = self.state.lock();
        loop {
            if state.is_detached {
                return Ok(ReadOutcome::Detached);
            }
            let count = state.output.len().min(buffer.len());
            if count > 0 {
                for (place, byte) in buffer.iter_mut().zip(state.output.drain(..count)) {
                    *place = byte;
                }
                return Ok(ReadOutcome::Bytes(count));
            }
            if state.status.is_some() {
                return Ok(ReadOutcome::Ended);
            }
            match deadline {
                None => self.changed.wait(&mut state),
                Some(deadline) => {
                    if self.changed.wait_until(&mut state, deadline).timed_out() {
                        return Ok(ReadOutcome::TimedOut);
                    }
                }
            }
        }
    }

    fn stop_reading(&self) {
        self.kill();
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.state.lock();
        loop {
            if state.is_detached {
                return Err(io::ErrorKind::Interrupted.into());
            }
            if state.status.is_some() {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            if !state.is_deaf {
                state.input.extend_from_slice(bytes);
                self.changed.notify_all();
                return Ok(bytes.len());
            }
            state.is_written_to = true;
            self.changed.notify_all();
            self.changed.wait(&mut state);
        }
    }

    fn detach(&self) {
        self.state.lock().is_detached = true;
        self.changed.notify_all();
    }

    fn attach(&self) {
        self.state.lock().is_detached = false;
        self.changed.notify_all();
    }

    fn resize(&self, size: Size) -> io::Result<()> {
        self.state.lock().size = Some(size);
        Ok(())
    }

    fn signal(&self, _: Signal) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn kill(&self) {
        self.state.lock().status.get_or_insert(ExitStatus::Signal(1));
        self.changed.notify_all();
    }

    fn program(&self) -> &str {
        "/far/bin/remote"
    }

    fn exit_status(&self) -> Option<ExitStatus> {
        self.state.lock().status
    }
}

/// Starts a [`Remote`] for each program. Fails for the program name `missing`.
#[derive(Default)]
pub struct Remotes(pub Mutex<Vec<(Spawn, Size, Arc<Remote>)>>);

impl Spawner for Remotes {
    fn spawn(&self, spawn: &Spawn, size: Size) -> Result<Arc<dyn Process>, SpawnError> {
        if spawn.program.as_deref() == Some("missing") {
            let error = "no such program there".to_owned();
            return Err(SpawnError::Program { program: "missing".to_owned(), error });
        }
        let remote = Arc::new(Remote::default());
        self.0.lock().push((spawn.clone(), size, remote.clone()));
        Ok(remote)
    }
}
