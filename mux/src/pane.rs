//! One pane: a program, its terminal, and the two threads between them.
//!
//! The reader thread owns the parser: it reads what is there, applies it under the terminal's lock (but decodes images
//! without it), hands the lock over to whoever waits for it, and tells the others afterwards. The writer thread empties
//! the queue of input. Both end with the program. Knows nothing of tabs; what its end means for them is its mux's
//! business.

mod prompt;
mod title;

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::sync::watch;
use unterm_term::{
    Command, Decoding, Event, Modes, Palette, Parser, Point, Size, Term, TitleSet, WindowRequest,
};

use crate::{
    Composed, ExitStatus, Foreground, Hides, Mux, MuxEvent, Process, ReadOutcome, Signal, Tap,
    lock::{Mutex, MutexGuard},
    memory::ReturnMemory,
    observer::{Alive, Observers},
    process::{Variables, is_name},
    tap::Taps,
    uri,
    writer::{SoFar, WriteQueue},
};

pub use prompt::AtPrompt;
use title::Titles;

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
const SYNCHRONIZED_LIMIT: Duration = Duration::from_millis(150);

/// Names a pane for the life of the process; never used twice. The first is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PaneId(pub u64);

/// What becomes of a pane in a tab when its program ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnExit {
    /// It is removed.
    #[default]
    Close,
    /// It stays readable, as exited, until it is closed.
    Hold,
}

/// Whether a pane's program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaneState {
    /// It runs.
    Running,
    /// It has ended, and all its output has been read.
    Exited(ExitStatus),
    /// The pane was closed: its program was ended and its threads are gone or going.
    Removed,
}

/// Why input was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// More would wait than [`crate::WRITE_CAPACITY`] for a program that does not read.
    #[error("the program is not reading its input: {queued} bytes are waiting")]
    Full {
        /// Bytes that wait.
        queued: usize,
    },
    /// The program has ended.
    #[error("the program has ended")]
    Ended,
}

/// What the reader keeps between pieces of output.
struct Output {
    parser: Parser,
    /// When a picture that is held back (mode 2026) is shown all the same.
    synchronized_until: Option<Instant>,
}

/// One pane.
pub struct Pane {
    id: PaneId,
    term: Mutex<Term>,
    /// The last `seq` told to waiters; marked changed without a new value when the state changed.
    seq: watch::Sender<u64>,
    process: Arc<dyn Process>,
    /// The program it was asked to run, with its arguments; `None`: a shell, whichever that is.
    command: Option<(String, Vec<String>)>,
    /// The title that somebody gave it.
    name: Mutex<Option<String>>,
    /// The titles that programs gave it.
    titles: Mutex<Titles>,
    /// What the marks of its own shells carry; `None`: they don't mark anything.
    nonce: Option<Arc<str>>,
    /// What its shells are told to set; `None`: they don't listen.
    variables: Option<Variables>,
    queue: WriteQueue,
    /// How often Enter had been pressed when the last prompt began.
    enters_at_prompt: AtomicU64,
    /// How often a person had typed then.
    touches_at_prompt: AtomicU64,
    /// The process group that was in the foreground when the last prompt waited for input: its shell. 0: none yet.
    shell_at_prompt: AtomicI32,
    /// How much input had come when the last output was applied: it may show as much.
    inputs_shown: AtomicU64,
    /// Whether the program wants its input shown without its doing (SRM); told by the reader.
    echoes: AtomicBool,
    /// How often a person has typed.
    touches: AtomicU64,
    taps: Arc<Taps>,
    state: Mutex<PaneState>,
    is_pinned: AtomicBool,
    on_exit: OnExit,
    observers: Arc<Observers>,
    mux: Weak<Mux>,
    /// Last, so that it is dropped after the terminal.
    memory: ReturnMemory,
}

/// What bytes that the program has not written did to its terminal.
struct Shown {
    seq: u64,
    size: Size,
    events: Vec<Event>,
    titles: Vec<TitleSet>,
    titles_set: u64,
}

impl Shown {
    /// Lets go of the terminal. What the bytes asked it is not answered.
    fn take(mut term: MutexGuard<'_, Term>) -> Self {
        term.take_replies();
        let (seq, size, events) = (term.seq(), term.size(), term.take_events());
        let (titles, titles_set) = (term.take_titles_set(), term.titles_set());
        term.unlock_fair();
        Self { seq, size, events, titles, titles_set }
    }
}

/// Where a pane's program is.
enum Cwd {
    Here(PathBuf),
    /// On another host: the URI that was reported.
    Elsewhere(String),
}

