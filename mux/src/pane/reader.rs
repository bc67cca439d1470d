//! A pane's reader: the thread that applies the program's output to the terminal.
//!
//! Owns the parser of the output, the number of bytes to read before the terminal's lock is released to other threads,
//! the timeout of synchronized updates (mode 2026), and the end of the pane when its program ends. Queues replies at
//! once, because the program may wait for them. Never holds the lock while it reads, waits or decodes an image.

use std::{
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::atomic::Ordering,
    time::{Duration, Instant, SystemTime},
};

use unterm_term::{Command, Decoding, Event, Modes, Parser};

use super::{Pane, PaneState, control_mode::Controlled, transfer::ArrivingFiles};
use crate::{
    ExitStatus, MuxEvent, OutputJournal, ReadOutcome, lock,
    process::{TermChange, stores_time},
};

/// The size of the read buffer, on the reader's stack. On Linux a read returns up to 4 KiB.
const PIECE: usize = 16 * 1024;

/// The maximum number of bytes to apply before observers are notified, as long as more can be read without waiting.
/// While the reader applies one piece, the kernel prepares the next.
const BATCH: usize = 64 * 1024;

/// A read that returns fewer bytes has emptied the pty. The reader then announces the output, such as the echo of a
/// key, before it reads again.
const FEW: usize = 512;

/// The time without output after which the reader compresses the history.
const PAUSE: Duration = Duration::from_millis(50);

/// The maximum duration of a synchronized update (mode 2026), in which a program delays the display of its output.
pub(super) const SYNCHRONIZED_LIMIT: Duration = Duration::from_millis(150);

/// Why the reader stopped applying output.
enum Stop {
    /// The program has ended, or the pane was closed.
    Ended,
    /// The pane releases its program.
    Detached,
}

/// The reader's state between pieces of output.
struct Output {
    parser: Parser,
    /// The time at which a synchronized update (mode 2026) times out.
    synchronized_until: Option<Instant>,
    /// Files that the program sends.
    files: ArrivingFiles,
    /// The state of tmux's control mode.
    controlled: Controlled,
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
        // Read until the end of the output: the program of a closed pane may still write, and its end is reported as
        // the end of the output.
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

