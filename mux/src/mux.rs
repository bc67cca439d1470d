//! The mux: every pane by id, the layout, and the operations on both.
//!
//! One short mutex guards the lists of panes and tabs. Under it, only plain data changes. The mux starts and ends
//! programs, resizes grids and calls observers after releasing the lock.

mod arrange;
#[cfg(target_os = "linux")]
mod attach;
mod clipboard;
mod closed;
mod control_mode;
mod handover;
mod leave;
mod open;
mod open_tree;
mod pane_numbers;
#[cfg(target_os = "linux")]
mod placement;
mod respawn;
mod room;
mod undo_close;
mod verify;

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use unterm_term::{Options, Size};

use self::pane_numbers::PaneNumbers;
use crate::{
    Axis, Direction, KILL_GRACE, Layout, MuxEvent, Node, Observer, Pane, PaneId, PtySpawner, Rect,
    Spacing, SpawnError, Spawner, Tab, TabId,
    image_budget::{self, IMAGE_BUDGET, UNFINISHED_BUDGET},
    lock::Mutex,
    observer::{Observers, Threads},
    pane::{ControlClient, Owner},
    tmux::Link,
};

#[cfg(target_os = "linux")]
pub use attach::NotAttached;
pub use handover::NotAdopted;
pub use open::PanePlacement;
pub use open_tree::{OpenedTab, PaneTree};
pub use verify::HandoverCheck;

/// Options of a new mux.
#[derive(Clone, Debug)]
pub struct MuxOptions {
    /// Options of every new terminal. [`Mux::set_defaults`] replaces them.
    pub term: Options,
    /// The size of a pane if neither the caller nor the layout determines it. The default is 120×30.
    pub default_size: Size,
    /// Variables added to the environment that every program inherits (TERM, COLORTERM, TERM_PROGRAM, …). The mux also
    /// adds UNTERM_PANE, the pane's number.
    pub env: Vec<(String, String)>,
    /// If set, a window sizes panes with [`Pane::resize`]. Otherwise the mux divides a tab's cells among its panes,
    /// with one cell between two panes.
    pub sized_by_window: bool,
}

impl Default for MuxOptions {
    fn default() -> Self {
        Self {
            term: Options::default(),
            default_size: Size::cells(120, 30),
            env: Vec::new(),
            sized_by_window: false,
        }
    }
}

/// Defaults for new panes. They can change while the mux runs.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// Options of every new terminal.
    pub term: Options,
    /// The program and its arguments for a pane that names no program. If `None`, see [`crate::Spawn::program`].
    pub shell: Option<(String, Vec<String>)>,
    /// Variables for every program. They override [`MuxOptions::env`] and are overridden by [`Mux::set_env`].
    pub env: Vec<(String, String)>,
    /// The folder with the scripts that make shells mark their prompts ([`crate::ShellIntegration::install`]). `None`
    /// disables shell integration.
    pub shell_integration: Option<PathBuf>,
}

/// Errors of the mux.
#[derive(Debug, thiserror::Error)]
pub enum MuxError {
    /// No such pane.
    #[error("pane {} not found", pane_number(.0))]
    NoPane(PaneId),
    /// No such tab.
    #[error("tab {} not found", tab_number(.0))]
    NoTab(TabId),
    /// The program could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The requested arrangement of a tab does not contain exactly the tab's panes.
    #[error("the arrangement of tab {} must contain each of its panes once", tab_number(.0))]
    OtherPanes(TabId),
    /// The pane belongs to a tmux server, which can't do this.
    #[error("pane {} belongs to tmux: use tmux's own commands for this", pane_number(.0))]
    InTmux(PaneId),
    /// The program would end without this process.
    #[error("the program of pane {} can't continue without this window", pane_number(.0))]
    NotKept(PaneId),
    /// The parts of the split would be too small to use.
    #[error("pane {} is too small to split: each part needs {}", pane_number(.pane), needs(.axis))]
    NoRoom {
        /// The pane to split.
        pane: PaneId,
        /// The direction of the split.
        axis: Axis,
    },
}

fn pane_number(pane: &PaneId) -> u64 {
    pane.0
}

