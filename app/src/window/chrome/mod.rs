//! The bars around the panes: tab bar or sidebar, status bar and scrollbars.
//!
//! Owns the contents of the bars, and handles the mouse on them. If a click concerns other parts, a bar returns a
//! [`Wish`](crate::window::wish::Wish).

pub(crate) mod menus;
pub(crate) mod scrollbar;
pub(crate) mod scrollbars;
pub(crate) mod sidebar;
pub(crate) mod status_bar;
pub(crate) mod tab_bar;
pub(crate) mod tab_label;
pub(crate) mod tab_marks;
pub(crate) mod tab_titles;
pub(crate) mod tabs;
pub(crate) mod tabs_layout;
pub(crate) mod tooltip;

use crate::window::chrome::{
    scrollbars::Scrollbars, sidebar::Sidebar, status_bar::StatusBar, tabs::Tabs,
};

/// The state of the bars.
pub(crate) struct Chrome {
    pub(crate) status_bar: StatusBar,
    pub(crate) tabs: Tabs,
    pub(crate) sidebar: Sidebar,
    pub(crate) scrollbars: Scrollbars,
    pub(crate) instance_title: Option<String>,
    /// The number of running instances, including this one.
    pub(crate) instances: usize,
}

impl Default for Chrome {
    fn default() -> Self {
        Self {
            status_bar: StatusBar::default(),
            tabs: Tabs::default(),
            sidebar: Sidebar::default(),
            scrollbars: Scrollbars::default(),
            instance_title: None,
            instances: 1,
        }
    }
}
