//! Closes a pane, tabs or the window. If programs run in them, asks the user first.

use unterm_mux::{PaneId, PaneState};

use crate::window::{
    cx::Cx,
    overlays::{
        Overlays,
        answer::Answer,
        confirm::{Confirm, Preview},
    },
    ui::wrap::first_of,
    wish::Wish,
    workspace::closing::Closing,
};
use crate::{
    config::{ConfirmClose, OnClose},
    running::running,
};

/// The maximum number of programs that a question lists.
const NAMED: usize = 6;

impl Overlays {
    /// Closes panes, tabs or the window, or asks the user for confirmation. Returns false if there is nothing to
    /// close.
    pub(crate) fn close(&mut self, what: Closing, cx: &mut Cx<'_>) -> bool {
        let kept = match what {
            Closing::Window | Closing::Detach | Closing::Restart => cx.mux.kept_panes(),
            _ => Vec::new(),
        };
        let what = match (what, cx.prefs.config.window.on_close) {
            (Closing::Window, OnClose::Keep) if !kept.is_empty() => Closing::Detach,
            (Closing::Window, OnClose::Ask) if !kept.is_empty() => {
                self.ask_to_keep(kept.len(), cx);
                return true;
            }
            _ => what,
        };
        let layout = cx.mux.layout();
        let panes: Vec<PaneId> = match what {
            Closing::Pane(pane) => vec![pane],
            Closing::Tab(tab) => {
                let tab = layout.tabs.iter().find(|one| one.id == tab);
                tab.map_or_else(Vec::new, |tab| tab.panes())
            }
            Closing::OtherTabs(tab) => {
                let others = layout.tabs.iter().filter(|one| one.id != tab);
                others.flat_map(|tab| tab.panes()).collect()
            }
            Closing::Window => layout.tabs.iter().flat_map(|tab| tab.panes()).collect(),
            Closing::Detach | Closing::Restart => {
                let ends = |pane: &PaneId| kept.iter().all(|kept| kept.id() != *pane);
                layout.tabs.iter().flat_map(|tab| tab.panes()).filter(ends).collect()
            }
        };
        if panes.is_empty() && what != Closing::Window && !what.leaves() {
            return false;
        }
        let rule = cx.prefs.config.window.confirm_close;
        let running: Vec<String> = match rule {
            ConfirmClose::Never => Vec::new(),
            _ => panes.iter().filter_map(|pane| ends_with(what, *pane, cx)).collect(),
        };
        let tabs = match what {
            Closing::Pane(_) | Closing::Tab(_) => 1,
            Closing::OtherTabs(_) => layout.tabs.len() - 1,
            Closing::Window => layout.tabs.len(),
            Closing::Detach | Closing::Restart => 0,
        };
        let asks = match rule {
            _ if what.leaves() => !running.is_empty(),
            ConfirmClose::Programs => !running.is_empty(),
            ConfirmClose::Tabs => !running.is_empty() || tabs > 1,
            ConfirmClose::Always => true,
            ConfirmClose::Never => false,
        };
        if !asks {
            cx.wish(Wish::CloseNow(what));
            return true;
        }
        let things = match what {
            Closing::Pane(_) => "this pane".to_owned(),
            Closing::Tab(_) => "this tab".to_owned(),
            Closing::OtherTabs(_) if tabs == 1 => "the other tab".to_owned(),
            Closing::OtherTabs(_) => format!("the {tabs} other tabs"),
            Closing::Window if tabs > 1 => format!("this window with {tabs} tabs"),
            Closing::Window | Closing::Detach | Closing::Restart => "this window".to_owned(),
        };
        let live = panes.iter().filter(|pane| is_ended_by(what, **pane, cx)).count();
        let about = what_ends(running.len(), live, panes.len());
        // When the last tab closes, the window ends and can't be restored, so the message does not mention "Undo
        // close".
        // Programs in tmux end at once.
        let is_in_tmux = |id: &PaneId| cx.mux.pane(*id).is_some_and(|pane| pane.is_in_tmux());
        let all: usize = layout.tabs.iter().map(|tab| tab.panes().len()).sum();
        let about = match what {
            _ if live == 0 => about,
            Closing::Window | Closing::Detach | Closing::Restart => about,
            _ if panes.len() == all || panes.iter().any(is_in_tmux) => about,
            Closing::OtherTabs(_) if layout.tabs.len() > 2 => {
                format!("{about}, unless you run “Undo close” for each tab within 30 s")
            }
            _ => format!("{about}, unless you run “Undo close” within 30 s"),
        };
        let about = about + if running.is_empty() { "." } else { ":" };
        let names = first_of(&running, NAMED).into_iter();
        let preview = names.map(|text| Preview { text, ..Preview::default() });
        let (title, button, key) = match what {
            Closing::Restart => ("Restart Unterm?".to_owned(), "Restart", 'r'),
            _ => (format!("Close {things}?"), "Close", 'c'),
        };
        let confirm = Confirm::new(title, about).preview(preview.collect());
        self.ask(confirm.button(button, key, Answer::Close(what)).cancel(), cx);
        true
    }

