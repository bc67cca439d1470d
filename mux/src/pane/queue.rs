//! The way of input to a program: a bounded queue and the thread that empties it.
//!
//! Owns the order of keys, pastes, input of wires and the terminal's own replies. Whoever queues never waits; only the
//! pane's writer thread does, when its program does not read. Where nothing waits, a short piece is written by whoever
//! brings it: a key then needs no thread to wake up.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use unterm_term::Parser;

use crate::{
    Composed, TypedLine,
    lock::{Condvar, Mutex, MutexGuard},
};

/// Bytes that may wait for a program. A single longer piece is taken when nothing waits: its memory is its caller's
/// choice, and it would never fit otherwise.
pub const WRITE_CAPACITY: usize = 1024 * 1024;

/// The longest piece that is written without the writer thread.
const SHORT: usize = 256;

/// How long a shell may take to show what a key did.
const SHOWN: Duration = Duration::from_millis(250);

/// Why input was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// More would wait than [`WRITE_CAPACITY`] for a program that does not read.
    #[error("the program is not reading its input: {queued} bytes are waiting")]
    Full {
        /// Bytes that wait.
        queued: usize,
    },
    /// The program has ended.
    #[error("the program has ended")]
    Ended,
}

/// Input on its way to a program.
#[derive(Debug, Default)]
pub(crate) struct WriteQueue {
    state: Mutex<State>,
    /// Wakes the writer thread.
    changed: Condvar,
    /// Wakes those who wait until their input is echoed.
    echoed: Condvar,
    /// How many pieces of input were taken; changed under the lock of the state.
    inputs: AtomicU64,
    /// How often Enter was among the input, replies left out; changed under the lock of the state.
    enters: AtomicU64,
}

/// How much input has come: what is queued for as long as this holds comes right behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SoFar {
    /// How often Enter was among it.
    pub(crate) enters: u64,
    /// How many pieces it was.
    pub(crate) inputs: u64,
}

#[derive(Debug, Default)]
struct State {
    /// Whole pieces, in order; before them what is left of one that was begun without the writer thread.
    waiting: Vec<u8>,
    /// How many of the waiting bytes were told to `begin` already.
    begun: usize,
    /// Bytes the writer has taken and not yet written.
    in_flight: usize,
    /// Somebody else is writing; the writer waits for that.
    is_direct: bool,
    flow: Flow,
    echo: Echo,
    /// The line that the input makes.
    typed: TypedLine,
    /// When input last came.
    last: Option<Instant>,
}

/// What becomes of new bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Flow {
    #[default]
    Open,
    /// The pane lets go of its program: input is refused, replies wait, and what waits is kept.
    Released,
    /// Everything is refused, and nothing waits.
    Closed,
}

/// What a queue holds that its pane lets go of, for the queue of the pane that the program gets next.
#[derive(Clone, Debug, Default)]
pub(super) struct Unsent {
    /// What the program has not taken.
    pub(super) waiting: Vec<u8>,
    enters: u64,
    inputs: u64,
    typed: TypedLine,
    last: Option<Instant>,
}

/// Input that the terminal itself shows (SRM). The program gets nothing that waits here.
struct Echo {
    /// In the order in which it was queued.
    unshown: Vec<u8>,
    /// Reads it; `None` while a thread shows some. It is another than the parser of the program's output, which may be within
    /// a sequence.
    parser: Option<Box<Parser>>,
}

impl Default for Echo {
    fn default() -> Self {
        Self { unshown: Vec::new(), parser: Some(Box::default()) }
    }
}

impl std::fmt::Debug for Echo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Echo").field("unshown", &self.unshown.len()).finish_non_exhaustive()
    }
}

impl Echo {
    fn is_shown(&self) -> bool {
        self.unshown.is_empty() && self.parser.is_some()
    }
}

/// The right to show input: one thread has it at a time, which holds no lock meanwhile.
struct Turn<'a> {
    queue: &'a WriteQueue,
    parser: Box<Parser>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        let parser = std::mem::take(&mut self.parser);
        self.queue.state.lock().echo.parser = Some(parser);
        self.queue.echoed.notify_all();
        self.queue.changed.notify_one();
    }
}

impl State {
    /// Whether all input is with the program, for so long that the screen shows what came of it.
    fn is_shown(&self) -> bool {
        let is_written = self.waiting.is_empty() && self.in_flight == 0 && !self.is_direct;
        is_written && self.last.is_none_or(|last| last.elapsed() >= SHOWN)
    }

    /// Whether there is room for this; refused input changes nothing.
    fn room(&self, bytes: &[u8]) -> Result<(), WriteError> {
        if self.flow != Flow::Open {
            return Err(WriteError::Ended);
        }
        self.fits(bytes)
    }

    fn fits(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let queued = self.waiting.len() + self.in_flight;
        if queued > 0 && !bytes.is_empty() && queued + bytes.len() > WRITE_CAPACITY {
            return Err(WriteError::Full { queued });
        }
        Ok(())
    }
}

