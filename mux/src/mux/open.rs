//! Opens panes: chooses their position and size, and starts their programs.
//!
//! Owns the program's environment: the mux's variables and defaults. The mux's [`Spawner`](crate::Spawner) starts the
//! program itself.

use std::sync::{Arc, atomic::Ordering};

use unterm_term::{Options, Size, Term};

use super::{Mux, MuxError, State};
use crate::{
    Axis, Layout, MuxEvent, OnExit, Pane, PaneId, Process, Rect, ShellIntegration, Spacing, Spawn,
    SpawnError, SpawnOrigin, Tab, TabId, Tap, TermChange,
    media::LocalMedia,
    pane::{Parts, Rest},
    process::Variables,
};

/// Where a new pane is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PanePlacement {
    /// A new tab after the active tab. The new tab becomes active.
    Tab,
    /// A new tab at the end. The active tab stays active, so that the user can go on typing.
    BackgroundTab,
    /// To the right of a pane or below it. The new pane gets the focus in its tab, and zoom ends. Fails with
    /// [`MuxError::NoRoom`] if there is no room for both panes.
    Beside(PaneId, Axis),
    /// Outside every tab.
    Hidden,
}

impl Mux {
    /// Opens a tab with one pane after the active tab, and activates it. `size` pins the pane's grid.
    pub fn open_tab(
        &self,
        spawn: Spawn,
        size: Option<Size>,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, MuxError> {
        self.open(spawn, PanePlacement::Tab, size, on_exit)
    }

    /// Opens a tab at the end. The active tab stays active, so that the user can go on typing. `size` pins the pane's
    /// grid.
    pub fn open_tab_in_background(
        &self,
        spawn: Spawn,
        size: Option<Size>,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, MuxError> {
        self.open(spawn, PanePlacement::BackgroundTab, size, on_exit)
    }

    /// Opens a pane that belongs to no tab, pinned to `size`. After its program ends, the pane stays until
    /// [`Mux::close_pane`].
    pub fn open_hidden(&self, spawn: Spawn, size: Size) -> Result<Arc<Pane>, MuxError> {
        self.open(spawn, PanePlacement::Hidden, Some(size), OnExit::Hold)
    }

    /// Like [`Mux::open_hidden`], with a tap that receives the program's output from the first byte.
    pub fn open_tapped(&self, spawn: Spawn, size: Size) -> Result<(Arc<Pane>, Tap), MuxError> {
        self.open_with(spawn, PanePlacement::Hidden, Some(size), OnExit::Hold, Pane::tap)
    }

    /// Like [`Mux::open_tab_in_background`], with a tap that receives the program's output from the first byte. If the
    /// tap's queue is full, the pane's reader waits for the tap, like for a recording ([`Pane::tap_recording`]).
    pub fn open_tab_streamed(
        &self,
        spawn: Spawn,
        size: Option<Size>,
        on_exit: OnExit,
    ) -> Result<(Arc<Pane>, Tap), MuxError> {
        // This tap's reader uses only the output, so all input is marked as hidden.
        let tap = |pane: &Pane| pane.tap_recording(Arc::new(|_| true));
        self.open_with(spawn, PanePlacement::BackgroundTab, size, on_exit, tap)
    }

    /// Splits `pane`. The new pane appears to the right of it or below it, and gets the focus in its tab. Zoom ends.
    /// Fails with [`MuxError::NoRoom`] if there is no room for both panes.
    pub fn split(
        &self,
        pane: PaneId,
        axis: Axis,
        spawn: Spawn,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, MuxError> {
        self.open(spawn, PanePlacement::Beside(pane, axis), None, on_exit)
    }

    /// Starts a program in a new pane. `size` pins the pane's grid.
    fn open(
        &self,
        spawn: Spawn,
        place: PanePlacement,
        size: Option<Size>,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, MuxError> {
        Ok(self.open_with(spawn, place, size, on_exit, |_| ())?.0)
    }

    /// Like [`Mux::open`], and calls `prepare` with the pane before its program's output is read.
    fn open_with<T>(
        &self,
        mut spawn: Spawn,
        place: PanePlacement,
        size: Option<Size>,
        on_exit: OnExit,
        prepare: impl FnOnce(&Pane) -> T,
    ) -> Result<(Arc<Pane>, T), MuxError> {
        let area = self.size_at(place, size)?;
        let link = match place {
            PanePlacement::Beside(pane, axis) => self.link_of(pane).map(|link| (link, pane, axis)),
            _ => None,
        };
        if let PanePlacement::Beside(pane, _) = place
            && let Some(beside) = self.pane(pane)
        {
            spawn.env.splice(..0, beside.variables());
        }
        let pane = match link {
            Some((link, beside, axis)) => self.split_in_tmux(&link, beside, axis, &spawn, area)?,
            None => self.start_pane(spawn, area, on_exit)?,
        };
        pane.set_pinned(size.is_some());
        let prepared = prepare(&pane);
        self.put(&pane, place, area).inspect_err(|_| pane.close())?;
        Ok((pane, prepared))
    }

    /// Starts a program and creates its pane. [`Pane::start`] starts the pane's threads later.
    pub(super) fn start_pane(
        &self,
        spawn: Spawn,
        size: Size,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, MuxError> {
        let id = self.pane_numbers.new_pane();
        self.start_pane_as(id, spawn, size, on_exit)
    }

    /// Like [`Mux::start_pane`], with an id that the caller chooses.
    pub(super) fn start_pane_as(
        &self,
        id: PaneId,
        mut spawn: Spawn,
        size: Size,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, MuxError> {
        let size = Size { cols: size.cols.max(1), rows: size.rows.max(1), ..size };
        let defaults = self.defaults.lock().clone();
        let command = spawn.program.clone().map(|program| (program, spawn.args.clone()));
        spawn.origin = Some(Box::new(SpawnOrigin { pane: Some(id), command: command.clone() }));
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
        env.extend(
            spawn.numbered.drain(..).map(|(name, before)| (name, format!("{before}{}", id.0))),
        );
        spawn.env = env;
        if let Some(folder) = defaults.shell_integration {
            let own = Variables::new(&folder);
            spawn.integration = ShellIntegration::new(folder)
                .map_err(|error| tracing::warn!("no shell integration: {error}"))
                .ok()
                .map(|it| ShellIntegration { variables: Some(own.base().to_owned()), ..it });
            variables = Some(Arc::new(own));
        }
        let nonce = spawn.integration.as_ref().map(|integration| integration.nonce.clone());
        let process = self.spawner.spawn(&spawn, size)?;
        let mut term = Term::new(size, self.terminal_options(defaults.term, &process, &nonce));
        term.set_visible(self.options.sized_by_window);
        if let Some(journal) = process.journal() {
            journal.note(TermChange::Size(term.size()));
        }
        Ok(Pane::new(Parts {
            id,
            process,
            term,
            command,
            nonce,
            name: None,
            rest: Rest::of_variables(variables),
            on_exit,
            observers: self.observers.clone(),
            owner: self.this.clone(),
        }))
    }

    /// The size of a pane at a position in the layout. A pinned pane gets its `own` size. Returns an error if there is
    /// no room at the position.
    pub(super) fn size_at(
        &self,
        place: PanePlacement,
        own: Option<Size>,
    ) -> Result<Size, MuxError> {
        let size = match place {
            PanePlacement::Beside(pane, axis) => {
                self.check_room(&self.state.lock(), pane, axis)?;
                self.size_of_split(pane, axis)?
            }
            PanePlacement::Tab | PanePlacement::BackgroundTab | PanePlacement::Hidden => {
                match own {
                    Some(own) => own,
                    None => self.size_of_new_tab(),
                }
            }
        };
        Ok(own.unwrap_or(size))
    }

    /// Adds a new pane of this size at its position in the layout, and starts its threads. On failure, the pane is not
    /// added and its program keeps running.
    pub(super) fn put(
        &self,
        pane: &Arc<Pane>,
        place: PanePlacement,
        size: Size,
    ) -> Result<(), MuxError> {
        let tab = || {
            let id = TabId(self.next_tab.fetch_add(1, Ordering::Relaxed));
            (id, Tab::new(id, pane.id()))
        };
        match place {
            PanePlacement::Tab => {
                let (id, tab) = tab();
                self.admit(pane, |state| {
                    state.areas.insert(id, size);
                    state.layout_mut().add(tab, true);
                    Ok(())
                })
            }
            PanePlacement::BackgroundTab => {
                let (id, tab) = tab();
                self.admit(pane, |state| {
                    state.areas.insert(id, size);
                    state.layout_mut().add(tab, false);
                    Ok(())
                })
            }
            PanePlacement::Beside(beside, axis) => {
                self.admit(pane, |state| {
                    // Another thread may have split the pane since the first check, so check again under the lock.
                    self.check_room(state, beside, axis)?;
                    split(state.layout_mut(), beside, axis, pane.id()).map(|_| ())
                })?;
                self.divide_cells();
                Ok(())
            }
            PanePlacement::Hidden => self.admit(pane, |_| Ok(())),
        }
    }

    /// Adds a new pane at `place`, and starts its threads.
    fn admit(
        &self,
        pane: &Arc<Pane>,
        place: impl FnOnce(&mut State) -> Result<(), MuxError>,
    ) -> Result<(), MuxError> {
        self.admit_all(std::slice::from_ref(pane), place)
    }

    /// Adds new panes, of which all or none have a tab, and starts their threads. On failure, no pane is added.
    pub(super) fn admit_all(
        &self,
        panes: &[Arc<Pane>],
        place: impl FnOnce(&mut State) -> Result<(), MuxError>,
    ) -> Result<(), MuxError> {
        let failed = |error: String| SpawnError::Program { program: "a pane".into(), error };
        let ids: Vec<PaneId> = panes.iter().map(|pane| pane.id()).collect();
        // Count the threads before the panes are in the list, so that a shutdown that finds a pane waits for its
        // threads.
        let alive: Vec<_> =
            panes.iter().map(|_| [self.threads.alive(), self.threads.alive()]).collect();
        let has_tab = {
            let mut state = self.state.lock();
            if state.is_closed {
                return Err(failed("Unterm is shutting down".into()).into());
            }
            place(&mut state)?;
            for pane in panes {
                state.panes.insert(pane.id(), pane.clone());
            }
            ids.first().is_some_and(|id| state.layout.tab_of(*id).is_some())
        };
        for id in &ids {
            self.observers.event(MuxEvent::PaneOpened(*id));
        }
        if has_tab {
            self.observers.event(MuxEvent::Layout);
        }
        // Start the panes last, so that observers receive `PaneOpened` before the output or the end of a pane.
        for (pane, alive) in panes.iter().zip(alive) {
            if let Err(error) = pane.start(alive) {
                let taken = self.take(&ids);
                self.announce_removed(&taken);
                return Err(failed(format!("no thread: {error}")).into());
            }
        }
        Ok(())
    }

    /// The size of the grid in a new tab. In a window the grid fills the tab's space, so that the program starts at its
    /// final size.
    pub(super) fn size_of_new_tab(&self) -> Size {
        let space = self.space_of_new_tab();
        space.map_or(self.options.default_size, |(area, spacing)| spacing.grid(area))
    }

    /// The space that the window gives a new tab. `None` if no window sizes the panes.
    pub(super) fn space_of_new_tab(&self) -> Option<(Rect, Spacing)> {
        let state = self.state.lock();
        let (area, spacing) = state.space.filter(|_| self.options.sized_by_window)?;
        Some((state.new_tab_space.unwrap_or(area), spacing))
    }

    /// The size of the grid of the new pane in a split. In a window, the size follows from the tab's space.
    fn size_of_split(&self, pane: PaneId, axis: Axis) -> Result<Size, MuxError> {
        const NEW: PaneId = PaneId(u64::MAX);
        let (divided, old) = {
            let state = self.state.lock();
            let mut layout = Layout::clone(&state.layout);
            let index = split(&mut layout, pane, axis, NEW)?;
            let tab = &layout.tabs[index];
            let size = match (self.options.sized_by_window, state.space) {
                (true, Some((area, spacing))) => {
                    let placed = tab.place(area, &spacing);
                    let new = placed.into_iter().find(|(id, _)| *id == NEW);
                    new.map(|(_, area)| spacing.grid(area))
                }
                (true, None) => None,
                (false, _) => {
                    let sizes = state.sizes(tab);
                    sizes.into_iter().find(|(id, _)| *id == NEW).map(|(_, size)| size)
                }
            };
            let old = state.panes.get(&pane).cloned().ok_or(MuxError::NoPane(pane))?;
            (size, old)
        };
        if let Some(size) = divided {
            return Ok(size);
        }
        let whole = old.term().size();
        let half = |cells: u16| (cells.saturating_sub(1) / 2).max(1);
        Ok(match axis {
            Axis::Horizontal => Size { cols: half(whole.cols), ..whole },
            Axis::Vertical => Size { rows: half(whole.rows), ..whole },
        })
    }

    /// The options of a program's terminal. Only a program on this machine may pass images as file names. Without a
    /// window, there is no clipboard.
    pub(super) fn terminal_options(
        &self,
        defaults: Options,
        process: &Arc<dyn Process>,
        nonce: &Option<Arc<str>>,
    ) -> Options {
        let has_clipboard = defaults.has_clipboard && self.options.sized_by_window;
        let mut options = Options { nonce: nonce.clone(), has_clipboard, ..defaults };
        if options.media.is_none() && process.is_local() {
            options.media = Some(Arc::new(LocalMedia::new(process.clone())));
        }
        options
    }
}

/// Puts a pane to the right of another pane or below it. Returns the index of their tab.
fn split(layout: &mut Layout, pane: PaneId, axis: Axis, new: PaneId) -> Result<usize, MuxError> {
    let index = layout.tab_of(pane).ok_or(MuxError::NoPane(pane))?;
    let tab = &mut layout.tabs[index];
    tab.root.split(pane, axis, new);
    tab.focused = new;
    tab.zoomed = false;
    Ok(index)
}
