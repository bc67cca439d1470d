//! Changes the place and the size of the tabs, and writes them to the configuration.

use std::sync::Arc;

use toml_edit::Value;

use crate::config::{BarPosition, TabBar, edit};
use crate::window::app::App;

/// The topic of messages about the tabs.
const ABOUT: &str = "sidebar";

impl App {
    /// Shows the tabs in the sidebar, or in the bar at the top.
    pub(crate) fn toggle_sidebar(&mut self) {
        self.change_tab_bar(|bar| {
            bar.position = match bar.position {
                BarPosition::Left => BarPosition::Top,
                BarPosition::Top | BarPosition::Bottom => BarPosition::Left,
            };
        });
        self.keep_tab_bar(&["position"]);
    }

    /// Gives the keyboard to the sidebar, or returns it to the panes. Returns false if the sidebar is hidden.
    pub(crate) fn focus_sidebar(&mut self) -> bool {
        let is_shown = self.with_parts(|parts, cx| parts.chrome.sidebar.toggle_focus(cx));
        // The user looks at the rows now.
        self.survey_tabs(|_| true);
        is_shown
    }

    /// Folds or unfolds the sidebar. Returns false if it is hidden.
    pub(crate) fn fold_sidebar(&mut self) -> bool {
        if !self.has_sidebar() {
            return false;
        }
        self.change_tab_bar(|bar| bar.sidebar_folded = !bar.sidebar_folded);
        self.keep_tab_bar(&["sidebar_folded"]);
        true
    }

    /// Changes the preferences of the tab bar, without changing the configuration file.
    pub(crate) fn change_tab_bar(&mut self, change: impl FnOnce(&mut TabBar)) {
        change(&mut Arc::make_mut(&mut self.prefs.config).tab_bar);
        let tabs_at = self.prefs.tabs_at();
        if let Some(geometry) = &mut self.surface.geometry {
            geometry.tabs_at = tabs_at;
        }
        self.arrange();
        self.surface.redraw_whole();
    }

    /// Writes keys of the section `tab_bar` to the configuration file. The file watchers then apply them in all windows.
    pub(crate) fn keep_tab_bar(&mut self, keys: &[&str]) {
        let TabBar { position, sidebar_width, sidebar_folded, .. } = self.prefs.config.tab_bar;
        let value = |key: &str| -> Value {
            match key {
                "sidebar_width" => i64::from(sidebar_width).into(),
                "sidebar_folded" => sidebar_folded.into(),
                _ => position.name().into(),
            }
        };
        let edits: Vec<_> = keys
            .iter()
            .map(|key| (vec!["tab_bar".to_owned(), (*key).to_owned()], Some(value(key))))
            .collect();
        if let Err(error) = edit::change(self.prefs.settings.home(), &edits) {
            self.complain(ABOUT, format!("Can't keep the sidebar as it is.\n{error:#}"));
        }
    }
}
