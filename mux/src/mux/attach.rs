//! Shows programs that another process left behind with the keeper.

use std::sync::Arc;

use unterm_term::Size;

use super::{Mux, open::PanePlacement, placement};
use crate::{Axis, Handover, KeptSpawner, LeftProgram, OnExit, Pane, PaneId};

/// A program that could not be taken over. It continues without an owner.
#[derive(Debug, thiserror::Error)]
#[error("cannot show {program} again: {why}")]
pub struct NotAttached {
    /// The program.
    pub program: String,
    /// The reason.
    pub why: String,
}

impl Mux {
    /// Takes over programs that continue without an owner, like [`Mux::attach`]. Programs that were in one tab get one
    /// tab, with the same splits. If the tab is too small for a split, its pane gets a tab of its own. A program that had
    /// ended gets a pane that stays open, because no user has seen its status. `on_exit`: what happens when another program
    /// ends.
    pub fn attach_all(
        &self,
        keeper: &KeptSpawner,
        left: &[LeftProgram],
        on_exit: OnExit,
    ) -> Vec<Result<Arc<Pane>, NotAttached>> {
        self.reserve_panes(left);
        let mut tabs: Vec<Vec<&LeftProgram>> = Vec::new();
        for program in left {
            let is_beside = |other: &LeftProgram| {
                program.placement.tab.is_some()
                    && program.placement.tab == other.placement.tab
                    && program.last_owner == other.last_owner
            };
            match tabs.iter_mut().find(|tab| is_beside(tab[0])) {
                Some(tab) => tab.push(program),
                None => tabs.push(vec![program]),
            }
        }
        tabs.iter().flat_map(|tab| self.attach_tab(keeper, tab, on_exit)).collect()
    }

    /// Keeps the numbers of these programs free for them, in any order. A tab may contain panes whose numbers do not follow
    /// each other.
    pub fn reserve_panes(&self, left: &[LeftProgram]) {
        self.pane_numbers.reserve(left.iter().filter_map(|program| program.origin.pane));
    }

    /// Gives new panes no number below `next`. A process that takes the place of another process calls it after
    /// [`Mux::reserve_panes`] and before [`Mux::attach_all`], so that the numbers of closed panes are not used again.
    pub fn begin_panes_at(&self, next: u64) {
        self.pane_numbers.begin_at(next);
    }

    fn attach_tab(
        &self,
        keeper: &KeptSpawner,
        programs: &[&LeftProgram],
        on_exit: OnExit,
    ) -> Vec<Result<Arc<Pane>, NotAttached>> {
        let mut results = Vec::new();
        // The panes of the tab, with their paths in its tree.
        let mut shown: Vec<(PaneId, &str)> = Vec::new();
        for program in programs {
            let on_exit = if program.has_ended { OnExit::Hold } else { on_exit };
            let beside = shown.last().map(|(pane, _)| *pane);
            // The axis is provisional, until all panes are arranged.
            let beside = beside.filter(|pane| {
                self.check_room(&self.state.lock(), *pane, Axis::Horizontal).is_ok()
            });
            let place = beside.map_or(PanePlacement::BackgroundTab, |pane| {
                PanePlacement::Beside(pane, Axis::Horizontal)
            });
            let result = self.attach(keeper, program, place, on_exit);
            if let Ok(pane) = &result
                && (beside.is_some() || shown.is_empty())
            {
                shown.push((pane.id(), &program.placement.split));
            }
            results.push(result);
        }
        let layout = self.layout();
        if let Some((first, _)) = shown.first()
            && let Some(index) = layout.tab_of(*first)
            && let Some(root) = placement::tree(&shown)
            && let Err(error) = self.arrange(layout.tabs[index].id, root, *first, false)
        {
            tracing::debug!(%error, "the splits of a tab are not restored");
        }
        results
    }

    /// Takes over a program that continues without an owner, and creates a pane for it. The terminal is rebuilt from the
    /// program's journal, with the output since. Without a journal, the terminal is empty except for a line about that,
    /// and the program receives a changed size, so that it draws again. A pane that stays open can be left to another process
    /// even after the program's end.
    ///
    /// # Errors
    /// If another process has taken over the program, or the pane cannot be created.
    pub fn attach(
        &self,
        keeper: &KeptSpawner,
        left: &LeftProgram,
        place: PanePlacement,
        on_exit: OnExit,
    ) -> Result<Arc<Pane>, NotAttached> {
        let failed = |why: String| NotAttached { program: left.program.clone(), why };
        let (process, recovered) = keeper.take(left).map_err(|error| failed(error.to_string()))?;
        if on_exit == OnExit::Hold {
            process.keep_end();
        }
        let mut handover = Handover::new(process, left.size);
        match recovered {
            Some(recovered) => handover.set_recovered(recovered),
            None => {
                // Programs draw again when the size changes. The pane sets the right size afterward.
                let rows = if left.size.rows > 1 { left.size.rows - 1 } else { 2 };
                handover.size = Size { rows, ..left.size };
                if let Err(error) = handover.process.resize(handover.size) {
                    let program = &left.program;
                    tracing::debug!(%error, program, "cannot resize the terminal of a program");
                }
                handover.screen = first_line(left).into_bytes();
            }
        }
        handover.pane = left.origin.pane;
        handover.command.clone_from(&left.origin.command);
        handover.nonce.clone_from(&left.nonce);
        self.adopt(handover, place, on_exit).map_err(|refused| {
            let why = refused.error.to_string();
            refused.handover.leave();
            failed(why)
        })
    }
}

/// The bytes that rebuild the terminal: the title, and a line in dim text.
fn first_line(left: &LeftProgram) -> String {
    // Texts of the last owner must not control the terminal.
    let plain = |text: &str| text.chars().filter(|c| !c.is_control()).collect::<String>();
    let name = plain(left.program.rsplit('/').next().unwrap_or_default());
    let title = plain(&left.placement.title);
    format!(
        "\x1b]2;{title}\x1b\\\x1b[2m[{name} continues. What it printed before is lost.]\x1b[m\r\n"
    )
}