impl Drop for Pane {
    fn drop(&mut self) {
        self.memory.begin();
    }
}

impl Pane {
    pub(crate) fn new(
        id: PaneId,
        process: Arc<dyn Process>,
        term: Term,
        on_exit: OnExit,
        observers: Arc<Observers>,
        mux: Weak<Mux>,
    ) -> Self {
        Self {
            id,
            seq: watch::Sender::new(term.seq()),
            term: Mutex::new(term),
            process,
            command: None,
            name: Mutex::default(),
            titles: Mutex::default(),
            nonce: None,
            variables: None,
            queue: WriteQueue::default(),
            enters_at_prompt: AtomicU64::new(0),
            touches_at_prompt: AtomicU64::new(0),
            shell_at_prompt: AtomicI32::new(0),
            inputs_shown: AtomicU64::new(0),
            echoes: AtomicBool::new(false),
            touches: AtomicU64::new(0),
            taps: Arc::default(),
            state: Mutex::new(PaneState::Running),
            is_pinned: AtomicBool::new(false),
            on_exit,
            observers,
            mux,
            memory: ReturnMemory::default(),
        }
    }

    /// Starts the two threads; each lets go of its `Alive` at its very end.
    pub(crate) fn start(self: &Arc<Self>, alive: [Alive; 2]) -> io::Result<()> {
        let [reading, writing] = alive;
        let pane = self.clone();
        thread::Builder::new().name(format!("pane {} reader", self.id.0)).spawn(move || {
            let _alive = reading;
            pane.run_reader();
            drop(pane);
        })?;
        let pane = self.clone();
        thread::Builder::new().name(format!("pane {} writer", self.id.0)).spawn(move || {
            let _alive = writing;
            pane.run_writer();
            drop(pane);
        })?;
        Ok(())
    }

    /// Ends the program and the threads, without waiting for either.
    pub(crate) fn close(&self) {
        *self.state.lock() = PaneState::Removed;
        self.queue.close();
        self.process.kill();
        self.taps.end();
        self.seq.send_modify(|_| {});
    }

    /// Says what it was asked to run; before it is shared.
    pub(crate) fn set_command(&mut self, command: Option<(String, Vec<String>)>) {
        self.command = command;
    }

    /// Says what the marks of its own shells carry; before it is shared.
    pub(crate) fn set_nonce(&mut self, nonce: Option<Arc<str>>) {
        self.nonce = nonce;
    }

    /// Gives it what its shells are told to set; before it is shared.
    pub(crate) fn set_variables(&mut self, variables: Option<Variables>) {
        self.variables = variables;
    }

    /// What becomes of it when its program ends.
    pub(crate) fn on_exit(&self) -> OnExit {
        self.on_exit
    }

    fn run_writer(&self) {
        let tell = |bytes: &[u8]| self.tell_input(bytes, self.taps.hide(self));
        self.queue.run(tell, |bytes| self.process.write(bytes));
    }

    /// Tells the taps of input before it is written, so that no echo comes before what it is the echo of.
    fn tell_input(&self, bytes: &[u8], is_hidden: bool) {
        if self.taps.any() {
            self.taps.publish_input(*self.seq.borrow(), bytes, is_hidden);
        }
    }

