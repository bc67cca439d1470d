//! Opens hint labels.

use crate::window::{
    app::App,
    overlays::{
        hints::Hints,
        targets::{self, reach::Reach},
    },
};

impl App {
    /// Shows labels over the visible targets of the focused pane. A chosen target is copied if `copies` is set, and
    /// otherwise opened.
    pub(crate) fn show_hints(&mut self, copies: bool) {
        let Some(pane) = self.focused_pane() else { return };
        self.fresh_view(&pane);
        let Some(view) = self.workspace.views.get(&pane.id()) else { return };
        let reach = Reach::of(&view.snapshot.rows, &pane.term());
        let targets = targets::find(&reach, &self.prefs.config.hint_patterns);
        if targets.is_empty() {
            self.notify("hints", "No link, path, hash or number is in sight.".into());
            return;
        }
        self.overlays.hints =
            Some(Hints::new(pane.id(), targets, &self.prefs.config.hints.alphabet, copies));
    }
}