fn tab_number(tab: &TabId) -> u64 {
    tab.0
}

fn needs(axis: &Axis) -> String {
    axis.split_needs()
}

/// Every pane and tab of one process.
pub struct Mux {
    options: MuxOptions,
    spawner: Arc<dyn Spawner>,
    /// Variables set by [`Mux::set_env`].
    env: Mutex<Vec<(String, String)>>,
    defaults: Mutex<Defaults>,
    observers: Arc<Observers>,
    threads: Arc<Threads>,
    pane_numbers: PaneNumbers,
    next_tab: AtomicU64,
    /// The memory that the images of all panes may use together, in bytes.
    image_budget: AtomicUsize,
    unfinished_budget: AtomicUsize,
    state: Mutex<State>,
    this: Weak<Mux>,
}

#[derive(Default)]
struct State {
    layout: Arc<Layout>,
    /// All panes, including hidden panes. Ids increase in the order in which panes are opened.
    panes: BTreeMap<PaneId, Arc<Pane>>,
    /// The size of each tab in cells, if the mux divides tabs itself because no window sizes the panes.
    areas: HashMap<TabId, Size>,
    /// The space that a window gives every tab. `None` until the window reports it.
    space: Option<(Rect, Spacing)>,
    /// The space that a window gives every tab as soon as one more tab is open. `None`: equal to `space`.
    new_tab_space: Option<Rect>,
    /// Panes whose closing can be undone, the most recently closed last.
    closed: Vec<closed::Closed>,
    /// The connections to tmux servers.
    links: Vec<Arc<Link>>,
    /// Whether an observer sends the user's changes of tabs to tmux servers.
    follows_tmux: bool,
    /// Set by [`Mux::shutdown`]. Afterward, no pane can be opened.
    is_closed: bool,
}

/// Panes that were removed from the lists.
struct RemovedPanes {
    panes: Vec<Arc<Pane>>,
    /// Whether the layout changed.
    has_changed: bool,
    /// Whether the layout has no tabs left.
    is_empty: bool,
}

impl State {
    fn layout_mut(&mut self) -> &mut Layout {
        Arc::make_mut(&mut self.layout)
    }

    /// The area of a tab in cells, if the mux divides the tab.
    fn cells(&self, tab: &Tab) -> Option<Rect> {
        let area = self.areas.get(&tab.id)?;
        Some(Rect { x: 0, y: 0, width: u32::from(area.cols), height: u32::from(area.rows) })
    }

    /// The size of each visible pane of a tab that the mux divides. The size of a cell in pixels does not change.
    fn sizes(&self, tab: &Tab) -> Vec<(PaneId, Size)> {
        let (Some(area), Some(rect)) = (self.areas.get(&tab.id), self.cells(tab)) else {
            return Vec::new();
        };
        let cells = |length: u32| u16::try_from(length).unwrap_or(u16::MAX).max(1);
        tab.place(rect, &Spacing::CELLS)
            .into_iter()
            .map(|(pane, rect)| {
                (pane, Size { cols: cells(rect.width), rows: cells(rect.height), ..*area })
            })
            .collect()
    }

    /// Removes panes from the list of panes and from the layout.
    fn take(&mut self, ids: &[PaneId]) -> RemovedPanes {
        let panes: Vec<Arc<Pane>> = ids.iter().filter_map(|id| self.panes.remove(id)).collect();
        let mut has_changed = false;
        for pane in &panes {
            has_changed |= self.take_from_tab(pane.id());
        }
        RemovedPanes { panes, has_changed, is_empty: self.layout.tabs.is_empty() }
    }

    /// Removes a pane from its tab, and removes the tab if it is then empty. Returns false if no tab contains the pane.
    fn take_from_tab(&mut self, pane: PaneId) -> bool {
        let Some((tab, is_gone)) = self.layout_mut().take(pane) else { return false };
        if is_gone {
            self.areas.remove(&tab);
        }
        true
    }
}

impl Mux {
    /// Creates a mux without panes, whose programs run on ptys of this machine.
    pub fn new(options: MuxOptions) -> Arc<Self> {
        Self::with_spawner(options, Arc::new(PtySpawner))
    }

