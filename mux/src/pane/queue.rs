//! The input queue of a program: bounded, and emptied by the writer thread.
//!
//! Owns the order of keys, pastes, input from callers and the terminal's own replies. Callers never wait. If the
//! program does not read, only the pane's writer thread waits. If the queue is empty, the caller's thread writes a
//! short input itself, so that a key press wakes no other thread.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use unterm_term::Parser;

use crate::{
    Composed, TypedLine,
    lock::{Condvar, Mutex, MutexGuard},
};

/// The number of bytes that may wait for a program. An empty queue also accepts one longer input, which would otherwise
/// never fit; the caller is responsible for its size.
pub const WRITE_CAPACITY: usize = 1024 * 1024;

/// The maximum length of an input that the caller's thread writes itself.
const SHORT: usize = 256;

/// The longest time from a key press until a shell is assumed to have shown its effect.
const SHOWN: Duration = Duration::from_millis(250);

/// Why input was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The program does not read, and its input would exceed [`WRITE_CAPACITY`].
    #[error("the program is not reading its input: {queued} bytes are waiting")]
    Full {
        /// Bytes already waiting.
        queued: usize,
    },
    /// The program has ended.
    #[error("the program has ended")]
    Ended,
}

/// Input not yet written to the program.
#[derive(Debug, Default)]
pub(crate) struct WriteQueue {
    state: Mutex<State>,
    /// Wakes the writer thread.
    changed: Condvar,
    /// Wakes callers that wait until the terminal has echoed their input.
    echoed: Condvar,
    /// Wakes threads that wait until fewer bytes are queued.
    drained: Condvar,
    /// The number of inputs that were accepted. Changed under the state's lock.
    inputs: AtomicU64,
    /// The number of accepted inputs that contained Enter, without replies. Changed under the state's lock.
    enters: AtomicU64,
    /// The number of the terminal's replies that were accepted.
    replies: AtomicU64,
}

/// A position in the sequence of inputs. If it has not changed, no input was queued in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SoFar {
    /// The number of inputs that contained Enter.
    pub(crate) enters: u64,
    /// The number of inputs.
    pub(crate) inputs: u64,
}

#[derive(Debug, Default)]
struct State {
    /// Complete inputs, in order. They may follow the rest of an input whose first part a caller's thread has written.
    waiting: Vec<u8>,
    /// The number of waiting bytes that were already passed to `begin`.
    begun: usize,
    /// The number of bytes that the writer is writing now.
    in_flight: usize,
    /// Whether a caller's thread is writing. The writer thread then waits.
    is_direct: bool,
    flow: Flow,
    echo: Echo,
    /// The line that the input forms, as far as the input alone shows it.
    typed: TypedLine,
    /// When the last input was queued.
    last: Option<Instant>,
}

/// The way in which the queue handles new bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Flow {
    #[default]
    Open,
    /// The pane is releasing its program: input is refused, replies are queued, and queued bytes are kept.
    Released,
    /// Everything is refused, and the queue is empty.
    Closed,
}

/// The contents of a released queue, for the queue of the program's next pane.
#[derive(Clone, Debug, Default)]
pub(super) struct Unsent {
    /// Bytes not yet written to the program.
    pub(super) waiting: Vec<u8>,
    enters: u64,
    inputs: u64,
    typed: TypedLine,
    last: Option<Instant>,
}

/// Input that the terminal itself echoes (SRM). The program receives such input only after the terminal shows it.
struct Echo {
    /// Input that is not shown yet, in the order in which it was queued.
    unshown: Vec<u8>,
    /// The parser for this input, `None` while a thread uses it. It is not the parser of the program's output, because
    /// that parser may be inside a sequence.
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

/// The right to show input. One thread at a time has this right, and holds no lock while it uses it.
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
    /// Whether the program received all input at least [`SHOWN`] ago, so that the screen shows its effect.
    fn is_shown(&self) -> bool {
        self.is_written() && self.last.is_none_or(|last| last.elapsed() >= SHOWN)
    }

    /// Whether all input was passed to the program.
    fn is_written(&self) -> bool {
        self.waiting.is_empty() && self.in_flight == 0 && !self.is_direct
    }

