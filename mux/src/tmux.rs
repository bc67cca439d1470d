//! Panes of a tmux server: their processes, and the link through which tmux sends their output and receives their input.
//!
//! Owns the parts that need no mux: the exchange with the server, and the conversion between tmux's layouts and trees
//! of splits. Never changes tabs; `mux::tmux` does.

mod fit;
mod follow;
mod link;
mod process;

pub(crate) use fit::{grid_of_window, tree};
pub(crate) use link::{Link, TabWindow};
pub(crate) use process::TmuxProcess;
