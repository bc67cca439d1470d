//! The way of input to a program: a bounded queue and the thread that empties it.
//!
//! Owns the order of keys, pastes, input of wires and the terminal's own replies. Whoever queues never waits; only the
//! pane's writer thread does, when its program does not read. Where nothing waits, a short piece is written by whoever
//! brings it: a key then needs no thread to wake up.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex, MutexGuard};

use crate::{Composed, TypedLine, WriteError};

/// Bytes that may wait for a program. A single longer piece is taken when nothing waits: its memory is its caller's
/// choice, and it would never fit otherwise.
pub const WRITE_CAPACITY: usize = 1024 * 1024;

/// The longest piece that is written without the writer thread.
const SHORT: usize = 256;

/// How long a shell may take to show what a key did.
const SHOWN: Duration = Duration::from_millis(250);

/// Input on its way to a program.
#[derive(Debug, Default)]
pub(crate) struct WriteQueue {
    state: Mutex<State>,
    changed: Condvar,
    /// How many pieces of input were taken; changed under the lock of the state.
    inputs: AtomicU64,
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
    is_closed: bool,
    /// How often Enter was among the input, replies left out.
    enters: u64,
    /// The line that the input makes.
    typed: TypedLine,
    /// When input last came.
    last: Option<Instant>,
}

impl State {
    /// Whether all input is with the program, for so long that the screen shows what came of it.
    fn is_shown(&self) -> bool {
        let is_written = self.waiting.is_empty() && self.in_flight == 0 && !self.is_direct;
        is_written && self.last.is_none_or(|last| last.elapsed() >= SHOWN)
    }

    /// Whether there is room for this; refused input changes nothing.
    fn room(&self, bytes: &[u8]) -> Result<(), WriteError> {
        if self.is_closed {
            return Err(WriteError::Ended);
        }
        let queued = self.waiting.len() + self.in_flight;
        if queued > 0 && !bytes.is_empty() && queued + bytes.len() > WRITE_CAPACITY {
            return Err(WriteError::Full { queued });
        }
        Ok(())
    }
}

impl WriteQueue {
    /// Queues all of `bytes`, or none.
    pub(crate) fn push(&self, bytes: &[u8]) -> Result<(), WriteError> {
        let state = self.state.lock();
        state.room(bytes)?;
        self.push_locked(state, bytes);
        Ok(())
    }

    /// Asks before it queues input: `admit` sees what it makes of the line that was typed before. Nobody else's input comes
    /// between.
    pub(crate) fn push_admitted<E>(
        &self,
        bytes: &[u8],
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
        state.enters += u64::from(!composed.entered.is_empty());
        if !bytes.is_empty() {
            state.last = Some(Instant::now());
        }
        self.count_input(bytes);
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
        self.state.lock().enters
    }

    /// How many pieces of input have been taken.
    pub(crate) fn inputs(&self) -> u64 {
        self.inputs.load(Ordering::Acquire)
    }

