//! The mux itself: every pane by id, the layout, and what is done to them.
//!
//! One short mutex guards which panes and tabs there are. Under it only plain data changes: programs are started and
//! ended, grids resized and observers called outside.

mod arrange;
mod room;

use std::{
    collections::{BTreeMap, HashMap},
    path::PathBuf,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use unterm_term::{Options, Size, Term};

use crate::{
    Axis, Direction, KILL_GRACE, Layout, MuxEvent, Node, Observer, OnExit, Pane, PaneId,
    PtyProcess, Rect, ShellIntegration, Spacing, Spawn, SpawnError, Tab, TabId, Tap,
    lock::Mutex,
    media::LocalMedia,
    observer::{Observers, Threads},
    pane::{Owner, Parts},
    process::Variables,
};

/// What a mux is made with.
#[derive(Clone, Debug)]
pub struct MuxOptions {
    /// For every new terminal, until [`Mux::set_defaults`] says otherwise.
    pub term: Options,
    /// Size of a pane when nothing else says (120×30).
    pub default_size: Size,
    /// Variables for every program, over the inherited environment (TERM, COLORTERM, TERM_PROGRAM, …). UNTERM_PANE, the
    /// pane's number, is added by the mux.
    pub env: Vec<(String, String)>,
    /// A window gives panes their sizes (by [`Pane::resize`]); otherwise the mux divides a tab's cells among its panes,
    /// one cell between them.
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

/// What panes opened from now on are made with; a person may change it while the mux runs.
#[derive(Clone, Debug, Default)]
pub struct Defaults {
    /// For every new terminal.
    pub term: Options,
    /// The program of a pane that names none, and its arguments; `None`: see [`Spawn::program`].
    pub shell: Option<(String, Vec<String>)>,
    /// Variables for every program, over those of [`MuxOptions::env`] and under those that [`Mux::set_env`] sets.
    pub env: Vec<(String, String)>,
    /// The folder of the scripts that make shells mark their prompts ([`ShellIntegration::install`]); `None`: none is
    /// made to.
    pub shell_integration: Option<PathBuf>,
}

/// What went wrong.
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
    /// The parts of a split would be of no use.
    #[error("pane {} is too small to be split: each part needs {}", pane_number(.pane), needs(.axis))]
    NoRoom {
        /// The pane.
        pane: PaneId,
        /// How the parts would lie.
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
    /// Variables that [`Mux::set_env`] set.
    env: Mutex<Vec<(String, String)>>,
    defaults: Mutex<Defaults>,
    observers: Arc<Observers>,
    threads: Arc<Threads>,
    next_pane: AtomicU64,
    next_tab: AtomicU64,
    state: Mutex<State>,
    this: Weak<Mux>,
}

#[derive(Default)]
struct State {
    layout: Arc<Layout>,
    /// By id, which is the order of opening; also those without a tab.
    panes: BTreeMap<PaneId, Arc<Pane>>,
    /// The cells of each tab, where no window gives sizes.
    areas: HashMap<TabId, Size>,
    /// The space of every tab in a window, once that has said it.
    space: Option<(Rect, Spacing)>,
    /// After [`Mux::shutdown`] nothing is opened any more.
    is_closed: bool,
}

impl State {
    fn layout_mut(&mut self) -> &mut Layout {
        Arc::make_mut(&mut self.layout)
    }

    /// The cells of a tab that the mux divides.
    fn cells(&self, tab: &Tab) -> Option<Rect> {
        let area = self.areas.get(&tab.id)?;
        Some(Rect { x: 0, y: 0, width: u32::from(area.cols), height: u32::from(area.rows) })
    }

    /// The size of each visible pane of such a tab. Cells keep the size in pixels they have.
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

    /// Takes a pane out of its tab, and the tab out of the window when it was the last; false when it has no tab.
    fn take_from_tab(&mut self, pane: PaneId) -> bool {
        let Some((tab, is_gone)) = self.layout_mut().take(pane) else { return false };
        if is_gone {
            self.areas.remove(&tab);
        }
        true
    }
}

impl Mux {
    /// A mux without panes.
    pub fn new(options: MuxOptions) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            env: Mutex::default(),
            defaults: Mutex::new(Defaults { term: options.term.clone(), ..Defaults::default() }),
            options,
            observers: Arc::default(),
            threads: Arc::default(),
            next_pane: AtomicU64::new(0),
            next_tab: AtomicU64::new(0),
            state: Mutex::default(),
            this: this.clone(),
        })
    }

    /// What it was made with.
    pub fn options(&self) -> &MuxOptions {
        &self.options
    }

    /// Adds an observer, kept for the life of the mux.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        self.observers.add(observer);
    }

    /// Sets a variable for every program started from now on.
    pub fn set_env(&self, name: &str, value: &str) {
        let mut env = self.env.lock();
        env.retain(|(known, _)| known != name);
        env.push((name.to_owned(), value.to_owned()));
    }

    /// Takes a variable of [`Mux::set_env`] away for every program started from now on.
    pub fn unset_env(&self, name: &str) {
        self.env.lock().retain(|(known, _)| known != name);
    }

    /// What panes opened from now on are made with.
    pub fn set_defaults(&self, defaults: Defaults) {
        *self.defaults.lock() = defaults;
    }

    /// The tabs as they are now.
    pub fn layout(&self) -> Arc<Layout> {
        self.state.lock().layout.clone()
    }

    /// A pane, also one without a tab.
    pub fn pane(&self, id: PaneId) -> Option<Arc<Pane>> {
        self.state.lock().panes.get(&id).cloned()
    }

    /// The panes of all tabs, in the order they were opened (hidden ones left out).
    pub fn panes(&self) -> Vec<Arc<Pane>> {
        let state = self.state.lock();
        let is_shown = |id: &PaneId| state.layout.tab_of(*id).is_some();
        state.panes.iter().filter(|(id, _)| is_shown(id)).map(|(_, pane)| pane.clone()).collect()
    }

    /// Opens a tab with one pane behind the active one and activates it. `size`: pins the pane's grid.
    pub fn open_tab(
        &self,
        spawn: Spawn,
        size: Option<Size>,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, MuxError> {
        self.add_tab(spawn, size, on_exit, |layout, tab| {
            let index = if layout.tabs.is_empty() { 0 } else { layout.active + 1 };
            layout.tabs.insert(index, tab);
            layout.active = index;
        })
    }

    /// Opens a tab behind the last one and leaves the active one active: whoever types there is not disturbed. `size`
    /// as in [`Mux::open_tab`].
    pub fn open_tab_in_background(
        &self,
        spawn: Spawn,
        size: Option<Size>,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, MuxError> {
        self.add_tab(spawn, size, on_exit, |layout, tab| layout.tabs.push(tab))
    }

    fn add_tab(
        &self,
        spawn: Spawn,
        size: Option<Size>,
        on_exit: OnExit,
        place: impl FnOnce(&mut Layout, Tab),
    ) -> Result<Arc<Pane>, MuxError> {
        let area = size.unwrap_or_else(|| self.size_of_new_tab());
        let pane = self.start_pane(spawn, area, on_exit)?;
        pane.set_pinned(size.is_some());
        let id = TabId(self.next_tab.fetch_add(1, Ordering::Relaxed));
        let tab = Tab::new(id, pane.id());
        self.admit(pane, |state| {
            state.areas.insert(id, area);
            place(state.layout_mut(), tab);
            Ok(())
        })
    }

    /// Opens a pane without a tab, of its own size; it is held when its program ends, until [`Mux::close_pane`].
    pub fn open_hidden(&self, spawn: Spawn, size: Size) -> Result<Arc<Pane>, MuxError> {
        Ok(self.open_tapped(spawn, size)?.0)
    }

    /// The same, with all that its program writes, from the first byte on.
    pub fn open_tapped(&self, spawn: Spawn, size: Size) -> Result<(Arc<Pane>, Tap), MuxError> {
        let pane = self.start_pane(spawn, size, OnExit::Hold)?;
        pane.set_pinned(true);
        let tap = pane.tap();
        Ok((self.admit(pane, |_| Ok(()))?, tap))
    }

    /// Splits `pane`; the new pane comes right of or below it and gets its tab's focus. Zoom ends. Refused where there is
    /// no room for both ([`MuxError::NoRoom`]).
    pub fn split(
        &self,
        pane: PaneId,
        axis: Axis,
        spawn: Spawn,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, MuxError> {
        self.open_beside(pane, axis, spawn, on_exit, true)
    }

    /// The same for a layout that was kept and is opened again: whatever room its panes had, they have it.
    pub fn split_again(
        &self,
        pane: PaneId,
        axis: Axis,
        spawn: Spawn,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, MuxError> {
        self.open_beside(pane, axis, spawn, on_exit, false)
    }

    fn open_beside(
        &self,
        pane: PaneId,
        axis: Axis,
        mut spawn: Spawn,
        on_exit: OnExit,
        needs_room: bool,
    ) -> Result<Arc<Pane>, MuxError> {
        if needs_room {
            self.check_room(&self.state.lock(), pane, axis)?;
        }
        let split = |layout: &mut Layout, new: PaneId| {
            let index = layout.tab_of(pane).ok_or(MuxError::NoPane(pane))?;
            let tab = &mut layout.tabs[index];
            tab.root.split(pane, axis, new);
            tab.focused = new;
            tab.zoomed = false;
            Ok(index)
        };
        let size = self.size_of_split(pane, axis, split)?;
        if let Some(beside) = self.pane(pane) {
            spawn.env.splice(..0, beside.variables());
        }
        let new = self.start_pane(spawn, size, on_exit)?;
        let id = new.id();
        let new = self.admit(new, |state| {
            // Another split may have taken it meanwhile.
            if needs_room {
                self.check_room(state, pane, axis)?;
            }
            split(state.layout_mut(), id).map(|_| ())
        })?;
        self.divide_cells();
        Ok(new)
    }

    /// Ends a pane's program and removes the pane; its neighbour takes its space, and a tab without panes closes.
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

    /// Closes everything and waits (bounded) until the programs are gone: the end of the process. Nothing can be opened
    /// afterwards. Must not be called by an [`Observer`].
    pub fn shutdown(&self) {
        let panes: Vec<PaneId> = {
            let mut state = self.state.lock();
            state.is_closed = true;
            state.panes.keys().copied().collect()
        };
        self.remove(&panes);
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

    /// Gives a tab a title that its programs don't change; an empty one takes it away.
    pub fn rename_tab(&self, tab: TabId, title: &str) -> Result<(), MuxError> {
        self.change(|layout| {
            let index = index_of(layout, tab)?;
            layout.tabs[index].title = Some(title.trim().to_owned()).filter(|it| !it.is_empty());
            Ok(())
        })
    }

    /// Moves a tab to another index; one past the end means the end. The active tab stays the same.
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

    /// Focuses a pane and activates its tab. Zoom ends when another pane had the focus.
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

    /// Focuses the nearest pane of the active tab in a direction; false when there is none.
    pub fn focus_direction(&self, direction: Direction) -> bool {
        let target = self.layout().active_tab().and_then(|tab| tab.neighbour(direction));
        target.is_some_and(|pane| self.focus(pane).is_ok())
    }

    /// Moves a divider in that direction by a share (0 to 1) of its split's space: of the innermost split around `pane`
    /// whose parts lie along the direction. False when there is none, or its divider can't move further.
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

    /// Lets the focused pane of the active tab fill it, or gives the others their space back.
    pub fn toggle_zoom(&self) {
        let _ = self.change(|layout| {
            let active = layout.active;
            if let Some(tab) = layout.tabs.get_mut(active) {
                tab.zoomed = !tab.zoomed && matches!(tab.root, Node::Split { .. });
            }
            Ok(())
        });
    }

    /// Starts a program and makes its pane, whose threads do not run yet.
    fn start_pane(
        &self,
        mut spawn: Spawn,
        size: Size,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, MuxError> {
        let id = PaneId(self.next_pane.fetch_add(1, Ordering::Relaxed));
        let size = Size { cols: size.cols.max(1), rows: size.rows.max(1), ..size };
        let defaults = self.defaults.lock().clone();
        let command = spawn.program.clone().map(|program| (program, spawn.args.clone()));
        if spawn.program.is_none()
            && let Some((program, args)) = defaults.shell
        {
            spawn.program = Some(program);
            spawn.args = args;
        }
        let mut variables = None;
        let mut env = self.options.env.clone();
        env.extend(defaults.env);
        env.extend_from_slice(&self.env.lock());
        env.append(&mut spawn.env);
        env.push(("UNTERM_PANE".into(), id.0.to_string()));
        spawn.env = env;
        if let Some(folder) = defaults.shell_integration {
            let own = Variables::new(&folder);
            spawn.integration = ShellIntegration::new(folder)
                .map_err(|error| tracing::warn!("no shell integration: {error}"))
                .ok()
                .map(|it| ShellIntegration { variables: Some(own.base().to_owned()), ..it });
            variables = Some(own);
        }
        let nonce = spawn.integration.as_ref().map(|integration| integration.nonce.clone());
        let process = Arc::new(PtyProcess::spawn(&spawn, size)?);
        // The program runs here, so it may name files instead of sending images.
        let media =
            defaults.term.media.unwrap_or_else(|| Arc::new(LocalMedia::new(process.clone())));
        let options = Options { media: Some(media), nonce: nonce.clone(), ..defaults.term };
        let term = Term::new(size, options);
        Ok(Pane::new(Parts {
            id,
            process,
            term,
            command,
            nonce,
            variables,
            on_exit,
            observers: self.observers.clone(),
            owner: self.this.clone(),
        }))
    }

    /// Takes a new pane in, at the place `place` gives it, and lets it run.
    fn admit(
        &self,
        pane: Arc<Pane>,
        place: impl FnOnce(&mut State) -> Result<(), MuxError>,
    ) -> Result<Arc<Pane>, MuxError> {
        let failed = |error: String| SpawnError::Program { program: "a pane".into(), error };
        let id = pane.id();
        // Counted before it is in the list, so that a shutdown that finds it there waits for it.
        let alive = [self.threads.alive(), self.threads.alive()];
        let has_tab = {
            let mut state = self.state.lock();
            if state.is_closed {
                return Err(failed("Unterm is shutting down".into()).into());
            }
            place(&mut state)?;
            state.panes.insert(id, pane.clone());
            state.layout.tab_of(id).is_some()
        };
        self.observers.event(MuxEvent::PaneOpened(id));
        if has_tab {
            self.observers.event(MuxEvent::Layout);
        }
        // Only now, so that nobody hears of a pane's output or end before its beginning.
        if let Err(error) = pane.start(alive) {
            self.remove(&[id]);
            return Err(failed(format!("no thread: {error}")).into());
        }
        Ok(pane)
    }

    /// Removes panes and ends their programs; false when none of them is there.
    fn remove(&self, ids: &[PaneId]) -> bool {
        let (removed, has_changed, is_empty) = {
            let mut state = self.state.lock();
            let removed: Vec<Arc<Pane>> =
                ids.iter().filter_map(|id| state.panes.remove(id)).collect();
            let mut has_changed = false;
            for pane in &removed {
                has_changed |= state.take_from_tab(pane.id());
            }
            (removed, has_changed, state.layout.tabs.is_empty())
        };
        for pane in &removed {
            pane.close();
            self.observers.event(MuxEvent::PaneRemoved(pane.id()));
        }
        if has_changed {
            self.observers.event(MuxEvent::Layout);
            self.divide_cells();
            if is_empty {
                self.observers.event(MuxEvent::Empty);
            }
        }
        !removed.is_empty()
    }

    /// Changes the layout and tells of it, if it is another one afterwards. What fails must have changed nothing.
    fn change(
        &self,
        change: impl FnOnce(&mut Layout) -> Result<(), MuxError>,
    ) -> Result<(), MuxError> {
        self.change_state(|state| change(state.layout_mut()))
    }

    /// The same where more than the layout changes.
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

    /// Where no window does it: gives every visible pane its share of its tab's cells. Pinned panes keep their size.
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
            // Of two changes at once the later layout counts, whoever comes last.
            if Arc::ptr_eq(&layout, &self.state.lock().layout) {
                return;
            }
        }
    }

    /// The grid a new tab will have: in a window that of the active tab, so that its program starts in the right size.
    fn size_of_new_tab(&self) -> Size {
        let model = {
            let state = self.state.lock();
            let tab = state.layout.active_tab().filter(|_| self.options.sized_by_window);
            tab.map(|tab| (tab.root.clone(), state.panes.clone()))
        };
        model.and_then(|(root, panes)| extent(&root, &panes)).unwrap_or(self.options.default_size)
    }

    /// The grid the new pane of a split will have.
    fn size_of_split(
        &self,
        pane: PaneId,
        axis: Axis,
        split: impl Fn(&mut Layout, PaneId) -> Result<usize, MuxError>,
    ) -> Result<Size, MuxError> {
        const NEW: PaneId = PaneId(u64::MAX);
        let (divided, old) = {
            let state = self.state.lock();
            let mut layout = Layout::clone(&state.layout);
            let index = split(&mut layout, NEW)?;
            let sizes = state.sizes(&layout.tabs[index]);
            let size = sizes.into_iter().find(|(id, _)| *id == NEW).map(|(_, size)| size);
            let old = state.panes.get(&pane).cloned().ok_or(MuxError::NoPane(pane))?;
            (size, old)
        };
        if !self.options.sized_by_window
            && let Some(size) = divided
        {
            return Ok(size);
        }
        let whole = old.term().size();
        let half = |cells: u16| (cells.saturating_sub(1) / 2).max(1);
        Ok(match axis {
            Axis::Horizontal => Size { cols: half(whole.cols), ..whole },
            Axis::Vertical => Size { rows: half(whole.rows), ..whole },
        })
    }
}

impl Owner for Mux {
    fn program_ended(&self, pane: &Pane) {
        if pane.on_exit() == OnExit::Close {
            self.remove(&[pane.id()]);
        }
    }

    fn unpinned(&self) {
        self.divide_cells();
    }
}

impl Drop for Mux {
    /// Programs do not outlive their mux; see [`Mux::shutdown`] for waiting until they are gone.
    fn drop(&mut self) {
        for pane in self.state.get_mut().panes.values() {
            pane.close();
        }
    }
}

fn index_of(layout: &Layout, tab: TabId) -> Result<usize, MuxError> {
    layout.tabs.iter().position(|found| found.id == tab).ok_or(MuxError::NoTab(tab))
}

/// The cells that a tab's panes take together, dividers included; `None` when one of them has its own size.
fn extent(node: &Node, panes: &BTreeMap<PaneId, Arc<Pane>>) -> Option<Size> {
    match node {
        Node::Pane(id) => {
            let pane = panes.get(id).filter(|pane| !pane.is_pinned())?;
            let size = pane.term().size();
            Some(size)
        }
        Node::Split { axis, first, second, .. } => {
            let (one, two) = (extent(first, panes)?, extent(second, panes)?);
            let sum = |one: u16, two: u16| one.saturating_add(two).saturating_add(1);
            Some(match axis {
                Axis::Horizontal => {
                    Size { cols: sum(one.cols, two.cols), rows: one.rows.max(two.rows), ..one }
                }
                Axis::Vertical => {
                    Size { cols: one.cols.max(two.cols), rows: sum(one.rows, two.rows), ..one }
                }
            })
        }
    }
}
