//! One pane: a program, its terminal, and the two threads between them.
//!
//! Owns the pane's parts and its states: created, started, exited or closed. The modules below own the byte streams
//! (`reader`, `writer` with its `queue`, `echo`) and the pane's properties (`title`, `variables`, `prompt`, `settings`,
//! `size`, `program`). Never depends on tabs: the [`Owner`] decides what happens when a program ends.

mod checkpoint;
mod clipboard;
mod control_mode;
mod echo;
mod handover;
mod images;
mod live_view;
mod plain_prompt;
mod program;
mod prompt;
mod queue;
mod reader;
mod release;
mod settings;
mod size;
mod title;
mod titles;
mod transfer;
mod variables;
mod visibility;
mod writer;

use std::{
    io,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicI32, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::sync::watch;
use unterm_term::{Event, Parser, Term};

use crate::{
    Execution, ExitStatus, MuxEvent, PaneId, Process, Tap,
    lock::{Mutex, MutexGuard},
    memory::ReturnMemory,
    observer::{Alive, Observers, Threads},
    process::Variables,
    tap::Taps,
    transfer::Transfers,
};

pub(crate) use control_mode::ControlClient;
pub use handover::Handover;
pub(crate) use handover::Rest;
pub use live_view::LiveView;
pub use plain_prompt::PlainPrompt;
pub use prompt::AtPrompt;
use queue::WriteQueue;
pub use queue::{WRITE_CAPACITY, WriteError};
use titles::Titles;
use visibility::Visibility;
pub use writer::Touch;

/// A function that returns whether input typed into a pane now must be hidden. The pane's writer calls it right before
/// writing the input, with no lock held.
pub type Hides = Arc<dyn Fn(&Pane) -> bool + Send + Sync>;

/// What happens to a pane in a tab when its program ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnExit {
    /// The pane is removed.
    #[default]
    Close,
    /// The pane is removed if anything was typed into it. Otherwise it stays: a shell that ends by itself has probably
    /// failed, and its output explains why.
    CloseAfterInput,
    /// The pane stays, and its text readable, until it is closed.
    Hold,
    /// The pane is removed if its program exited with code 0. Otherwise it stays, like with [`OnExit::Hold`].
    HoldFailed,
}

/// Whether a pane's program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PaneState {
    /// The program runs.
    Running,
    /// The program has ended, and all its output has been read.
    Exited(ExitStatus),
    /// The pane was closed and its program killed, or its program was released ([`crate::Mux::release`]). The pane's
    /// threads have stopped or are stopping.
    Removed,
}

/// The owner of a pane: its mux.
pub(crate) trait Owner: Send + Sync {
    /// The pane's program has ended by itself.
    fn program_ended(&self, pane: &Pane);
    /// The images of a pane use more memory than before. Called with no lock held.
    fn images_grew(&self);
    /// The size of the pane's grid is no longer pinned.
    fn unpinned(&self);
    /// Whether a user can be asked: whether there is a window.
    fn has_user(&self) -> bool;
    /// The pane's program has begun tmux's control mode. Returns its client. Called with no lock held.
    fn control_client(&self, pane: &Pane) -> Option<Arc<dyn ControlClient>>;
}

/// The parts of a new pane.
pub(crate) struct Parts {
    pub(crate) id: PaneId,
    pub(crate) process: Arc<dyn Process>,
    pub(crate) term: Term,
    /// The requested program and its arguments. `None`: the default shell.
    pub(crate) command: Option<(String, Vec<String>)>,
    /// The secret in the prompt marks of the pane's own shells. `None`: no shell integration.
    pub(crate) nonce: Option<Arc<str>>,
    pub(crate) name: Option<String>,
    /// The state that the program's previous pane handed over. Empty for a program's first pane.
    pub(crate) rest: Rest,
    pub(crate) on_exit: OnExit,
    pub(crate) observers: Arc<Observers>,
    pub(crate) owner: Weak<dyn Owner>,
}

