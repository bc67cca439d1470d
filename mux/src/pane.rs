//! One pane: a program, its terminal, and the two threads between them.
//!
//! Owns the pane's parts and its life: made, started, exited or closed. The modules below own what moves bytes (`reader`,
//! `writer` with its `queue`, `echo`) and the pane's properties (`title`, `variables`, `prompt`, `settings`, `size`, `program`).
//! Never knows tabs: what the program's end means for them is the [`Owner`]'s business.

mod echo;
mod handover;
mod program;
mod prompt;
mod queue;
mod reader;
mod release;
mod settings;
mod size;
mod title;
mod titles;
mod variables;
mod writer;

use std::{
    io,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicI32, AtomicU64},
    },
    thread,
};

use tokio::sync::watch;
use unterm_term::{Event, Parser, Term};

use crate::{
    ExitStatus, MuxEvent, PaneId, Process, Tap,
    lock::{Mutex, MutexGuard},
    memory::ReturnMemory,
    observer::{Alive, Observers, Threads},
    process::Variables,
    tap::Taps,
};

pub use handover::Handover;
pub(crate) use handover::Rest;
pub use prompt::AtPrompt;
use queue::WriteQueue;
pub use queue::{WRITE_CAPACITY, WriteError};
use titles::Titles;
pub use writer::Touch;

/// Whether what is typed into a pane now is not to be seen: asked right before it is written, by the pane's writer, with no lock
/// held.
pub type Hides = Arc<dyn Fn(&Pane) -> bool + Send + Sync>;

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
    /// The pane was closed, and its program was ended; or it let go of its program ([`crate::Mux::release`]). Its threads are
    /// gone or going.
    Removed,
}

/// What has a pane: its mux.
pub(crate) trait Owner: Send + Sync {
    /// The pane's program has ended by itself.
    fn program_ended(&self, pane: &Pane);
    /// The size of the pane's grid is no longer pinned.
    fn unpinned(&self);
}

/// What a pane is made with.
pub(crate) struct Parts {
    pub(crate) id: PaneId,
    pub(crate) process: Arc<dyn Process>,
    pub(crate) term: Term,
    /// The program it was asked to run, with its arguments; `None`: a shell, whichever that is.
    pub(crate) command: Option<(String, Vec<String>)>,
    /// What the marks of its own shells carry; `None`: they don't mark anything.
    pub(crate) nonce: Option<Arc<str>>,
    pub(crate) name: Option<String>,
    /// What its last pane left; nothing of a program that has had none.
    pub(crate) rest: Rest,
    pub(crate) on_exit: OnExit,
    pub(crate) observers: Arc<Observers>,
    pub(crate) owner: Weak<dyn Owner>,
}

/// One pane.
pub struct Pane {
    id: PaneId,
    term: Mutex<Term>,
    /// The last `seq` that waiters got; marked changed without a new value when the state changed.
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
    variables: Option<Arc<Variables>>,
    /// The parser of the output, while no reader runs.
    parser: Mutex<Parser>,
    queue: WriteQueue,
    /// How often Enter had been pressed when the last prompt began.
    enters_at_prompt: AtomicU64,
    /// How often a person had typed then.
    touches_at_prompt: AtomicU64,
    /// The process group that was in the foreground when the working directory was last reported. 0: none yet.
    cwd_reporter: AtomicI32,
    /// How much input had come when the last output was applied: it may show as much.
    inputs_shown: AtomicU64,
    /// Whether the program wants its input shown without its doing (SRM); told by the reader.
    echoes: AtomicBool,
    /// How often a person has typed.
    touches: AtomicU64,
    /// When they last did.
    last_touch: Mutex<Option<Touch>>,
    taps: Arc<Taps>,
    /// The reader and the writer, while they run.
    threads: Arc<Threads>,
    state: Mutex<PaneState>,
    is_pinned: AtomicBool,
    on_exit: OnExit,
    observers: Arc<Observers>,
    owner: Weak<dyn Owner>,
    /// For what outlives the call that it is given to.
    this: Weak<Pane>,
    /// Last, so that it is dropped after the terminal.
    memory: ReturnMemory,
}

impl Drop for Pane {
    fn drop(&mut self) {
        self.memory.begin();
    }
}

impl Pane {
    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        let Parts { id, process, term, command, nonce, name, rest, on_exit, observers, owner } =
            parts;
        let Rest { parser, titles, unsent, marks, variables } = rest;
        let titles = titles.resumed(term.title(), term.titles_set());
        Arc::new_cyclic(|this| Self {
            id,
            seq: watch::Sender::new(term.seq()),
            echoes: AtomicBool::new(term.echoes_locally()),
            term: Mutex::new(term),
            process,
            command,
            name: Mutex::new(name),
            titles: Mutex::new(titles),
            nonce,
            variables,
            parser: Mutex::new(parser),
            queue: WriteQueue::resumed(unsent),
            enters_at_prompt: AtomicU64::new(marks.enters),
            touches_at_prompt: AtomicU64::new(marks.touches),
            cwd_reporter: AtomicI32::new(marks.cwd_reporter),
            inputs_shown: AtomicU64::new(marks.inputs_shown),
            touches: AtomicU64::new(marks.touches_now),
            last_touch: Mutex::default(),
            taps: Arc::default(),
            threads: Arc::default(),
            state: Mutex::new(PaneState::Running),
            is_pinned: AtomicBool::new(false),
            on_exit,
            observers,
            owner,
            this: this.clone(),
            memory: ReturnMemory::default(),
        })
    }

    /// Starts the two threads; each lets go of its `Alive` at its very end.
    pub(crate) fn start(self: &Arc<Self>, alive: [Alive; 2]) -> io::Result<()> {
        self.process.attach();
        let [reading, writing] = alive.map(|alive| (alive, self.threads.alive()));
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

    /// What becomes of it when its program ends.
    pub(crate) fn on_exit(&self) -> OnExit {
        self.on_exit
    }

    /// Announces a change to observers and waiters, with no lock held.
    fn announce(&self, seq: u64, events: Vec<Event>) {
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

    /// Moves the watched `seq` forward, unless it is there already.
    fn publish(&self, seq: u64) {
        self.seq.send_if_modified(|last| {
            let is_new = seq > *last;
            *last = seq.max(*last);
            is_new
        });
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

    /// Whether its program runs.
    pub fn state(&self) -> PaneState {
        *self.state.lock()
    }

    /// Its program.
    pub fn process(&self) -> &Arc<dyn Process> {
        &self.process
    }

    /// Starts a tap on the bytes that pass through this pane; it ends when dropped.
    pub fn tap(&self) -> Tap {
        self.taps.start(None)
    }

    /// The same for a recording: the pane's reader waits while the tap's queue is full, and input is marked that is not to be
    /// seen. `hides` is asked as the input is written: what is true when the tap is read may be another thing.
    pub fn tap_recording(&self, hides: Hides) -> Tap {
        let this = self.this.clone();
        // Nobody writes into a pane that is gone.
        let hidden = move || this.upgrade().is_none_or(|pane| hides(&pane));
        self.taps.start(Some(Arc::new(hidden)))
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

#[cfg(test)]
mod tests;