    /// Checks whether there is room for an input. A refused input changes nothing.
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
    /// A queue that continues the queue of the program's previous pane.
    pub(crate) fn resumed(unsent: Unsent) -> Self {
        let Unsent { waiting, enters, inputs, typed, last } = unsent;
        Self {
            state: Mutex::new(State { waiting, typed, last, ..State::default() }),
            inputs: AtomicU64::new(inputs),
            enters: AtomicU64::new(enters),
            ..Self::default()
        }
    }

    /// Queues replies of the terminal: either all of `bytes` or none. Replies do not count as input.
    pub(crate) fn push(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let state = self.state.lock();
        if state.flow == Flow::Closed {
            return Err(WriteError::Ended);
        }
        state.fits(bytes)?;
        if !bytes.is_empty() {
            self.replies.fetch_add(1, Ordering::Release);
        }
        self.push_locked(state, bytes);
        Ok(())
    }

    /// Queues a reply that may be longer than [`WRITE_CAPACITY`]. The caller is responsible for its size.
    pub(crate) fn push_long(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let state = self.state.lock();
        if state.flow == Flow::Closed {
            return Err(WriteError::Ended);
        }
        self.replies.fetch_add(1, Ordering::Release);
        self.push_locked(state, bytes);
        Ok(())
    }

    /// Queues a reply when at most `most` bytes wait for the program. Waits until then, or until `has_ended` is true and
    /// [`WriteQueue::wake_senders`] is called.
    pub(crate) fn push_in_turn(
        &self,
        bytes: &[u8],
        most: usize,
        has_ended: impl Fn() -> bool,
    ) -> Result<(), WriteError> {
        let mut state = self.state.lock();
        while state.waiting.len() + state.in_flight > most
            && state.flow == Flow::Open
            && !has_ended()
        {
            self.drained.wait(&mut state);
        }
        if state.flow != Flow::Open || has_ended() {
            return Err(WriteError::Ended);
        }
        self.replies.fetch_add(1, Ordering::Release);
        self.push_locked(state, bytes);
        Ok(())
    }

    /// Wakes the threads that wait in [`WriteQueue::push_in_turn`], because their reason to wait may have ended.
    pub(crate) fn wake_senders(&self) {
        // With the lock, so that no thread is between its check and its wait.
        drop(self.state.lock());
        self.drained.notify_all();
    }

    /// The number of bytes that wait for the program.
    pub(crate) fn waiting_bytes(&self) -> usize {
        let state = self.state.lock();
        state.waiting.len() + state.in_flight
    }

