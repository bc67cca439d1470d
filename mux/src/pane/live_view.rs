//! How the window and live views report that they show a pane.
//!
//! Sends each change to programs that ask for it (mode 2033, rockorager's "Terminal Visibility Reports"). Such programs
//! stop animations while no user can see them.

use std::sync::Weak;

use super::Pane;

/// A live view of a pane outside of the window. The pane counts as visible while the value exists.
pub struct LiveView(Weak<Pane>);

impl Drop for LiveView {
    fn drop(&mut self) {
        if let Some(pane) = self.0.upgrade()
            && pane.visibility.end_view()
        {
            pane.update_visibility();
        }
    }
}

impl Pane {
    /// Sets whether the window shows the pane. False if the pane is in another tab or behind a zoomed pane, if the window
    /// is covered or minimized, and if there is no window.
    pub fn set_shown(&self, shown: bool) {
        if self.visibility.set_shown(shown) {
            self.update_visibility();
        }
    }

    /// Begins a live view of the pane.
    pub fn begin_view(&self) -> LiveView {
        if self.visibility.begin_view() {
            self.update_visibility();
        }
        LiveView(self.this.clone())
    }

    fn update_visibility(&self) {
        // The state is read under the terminal's lock, so that the last report to the program is the current state.
        self.act_on(|term| term.set_visible(self.visibility.is_visible()));
    }
}