    /// Applies output until the program ends, the pane is closed, or the pane releases its program.
    fn apply_output(&self, buffer: &mut [u8]) -> Stop {
        let parser = std::mem::take(&mut *self.parser.lock());
        let mut output = Output {
            parser,
            synchronized_until: None,
            files: HashMap::new(),
            controlled: Controlled::default(),
        };
        if self.term.lock().modes().contains(Modes::SYNCHRONIZED) {
            // A previous pane of this program had set the mode.
            output.synchronized_until = Some(Instant::now() + SYNCHRONIZED_LIMIT);
        }
        let unread = std::mem::take(&mut *self.unread.lock());
        let mut events = Vec::new();
        for piece in unread.chunks(PIECE) {
            self.apply(&mut output, piece, &mut events);
        }
        if !unread.is_empty() {
            let seq = self.term.lock().seq();
            self.announce(seq, events);
        }
        // With a deadline in the past, a read never waits: it returns the available output or nothing.
        let at_once = Some(Instant::now());
        loop {
            let mut outcome = match output.synchronized_until {
                None => self.read_or_compress(buffer, &output.parser),
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
            if self.is_checkpoint_due(&output.parser, false) {
                self.checkpoint(&output.parser);
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

    /// Waits for output. If the program is silent for [`PAUSE`], writes a checkpoint if one is due, gives back memory of the
    /// journal, and compresses history while waiting, piece by piece and without the terminal's lock. `parser` is the
    /// parser of the output.
    fn read_or_compress(&self, buffer: &mut [u8], parser: &Parser) -> ReadOutcome {
        let mut until = Instant::now() + PAUSE;
        let mut needs_checkpoint = self.is_checkpoint_due(parser, true);
        let journal = self.process.journal();
        let mut has_unused = needs_checkpoint || journal.is_some_and(|it| it.has_unused_memory());
        loop {
            let due = self.term.lock().compression();
            if due.is_none() && !has_unused {
                return self.read(buffer, None);
            }
            match self.read(buffer, Some(until)) {
                ReadOutcome::TimedOut => {}
                outcome => return outcome,
            }
            if std::mem::take(&mut needs_checkpoint) {
                self.checkpoint(parser);
            }
            if std::mem::take(&mut has_unused) {
                journal.into_iter().for_each(OutputJournal::free);
            }
            if let Some(mut due) = due {
                due.run();
                self.term.lock().compressed(due);
            }
            until = Instant::now();
        }
    }

    /// Reads output of the program. Returns `Ended` if the pane was closed or reading fails.
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

    /// Applies a piece of output. Holds the terminal's lock only while it changes the terminal. Queues replies at once,
    /// because the program may wait for them.
    fn apply(&self, output: &mut Output, bytes: &[u8], events: &mut Vec<Event>) {
        let mut rest = bytes;
        let mut image: Option<Decoding> = None;
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = since_1970.map_or(0, |time| time.as_millis() as u64);
        let journal = self.process.journal();
        // The number of applied bytes that were not reported to the journal yet.
        let mut unnoted = bytes.len();
        let (seq, is_synchronized) = loop {
            rest = self.follow_control_mode(&mut output.controlled, &mut output.parser, rest);
            let mut term = self.term.lock();
            if let Some(image) = image.take() {
                term.decoded(image);
            }
            term.set_time(now);
            let (taken, next) = output.parser.advance_to_image(&mut term, rest);
            let seq = term.seq();
            let replies = term.take_replies();
            let first = events.len();
            events.append(&mut term.take_events());
            if let Some(journal) = journal {
                if events[first..].iter().any(stores_time) {
                    journal.note(TermChange::Time(now));
                }
                let left = rest.len() - taken;
                journal.applied(unnoted - left);
                unnoted = left;
            }
            if events[first..].contains(&Event::PromptStart) {
                self.enters_at_prompt.store(self.queue.enters(), Ordering::Release);
                self.touches_at_prompt.store(self.touches(), Ordering::Release);
                self.inputs_at_prompt.store(self.queue.inputs(), Ordering::Release);
            }
            self.inputs_shown.store(self.queue.inputs(), Ordering::Release);
            self.note_output();
            self.echoes.store(term.echoes_locally(), Ordering::Release);
            let is_synchronized = term.modes().contains(Modes::SYNCHRONIZED);
            let size = term.size();
            let images_grew = self.note_images(&term);
            let (titles, titles_set) = (term.take_titles_set(), term.titles_set());
            let is_at_prompt = events[first..].contains(&Event::InputStart)
                && term.commands().next_back().is_some_and(Command::is_prompting);
            term.unlock_fair();

            if images_grew && let Some(owner) = self.owner.upgrade() {
                owner.images_grew();
            }
            self.follow_requests(&events[first..], size);
            self.reply(&replies);
            self.transfer(&mut output.files, events);
            self.record_titles(titles, titles_set, events);
            if events[first..].contains(&Event::Cwd) {
                let reporter = self.process.group_in_front().unwrap_or_default();
                self.cwd_reporter.store(reporter, Ordering::Release);
            }
            if is_at_prompt {
                *self.shell_at_prompt.lock() = self.front_execution();
                self.settle_title(events);
            }
            rest = &rest[taken..];
            let Some(mut decoding) = next else {
                match rest {
                    [] => break (seq, is_synchronized),
                    // Here, tmux's control mode begins.
                    _ => continue,
                }
            };
            // Decode without the lock, because decoding may take long and other threads can use the terminal meanwhile.
            decoding.run();
            image = Some(decoding);
        };
        if !is_synchronized {
            output.synchronized_until = None;
        } else if output.synchronized_until.is_none() || ends_synchronized(bytes) {
            // A new update has begun in this piece.
            output.synchronized_until = Some(Instant::now() + SYNCHRONIZED_LIMIT);
        }
        if let Some(journal) = journal {
            journal.answered();
        }
        self.taps.publish(seq, bytes);
    }

    /// Records the time of this output.
    fn note_output(&self) {
        let now = self.created.elapsed().as_millis();
        self.last_output.store(u64::try_from(now).unwrap_or(u64::MAX), Ordering::Release);
    }

    /// Ends the pane after its program has ended or can no longer be read.
    fn finish(&self) {
        self.queue.close();
        self.end_transfers();
        let status = self.process.exit_status().unwrap_or_else(|| {
            // Reading failed while the program runs. Its output can no longer be shown, so kill it.
            self.process.kill();
            ExitStatus::Signal(1)
        });
        self.process.stop_reading();
        self.end_control_mode();
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

/// Whether a piece contains the sequence that ends a synchronized update. A sequence split between two pieces is missed,
/// which skips at most one picture.
fn ends_synchronized(bytes: &[u8]) -> bool {
    const END: &[u8] = b"\x1b[?2026l";
    bytes.windows(END.len()).any(|window| window == END)
}
