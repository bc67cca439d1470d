//! The program of a pane of tmux, as a [`Process`].
//!
//! Owns the output that tmux has sent and the pane's reader has not read. Never sends anything to tmux itself: the
//! [`Server`] does.

use std::{
    io,
    sync::{Arc, Weak},
    time::Instant,
};

use unterm_term::Size;
use unterm_tmux::PaneId;

use crate::{
    ExitStatus, Process, ReadOutcome, Signal,
    lock::{self, Condvar, Mutex, MutexGuard},
};

/// The maximum number of bytes that wait for a pane's reader. More output waits in the connection to tmux, which then
/// pauses the pane.
const OUTPUT_CAP: usize = 1 << 20;

/// The server of a pane.
pub(crate) trait Server: Send + Sync {
    /// Types bytes into a pane. Returns the number of bytes accepted, or 0 if the server has not handled earlier input.
    /// Fails if the connection has ended.
    fn try_input(&self, pane: PaneId, bytes: &[u8]) -> io::Result<usize>;
    /// Waits until [`Server::try_input`] may accept more, the connection has ended, or [`Server::wake`] is called.
    fn wait(&self);
    /// Wakes all callers of [`Server::wait`].
    fn wake(&self);
    /// Ends the program of a pane.
    fn kill(&self, pane: PaneId);
    /// Requests another size of a pane.
    fn resize(&self, pane: PaneId, size: Size);
}

/// The program of a pane of tmux. It runs in tmux's own terminal.
pub(crate) struct TmuxProcess {
    server: Weak<dyn Server>,
    state: Mutex<State>,
    /// Wakes the reader, callers that wait for room or for an empty buffer, and writers that wait for the pane's number.
    changed: Condvar,
}

struct State {
    /// The pane's number. `None` until tmux has opened the pane.
    target: Option<PaneId>,
    /// Output from `start` on was not read.
    output: Vec<u8>,
    start: usize,
    /// Whether the reader has applied everything that it has read.
    is_applied: bool,
    /// The size that the server has set.
    size: Size,
    /// The name of the foreground program, as tmux has reported it.
    front_name: Option<String>,
    ended: Option<ExitStatus>,
    is_killed: bool,
    is_stopped: bool,
    is_detached: bool,
}

impl State {
    fn waiting(&self) -> usize {
        self.output.len() - self.start
    }

    /// Whether the terminal shows all output.
    fn is_settled(&self) -> bool {
        self.waiting() == 0 && self.is_applied
    }

    /// Whether the pane reads no further output.
    fn is_over(&self) -> bool {
        self.ended.is_some() || self.is_stopped || self.is_killed
    }
}

