//! A pane's writer: passes input from all sources to the program.
//!
//! Owns the ways into the input queue, the thread that empties it, and the count of the user's keys. If the queue is
//! empty, the caller's thread writes a short piece itself and wakes no other thread. Never blocks a caller, and never
//! writes with a lock held.

use std::{sync::atomic::Ordering, time::Instant};

use super::{Pane, WriteError, queue::SoFar};
use crate::{Composed, lock};

/// The user's last key in a pane.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// When it was pressed.
    pub at: Instant,
    /// The number of Enters in the input before it ([`Pane::enters`]).
    pub enters: u64,
}

impl Pane {
    pub(super) fn run_writer(&self) {
        let tell = |bytes: &[u8]| self.tap_input(bytes, self.taps.hide());
        self.queue.run(tell, |bytes| {
            lock::assert_none();
            self.process.write(bytes)
        });
    }

    /// Sends input to the taps before it is written, so that its echo follows it.
    fn tap_input(&self, bytes: &[u8], is_hidden: bool) {
        if self.taps.any() {
            let seq = *self.seq.borrow();
            let is_echoed = self.process.echo() == Some(true);
            self.taps.publish_input(seq, bytes, is_hidden, is_echoed);
        }
    }

    /// Sends the terminal's replies to the program.
    pub(super) fn reply(&self, replies: &[u8]) {
        if let Err(error) = self.queue.push(replies) {
            tracing::debug!(pane = self.id.0, %error, "replies dropped");
        }
    }

    /// Queues input for the program, either all of it or none; never blocks. If the queue is empty, a key's bytes are
    /// written at once.
    pub fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        self.write_input(bytes, None).map(drop)
    }

    pub(super) fn write_input(
        &self,
        bytes: &[u8],
        behind: Option<SoFar>,
    ) -> Result<bool, WriteError> {
        let write = |bytes: &[u8]| {
            lock::assert_none();
            self.process.try_write(bytes)
        };
        // To decide whether to hide input requires the terminal's lock. A key does not wait for it: the writer decides.
        let at_once = !self.taps.any_hides();
        let is_echoed = self.echoes_input();
        let begin = |bytes: &[u8]| {
            if is_echoed {
                self.echo_input();
            }
            // A recording that started since that check receives the input as hidden.
            self.tap_input(bytes, true);
        };
        let outcome = self.queue.push_input(bytes, behind, at_once, is_echoed, begin, write);
        if is_echoed {
            self.echo_input();
        }
        outcome
    }

    /// As [`Pane::write`], but first calls `admit` with the line that `bytes` would form with the input typed so far.
    /// No other input can slip in between. `admit` must return at once and must not call the pane, because the input
    /// queue is locked.
    pub fn write_admitted<E>(
        &self,
        bytes: &[u8],
        admit: impl FnOnce(&Composed) -> Result<(), E>,
    ) -> Result<Result<(), WriteError>, E> {
        let is_echoed = self.echoes_input();
        let outcome = self.queue.push_admitted(bytes, is_echoed, admit);
        if is_echoed {
            self.echo_input();
        }
        outcome
    }

    /// The line that `bytes` would form if they were written now.
    pub fn compose(&self, bytes: &[u8]) -> Composed {
        self.queue.compose(bytes)
    }

    /// The text typed since Enter, from all sources, as far as the input alone shows it.
    pub fn typed(&self) -> String {
        self.queue.typed()
    }

    /// Records that the user types here. Call it before their input is written.
    pub fn touch(&self) {
        self.touches.fetch_add(1, Ordering::AcqRel);
        let touch = Touch { at: Instant::now(), enters: self.queue.enters() };
        *self.last_touch.lock() = Some(touch);
    }

    /// When the user last typed here.
    pub fn last_touch(&self) -> Option<Touch> {
        *self.last_touch.lock()
    }

    /// The number of Enters in the input, from all sources.
    pub fn enters(&self) -> u64 {
        self.queue.enters()
    }

    /// How often the user has typed here. Compare it with an earlier count to see whether they typed since.
    pub fn touches(&self) -> u64 {
        self.touches.load(Ordering::Acquire)
    }
}
