//! Opens panes of a tmux server: panes that tmux has opened, and panes that the user requests.

use std::sync::{Arc, atomic::Ordering};

use unterm_term::{Allow, Options, Size, Term};
use unterm_tmux::{NewProgram, Side};

use super::Mux;
use crate::{
    Axis, MuxError, OnExit, Pane, PaneId, PanePlacement, Process, Spawn, Tab, TabId,
    pane::{Parts, Rest},
    quote,
    tmux::{Link, TmuxProcess},
};

impl Mux {
    /// Creates the pane of a program in tmux. [`Pane::start`] starts its threads later.
    pub(super) fn pane_of_tmux(&self, process: Arc<TmuxProcess>, size: Size) -> Arc<Pane> {
        let process: Arc<dyn Process> = process;
        let defaults = self.defaults.lock().term.clone();
        let options = self.terminal_options(defaults, &process, &None);
        // tmux decides about sizes, and ignores programs that request them.
        let allow = options.allow.difference(Allow::WINDOW_OPS);
        let mut term = Term::new(size, Options { allow, ..options });
        term.set_visible(self.options.sized_by_window);
        let pane = Pane::new(Parts {
            id: self.pane_numbers.new_pane(),
            process,
            term,
            command: Some(("tmux".to_owned(), Vec::new())),
            nonce: None,
            name: None,
            rest: Rest::default(),
            on_exit: OnExit::Close,
            observers: self.observers.clone(),
            owner: self.this.clone(),
        });
        pane.set_pinned(true);
        pane
    }

    /// Adds a pane to a tab, or to a new tab in the background. Returns the tab.
    pub(super) fn put_in_tab(
        &self,
        pane: &Arc<Pane>,
        tab: Option<TabId>,
    ) -> Result<TabId, MuxError> {
        let id = tab.unwrap_or_else(|| TabId(self.next_tab.fetch_add(1, Ordering::Relaxed)));
        let area = self.options.default_size;
        self.admit_all(std::slice::from_ref(pane), |state| {
            let layout = state.layout_mut();
            match layout.tabs.iter_mut().find(|open| open.id == id) {
                Some(open) => {
                    let beside = open.panes().last().copied().unwrap_or(open.focused);
                    open.root.split(beside, Axis::Horizontal, pane.id());
                }
                None => {
                    layout.add(Tab::new(id, pane.id()), false);
                    state.areas.insert(id, area);
                }
            }
            Ok(())
        })?;
        Ok(id)
    }

    /// Requests a pane beside a pane of tmux, and returns the pane that will show it.
    pub(in crate::mux) fn split_in_tmux(
        &self,
        link: &Arc<Link>,
        beside: PaneId,
        axis: Axis,
        spawn: &Spawn,
        size: Size,
    ) -> Result<Arc<Pane>, MuxError> {
        let target = link.shown_in(beside).ok_or(MuxError::NoPane(beside))?;
        let side = match axis {
            Axis::Horizontal => Side::Right,
            Axis::Vertical => Side::Below,
        };
        let process = Arc::new(TmuxProcess::new(link, None, size));
        let pane = self.pane_of_tmux(process.clone(), size);
        link.with(|state| {
            let ticket = state.client.split(target, side, &new_program(spawn));
            state.tickets.insert(ticket, (pane.id(), process));
        });
        Ok(pane)
    }

    /// Opens a window in the tmux server that a pane belongs to, in a tab after the active tab. Returns `None` if the
    /// pane belongs to no tmux server.
    ///
    /// # Errors
    /// The mux has shut down, or the system provides no threads.
    pub fn open_window_in_tmux(
        &self,
        beside: PaneId,
        spawn: &Spawn,
    ) -> Result<Option<Arc<Pane>>, MuxError> {
        let Some(link) = self.link_of(beside) else { return Ok(None) };
        let size = self.size_of_new_tab();
        let process = Arc::new(TmuxProcess::new(&link, None, size));
        let pane = self.pane_of_tmux(process.clone(), size);
        link.with(|state| {
            let ticket = state.client.new_window(&new_program(spawn));
            state.tickets.insert(ticket, (pane.id(), process));
        });
        self.put(&pane, PanePlacement::Tab, size).inspect_err(|_| pane.close())?;
        Ok(Some(pane))
    }
}

/// The program as a command line for the shell of tmux's machine.
fn new_program(spawn: &Spawn) -> NewProgram {
    let command = spawn.program.as_ref().map(|program| {
        let words = std::iter::once(program).chain(&spawn.args);
        words.map(|word| quote::posix(word)).collect::<Vec<_>>().join(" ")
    });
    NewProgram { command, in_same_folder: true }
}
