//! The message for an action that had no effect.
//!
//! Owns the rule that decides which keys go to the program instead.

use unterm_mux::{TabId, input::Modifiers};

use crate::action::{Action, PassesKey};
use crate::window::app::App;

/// The topic of these messages.
const ABOUT: &str = "no effect";

impl App {
    /// Runs the action that a key is bound to. Returns false if the action had no effect and the program should
    /// receive the key.
    pub(crate) fn act_by_key(&mut self, action: Action, modifiers: Modifiers) -> bool {
        let is_ours = !goes_to_program(&action, modifiers);
        if self.act(action.clone()) {
            return true;
        }
        if is_ours {
            self.notify(ABOUT, action.entry().no_effect.to_owned());
        }
        is_ours
    }

    /// Runs an action that was chosen from a list or a menu. It applies to `tab`, or to the active tab if that is
    /// `None`.
    pub(crate) fn act_by_choice(&mut self, tab: Option<TabId>, action: Action) {
        if !self.act_in(tab, action.clone()) {
            self.notify(ABOUT, action.entry().no_effect.to_owned());
        }
    }
}

/// Whether the program receives a key whose action had no effect.
fn goes_to_program(action: &Action, modifiers: Modifiers) -> bool {
    match action.entry().passes_key {
        PassesKey::Never => false,
        PassesKey::Always => true,
        PassesKey::UnlessShift => !modifiers.contains(Modifiers::SHIFT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_selection_copy_is_sent_to_the_program() {
        assert!(goes_to_program(&Action::Copy, Modifiers::CTRL));
        assert!(!goes_to_program(&Action::Copy, Modifiers::CTRL | Modifiers::SHIFT));
        assert!(!goes_to_program(&Action::DismissMessages, Modifiers::empty()));
        assert!(goes_to_program(&Action::ScrollToTop, Modifiers::SHIFT));
    }
}
