//! The mux: programs on ptys, the panes with their terminals, and the tabs and splits that arrange the panes.
//!
//! Owns processes, the threads that read and write them, the layout tree, waiting for output, and the encoding of keys,
//! mouse and paste as bytes. Never draws, and never handles JSON, windows or fonts.
//!
//! Locks: one mutex guards each pane's [`unterm_term::Term`], and the reader releases it fairly. Another mutex guards
//! the tree of tabs, which is published as an immutable [`Layout`]. Short locks guard queues and names. A thread holds
//! at most one lock of this crate at a time. While it holds one, it never waits, does I/O or calls an [`Observer`]; in
//! debug builds the module `lock` asserts this. Three locks do not guard data but serialize system calls: the look-up of
//! the user's shell, the writing of a pane's variables to files, and the requests to a keeper.

mod at_exit;
mod id;
mod image_budget;
pub mod input;
mod layout;
mod lock;
mod media;
mod memory;
mod mux;
mod observer;
mod pane;
pub mod private;
mod process;
pub mod quote;
pub mod random;
mod shown_line;
mod tap;
mod tmux;
pub mod transfer;
mod typed;
mod uri;

pub use at_exit::at_exit;
pub use id::PaneId;
pub use layout::{Axis, Direction, Divider, Layout, Node, Rect, Spacing, SplitPath, Tab, TabId};
pub use lock::MutexGuard;
#[cfg(target_os = "linux")]
pub use mux::NotAttached;
pub use mux::{
    Defaults, HandoverCheck, Mux, MuxError, MuxOptions, NotAdopted, OpenedTab, PanePlacement,
    PaneTree,
};
pub use observer::{MuxEvent, Observer};
pub use pane::{
    AtPrompt, Handover, Hides, LiveView, OnExit, Pane, PaneState, PlainPrompt, Touch,
    WRITE_CAPACITY, WriteError,
};
pub use process::{
    Ancestor, CheckpointDue, Execution, ExitStatus, Foreground, Job, JournalContents, KILL_GRACE,
    OutputJournal, Process, ProgramPlacement, PtyProcess, PtySpawner, ReadOutcome, SCRIPTS,
    ShellIntegration, Signal, Spawn, SpawnError, SpawnOrigin, Spawner, TermChange, is_carrier,
    limit_kept_memory, listening_ports, program_error, raise_descriptor_limit,
    restore_descriptor_limit, variable_of,
};
#[cfg(target_os = "linux")]
pub use process::{KeptSpawner, LeftProgram, SuccessorProgram};
pub use shown_line::{Distortion, ShownLine};
pub use tap::{TAP_CAPACITY, Tap, TapDirection, TapEnd, TapItem};
pub use transfer::{TransferDirection, TransferRequest};
pub use typed::{Composed, Edited, Line, TypedLine};
pub use uri::{
    from_path as file_uri, normalize as normalize_file_uri, percent_decode, percent_encode,
    to_local_path as local_path,
};