impl WriteQueue {
    /// A queue that goes on where another ended.
    pub(crate) fn resumed(unsent: Unsent) -> Self {
        let Unsent { waiting, enters, inputs, typed, last } = unsent;
        Self {
            state: Mutex::new(State { waiting, typed, last, ..State::default() }),
            inputs: AtomicU64::new(inputs),
            enters: AtomicU64::new(enters),
            ..Self::default()
        }
    }

    /// Queues all of `bytes`, which are no input but the terminal's own replies, or none.
    pub(crate) fn push(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let state = self.state.lock();
        if state.flow == Flow::Closed {
            return Err(WriteError::Ended);
        }
        state.fits(bytes)?;
        self.push_locked(state, bytes);
        Ok(())
    }

    /// Asks before it queues input: `admit` sees what it makes of the line that was typed before. Nobody else's input comes
    /// between. `is_echoed` as in [`WriteQueue::push_input`].
    pub(crate) fn push_admitted<E>(
        &self,
        bytes: &[u8],
        is_echoed: bool,
        admit: impl FnOnce(&Composed) -> Result<(), E>,
    ) -> Result<Result<(), WriteError>, E> {
        let mut state = self.state.lock();
        let mut typed = state.typed.clone();
        let entered = typed.advance(bytes);
        let composed = typed.composed(entered, state.is_shown());
        admit(&composed)?;
        if let Err(error) = state.room(bytes) {
            return Ok(Err(error));
        }
        state.typed = typed;
        if !composed.entered.is_empty() {
            self.enters.fetch_add(1, Ordering::AcqRel);
        }
        if !bytes.is_empty() {
            state.last = Some(Instant::now());
        }
        self.count_input(bytes);
        if is_echoed {
            state.echo.unshown.extend_from_slice(bytes);
        }
        self.push_locked(state, bytes);
        Ok(Ok(()))
    }

    /// To be called under the lock of the state.
    fn count_input(&self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.inputs.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// What input would make of the line, were it queued now.
    pub(crate) fn compose(&self, bytes: &[u8]) -> Composed {
        let state = self.state.lock();
        let mut typed = state.typed.clone();
        let entered = typed.advance(bytes);
        typed.composed(entered, state.is_shown())
    }

    /// What has been typed since Enter.
    pub(crate) fn typed(&self) -> String {
        self.state.lock().typed.text()
    }

    /// How often Enter has been among the input.
    pub(crate) fn enters(&self) -> u64 {
        self.enters.load(Ordering::Acquire)
    }

    /// How many pieces of input have been taken.
    pub(crate) fn inputs(&self) -> u64 {
        self.inputs.load(Ordering::Acquire)
    }

    /// How much input has come, and what it has typed since Enter; `None`: neither text nor an editing key.
    pub(crate) fn so_far(&self) -> (SoFar, Option<String>) {
        let state = self.state.lock();
        let typed = (!state.typed.is_untouched()).then(|| state.typed.text());
        (self.count(), typed)
    }

    /// To be called under the lock of the state, without which the two numbers may not belong together.
    fn count(&self) -> SoFar {
        SoFar { enters: self.enters(), inputs: self.inputs() }
    }

    /// Queues what there is [room](State::room) for.
    fn push_locked(&self, mut state: MutexGuard<'_, State>, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let was_idle = state.waiting.is_empty();
        state.waiting.extend_from_slice(bytes);
        drop(state);
        if was_idle {
            self.changed.notify_one();
        }
    }

    /// As [`WriteQueue::push`], of input, which is followed as a line that is typed. `behind`: only when no other came
    /// since; false when some did.
    ///
    /// A short piece that nothing is before of, and that is to go `at_once`, is shown to `begin` and handed to `write` here,
    /// which must not wait and says how much was taken; the rest is the writer's.
    ///
    /// If `is_echoed`, the program gets the piece only once [`WriteQueue::echo`] has shown it: `begin` calls that, and the
    /// caller once more afterwards.
    pub(crate) fn push_input(
        &self,
        bytes: &[u8],
        behind: Option<SoFar>,
        at_once: bool,
        is_echoed: bool,
        begin: impl FnOnce(&[u8]),
        write: impl FnOnce(&[u8]) -> usize,
    ) -> Result<bool, WriteError> {
        {
            let mut state = self.state.lock();
            if behind.is_some_and(|behind| behind != self.count()) {
                return Ok(false);
            }
            state.room(bytes)?;
            self.count_input(bytes);
            if memchr::memchr2(b'\r', b'\n', bytes).is_some() {
                self.enters.fetch_add(1, Ordering::AcqRel);
            }
            state.typed.advance(bytes);
            state.last = Some(Instant::now());
            if is_echoed {
                state.echo.unshown.extend_from_slice(bytes);
            }
            let is_idle = state.waiting.is_empty() && state.in_flight == 0 && !state.is_direct;
            if !at_once || !is_idle || bytes.is_empty() || bytes.len() > SHORT {
                self.push_locked(state, bytes);
                return Ok(true);
            }
            state.is_direct = true;
            state.in_flight = bytes.len();
        }
        begin(bytes);
        let rest = &bytes[write(bytes).min(bytes.len())..];
        let mut state = self.state.lock();
        state.is_direct = false;
        state.in_flight = 0;
        if state.flow != Flow::Closed && !rest.is_empty() {
            state.waiting.splice(..0, rest.iter().copied());
            state.begun = rest.len();
        }
        let is_awaited = !state.waiting.is_empty() || state.flow == Flow::Released;
        drop(state);
        if is_awaited {
            self.changed.notify_one();
        }
        Ok(true)
    }

    /// Gives all input that is to be echoed to `show`, in the order in which it was queued, and what comes of that to `tell`;
    /// waits while another thread shows some. Both are called with no lock held.
    pub(crate) fn echo<T>(
        &self,
        mut show: impl FnMut(&mut Parser, &[u8]) -> T,
        mut tell: impl FnMut(T),
    ) {
        let mut state = self.state.lock();
        loop {
            let echo = &mut state.echo;
            let Some(parser) = echo.parser.take_if(|_| !echo.unshown.is_empty()) else {
                if echo.is_shown() {
                    return;
                }
                self.echoed.wait(&mut state);
                continue;
            };
            let input = std::mem::take(&mut echo.unshown);
            drop(state);
            let mut turn = Turn { queue: self, parser };
            let shown = show(&mut turn.parser, &input);
            drop(turn);
            tell(shown);
            state = self.state.lock();
        }
    }

    /// Refuses everything from now on, drops what waits, and ends the writer.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.flow = Flow::Closed;
        state.waiting = Vec::new();
        drop(state);
        self.changed.notify_all();
    }

