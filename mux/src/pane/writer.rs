//! A pane's writer: input on its way to the program, from whoever brings it.
//!
//! Owns the ways into the queue of input, the thread that empties it, and the count of a person's keys. A short piece that finds
//! the queue empty is written by whoever brings it, and wakes no thread. Never blocks whoever brings input, and never writes
//! with a lock held.

use std::{sync::atomic::Ordering, time::Instant};

use super::{Pane, WriteError, queue::SoFar};
use crate::{Composed, lock};

/// A person's last key in a pane.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// When it came.
    pub at: Instant,
    /// How often Enter had been among the input before it ([`Pane::enters`]).
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

    /// Gives the taps input before it is written, so that its echo comes behind it.
    fn tap_input(&self, bytes: &[u8], is_hidden: bool) {
        if self.taps.any() {
            let seq = *self.seq.borrow();
            self.taps.publish_input(seq, bytes, is_hidden);
        }
    }

    /// Sends what the terminal answers to the program.
    pub(super) fn reply(&self, replies: &[u8]) {
        if let Err(error) = self.queue.push(replies) {
            tracing::debug!(pane = self.id.0, %error, "replies dropped");
        }
    }

    /// Queues input for the program, all of it or nothing; never blocks. A key's bytes are with the program at once where
    /// nothing waits before them.
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
        // Whether input is to be hidden takes a look at the terminal, for which a key does not wait: the writer's business.
        let at_once = !self.taps.any_hides();
        let is_echoed = self.echoes_input();
        let begin = |bytes: &[u8]| {
            if is_echoed {
                self.echo_input();
            }
            // A tap that asks since that look is not shown this.
            self.tap_input(bytes, true);
        };
        let outcome = self.queue.push_input(bytes, behind, at_once, is_echoed, begin, write);
        if is_echoed {
            self.echo_input();
        }
        outcome
    }

    /// As [`Pane::write`], after asking `admit`, which sees what `bytes` make of the line that anybody typed before them.
    /// Nobody else's input comes between. `admit` must return at once and ask the pane nothing: the queue of input is locked.
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

    /// What `bytes` would make of the line that was typed, were they written now.
    pub fn compose(&self, bytes: &[u8]) -> Composed {
        self.queue.compose(bytes)
    }

    /// What has been typed since Enter, by anybody, as far as input alone tells.
    pub fn typed(&self) -> String {
        self.queue.typed()
    }

    /// Says that a person types here, before what they type is written.
    pub fn touch(&self) {
        self.touches.fetch_add(1, Ordering::AcqRel);
        let touch = Touch { at: Instant::now(), enters: self.queue.enters() };
        *self.last_touch.lock() = Some(touch);
    }

    /// When a person last typed here.
    pub fn last_touch(&self) -> Option<Touch> {
        *self.last_touch.lock()
    }

    /// How often Enter has been among the input, whoever pressed it.
    pub fn enters(&self) -> u64 {
        self.queue.enters()
    }

    /// How often a person has typed here: who counted before knows whether one did since.
    pub fn touches(&self) -> u64 {
        self.touches.load(Ordering::Acquire)
    }
}
