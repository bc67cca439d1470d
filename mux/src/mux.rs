//! The mux itself: every pane by id, the layout, and what is done to them.

use std::sync::Arc;

use unterm_term::{ClipboardTarget, Options, Size};

use crate::{Axis, Direction, Layout, OnExit, Pane, PaneId, Spawn, TabId};

/// What a mux is made with.
#[derive(Clone, Debug)]
pub struct MuxOptions {
    /// For every new terminal.
    pub term: Options,
    /// Size of a pane when nothing else says (120×30).
    pub default_size: Size,
    /// Variables for every program, over the inherited environment (TERM, COLORTERM, TERM_PROGRAM, …).
    pub env: Vec<(String, String)>,
    /// A window gives panes their sizes (by [`Pane::resize`]); otherwise the mux divides a tab's cells among its panes.
    pub sized_by_window: bool,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum MuxError {
    /// No such pane.
    #[error("pane {0:?} not found")]
    NoPane(PaneId),
    /// No such tab.
    #[error("tab {0:?} not found")]
    NoTab(TabId),
    /// The program could not be started.
    #[error("cannot start {program}: {error}")]
    Spawn {
        /// The program.
        program: String,
        /// Why.
        error: String,
    },
    /// The working directory is none.
    #[error("working directory {0:?} is not a directory")]
    BadCwd(std::path::PathBuf),
}

/// What happened, for those who show or report it.
#[derive(Clone, Debug, PartialEq)]
pub enum MuxEvent {
    /// Tabs, splits, focus or the active tab changed; read [`Mux::layout`].
    Layout,
    /// A pane was opened.
    PaneOpened(PaneId),
    /// A pane's program ended.
    PaneExited(PaneId),
    /// A pane is gone.
    PaneRemoved(PaneId),
    /// The last tab has closed.
    Empty,
    /// A pane's title changed.
    Title(PaneId),
    /// A pane's working directory changed.
    Cwd(PaneId),
    /// A bell rang.
    Bell(PaneId),
    /// A program wrote to a clipboard (OSC 52).
    Clipboard {
        /// The pane.
        pane: PaneId,
        /// Which clipboard.
        target: ClipboardTarget,
        /// The text.
        text: String,
    },
}

/// Hears of everything. Called from any thread, with no lock held; must return at once.
pub trait Observer: Send + Sync {
    /// A pane's terminal changed (output, resize, scroll of history).
    fn output(&self, pane: PaneId);
    /// Something happened.
    fn event(&self, event: MuxEvent);
}

/// Every pane and tab of one process.
pub struct Mux {}

impl Mux {
    /// A mux without panes.
    pub fn new(options: MuxOptions) -> Arc<Self> {
        let _ = options;
        todo!()
    }

    /// Adds an observer, kept for the life of the mux.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        let _ = observer;
        todo!()
    }

    /// The tabs as they are now.
    pub fn layout(&self) -> Arc<Layout> {
        todo!()
    }

    /// A pane, also one without a tab.
    pub fn pane(&self, id: PaneId) -> Option<Arc<Pane>> {
        let _ = id;
        todo!()
    }

    /// The panes of all tabs, in the order they were opened (hidden ones left out).
    pub fn panes(&self) -> Vec<Arc<Pane>> {
        todo!()
    }

    /// Opens a tab with one pane behind the active one and activates it. `size`: pins the pane's grid.
    pub fn open_tab(
        &self,
        spawn: Spawn,
        size: Option<Size>,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, MuxError> {
        let _ = (spawn, size, on_exit);
        todo!()
    }

    /// Opens a pane without a tab, of its own size; it is held when its program ends, until [`Mux::close_pane`].
    pub fn open_hidden(&self, spawn: Spawn, size: Size) -> Result<Arc<Pane>, MuxError> {
        let _ = (spawn, size);
        todo!()
    }

    /// Splits `pane`; the new pane comes right of or below it and gets the focus.
    pub fn split(
        &self,
        pane: PaneId,
        axis: Axis,
        spawn: Spawn,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, MuxError> {
        let _ = (pane, axis, spawn, on_exit);
        todo!()
    }

    /// Ends a pane's program and removes the pane; its neighbour takes its space, and a tab without panes closes.
    pub fn close_pane(&self, pane: PaneId) -> Result<(), MuxError> {
        let _ = pane;
        todo!()
    }

    /// Closes every pane of a tab.
    pub fn close_tab(&self, tab: TabId) -> Result<(), MuxError> {
        let _ = tab;
        todo!()
    }

    /// Closes everything and waits (bounded) until the programs are gone: the end of the process.
    pub fn shutdown(&self) {
        todo!()
    }

    /// Makes a tab the active one.
    pub fn activate_tab(&self, tab: TabId) -> Result<(), MuxError> {
        let _ = tab;
        todo!()
    }

    /// Moves a tab to another index.
    pub fn move_tab(&self, tab: TabId, index: usize) -> Result<(), MuxError> {
        let _ = (tab, index);
        todo!()
    }

    /// Focuses a pane and activates its tab.
    pub fn focus(&self, pane: PaneId) -> Result<(), MuxError> {
        let _ = pane;
        todo!()
    }

    /// Focuses the nearest pane in a direction; false when there is none.
    pub fn focus_direction(&self, direction: Direction) -> bool {
        let _ = direction;
        todo!()
    }

    /// Moves the nearest divider of `pane` in that direction by a share of its split's space.
    pub fn resize_split(&self, pane: PaneId, direction: Direction, share: f32) -> bool {
        let _ = (pane, direction, share);
        todo!()
    }

    /// Lets the focused pane of the active tab fill it, or gives the others their space back.
    pub fn toggle_zoom(&self) {
        todo!()
    }
}
