//! The bars around the panes: tab bar, status bar and scrollbars.
//!
//! Owns the contents of the bars, and drags on them. Never reads terminals, and never acts on a click: it only reports
//! which part of a bar is under the pointer.

pub(crate) mod menus;
pub(crate) mod scrollbar;
pub(crate) mod status_bar;
pub(crate) mod tab_bar;
pub(crate) mod tab_marks;
pub(crate) mod tab_titles;
pub(crate) mod tabs;
pub(crate) mod tooltip;

use crate::window::chrome::{scrollbar::Drag, status_bar::StatusBar, tabs::Tabs};

/// The state of the bars.
pub(crate) struct Chrome {
    pub(crate) status_bar: StatusBar,
    pub(crate) tabs: Tabs,
    /// The drag of a scrollbar's thumb.
    pub(crate) bar_drag: Option<Drag>,
    pub(crate) instance_title: Option<String>,
    /// The number of running instances, including this one.
    pub(crate) instances: usize,
}

impl Default for Chrome {
    fn default() -> Self {
        Self {
            status_bar: StatusBar::default(),
            tabs: Tabs::default(),
            bar_drag: None,
            instance_title: None,
            instances: 1,
        }
    }
}

impl Chrome {
    /// Ends the drag of a scrollbar's thumb. Returns false if no thumb was dragged.
    pub(crate) fn drop_bar(&mut self) -> bool {
        self.bar_drag.take().is_some()
    }
}