    /// Closes the window, and lets its programs continue. Returns false if no program can continue.
    pub(crate) fn detach(&mut self, cx: &mut Cx<'_>) -> bool {
        !cx.mux.kept_panes().is_empty() && self.close(Closing::Detach, cx)
    }

    /// Replaces this program by the installed one, and lets its programs continue. Returns false if no program can
    /// continue.
    pub(crate) fn restart(&mut self, cx: &mut Cx<'_>) -> bool {
        !cx.mux.kept_panes().is_empty() && self.close(Closing::Restart, cx)
    }

    /// Asks whether the programs that can continue without the window shall continue.
    fn ask_to_keep(&mut self, count: usize, cx: &mut Cx<'_>) {
        let about = match count {
            1 => "A program can continue without it.".to_owned(),
            count => format!("{count} programs can continue without it."),
        };
        self.ask(
            Confirm::new("Close this window?".to_owned(), about)
                .button("Keep running", 'k', Answer::Close(Closing::Detach))
                .button("End programs", 'e', Answer::Close(Closing::Window))
                .cancel(),
            cx,
        );
    }
}

/// Says what ends: running programs, or else shells. `live`: the number of panes whose program or shell ends. `panes`:
/// the number of all panes that close. The programs of some panes have ended already, or outlive the window.
fn what_ends(running: usize, live: usize, panes: usize) -> String {
    match (running, live, panes) {
        (0, 0, _) => "No program will end".to_owned(),
        (0, 1, 1) => "Its shell will end".to_owned(),
        (0, 1, _) => "One shell will end".to_owned(),
        (0, shells, _) => format!("{shells} shells will end"),
        (1, ..) => "A running program will end".to_owned(),
        (many, ..) => format!("{many} running programs will end"),
    }
}

/// Whether a pane's program or shell still runs, and ends if the pane closes with `what`. Programs in tmux outlive the
/// window.
fn is_ended_by(what: Closing, pane: PaneId, cx: &Cx<'_>) -> bool {
    let Some(pane) = cx.mux.pane(pane) else { return false };
    let outlives = pane.is_in_tmux() && (what == Closing::Window || what.leaves());
    pane.state() == PaneState::Running && !outlives
}

/// The running program that ends if a pane closes with `what`. Programs in tmux outlive the window.
fn ends_with(what: Closing, pane: PaneId, cx: &Cx<'_>) -> Option<String> {
    if !is_ended_by(what, pane, cx) {
        return None;
    }
    let pane = cx.mux.pane(pane)?;
    match pane.is_in_tmux() {
        false => running(&pane),
        true => Some(format!("{} (in tmux)", pane.title())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_still_runs_is_counted() {
        for (running, live, panes, expected) in [
            (0, 1, 1, "Its shell will end"),
            (0, 3, 3, "3 shells will end"),
            // The programs of two panes have ended, and the panes are held.
            (0, 1, 3, "One shell will end"),
            (0, 0, 2, "No program will end"),
            (1, 3, 4, "A running program will end"),
            (2, 2, 2, "2 running programs will end"),
        ] {
            assert_eq!(what_ends(running, live, panes), expected);
        }
    }
}