impl TmuxProcess {
    /// The program of a pane with this number and size. `None`: tmux has not opened it yet.
    pub(crate) fn new<S: Server + 'static>(
        server: &Arc<S>,
        target: Option<PaneId>,
        size: Size,
    ) -> Self {
        let server: Weak<S> = Arc::downgrade(server);
        let state = State {
            target,
            size,
            front_name: None,
            output: Vec::new(),
            start: 0,
            is_applied: true,
            ended: None,
            is_killed: false,
            is_stopped: false,
            is_detached: false,
        };
        Self { server, state: Mutex::new(state), changed: Condvar::default() }
    }

    /// Sets the number of the pane that tmux has opened. If the program was ended meanwhile, ends it in tmux.
    pub(crate) fn bind(&self, target: PaneId) {
        let is_killed = {
            let mut state = self.state.lock();
            state.target = Some(target);
            state.is_killed
        };
        self.changed.notify_all();
        if is_killed && let Some(server) = self.server.upgrade() {
            server.kill(target);
        }
    }

    /// Adds output. Waits while the reader has too much to read.
    pub(crate) fn feed(&self, mut bytes: &[u8]) {
        lock::assert_none();
        let mut state = self.state.lock();
        while !bytes.is_empty() && !state.is_over() {
            let room = OUTPUT_CAP.saturating_sub(state.waiting());
            if room == 0 {
                self.changed.wait(&mut state);
                continue;
            }
            let (part, rest) = bytes.split_at(bytes.len().min(room));
            // Move the rest only once as many bytes were read, so that each byte moves about once.
            if state.start > state.waiting() {
                let start = std::mem::take(&mut state.start);
                state.output.drain(..start);
            }
            state.output.extend_from_slice(part);
            bytes = rest;
            self.changed.notify_all();
        }
    }

    /// Waits until the pane's terminal shows all output that was added, and records the pane's new size. Later output is
    /// for that size.
    pub(crate) fn settle(&self, size: Size) {
        lock::assert_none();
        let mut state = self.state.lock();
        while !(state.is_over() || state.is_detached || state.is_settled()) {
            self.changed.wait(&mut state);
        }
        state.size = size;
    }

    /// The size that the server has set.
    pub(crate) fn size(&self) -> Size {
        self.state.lock().size
    }

    /// Records that another program is in the foreground.
    pub(crate) fn set_front_name(&self, name: String) {
        self.state.lock().front_name = Some(name).filter(|name| !name.is_empty());
    }

    /// Records that the pane has ended in tmux, or that the connection has ended.
    pub(crate) fn end(&self, status: ExitStatus) {
        self.state.lock().ended.get_or_insert(status);
        self.wake();
    }

    fn wake(&self) {
        self.changed.notify_all();
        if let Some(server) = self.server.upgrade() {
            server.wake();
        }
    }

    /// Waits for the pane's number.
    fn target(&self) -> io::Result<PaneId> {
        let mut state = self.state.lock();
        loop {
            Self::check(&state)?;
            if let Some(target) = state.target {
                return Ok(target);
            }
            self.changed.wait(&mut state);
        }
    }

    fn check(state: &MutexGuard<'_, State>) -> io::Result<()> {
        if state.is_detached {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if state.is_over() { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }
}

impl Process for TmuxProcess {
    fn read(&self, buffer: &mut [u8], deadline: Option<Instant>) -> io::Result<ReadOutcome> {
        let mut state = self.state.lock();
        state.is_applied = true;
        loop {
            if state.is_detached {
                return Ok(ReadOutcome::Detached);
            }
            if state.is_stopped || state.is_killed {
                self.changed.notify_all();
                return Ok(ReadOutcome::Ended);
            }
            if state.waiting() > 0 {
                let count = state.waiting().min(buffer.len());
                let start = state.start;
                buffer[..count].copy_from_slice(&state.output[start..start + count]);
                state.start += count;
                if state.waiting() == 0 {
                    state.output.clear();
                    state.start = 0;
                }
                state.is_applied = false;
                self.changed.notify_all();
                return Ok(ReadOutcome::Bytes(count));
            }
            self.changed.notify_all();
            if state.ended.is_some() {
                return Ok(ReadOutcome::Ended);
            }
            match deadline {
                None => self.changed.wait(&mut state),
                Some(until) if self.changed.wait_until(&mut state, until).timed_out() => {
                    return Ok(ReadOutcome::TimedOut);
                }
                Some(_) => {}
            }
        }
    }

    fn stop_reading(&self) {
        self.state.lock().is_stopped = true;
        self.wake();
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let target = self.target()?;
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        loop {
            Self::check(&self.state.lock())?;
            let server = self.server.upgrade().ok_or_else(gone)?;
            match server.try_input(target, bytes)? {
                0 => server.wait(),
                count => return Ok(count),
            }
        }
    }

    fn try_write(&self, bytes: &[u8]) -> usize {
        let target = self.state.lock().target;
        let server = self.server.upgrade();
        match (target, server) {
            (Some(target), Some(server)) => server.try_input(target, bytes).unwrap_or(0),
            _ => 0,
        }
    }

    fn detach(&self) {
        self.state.lock().is_detached = true;
        self.wake();
    }

    fn attach(&self) {
        self.state.lock().is_detached = false;
        self.changed.notify_all();
    }

    fn has_inner_terminal(&self) -> bool {
        true
    }

    fn resize(&self, size: Size) -> io::Result<()> {
        let target = {
            let state = self.state.lock();
            let is_other = (size.cols, size.rows) != (state.size.cols, state.size.rows);
            state.target.filter(|_| is_other && !state.is_over())
        };
        if let (Some(target), Some(server)) = (target, self.server.upgrade()) {
            server.resize(target, size);
        }
        Ok(())
    }

    /// Types the key that the terminal's line discipline turns into this signal.
    fn signal(&self, signal: Signal) -> io::Result<()> {
        let key = match signal {
            Signal::Interrupt => b"\x03",
            Signal::Quit => b"\x1c",
            Signal::Stop => b"\x1a",
            _ => return Err(io::ErrorKind::Unsupported.into()),
        };
        match self.try_write(key) {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            _ => Ok(()),
        }
    }

    fn kill(&self) {
        let target = {
            let mut state = self.state.lock();
            let was_over = state.ended.is_some() || state.is_killed;
            state.is_killed = true;
            state.target.filter(|_| !was_over)
        };
        self.wake();
        if let (Some(target), Some(server)) = (target, self.server.upgrade()) {
            server.kill(target);
        }
    }

    fn program(&self) -> &str {
        "tmux"
    }

    fn front_name(&self) -> Option<String> {
        self.state.lock().front_name.clone()
    }

    fn exit_status(&self) -> Option<ExitStatus> {
        let state = self.state.lock();
        state.ended.or(state.is_killed.then_some(ExitStatus::Signal(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that records all requests, and accepts input only while it is `open`.
    #[derive(Default)]
    struct Recorder {
        state: parking_lot::Mutex<(bool, Vec<String>)>,
        changed: parking_lot::Condvar,
    }

    impl Recorder {
        fn record(&self, text: String) {
            self.state.lock().1.push(text);
        }

        fn recorded(&self) -> Vec<String> {
            std::mem::take(&mut self.state.lock().1)
        }
    }

    impl Server for Recorder {
        fn try_input(&self, pane: PaneId, bytes: &[u8]) -> io::Result<usize> {
            let mut state = self.state.lock();
            if !state.0 {
                return Ok(0);
            }
            state.1.push(format!("{pane} {}", String::from_utf8_lossy(bytes)));
            Ok(bytes.len())
        }

        fn wait(&self) {
            let mut state = self.state.lock();
            if !state.0 {
                self.changed.wait(&mut state);
            }
        }

        fn wake(&self) {
            drop(self.state.lock());
            self.changed.notify_all();
        }

        fn kill(&self, pane: PaneId) {
            self.record(format!("kill {pane}"));
        }

        fn resize(&self, pane: PaneId, size: Size) {
            self.record(format!("resize {pane} {}x{}", size.cols, size.rows));
        }
    }

    fn process(target: Option<PaneId>) -> (Arc<Recorder>, TmuxProcess) {
        let server = Arc::new(Recorder::default());
        let process = TmuxProcess::new(&server, target, Size::cells(80, 24));
        (server, process)
    }

    fn read(process: &TmuxProcess) -> (ReadOutcome, Vec<u8>) {
        let mut buffer = [0; 16];
        let outcome = process.read(&mut buffer, Some(Instant::now())).unwrap();
        let count = if let ReadOutcome::Bytes(count) = outcome { count } else { 0 };
        (outcome, buffer[..count].to_vec())
    }

    #[test]
    fn output_is_read_in_order_and_before_the_end() {
        let (_server, process) = process(Some(PaneId(1)));
        assert_eq!(read(&process).0, ReadOutcome::TimedOut);
        process.feed(b"one ");
        process.feed(b"two, and more than one read");
        process.end(ExitStatus::Code(0));
        process.feed(b"dropped");
        let mut all = Vec::new();
        loop {
            match read(&process) {
                (ReadOutcome::Ended, _) => break,
                (_, bytes) => all.extend(bytes),
            }
        }
        assert_eq!(all, b"one two, and more than one read");
        assert_eq!(process.exit_status(), Some(ExitStatus::Code(0)));
    }

    #[test]
    fn a_size_waits_until_earlier_output_is_applied() {
        let (_server, process) = process(Some(PaneId(1)));
        process.feed(&vec![b'x'; OUTPUT_CAP]);
        std::thread::scope(|scope| {
            let settling = scope.spawn(|| {
                process.feed(b"last");
                process.settle(Size::cells(10, 5));
            });
            let mut count = 0;
            while count < OUTPUT_CAP + 4 {
                assert_eq!(process.size(), Size::cells(80, 24));
                count += read(&process).1.len();
            }
            // The next read shows that the bytes were applied.
            while process.size() != Size::cells(10, 5) {
                read(&process);
            }
            settling.join().unwrap();
        });
    }

    #[test]
    fn input_waits_for_the_server_and_for_the_number_of_the_pane() {
        let (server, process) = process(None);
        assert_eq!(process.try_write(b"x"), 0);
        std::thread::scope(|scope| {
            let writing = scope.spawn(|| process.write(b"abc"));
            process.bind(PaneId(7));
            server.state.lock().0 = true;
            server.wake();
            assert_eq!(writing.join().unwrap().unwrap(), 3);
        });
        assert_eq!(server.recorded(), ["%7 abc"]);
        process.end(ExitStatus::Code(0));
        assert_eq!(process.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn only_the_user_ends_a_program_in_tmux() {
        let (server, ended) = process(Some(PaneId(1)));
        ended.end(ExitStatus::Code(0));
        ended.kill();
        assert_eq!(server.recorded(), [""; 0]);
        let (server, closed) = process(Some(PaneId(1)));
        closed.kill();
        closed.kill();
        assert_eq!(server.recorded(), ["kill %1"]);
        let (server, opening) = process(None);
        opening.kill();
        opening.bind(PaneId(2));
        assert_eq!(server.recorded(), ["kill %2"], "once tmux has opened it");
    }

    #[test]
    fn only_another_size_is_requested() {
        let (server, process) = process(Some(PaneId(1)));
        process.resize(Size::cells(80, 24)).unwrap();
        process.resize(Size { cell_width: 9, ..Size::cells(80, 24) }).unwrap();
        process.resize(Size::cells(81, 24)).unwrap();
        assert_eq!(server.recorded(), ["resize %1 81x24"]);
    }
}