    /// Queues input if `admit` accepts the line that it forms with the input typed so far. No other input can come in
    /// between. `is_echoed` has the meaning described at [`WriteQueue::push_input`].
    pub(crate) fn push_admitted<E>(
        &self,
        bytes: &[u8],
        is_echoed: bool,
        admit: impl FnOnce(&Composed) -> Result<(), E>,
    ) -> Result<Result<(), WriteError>, E> {
        let mut state = self.state.lock();
        let mut typed = state.typed.clone();
        let entered = typed.advance(bytes);
        let composed = typed.composed(entered, state.is_shown(), self.inputs());
        admit(&composed)?;
        if let Err(error) = state.room(bytes) {
            return Ok(Err(error));
        }
        state.typed = typed;
        if state.typed.has_entered() {
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

    /// Must be called under the state's lock.
    fn count_input(&self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.inputs.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// The line that this input would form if it were queued now.
    pub(crate) fn compose(&self, bytes: &[u8]) -> Composed {
        let state = self.state.lock();
        let mut typed = state.typed.clone();
        let entered = typed.advance(bytes);
        typed.composed(entered, state.is_shown(), self.inputs())
    }

    /// The text that was typed since the last Enter.
    pub(crate) fn typed(&self) -> String {
        self.state.lock().typed.text()
    }

    /// The number of inputs that contained Enter.
    pub(crate) fn enters(&self) -> u64 {
        self.enters.load(Ordering::Acquire)
    }

    /// The number of inputs that were accepted.
    pub(crate) fn inputs(&self) -> u64 {
        self.inputs.load(Ordering::Acquire)
    }

    /// Whether the program received all input long enough ago for the screen to show its effect.
    pub(crate) fn is_shown(&self) -> bool {
        self.state.lock().is_shown()
    }

    /// The number of the terminal's replies that were accepted.
    pub(crate) fn replies(&self) -> u64 {
        self.replies.load(Ordering::Acquire)
    }

    /// Whether all input was passed to the program.
    pub(crate) fn is_written(&self) -> bool {
        self.state.lock().is_written()
    }

    /// Whether Ctrl+C began the typed line, and the line is empty.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.state.lock().typed.is_interrupted()
    }

    /// Whether keys have changed the typed line in unknown ways, or a sequence is incomplete.
    pub(crate) fn is_edited(&self) -> bool {
        self.state.lock().typed.is_edited()
    }

    /// Whether the typed line contains a control character if the terminal itself collects the line.
    pub(crate) fn has_control_text(&self) -> bool {
        self.state.lock().typed.has_control_text()
    }

    /// When the last input was queued.
    pub(crate) fn last_input(&self) -> Option<Instant> {
        self.state.lock().last
    }

    /// The position in the sequence of inputs, and the text typed since the last Enter. The text is `None` if neither
    /// text nor an editing key was typed.
    pub(crate) fn so_far(&self) -> (SoFar, Option<String>) {
        let state = self.state.lock();
        let typed = (!state.typed.is_untouched()).then(|| state.typed.text());
        (self.count(), typed)
    }

    /// Call it under the state's lock. Otherwise the two numbers may not match.
    fn count(&self) -> SoFar {
        SoFar { enters: self.enters(), inputs: self.inputs() }
    }

    /// Queues bytes for which there is [room](State::room).
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

    /// Like [`WriteQueue::push`], but for input, which also becomes part of the typed line. If `behind` is set, returns
    /// false if other input was queued since that position.
    ///
    /// If `at_once` is set and the queue is idle, a short input is passed to `begin` and then to `write` on this
    /// thread. `write` must not block. It returns the number of bytes written, and the writer thread writes the rest.
    ///
    /// If `is_echoed` is set, the program receives the input only after [`WriteQueue::echo`] has shown it. `begin` must
    /// call `echo`, and the caller must call it once more afterward.
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
        self.drained.notify_all();
        Ok(true)
    }

    /// Passes all input that must be echoed to `show`, in the order in which it was queued, and passes each result to
    /// `report`. Waits while another thread shows input. Calls both functions with no lock held.
    pub(crate) fn echo<T>(
        &self,
        mut show: impl FnMut(&mut Parser, &[u8]) -> T,
        mut report: impl FnMut(T),
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
            report(shown);
            state = self.state.lock();
        }
    }

    /// Refuses all later bytes, drops the queued bytes, and ends the writer thread.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.flow = Flow::Closed;
        state.waiting = Vec::new();
        drop(state);
        self.changed.notify_all();
        self.drained.notify_all();
    }

    /// Refuses later input, and ends the writer thread after its current write. Drops nothing.
    pub(crate) fn release(&self) {
        let mut state = self.state.lock();
        if state.flow == Flow::Open {
            state.flow = Flow::Released;
        }
        drop(state);
        self.changed.notify_all();
        self.drained.notify_all();
    }

    /// Returns the remaining bytes after [`WriteQueue::release`] has ended the writer thread. Waits until no caller's
    /// thread is writing.
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

    /// Waits for input and moves it into `batch`. Returns how many of its bytes were already passed to `begin`, or
    /// `None` if the queue is no longer open. The bytes count as unwritten until [`WriteQueue::wrote`] is called.
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
        // Free the memory of a burst of input now, instead of keeping it as long as the pane exists.
        if state.waiting.capacity() > 64 * 1024 {
            state.waiting = Vec::new();
        }
        state.in_flight = batch.len();
        Some(std::mem::take(&mut state.begun))
    }

    fn wrote(&self, count: usize) {
        self.state.lock().in_flight -= count;
        self.drained.notify_all();
    }

    /// Puts back the bytes that could not be written. Returns false if the queue was not released.
    fn put_back(&self, rest: &[u8]) -> bool {
        let mut state = self.state.lock();
        if state.flow != Flow::Released {
            return false;
        }
        state.waiting.splice(..0, rest.iter().copied());
        state.in_flight = 0;
        true
    }

    /// Runs the writer thread until the queue is closed or writing fails. Passes every batch to `begin` and then to
    /// `write`. `write` may block, and returns the number of bytes written.
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