    /// Refuses input from now on, and ends the writer once it is not writing; nothing is dropped.
    pub(crate) fn release(&self) {
        let mut state = self.state.lock();
        if state.flow == Flow::Open {
            state.flow = Flow::Released;
        }
        drop(state);
        self.changed.notify_all();
    }

    /// Takes what is left, when the writer has ended behind [`WriteQueue::release`]; waits for whoever is writing without it.
    pub(crate) fn take_unsent(&self) -> Unsent {
        let mut state = self.state.lock();
        while state.is_direct || !state.echo.is_shown() {
            self.changed.wait(&mut state);
        }
        let count = self.count();
        Unsent {
            waiting: std::mem::take(&mut state.waiting),
            enters: count.enters,
            inputs: count.inputs,
            typed: state.typed.clone(),
            last: state.last,
        }
    }

    /// Waits for input and moves all of it into `batch`; gives how many of its bytes were told to `begin` already, `None`
    /// when the queue was closed. The bytes count as waiting until [`WriteQueue::wrote`] tells otherwise.
    fn take(&self, batch: &mut Vec<u8>) -> Option<usize> {
        batch.clear();
        let mut state = self.state.lock();
        while (state.waiting.is_empty() || state.is_direct || !state.echo.is_shown())
            && state.flow == Flow::Open
        {
            self.changed.wait(&mut state);
        }
        if state.flow != Flow::Open {
            return None;
        }
        std::mem::swap(&mut state.waiting, batch);
        // A burst's memory is not kept for the life of the pane.
        if state.waiting.capacity() > 64 * 1024 {
            state.waiting = Vec::new();
        }
        state.in_flight = batch.len();
        Some(std::mem::take(&mut state.begun))
    }

    fn wrote(&self, count: usize) {
        self.state.lock().in_flight -= count;
    }

    /// Puts back the bytes that could not be written; false if the queue is not handed over.
    fn put_back(&self, rest: &[u8]) -> bool {
        let mut state = self.state.lock();
        if state.flow != Flow::Released {
            return false;
        }
        state.waiting.splice(..0, rest.iter().copied());
        state.in_flight = 0;
        true
    }

    /// The writer thread: shows every batch to `begin`, then hands it to `write`, which may block and says how much it
    /// took, until the queue is closed or writing fails.
    pub(crate) fn run(
        &self,
        mut begin: impl FnMut(&[u8]),
        mut write: impl FnMut(&[u8]) -> std::io::Result<usize>,
    ) {
        let mut batch = Vec::new();
        while let Some(begun) = self.take(&mut batch) {
            if let Some(new @ [_, ..]) = batch.get(begun..) {
                begin(new);
            }
            let mut rest = batch.as_slice();
            while !rest.is_empty() {
                match write(rest) {
                    Ok(count) => {
                        rest = &rest[count.min(rest.len())..];
                        self.wrote(count);
                    }
                    Err(_) if self.put_back(rest) => return,
                    Err(error) => {
                        tracing::debug!(%error, "a program takes no more input");
                        self.close();
                        return;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
