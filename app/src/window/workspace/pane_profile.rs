//! Assigns profiles to panes, and applies the themes of profiles.

use std::sync::Arc;

use unterm_mux::{Mux, Pane, PaneId};

use crate::config::theme;
use crate::window::{prefs::Prefs, workspace::Workspace};

impl Workspace {
    /// Assigns a profile to a pane. The profile's colors apply until the pane is closed.
    pub(crate) fn give_profile(&mut self, pane: &Pane, name: &str, prefs: &Prefs, mux: &Mux) {
        self.profiles.insert(pane.id(), name.to_owned());
        self.apply_profile(pane.id(), prefs, mux);
    }

    /// Applies the theme of a pane's profile, if the pane has a profile with a theme.
    pub(crate) fn apply_profile(&self, pane: PaneId, prefs: &Prefs, mux: &Mux) {
        let name = self.profiles.get(&pane);
        let profile = name.and_then(|name| prefs.config.find_profile(name).ok());
        let theme = profile.map(|profile| profile.theme.as_str()).filter(|it| !it.is_empty());
        if let (Some(theme), Some(pane)) = (theme, mux.pane(pane)) {
            match theme::find(theme, prefs.settings.home()) {
                Ok(theme) => pane.set_palette(Arc::new(theme.palette)),
                Err(error) => tracing::warn!("{error}"),
            }
        }
    }
}
