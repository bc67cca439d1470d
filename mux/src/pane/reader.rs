//! A pane's reader: the thread that applies what its program writes to its terminal.
//!
//! Owns the parser of the program's output, how much is read before the terminal's lock is handed over, the clock of a picture
//! that is held back (mode 2026), and the pane's end with its program. Replies go to the queue of input at once, since the
//! program may wait for them. Never holds the lock while it reads, waits or decodes an image.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use unterm_term::{Command, Decoding, Event, Modes, Parser};

use super::{Pane, PaneState};
use crate::{ExitStatus, MuxEvent, ReadOutcome, lock};

/// The most that is read at once, into the reader's stack. Linux gives 4 KiB.
const PIECE: usize = 16 * 1024;

/// The most that is read and applied before others hear of it, as long as there is more to read without waiting. The
/// kernel fetches the next piece while we apply one.
const BATCH: usize = 64 * 1024;

/// A read that gives less has emptied the pty: a key's echo is told of before the next read is tried.
const FEW: usize = 512;

/// How long a program is silent before its history is compressed.
const PAUSE: Duration = Duration::from_millis(50);

/// How long a program may hold back its picture (mode 2026).
pub(super) const SYNCHRONIZED_LIMIT: Duration = Duration::from_millis(150);

/// Why output is no longer applied.
enum Stop {
    /// The program has ended, or the pane was closed.
    Ended,
    /// The pane lets go of its program.
    Detached,
}

/// What the reader keeps between pieces of output.
struct Output {
    parser: Parser,
    /// When a picture that is held back (mode 2026) is shown all the same.
    synchronized_until: Option<Instant>,
}