    fn run_reader(&self) {
        let mut buffer = [0; PIECE];
        if catch_unwind(AssertUnwindSafe(|| self.apply_output(&mut buffer))).is_err() {
            tracing::error!(
                pane = self.id.0,
                "the terminal failed on this output; its program is ended"
            );
            self.process.kill();
        }
        // A closed pane's program may have last words, and read() is what ends it.
        loop {
            match self.process.read(&mut buffer, None) {
                Ok(ReadOutcome::Ended) => break,
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(pane = self.id.0, %error, "cannot read from a program");
                    break;
                }
            }
        }
        self.finish();
    }

    /// Applies output until the program ends or the pane is closed.
    fn apply_output(&self, buffer: &mut [u8]) {
        let mut output = Output { parser: Parser::new(), synchronized_until: None };
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
            self.tell(seq, events);
            if outcome == ReadOutcome::Ended {
                return;
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
            self.note_titles(titles, titles_set, events);
            if is_at_prompt {
                let shell = self.process.group_in_front().unwrap_or_default();
                self.shell_at_prompt.store(shell, Ordering::Release);
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

    /// Makes real what the terminal let its program do to the grid (XTWINOPS, DECCOLM): the pty follows before any reply
    /// goes out, and the window keeps off that grid from now on.
    fn follow_requests(&self, events: &[Event], size: Size) {
        let is_resize = |event: &Event| matches!(event, Event::Window(WindowRequest::Resize(_)));
        if events.iter().any(is_resize) {
            self.is_pinned.store(true, Ordering::Release);
            self.resize_pty(size);
        }
    }

    /// Sends what the terminal answers to the program.
    fn reply(&self, replies: &[u8]) {
        if let Err(error) = self.queue.push(replies) {
            tracing::debug!(pane = self.id.0, %error, "replies dropped");
        }
    }

    /// Tells everybody of a change, with no lock held.
    fn tell(&self, seq: u64, events: Vec<Event>) {
        // First the window, since a person waits for its picture.
        if seq > *self.seq.borrow() {
            self.observers.output(self.id);
        }
        self.publish(seq);
        for event in events {
            match event {
                Event::Bell => self.observers.event(MuxEvent::Bell(self.id)),
                Event::Title => self.observers.event(MuxEvent::Title(self.id)),
                Event::Cwd => self.observers.event(MuxEvent::Cwd(self.id)),
                Event::Clipboard { target, text } => {
                    self.observers.event(MuxEvent::Clipboard { pane: self.id, target, text });
                }
                // Part of the terminal's state, read from it by those who draw.
                Event::Palette => {}
                event => self.observers.event(MuxEvent::Told { pane: self.id, event }),
            }
        }
    }

    /// Moves the watched `seq` forward, unless it was told already.
    fn publish(&self, seq: u64) {
        self.seq.send_if_modified(|last| {
            let is_new = seq > *last;
            *last = seq.max(*last);
            is_new
        });
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
        self.tell(seq, events);
        self.taps.end();
        self.seq.send_modify(|_| {});
        if was_running {
            self.observers.event(MuxEvent::PaneExited(self.id));
            if let Some(mux) = self.mux.upgrade() {
                mux.program_ended(self);
            }
        }
    }

    /// Its id.
    pub fn id(&self) -> PaneId {
        self.id
    }

    /// Its terminal, locked. Hold it briefly: the program's output waits.
    pub fn term(&self) -> MutexGuard<'_, Term> {
        self.term.lock()
    }

    /// The terminal's `seq` as last published; moves after every batch of output and resize. To wait: get this first,
    /// test the condition, then await `changed()` and test again. It wakes, with the same `seq`, also when the pane's
    /// [`PaneState`] changes.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.seq.subscribe()
    }

    /// Queues input for the program, all of it or nothing; never blocks. A key's bytes are with the program at once where
    /// nothing waits before them.
    pub fn write(&self, bytes: &[u8]) -> Result<(), WriteError> {
        self.write_input(bytes, None).map(drop)
    }

    /// Whether the terminal itself shows input: if the program asked for that (SRM, as in xterm) and does not read a line
    /// without echo, which is a password.
    fn echoes_input(&self) -> bool {
        self.echoes.load(Ordering::Acquire) && !self.process.reads_secret()
    }

    /// Shows the queued input that is to be echoed, before the program gets it. What it holds may look like a question:
    /// nothing is answered.
    fn echo_input(&self) {
        self.queue.echo(
            |parser, bytes| {
                let mut term = self.term.lock();
                parser.advance(&mut term, bytes);
                Shown::take(term)
            },
            |shown| self.tell_shown(shown),
        );
    }

    /// Tells of what bytes that the program has not written did to the terminal.
    fn tell_shown(&self, shown: Shown) {
        let Shown { seq, size, mut events, titles, titles_set } = shown;
        self.note_titles(titles, titles_set, &mut events);
        self.follow_requests(&events, size);
        self.tell(seq, events);
    }

    /// Forgets what has scrolled off the screen, as the program could (ED 3).
    pub fn clear_history(&self) {
        self.show(b"\x1b[3J");
    }

    /// Brings the terminal to its first state, with an empty screen and history, as the program could (RIS).
    pub fn reset(&self) {
        self.show(b"\x1bc");
    }

    /// Does to the terminal what whole sequences do.
    fn show(&self, bytes: &[u8]) {
        let mut term = self.term.lock();
        Parser::new().advance(&mut term, bytes);
        self.echoes.store(term.echoes_locally(), Ordering::Release);
        self.tell_shown(Shown::take(term));
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

    /// Says that a person types here.
    pub fn touch(&self) {
        self.touches.fetch_add(1, Ordering::AcqRel);
    }

    /// How often a person has typed here: who counted before knows whether one did since.
    pub fn touches(&self) -> u64 {
        self.touches.load(Ordering::Acquire)
    }

    fn write_input(&self, bytes: &[u8], behind: Option<SoFar>) -> Result<bool, WriteError> {
        let write = |bytes: &[u8]| self.process.try_write(bytes);
        // Whether input is to be hidden takes a look at the terminal, for which a key does not wait: the writer's business.
        let at_once = !self.taps.any_hides();
        let is_echoed = self.echoes_input();
        let begin = |bytes: &[u8]| {
            if is_echoed {
                self.echo_input();
            }
            // A tap that asks since that look is not shown this.
            self.tell_input(bytes, true);
        };
        let outcome = self.queue.push_input(bytes, behind, at_once, is_echoed, begin, write);
        if is_echoed {
            self.echo_input();
        }
        outcome
    }

    /// Resizes the terminal, then the pty.
    pub fn resize(&self, size: Size) {
        self.resize_following(size, &mut []);
    }

    /// As [`Pane::resize`]; `points` of the screen that is shown become those where the same text is then, `None` where it
    /// is no longer kept. Returns the terminal's `seq` after it.
    pub fn resize_following(&self, size: Size, points: &mut [Option<Point>]) -> u64 {
        let size = Size { cols: size.cols.max(1), rows: size.rows.max(1), ..size };
        let mut term = self.term.lock();
        if term.size() == size {
            return term.seq();
        }
        term.resize_following(size, points);
        let (seq, replies, events) = (term.seq(), term.take_replies(), term.take_events());
        term.unlock_fair();
        self.resize_pty(size);
        self.reply(&replies);
        self.tell(seq, events);
        seq
    }

    /// Gives the pty the terminal's size. Of two resizes at once the last one wins, in the pty as in the terminal: each
    /// looks again after its own.
    fn resize_pty(&self, mut size: Size) {
        loop {
            if let Err(error) = self.process.resize(size) {
                tracing::debug!(pane = self.id.0, %error, "cannot resize the pty");
                break;
            }
            let now = self.term.lock().size();
            if now == size {
                break;
            }
            size = now;
        }
    }

    /// Changes the theme's colours under what the program set.
    pub fn set_palette(&self, palette: Arc<Palette>) {
        self.act_on(|term| term.set_base_palette(palette));
    }

    /// A person clicked a notification of the program's, by its handle, or a button of it, from 1.
    pub fn notification_clicked(&self, handle: u64, button: Option<u8>) {
        self.act_on(|term| term.activate_notification(handle, button));
    }

    /// A notification of the program's is not on show, or no longer.
    pub fn notification_closed(&self, handle: u64) {
        self.act_on(|term| term.close_notification(handle));
    }

    /// Does something to the terminal that its program may have to hear of.
    fn act_on(&self, act: impl FnOnce(&mut Term)) {
        let mut term = self.term.lock();
        act(&mut term);
        let (seq, replies, events) = (term.seq(), term.take_replies(), term.take_events());
        term.unlock_fair();
        self.reply(&replies);
        self.tell(seq, events);
    }

    /// Whether a caller fixed the grid's size (an explicit size in session.create), so that the window keeps off.
    pub fn is_pinned(&self) -> bool {
        self.is_pinned.load(Ordering::Acquire)
    }

    /// Fixes the grid's size, or gives it back to the window (without one: to its tab's share of cells, at once).
    pub fn set_pinned(&self, pinned: bool) {
        let was_pinned = self.is_pinned.swap(pinned, Ordering::AcqRel);
        if was_pinned
            && !pinned
            && let Some(mux) = self.mux.upgrade()
        {
            mux.divide_cells();
        }
    }

    /// Whether its program runs.
    pub fn state(&self) -> PaneState {
        *self.state.lock()
    }

    /// Its program.
    pub fn process(&self) -> &Arc<dyn Process> {
        &self.process
    }

    /// Gives it a title that its program doesn't change; an empty one takes it away.
    pub fn set_name(&self, name: &str) {
        *self.name.lock() = Some(name.trim().to_owned()).filter(|name| !name.is_empty());
        self.observers.event(MuxEvent::Title(self.id));
    }

    /// Whether it was given a name ([`Pane::set_name`]).
    pub fn has_name(&self) -> bool {
        self.name.lock().is_some()
    }

    /// The program it was asked to run, with its arguments; `None`: a shell, whichever the defaults say.
    pub fn command(&self) -> Option<(&str, &[String])> {
        self.command.as_ref().map(|(program, args)| (program.as_str(), args.as_slice()))
    }

    /// What the marks of its own shells carry and nothing else can know (OSC 133 `nonce=`); `None`: no shell integration.
    pub fn nonce(&self) -> Option<&Arc<str>> {
        self.nonce.as_ref()
    }

    /// Has the pane's shells set a variable (`None`: take it away) before their next prompt, and most before their next command; what is split off
    /// the pane has it too. False: a shell of the pane has to have integration for that, and none has marked a prompt. Nothing is
    /// typed. Writes files.
    ///
    /// # Errors
    /// When the name is none that every shell takes, and when the files can't be written.
    pub fn set_variable(&self, name: &str, value: Option<&str>) -> io::Result<bool> {
        if !is_name(name) || value.is_some_and(|value| value.contains('\0')) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no variable of a shell"));
        }
        let Some(variables) = &self.variables else { return Ok(false) };
        variables.set(name, value)?;
        Ok(self.term.lock().commands().next_back().is_some())
    }

    /// Has a shell that waits at a prompt look at the variables that were set: bash does so by itself only before the next
    /// prompt.
    pub fn announce_variables(&self) {
        let is_prompting =
            self.term.lock().commands().next_back().is_some_and(Command::is_prompting);
        if is_prompting && let Err(error) = self.process.signal(Signal::WindowChanged) {
            tracing::debug!(pane = self.id.0, %error, "a shell was not told of variables");
        }
    }

    /// What [`Pane::set_variable`] last said of a variable: its value, `Some(None)` if it was taken away.
    pub fn variable(&self, name: &str) -> Option<Option<String>> {
        self.variables.as_ref()?.get(name)
    }

    /// The variables of [`Pane::set_variable`] that are set.
    pub fn variables(&self) -> Vec<(String, String)> {
        self.variables.as_ref().map(Variables::all).unwrap_or_default()
    }

    /// The process group in the foreground.
    pub fn foreground(&self) -> Option<Foreground> {
        self.process.foreground()
    }

    /// The working directory as a URI: `file:///path` on this machine, `file://host/path` on another; empty when nobody
    /// knows it.
    pub fn cwd_uri(&self) -> String {
        match self.cwd() {
            Some(Cwd::Here(path)) => uri::from_path(&path),
            Some(Cwd::Elsewhere(uri)) => uri,
            None => String::new(),
        }
    }

    /// The working directory as a local path, for a new pane beside this one; that of the process where it is on another
    /// host, `None` when it is gone.
    pub fn cwd_path(&self) -> Option<PathBuf> {
        let path = match self.cwd()? {
            Cwd::Here(path) => Some(path),
            Cwd::Elsewhere(_) => self.process.cwd(),
        };
        path.filter(|path| path.is_dir())
    }

    /// From OSC 7, else from the system. A shell may have reported before its last command, or never: where the system
    /// shows the shell in another directory, that one counts.
    fn cwd(&self) -> Option<Cwd> {
        let reported = self.term.lock().cwd().map(str::to_owned);
        let Some(reported) = reported else { return self.process.cwd().map(Cwd::Here) };
        let Some(path) = uri::to_local_path(&reported) else {
            return Some(Cwd::Elsewhere(reported));
        };
        let own = self.process.shell_cwd().filter(|own| {
            // The shell reports the name of a link, the system what is behind it.
            path.canonicalize().ok().as_ref() != Some(own)
        });
        Some(Cwd::Here(own.unwrap_or(path)))
    }

    /// Signals the foreground process group.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        self.process.signal(signal)
    }

    /// Starts a tap on the bytes that pass through this pane; it ends when dropped.
    pub fn tap(&self) -> Tap {
        self.taps.start(None)
    }

    /// The same for a recording: the pane's reader waits while the tap's queue is full, and input is marked that is not to be
    /// seen. `hides` is asked as the input is written: what is true when the tap is read may be another thing.
    pub fn tap_recording(&self, hides: Hides) -> Tap {
        self.taps.start(Some(hides))
    }
}

impl std::fmt::Debug for Pane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pane")
            .field("id", &self.id)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

/// Whether a batch has the end of a synchronized update in it. One that is cut in two between batches is missed, which
/// costs a picture at most.
fn ends_synchronized(bytes: &[u8]) -> bool {
    const END: &[u8] = b"\x1b[?2026l";
    bytes.windows(END.len()).any(|window| window == END)
}

#[cfg(test)]
mod tests;