    /// Creates a mux without panes, whose programs `spawner` starts.
    pub fn with_spawner(options: MuxOptions, spawner: Arc<dyn Spawner>) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            spawner,
            env: Mutex::default(),
            defaults: Mutex::new(Defaults { term: options.term.clone(), ..Defaults::default() }),
            options,
            observers: Arc::default(),
            threads: Arc::default(),
            pane_numbers: PaneNumbers::default(),
            next_tab: AtomicU64::new(0),
            image_budget: AtomicUsize::new(IMAGE_BUDGET),
            unfinished_budget: AtomicUsize::new(UNFINISHED_BUDGET),
            state: Mutex::default(),
            this: this.clone(),
        })
    }

    /// The options that the mux was created with.
    pub fn options(&self) -> &MuxOptions {
        &self.options
    }

    /// The number after the highest number that a pane has ever had.
    pub fn next_pane(&self) -> u64 {
        self.pane_numbers.next()
    }

    /// Adds an observer for the life of the mux.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        self.observers.add(observer);
    }

    /// Sets the memory limit for the images of all panes together, in bytes. The initial limit is 640 MiB. A new limit
    /// applies when a program sends the next image.
    pub fn set_image_budget(&self, bytes: usize) {
        self.image_budget.store(bytes, Ordering::Relaxed);
    }

    /// Sets the memory limit for images that have not arrived completely, in bytes. It is part of the image budget. The
    /// initial limit is 128 MiB.
    pub fn set_unfinished_budget(&self, bytes: usize) {
        self.unfinished_budget.store(bytes, Ordering::Relaxed);
    }

    /// Sets an environment variable for every program that is started later.
    pub fn set_env(&self, name: &str, value: &str) {
        let mut env = self.env.lock();
        env.retain(|(known, _)| known != name);
        env.push((name.to_owned(), value.to_owned()));
    }

    /// Removes a variable that [`Mux::set_env`] has set. Programs that are already running still have it.
    pub fn unset_env(&self, name: &str) {
        self.env.lock().retain(|(known, _)| known != name);
    }

    /// Sets the defaults of panes that are opened later.
    pub fn set_defaults(&self, defaults: Defaults) {
        *self.defaults.lock() = defaults;
    }

    /// The current layout.
    pub fn layout(&self) -> Arc<Layout> {
        self.state.lock().layout.clone()
    }

    /// The pane with this id, even if it is hidden.
    pub fn pane(&self, id: PaneId) -> Option<Arc<Pane>> {
        self.state.lock().panes.get(&id).cloned()
    }

    /// The panes of all tabs, in the order in which they were opened. Hidden panes are not included.
    pub fn panes(&self) -> Vec<Arc<Pane>> {
        let state = self.state.lock();
        let is_shown = |id: &PaneId| state.layout.tab_of(*id).is_some();
        state.panes.iter().filter(|(id, _)| is_shown(id)).map(|(_, pane)| pane.clone()).collect()
    }

    /// Ends a pane's program and removes the pane. The pane's neighbor gets its space. A tab without panes closes.
    pub fn close_pane(&self, pane: PaneId) -> Result<(), MuxError> {
        if self.remove(&[pane]) { Ok(()) } else { Err(MuxError::NoPane(pane)) }
    }

    /// Closes every pane of a tab.
    pub fn close_tab(&self, tab: TabId) -> Result<(), MuxError> {
        let layout = self.layout();
        let found = layout.tabs.iter().find(|found| found.id == tab);
        self.remove(&found.ok_or(MuxError::NoTab(tab))?.panes());
        Ok(())
    }

    /// Closes every pane and waits, for a bounded time, until the programs have ended. No pane can be opened
    /// afterward. An [`Observer`] must not call it.
    pub fn shutdown(&self) {
        self.detach_from_tmux();
        let panes: Vec<PaneId> = {
            let mut state = self.state.lock();
            state.is_closed = true;
            state.panes.keys().copied().collect()
        };
        self.remove(&panes);
        self.end_closed(Duration::ZERO);
        if !self.threads.wait(KILL_GRACE + Duration::from_secs(1)) {
            tracing::warn!("a program could not be ended");
        }
    }

    /// Makes a tab the active one.
    pub fn activate_tab(&self, tab: TabId) -> Result<(), MuxError> {
        self.change(|layout| {
            layout.active = index_of(layout, tab)?;
            Ok(())
        })
    }

    /// Sets a tab's title, which programs cannot change. An empty title removes it.
    pub fn rename_tab(&self, tab: TabId, title: &str) -> Result<(), MuxError> {
        self.change(|layout| {
            let index = index_of(layout, tab)?;
            layout.tabs[index].set_title(title);
            Ok(())
        })
    }

    /// Moves a tab to another index, or to the end if the index is too large. The active tab stays active.
    pub fn move_tab(&self, tab: TabId, index: usize) -> Result<(), MuxError> {
        self.change(|layout| {
            let from = index_of(layout, tab)?;
            let active = layout.active_tab().map(|tab| tab.id);
            let moved = layout.tabs.remove(from);
            layout.tabs.insert(index.min(layout.tabs.len()), moved);
            layout.active = layout.tabs.iter().position(|tab| Some(tab.id) == active).unwrap_or(0);
            Ok(())
        })
    }

    /// The focused pane of each tab. The active tab comes first.
    pub fn focused_panes(&self) -> Vec<PaneId> {
        let layout = self.layout();
        let active = layout.active_tab().map(|tab| tab.focused);
        let others = layout.tabs.iter().map(|tab| tab.focused);
        active.into_iter().chain(others.filter(|pane| Some(*pane) != active)).collect()
    }

    /// Focuses a pane and activates its tab. If the focus moves to another pane, zoom ends.
    pub fn focus(&self, pane: PaneId) -> Result<(), MuxError> {
        self.change(|layout| {
            let index = layout.tab_of(pane).ok_or(MuxError::NoPane(pane))?;
            layout.active = index;
            let tab = &mut layout.tabs[index];
            tab.zoomed &= tab.focused == pane;
            tab.focused = pane;
            Ok(())
        })
    }

    /// Focuses the nearest pane of the active tab in a direction. Returns false if there is no pane in that direction.
    pub fn focus_direction(&self, direction: Direction) -> bool {
        let target = self.layout().active_tab().and_then(|tab| tab.neighbor(direction));
        target.is_some_and(|pane| self.focus(pane).is_ok())
    }

    /// Moves the divider of the innermost split that contains `pane` and is divided along the direction's axis. `share`
    /// (0 to 1) is the distance as a share of the split's space. Returns false if there is no such split or its divider
    /// cannot move further.
    pub fn resize_split(&self, pane: PaneId, direction: Direction, share: f32) -> bool {
        let share = if direction.is_forward() { share } else { -share };
        let mut has_moved = false;
        let _ = self.change(|layout| {
            let index = layout.tab_of(pane).ok_or(MuxError::NoPane(pane))?;
            has_moved = layout.tabs[index].root.move_divider(pane, direction.axis(), share);
            Ok(())
        });
        has_moved
    }

    /// Zooms the focused pane of the active tab, or ends zoom.
    pub fn toggle_zoom(&self) {
        let _ = self.change(|layout| {
            let active = layout.active;
            if let Some(tab) = layout.tabs.get_mut(active) {
                tab.zoomed = !tab.zoomed && matches!(tab.root, Node::Split { .. });
            }
            Ok(())
        });
    }

    /// Removes panes and ends their programs; returns false if the mux has none of these panes.
    fn remove(&self, ids: &[PaneId]) -> bool {
        let taken = self.take(ids);
        taken.panes.iter().for_each(|pane| pane.close());
        self.announce_removed(&taken);
        !taken.panes.is_empty()
    }

    /// Removes panes from the list of panes and from the layout. The caller must end their programs and announce the
    /// removal.
    fn take(&self, ids: &[PaneId]) -> RemovedPanes {
        self.state.lock().take(ids)
    }

    fn announce_removed(&self, taken: &RemovedPanes) {
        for pane in &taken.panes {
            self.observers.event(MuxEvent::PaneRemoved(pane.id()));
        }
        if taken.has_changed {
            self.observers.event(MuxEvent::Layout);
            self.divide_cells();
            if taken.is_empty {
                self.observers.event(MuxEvent::Empty);
            }
        }
    }

    /// Applies `change` to the layout, and announces the layout if it differs afterward. If `change` fails, it must
    /// leave the layout unchanged.
    fn change(
        &self,
        change: impl FnOnce(&mut Layout) -> Result<(), MuxError>,
    ) -> Result<(), MuxError> {
        self.change_state(|state| change(state.layout_mut()))
    }

    /// Like [`Mux::change`], but `change` may change the whole state, not only the layout.
    fn change_state(
        &self,
        change: impl FnOnce(&mut State) -> Result<(), MuxError>,
    ) -> Result<(), MuxError> {
        {
            let mut state = self.state.lock();
            let before = state.layout.clone();
            change(&mut state)?;
            if *before == *state.layout {
                state.layout = before;
                return Ok(());
            }
        }
        self.observers.event(MuxEvent::Layout);
        self.divide_cells();
        Ok(())
    }

    /// Gives every visible pane its share of its tab's cells, unless a window sizes the panes. Pinned panes keep their
    /// size.
    fn divide_cells(&self) {
        if self.options.sized_by_window {
            return;
        }
        loop {
            let (layout, sizes) = {
                let state = self.state.lock();
                let sizes: Vec<(Arc<Pane>, Size)> = state
                    .layout
                    .tabs
                    .iter()
                    .flat_map(|tab| state.sizes(tab))
                    .filter_map(|(id, size)| Some((state.panes.get(&id)?.clone(), size)))
                    .collect();
                (state.layout.clone(), sizes)
            };
            for (pane, size) in sizes {
                if !pane.is_pinned() {
                    pane.resize(size);
                }
            }
            // If another thread has changed the layout meanwhile, divide its tabs again.
            if Arc::ptr_eq(&layout, &self.state.lock().layout) {
                return;
            }
        }
    }
}

