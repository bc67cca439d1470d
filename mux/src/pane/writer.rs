//! A pane's writer: passes input from all sources to the program.
//!
//! Owns the functions that queue input, the thread that empties the queue, and the count of the user's keys. If the
//! queue is empty, the caller's thread writes a short input itself and wakes no other thread. Never blocks a caller,
//! and never writes while holding a lock.

use std::{sync::atomic::Ordering, time::Instant};

use super::{Pane, WriteError, queue::SoFar};
use crate::{Composed, lock};

/// The last key press of the user in a pane.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// The time of the key press.
    pub at: Instant,
    /// The number of inputs with Enter before the key press ([`Pane::enters`]).
    pub enters: u64,
}

impl Pane {
    pub(super) fn run_writer(&self) {
        let record = |bytes: &[u8]| self.tap_input(bytes, self.taps.hide());
        self.queue.run(record, |bytes| {
            lock::assert_none();
            self.process.write(bytes)
        });
    }

    /// Sends input to the taps before it is written, so that the taps receive the input before its echo.
    fn tap_input(&self, bytes: &[u8], is_hidden: bool) {
        if self.taps.any() {
            let seq = *self.seq.borrow();
            let is_echoed = self.process.echo() == Some(true);
            self.taps.publish_input(seq, bytes, is_hidden, is_echoed);
        }
    }

    /// Sends the terminal's replies to the program, unless another terminal has replied.
    pub(super) fn reply(&self, replies: &[u8]) {
        if self.process.has_inner_terminal() {
            return;
        }
        if let Err(error) = self.queue.push(replies) {
            tracing::debug!(pane = self.id.0, %error, "replies dropped");
        }
    }

    /// Queues input for the program, either all of it or none. Never blocks. If the queue is empty, the bytes of a key
    /// are written at once.
    pub fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        self.write_input(bytes, None).map(drop)
    }

    pub(super) fn write_input(
        &self,
        bytes: &[u8],
        behind: Option<SoFar>,
    ) -> Result<bool, WriteError> {
        if self.control_input(bytes) {
            return Ok(true);
        }
        let write = |bytes: &[u8]| {
            lock::assert_none();
            self.process.try_write(bytes)
        };
        // Whether to hide input can be decided only with the terminal's lock. A key must not wait for the lock, so the
        // writer thread decides.
        let at_once = !self.taps.any_hides();
        let is_echoed = self.echoes_input();
        let begin = |bytes: &[u8]| {
            if is_echoed {
                self.echo_input();
            }
            // A recording that started since that check receives the input marked as hidden.
            self.tap_input(bytes, true);
        };
        let outcome = self.queue.push_input(bytes, behind, at_once, is_echoed, begin, write);
        if is_echoed {
            self.echo_input();
        }
        outcome
    }

    /// Like [`Pane::write`], but first calls `admit` with the line that `bytes` would form together with the input
    /// typed so far. No other input can come in between. `admit` must return quickly and must not call methods of the
    /// pane, because the input queue is locked.
    pub fn write_admitted<E>(
        &self,
        bytes: &[u8],
        admit: impl FnOnce(&Composed) -> Result<(), E>,
    ) -> Result<Result<(), WriteError>, E> {
        if self.is_control_client() {
            admit(&self.compose(bytes))?;
            self.control_input(bytes);
            return Ok(Ok(()));
        }
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

    /// The text that was typed since the last Enter, from all sources, as far as the input alone shows it.
    pub fn typed(&self) -> String {
        self.queue.typed()
    }

    /// Records that the user types in this pane. Call it before the user's input is written.
    pub fn touch(&self) {
        self.touches.fetch_add(1, Ordering::AcqRel);
        let touch = Touch { at: Instant::now(), enters: self.queue.enters() };
        *self.last_touch.lock() = Some(touch);
    }

    /// The last time when the user typed in this pane.
    pub fn last_touch(&self) -> Option<Touch> {
        *self.last_touch.lock()
    }

    /// The number of inputs with Enter, from all sources.
    pub fn enters(&self) -> u64 {
        self.queue.enters()
    }

    /// How often the user has typed in this pane. If the number differs from an earlier result, the user has typed in
    /// between.
    pub fn touches(&self) -> u64 {
        self.touches.load(Ordering::Acquire)
    }
}