impl Pane {
    pub(super) fn run_reader(&self) {
        let mut buffer = [0; PIECE];
        match catch_unwind(AssertUnwindSafe(|| self.apply_output(&mut buffer))) {
            Ok(Stop::Detached) => return,
            Ok(Stop::Ended) => {}
            Err(_) => {
                tracing::error!(
                    pane = self.id.0,
                    "the terminal failed on this output; its program is ended"
                );
                self.process.kill();
            }
        }
        // A closed pane's program may have last words, and read() is what ends it.
        loop {
            match self.process.read(&mut buffer, None) {
                Ok(ReadOutcome::Ended) => break,
                Ok(ReadOutcome::Detached) => return,
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(pane = self.id.0, %error, "cannot read from a program");
                    break;
                }
            }
        }
        self.finish();
    }

    /// Applies output until the program ends, or the pane is closed or lets go of it.
    fn apply_output(&self, buffer: &mut [u8]) -> Stop {
        let parser = std::mem::take(&mut *self.parser.lock());
        let mut output = Output { parser, synchronized_until: None };
        if self.term.lock().modes().contains(Modes::SYNCHRONIZED) {
            // Since another pane had the program.
            output.synchronized_until = Some(Instant::now() + SYNCHRONIZED_LIMIT);
        }
        // A deadline that has passed: what is there now, or nothing.
        let at_once = Some(Instant::now());
        loop {
            let mut outcome = match output.synchronized_until {
                None => self.read_or_compress(buffer),
                until => self.read(buffer, until),
            };
            let mut events = Vec::new();
            let mut taken = 0;
            while let ReadOutcome::Bytes(count) = outcome {
                self.apply(&mut output, &buffer[..count], &mut events);
                taken += count;
                if taken >= BATCH || count < FEW {
                    break;
                }
                outcome = self.read(buffer, at_once);
            }
            if output.synchronized_until.is_some_and(|until| Instant::now() >= until) {
                output.synchronized_until = None;
                self.term.lock().end_synchronized();
            }
            let seq = self.term.lock().seq();
            self.announce(seq, events);
            match outcome {
                ReadOutcome::Bytes(_) | ReadOutcome::TimedOut => {}
                ReadOutcome::Ended => return Stop::Ended,
                ReadOutcome::Detached => {
                    *self.parser.lock() = output.parser;
                    return Stop::Detached;
                }
            }
        }
    }

    /// Waits for output; where there is none for a while, compresses history meanwhile, a piece at a time and without
    /// the terminal's lock.
    fn read_or_compress(&self, buffer: &mut [u8]) -> ReadOutcome {
        let mut until = Instant::now() + PAUSE;
        loop {
            let due = self.term.lock().compression();
            let Some(mut due) = due else { return self.read(buffer, None) };
            match self.read(buffer, Some(until)) {
                ReadOutcome::TimedOut => {}
                outcome => return outcome,
            }
            due.run();
            self.term.lock().compressed(due);
            until = Instant::now();
        }
    }

    /// Reads from the program; a pane that is closed, or whose program can't be read, reads no more.
    fn read(&self, buffer: &mut [u8], deadline: Option<Instant>) -> ReadOutcome {
        lock::assert_none();
        let outcome = self.process.read(buffer, deadline).unwrap_or_else(|error| {
            tracing::warn!(pane = self.id.0, %error, "cannot read from a program");
            self.process.kill();
            ReadOutcome::Ended
        });
        match *self.state.lock() {
            PaneState::Removed => ReadOutcome::Ended,
            _ => outcome,
        }
    }

    /// Applies a piece of output: under the lock only what needs the terminal. Replies go out at once, since the program
    /// may wait for them.
    fn apply(&self, output: &mut Output, bytes: &[u8], events: &mut Vec<Event>) {
        let mut rest = bytes;
        let mut image: Option<Decoding> = None;
        let (seq, is_synchronized) = loop {
            let mut term = self.term.lock();
            if let Some(image) = image.take() {
                term.decoded(image);
            }
            let (taken, next) = output.parser.advance_to_image(&mut term, rest);
            let seq = term.seq();
            let replies = term.take_replies();
            let first = events.len();
            events.append(&mut term.take_events());
            if events[first..].contains(&Event::PromptStart) {
                self.enters_at_prompt.store(self.queue.enters(), Ordering::Release);
                self.touches_at_prompt.store(self.touches(), Ordering::Release);
            }
            self.inputs_shown.store(self.queue.inputs(), Ordering::Release);
            self.echoes.store(term.echoes_locally(), Ordering::Release);
            let is_synchronized = term.modes().contains(Modes::SYNCHRONIZED);
            let size = term.size();
            let (titles, titles_set) = (term.take_titles_set(), term.titles_set());
            let is_at_prompt = events[first..].contains(&Event::InputStart)
                && term.commands().next_back().is_some_and(Command::is_prompting);
            term.unlock_fair();

            self.follow_requests(&events[first..], size);
            self.reply(&replies);
            self.record_titles(titles, titles_set, events);
            if events[first..].contains(&Event::Cwd) {
                let reporter = self.process.group_in_front().unwrap_or_default();
                self.cwd_reporter.store(reporter, Ordering::Release);
            }
            if is_at_prompt {
                self.settle_title(events);
            }
            rest = &rest[taken..];
            let Some(mut decoding) = next else { break (seq, is_synchronized) };
            // As long as it takes: others may look at the terminal meanwhile.
            decoding.run();
            image = Some(decoding);
        };
        if !is_synchronized {
            output.synchronized_until = None;
        } else if output.synchronized_until.is_none() || ends_synchronized(bytes) {
            // Begun in this piece, or ended and begun again.
            output.synchronized_until = Some(Instant::now() + SYNCHRONIZED_LIMIT);
        }
        self.taps.publish(seq, bytes);
    }

    /// The reader's last act.
    fn finish(&self) {
        self.queue.close();
        let status = self.process.exit_status().unwrap_or_else(|| {
            // Reading failed while the program lives: nobody can see it any more.
            self.process.kill();
            ExitStatus::Signal(1)
        });
        self.process.stop_reading();
        let was_running = {
            let mut state = self.state.lock();
            let was_running = *state == PaneState::Running;
            if was_running {
                *state = PaneState::Exited(status);
            }
            was_running
        };
        let (seq, events) = {
            let mut term = self.term.lock();
            term.program_ended();
            (term.seq(), term.take_events())
        };
        self.announce(seq, events);
        self.taps.end();
        self.seq.send_modify(|_| {});
        if was_running {
            self.observers.event(MuxEvent::PaneExited(self.id));
            if let Some(owner) = self.owner.upgrade() {
                owner.program_ended(self);
            }
        }
    }
}

/// Whether a batch has the end of a synchronized update in it. One that is cut in two between batches is missed, which
/// costs a picture at most.
fn ends_synchronized(bytes: &[u8]) -> bool {
    const END: &[u8] = b"\x1b[?2026l";
    bytes.windows(END.len()).any(|window| window == END)
}
