//! The message for an action that has nothing to act on.
//!
//! Owns the texts, and which keys go to the program instead.

use unterm_mux::{Direction, TabId, input::Modifiers};

use crate::action::Action;
use crate::window::app::App;

/// The topic of these messages.
const ABOUT: &str = "no effect";

impl App {
    /// Runs the action that a key is bound to; returns false if it had no effect and the program gets the key.
    pub(crate) fn act_by_key(&mut self, action: Action, modifiers: Modifiers) -> bool {
        let is_ours = !goes_to_program(&action, modifiers);
        if self.act(action.clone()) {
            return true;
        }
        if is_ours {
            self.notify(ABOUT, why(&action).to_owned());
        }
        is_ours
    }

    /// Runs an action chosen from a list or a menu, for a tab (`None`: the active tab).
    pub(crate) fn act_by_choice(&mut self, tab: Option<TabId>, action: Action) {
        if !self.act_in(tab, action.clone()) {
            self.notify(ABOUT, why(&action).to_owned());
        }
    }
}

/// Whether the program gets a key whose action has no effect. Ctrl+Shift+C never goes to the program.
fn goes_to_program(action: &Action, modifiers: Modifiers) -> bool {
    match action {
        Action::Copy => !modifiers.contains(Modifiers::SHIFT),
        Action::Focus(_)
        | Action::JumpToPrompt(_)
        | Action::ScrollPages(_)
        | Action::ScrollLines(_)
        | Action::ScrollToTop
        | Action::ScrollToBottom => true,
        _ => false,
    }
}

/// Why an action had no effect.
fn why(action: &Action) -> &'static str {
    match action {
        Action::Copy | Action::CopyAs(_) => "Nothing is selected.",
        Action::Focus(direction) | Action::SwapPane(direction) => match direction {
            Direction::Left => "There is no pane to the left.",
            Direction::Right => "There is no pane to the right.",
            Direction::Up => "There is no pane above.",
            Direction::Down => "There is no pane below.",
        },
        Action::Resize(_) => "No divider of this pane can move that way.",
        Action::Zoom
        | Action::CyclePanes(_)
        | Action::RotatePanes(_)
        | Action::EqualizePanes
        | Action::PaneToNewTab => "The tab has only one pane.",
        Action::PaneToTab(_) => "The pane is already in that tab.",
        Action::BroadcastTab | Action::BroadcastAll => "There is no other pane to type into.",
        Action::NextTab | Action::PreviousTab => "There is no other tab.",
        Action::MoveTab(by) if *by < 0 => "The tab is already the first.",
        Action::MoveTab(_) => "The tab is already the last.",
        Action::FontSize(points) if *points > 0.0 => "The font can't be larger.",
        Action::FontSize(_) => "The font can't be smaller.",
        Action::JumpToPrompt(_)
        | Action::ScrollPages(_)
        | Action::ScrollLines(_)
        | Action::ScrollToTop
        | Action::ScrollToBottom => "A full-screen program has no history to scroll.",
        Action::PauseAgents => "The control server does not run, so no agent is connected.",
        Action::AnswerAgent => "No agent asks anything.",
        Action::ToggleQuake => "Only a window that was started with --quake can be hidden.",
        _ => "There is nothing to do here.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_documented_keys_go_to_the_program() {
        let none = Modifiers::empty();
        assert!(goes_to_program(&Action::Copy, Modifiers::CTRL));
        assert!(!goes_to_program(&Action::Copy, Modifiers::CTRL | Modifiers::SHIFT));
        assert!(!goes_to_program(&Action::DismissMessages, none));
        for entry in crate::action::ACTIONS {
            if let crate::action::Takes::Nothing(action) = &entry.takes
                && goes_to_program(action, none)
            {
                assert!(entry.doc.contains("program gets"), "{}", entry.name);
            }
        }
    }
}