/// One pane.
pub struct Pane {
    id: PaneId,
    term: Mutex<Term>,
    /// The memory that the terminal's images and unfinished data used after the last output, in bytes.
    image_bytes: AtomicUsize,
    /// The part of `image_bytes` for images and clipboard data that have not arrived completely.
    unfinished_bytes: AtomicUsize,
    /// The terminal's `seq` that was published last. When the pane's state changes, receivers wake although the value
    /// stays the same.
    seq: watch::Sender<u64>,
    process: Arc<dyn Process>,
    /// The requested program and its arguments. `None`: the default shell.
    command: Option<(String, Vec<String>)>,
    /// The name set by [`Pane::set_name`].
    name: Mutex<Option<String>>,
    /// The titles set by programs.
    titles: Mutex<Titles>,
    /// The secret in the prompt marks of the pane's own shells. `None`: no shell integration.
    nonce: Option<Arc<str>>,
    /// The variables that the pane's shells must set. `None`: no shell integration.
    variables: Option<Arc<Variables>>,
    /// The parser of the output. While the reader runs, the reader owns it.
    parser: Mutex<Parser>,
    /// Output that a process that is gone has read and not applied. The reader applies it first.
    unread: Mutex<Vec<u8>>,
    queue: WriteQueue,
    /// The program's file transfers.
    transfers: Mutex<Transfers>,
    /// The value of [`Pane::enters`] when the last prompt began.
    enters_at_prompt: AtomicU64,
    /// The prompt state of a shell that does not mark its prompts.
    plain_prompt: Mutex<PlainPrompt>,
    /// The value of [`Pane::touches`] when the last prompt began.
    touches_at_prompt: AtomicU64,
    /// The number of inputs when the last prompt began.
    inputs_at_prompt: AtomicU64,
    /// The shell that showed the last prompt.
    shell_at_prompt: Mutex<Option<Execution>>,
    /// The foreground process group when the working directory was last reported; 0 before the first report.
    cwd_reporter: AtomicI32,
    /// The number of inputs when the last output was applied. The effect of later inputs cannot be part of that output.
    inputs_shown: AtomicU64,
    /// When the pane was created.
    created: Instant,
    /// The time of the last output, in milliseconds since the pane was created.
    last_output: AtomicU64,
    /// Whether the program asked the terminal to echo input (SRM). The reader updates it.
    echoes: AtomicBool,
    /// How often the user has typed.
    touches: AtomicU64,
    /// When the user last typed.
    last_touch: Mutex<Option<Touch>>,
    taps: Arc<Taps>,
    /// The running threads: reader and writer.
    threads: Arc<Threads>,
    state: Mutex<PaneState>,
    /// Whether the pane was closed in a way that can still be undone.
    is_set_aside: AtomicBool,
    is_pinned: AtomicBool,
    /// Whether the window or a live view shows the pane.
    visibility: Visibility,
    on_exit: Mutex<OnExit>,
    observers: Arc<Observers>,
    owner: Weak<dyn Owner>,
    /// The client of tmux's control mode, while the program is in it.
    control: Mutex<Option<Arc<dyn ControlClient>>>,
    /// Whether `control` contains a client. Input can check it without the lock.
    is_control_client: AtomicBool,
    /// A reference to this pane for callbacks that outlive the call that creates them.
    this: Weak<Pane>,
    /// Must be the last field, so that it is dropped after the terminal.
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
        let Rest { parser, titles, unsent, unread, marks, variables, .. } = rest;
        let titles = titles.resumed(term.title(), term.titles_set());
        Arc::new_cyclic(|this| Self {
            id,
            seq: watch::Sender::new(term.seq()),
            echoes: AtomicBool::new(term.echoes_locally()),
            image_bytes: AtomicUsize::new(term.image_bytes()),
            unfinished_bytes: AtomicUsize::new(term.unfinished_bytes()),
            visibility: Visibility::new(term.is_visible()),
            term: Mutex::new(term),
            process,
            command,
            name: Mutex::new(name),
            titles: Mutex::new(titles),
            nonce,
            variables,
            parser: Mutex::new(parser),
            unread: Mutex::new(unread),
            queue: WriteQueue::resumed(unsent),
            transfers: Mutex::default(),
            enters_at_prompt: AtomicU64::new(marks.enters),
            // Until its first input, a shell that waits for input is at its first prompt.
            plain_prompt: Mutex::new(PlainPrompt::At(0)),
            touches_at_prompt: AtomicU64::new(marks.touches),
            inputs_at_prompt: AtomicU64::new(marks.inputs),
            shell_at_prompt: Mutex::new(marks.shell),
            cwd_reporter: AtomicI32::new(marks.cwd_reporter),
            inputs_shown: AtomicU64::new(marks.inputs_shown),
            created: Instant::now(),
            last_output: AtomicU64::new(0),
            touches: AtomicU64::new(marks.touches_now),
            last_touch: Mutex::default(),
            taps: Arc::default(),
            threads: Arc::default(),
            state: Mutex::new(PaneState::Running),
            is_set_aside: AtomicBool::new(false),
            is_pinned: AtomicBool::new(false),
            on_exit: Mutex::new(on_exit),
            observers,
            owner,
            control: Mutex::default(),
            is_control_client: AtomicBool::new(false),
            this: this.clone(),
            memory: ReturnMemory::default(),
        })
    }

    /// Starts the pane's two threads. Each thread drops its `Alive` as its last step.
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

    /// Ends the program and the threads, without waiting for them.
    pub(crate) fn close(&self) {
        *self.state.lock() = PaneState::Removed;
        self.queue.close();
        self.process.kill();
        self.taps.end();
        self.seq.send_modify(|_| {});
    }

    /// Whether the pane would be removed if its program ended now.
    pub fn closes_on_exit(&self) -> bool {
        let on_exit = *self.on_exit.lock();
        match on_exit {
            OnExit::Close => true,
            OnExit::CloseAfterInput => self.queue.inputs() > 0,
            OnExit::Hold => false,
            OnExit::HoldFailed => self.process.exit_status() == Some(ExitStatus::Code(0)),
        }
    }

    /// Sets what happens to the pane when its program ends. Has no effect if the program has already ended.
    pub fn set_on_exit(&self, on_exit: OnExit) {
        *self.on_exit.lock() = on_exit;
    }

    /// Announces a change to observers and waiters. Must be called with no lock held.
    fn announce(&self, seq: u64, events: Vec<Event>) {
        // Notify observers before waiters: the window is an observer, and the user waits for its picture.
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
                // The palette is part of the terminal's state, and the renderer reads it from there.
                Event::Palette => {}
                event => self.observers.event(MuxEvent::Told { pane: self.id, event }),
            }
        }
    }

    /// Publishes a newer `seq` to receivers. An older value has no effect.
    fn publish(&self, seq: u64) {
        self.seq.send_if_modified(|last| {
            let is_new = seq > *last;
            *last = seq.max(*last);
            is_new
        });
    }

    /// The pane's id.
    pub fn id(&self) -> PaneId {
        self.id
    }

    /// Locks the terminal. Hold the lock only briefly: the program's output is not processed meanwhile.
    pub fn term(&self) -> MutexGuard<'_, Term> {
        self.term.lock()
    }

    /// Watches the terminal's `seq`, which is published after every batch of output and every resize. To wait for a
    /// condition: subscribe, test it, await `changed()`, and test again. A change of the pane's [`PaneState`] also
    /// wakes receivers, with the same `seq`.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.seq.subscribe()
    }

    /// How long the program has printed nothing and received no input, to the millisecond.
    pub fn silence(&self) -> Duration {
        let last_output = Duration::from_millis(self.last_output.load(Ordering::Acquire));
        let silence = self.created.elapsed().saturating_sub(last_output);
        self.queue.last_input().map_or(silence, |last| silence.min(last.elapsed()))
    }

    /// Whether the pane's program runs. A closed pane counts as removed, even if the closing can still be undone.
    pub fn state(&self) -> PaneState {
        match self.is_set_aside.load(Ordering::Acquire) {
            true => PaneState::Removed,
            false => *self.state.lock(),
        }
    }

    /// If `is_aside`, lets the pane appear removed while its program keeps running; calls about the pane and its taps
    /// then end. Otherwise, lets the pane appear again.
    pub(crate) fn set_aside(&self, is_aside: bool) {
        self.is_set_aside.store(is_aside, Ordering::Release);
        if is_aside {
            self.taps.end_present();
        }
        self.seq.send_modify(|_| {});
    }

    /// The pane's program.
    pub fn process(&self) -> &Arc<dyn Process> {
        &self.process
    }

    /// Starts a tap on the bytes that pass through this pane. Dropping the tap ends it.
    pub fn tap(&self) -> Tap {
        self.taps.start(None)
    }

    /// Starts a tap for a recording: the pane's reader waits while the tap's queue is full, and hidden input is marked.
    /// `hides` is called when the input is written, because its result may change before the tap is read.
    pub fn tap_recording(&self, hides: Hides) -> Tap {
        let this = self.this.clone();
        // If the pane was dropped, no input is written, so the result does not matter.
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
