//! Simulated programs for scripts: a test prints in their name, and reads the input that they receive.

use std::{io, sync::Arc, time::Instant};

use parking_lot::{Condvar, Mutex};
use unterm_mux::{
    ExitStatus, Foreground, Process, ReadOutcome, Signal, Spawn, SpawnError, Spawner,
};
use unterm_term::Size;

/// A simulated program. It prints text that a test supplies, and records its input.
#[derive(Default)]
pub(super) struct Program {
    /// The parameters with which the program was started.
    pub(super) spawn: Spawn,
    /// The size of the grid at the start.
    pub(super) first_size: Option<Size>,
    pub(super) typed: Mutex<Vec<u8>>,
    /// The program that the system reports in the foreground.
    pub(super) foreground: Mutex<Option<Foreground>>,
    output: Mutex<Output>,
    changed: Condvar,
}

#[derive(Default)]
struct Output {
    unread: Vec<u8>,
    has_ended: bool,
    /// Whether the pane's reader has handled all output and waits for more.
    is_awaited: bool,
}

impl Program {
    /// Prints text, and waits until the pane's reader has handled it.
    pub(super) fn print(&self, bytes: &[u8]) {
        let mut output = self.output.lock();
        output.unread.extend_from_slice(bytes);
        output.is_awaited = false;
        self.changed.notify_all();
        while !output.is_awaited && !output.has_ended {
            self.changed.wait(&mut output);
        }
    }

    fn end(&self) {
        self.output.lock().has_ended = true;
        self.changed.notify_all();
    }
}

impl Process for Program {
    fn read(&self, buffer: &mut [u8], deadline: Option<Instant>) -> io::Result<ReadOutcome> {
        let mut output = self.output.lock();
        while output.unread.is_empty() && !output.has_ended {
            match deadline {
                None => {
                    output.is_awaited = true;
                    self.changed.notify_all();
                    self.changed.wait(&mut output);
                }
                Some(deadline) => {
                    if self.changed.wait_until(&mut output, deadline).timed_out() {
                        return Ok(ReadOutcome::TimedOut);
                    }
                }
            }
        }
        if output.unread.is_empty() {
            return Ok(ReadOutcome::Ended);
        }
        let count = buffer.len().min(output.unread.len());
        for (place, byte) in buffer.iter_mut().zip(output.unread.drain(..count)) {
            *place = byte;
        }
        Ok(ReadOutcome::Bytes(count))
    }

    fn stop_reading(&self) {
        self.end();
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(self.try_write(bytes))
    }

    fn try_write(&self, bytes: &[u8]) -> usize {
        self.typed.lock().extend_from_slice(bytes);
        bytes.len()
    }

    fn detach(&self) {}

    fn attach(&self) {}

    fn resize(&self, _: Size) -> io::Result<()> {
        Ok(())
    }

    fn signal(&self, _: Signal) -> io::Result<()> {
        Ok(())
    }

    fn kill(&self) {
        self.end();
    }

    fn foreground(&self) -> Option<Foreground> {
        self.foreground.lock().clone()
    }

    fn program(&self) -> &str {
        "/bin/script"
    }

    fn exit_status(&self) -> Option<ExitStatus> {
        None
    }
}

/// Starts simulated programs, and lists them in the order of their starts.
#[derive(Default)]
pub(super) struct Programs(Mutex<Vec<Arc<Program>>>);

impl Programs {
    /// The program of this number, counted from 0.
    pub(super) fn get(&self, number: usize) -> Arc<Program> {
        Arc::clone(&self.0.lock()[number])
    }
}

impl Spawner for Programs {
    fn spawn(&self, spawn: &Spawn, size: Size) -> Result<Arc<dyn Process>, SpawnError> {
        let (spawn, first_size) = (spawn.clone(), Some(size));
        let program = Arc::new(Program { spawn, first_size, ..Program::default() });
        self.0.lock().push(Arc::clone(&program));
        Ok(program)
    }
}