impl Owner for Mux {
    fn has_user(&self) -> bool {
        self.options.sized_by_window
    }

    fn program_ended(&self, pane: &Pane) {
        // Another pane may have replaced this one, with the same id.
        let current = self.pane(pane.id());
        if current.is_some_and(|current| !std::ptr::eq(&*current, pane)) {
            return;
        }
        // Another thread may meanwhile undo the closing of the pane, so try to remove it once more.
        if pane.closes_on_exit() && !self.remove(&[pane.id()]) && !self.forget_closed(pane.id()) {
            self.remove(&[pane.id()]);
        }
    }

    fn images_grew(&self) {
        let budget = self.image_budget.load(Ordering::Relaxed);
        let unfinished_budget = self.unfinished_budget.load(Ordering::Relaxed);
        let panes: Vec<_> = {
            let state = self.state.lock();
            let bytes: usize = state.panes.values().map(|pane| pane.image_bytes()).sum();
            let unfinished: usize = state.panes.values().map(|pane| pane.unfinished_bytes()).sum();
            if bytes <= budget && unfinished <= unfinished_budget {
                return;
            }
            state.panes.values().filter(|pane| pane.image_bytes() > 0).cloned().collect()
        };
        image_budget::enforce_unfinished(&panes, unfinished_budget);
        image_budget::enforce(&panes, budget);
    }

    fn unpinned(&self) {
        self.divide_cells();
    }

    fn control_client(&self, pane: &Pane) -> Option<Arc<dyn ControlClient>> {
        self.begin_control_mode(pane)
    }
}

impl Drop for Mux {
    /// Ends the programs without waiting; [`Mux::shutdown`] waits.
    fn drop(&mut self) {
        self.detach_from_tmux();
        for pane in self.state.get_mut().panes.values() {
            pane.close();
        }
    }
}

fn index_of(layout: &Layout, tab: TabId) -> Result<usize, MuxError> {
    layout.tabs.iter().position(|found| found.id == tab).ok_or(MuxError::NoTab(tab))
}