    /// How much input has come, and what it has typed since Enter; `None`: neither text nor an editing key.
    pub(crate) fn so_far(&self) -> (SoFar, Option<String>) {
        let state = self.state.lock();
        let typed = (!state.typed.is_untouched()).then(|| state.typed.text());
        (SoFar { enters: state.enters, inputs: self.inputs() }, typed)
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
    pub(crate) fn push_input(
        &self,
        bytes: &[u8],
        behind: Option<SoFar>,
        at_once: bool,
        begin: impl FnOnce(&[u8]),
        write: impl FnOnce(&[u8]) -> usize,
    ) -> Result<bool, WriteError> {
        {
            let mut state = self.state.lock();
            let so_far = SoFar { enters: state.enters, inputs: self.inputs() };
            if behind.is_some_and(|behind| behind != so_far) {
                return Ok(false);
            }
            state.room(bytes)?;
            self.count_input(bytes);
            if memchr::memchr2(b'\r', b'\n', bytes).is_some() {
                state.enters += 1;
            }
            state.typed.advance(bytes);
            state.last = Some(Instant::now());
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
        if !state.is_closed && !rest.is_empty() {
            state.waiting.splice(..0, rest.iter().copied());
            state.begun = rest.len();
        }
        let has_work = !state.waiting.is_empty();
        drop(state);
        if has_work {
            self.changed.notify_one();
        }
        Ok(true)
    }

    /// Refuses everything from now on, drops what waits, and ends the writer.
    pub(crate) fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        state.waiting = Vec::new();
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for input and moves all of it into `batch`; gives how many of its bytes were told to `begin` already, `None`
    /// when the queue was closed. The bytes count as waiting until [`WriteQueue::wrote`] tells otherwise.
    fn take(&self, batch: &mut Vec<u8>) -> Option<usize> {
        batch.clear();
        let mut state = self.state.lock();
        while (state.waiting.is_empty() || state.is_direct) && !state.is_closed {
            self.changed.wait(&mut state);
        }
        if state.is_closed {
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
mod tests {
    use std::{io, sync::Arc, sync::mpsc, thread};

    use super::*;

    #[test]
    fn pieces_keep_their_order_and_partial_writes_lose_nothing() {
        let queue = Arc::new(WriteQueue::default());
        let mut expected = Vec::new();
        for number in 0..1000 {
            let piece = format!("{number},").into_bytes();
            queue.push(&piece).unwrap();
            expected.extend(piece);
        }
        let mut got = Vec::new();
        let total = expected.len();
        queue.run(
            |_| {},
            |bytes| {
                if got.len() == total {
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                let count = bytes.len().min(7);
                got.extend_from_slice(&bytes[..count]);
                if got.len() == total {
                    queue.close();
                }
                Ok(count)
            },
        );
        assert_eq!(got, expected);
    }

    #[test]
    fn a_full_queue_refuses_whole_pieces_until_the_program_reads() {
        let queue = Arc::new(WriteQueue::default());
        queue.push(&vec![b'a'; WRITE_CAPACITY - 1]).unwrap();
        assert_eq!(queue.push(b"bc"), Err(WriteError::Full { queued: WRITE_CAPACITY - 1 }));
        queue.push(b"b").unwrap();
        assert_eq!(queue.push(b"c"), Err(WriteError::Full { queued: WRITE_CAPACITY }));
        // Bytes in the writer's hands count until the program has them.
        let (said, heard) = mpsc::channel();
        let (allow, allowed) = mpsc::channel::<()>();
        let writer = queue.clone();
        let thread = thread::spawn(move || {
            writer.run(
                |_| {},
                |bytes| {
                    said.send(bytes.len()).unwrap();
                    allowed.recv().map_err(|_| io::ErrorKind::BrokenPipe)?;
                    Ok(bytes.len())
                },
            );
        });
        assert_eq!(heard.recv(), Ok(WRITE_CAPACITY));
        assert_eq!(queue.push(b"c"), Err(WriteError::Full { queued: WRITE_CAPACITY }));
        allow.send(()).unwrap();
        while queue.push(b"c").is_err() {
            thread::yield_now();
        }
        assert_eq!(heard.recv(), Ok(1));
        queue.close();
        allow.send(()).unwrap();
        thread.join().unwrap();
        assert_eq!(queue.push(b"d"), Err(WriteError::Ended));
    }

    #[test]
    fn a_piece_longer_than_the_queue_is_taken_when_nothing_waits() {
        let queue = WriteQueue::default();
        queue.push(&vec![0; 3 * WRITE_CAPACITY]).unwrap();
        assert!(queue.push(b"x").is_err());
    }

    #[test]
    fn what_is_written_at_once_keeps_its_place_and_is_told_once() {
        let queue = WriteQueue::default();
        let (told, taken) = (std::cell::RefCell::new(Vec::new()), std::cell::RefCell::new(vec![]));
        let tell = |bytes: &[u8]| told.borrow_mut().extend_from_slice(bytes);
        let take = |bytes: &[u8], count: usize| {
            taken.borrow_mut().extend_from_slice(&bytes[..count]);
            count
        };
        queue.push_input(b"ab", None, true, tell, |bytes| take(bytes, 2)).unwrap();
        assert_eq!(*taken.borrow(), b"ab");
        // Another comes while the terminal takes a part of this one.
        let during = |bytes: &[u8]| {
            queue.push(b"ef").unwrap();
            take(bytes, 1)
        };
        queue.push_input(b"cd", None, true, tell, during).unwrap();
        // Something waits now, so nothing goes past it.
        queue.push_input(b"gh", None, true, tell, |_| panic!("not its turn")).unwrap();
        queue.run(tell, |bytes| {
            let count = take(bytes, bytes.len().min(2));
            if taken.borrow().len() == 8 {
                queue.close();
            }
            Ok(count)
        });
        assert_eq!(*taken.borrow(), b"abcdefgh");
        assert_eq!(*told.borrow(), b"abcdefgh");
    }

    #[test]
    fn a_piece_that_is_to_come_behind_no_other_is_refused_behind_one() {
        let queue = WriteQueue::default();
        let behind = |so_far| {
            queue.push_input(b"x", Some(so_far), false, |_| {}, |_| panic!("not at once")).unwrap()
        };
        let (before, typed) = queue.so_far();
        assert_eq!(typed, None);
        assert!(behind(before));
        assert!(!behind(before));
        let (before, typed) = queue.so_far();
        assert_eq!(typed.as_deref(), Some("x"));
        let admit = |_: &Composed| Ok::<_, ()>(());
        queue.push_admitted(b"y", admit).unwrap().unwrap();
        assert!(!behind(before));
        // The terminal's own replies are no input.
        let (before, _) = queue.so_far();
        queue.push(b"\x1b[0n").unwrap();
        assert!(behind(before));
    }

    #[test]
    fn closing_ends_an_idle_writer() {
        let queue = Arc::new(WriteQueue::default());
        let writer = queue.clone();
        let thread = thread::spawn(move || writer.run(|_| {}, |bytes| Ok(bytes.len())));
        queue.close();
        thread.join().unwrap();
    }
}
