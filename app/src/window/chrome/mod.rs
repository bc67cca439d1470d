//! The bars around the panes: tab bar, status bar and scrollbars.
//!
//! Owns the contents of the bars, and drags on them. Never reads terminals, and never acts on a click: it only reports
//! which part of a bar is under the pointer.

pub(crate) mod scrollbar;
pub(crate) mod status_bar;
pub(crate) mod tab_bar;
pub(crate) mod tab_marks;
pub(crate) mod tab_titles;
pub(crate) mod tabs;
pub(crate) mod tooltip;

use std::time::Instant;

use crate::window::{
    chrome::{
        scrollbar::Drag,
        status_bar::StatusBar,
        tab_bar::{TabBarPart, TabLabel},
        tabs::Hand,
    },
    input::pointer::DOUBLE_CLICK,
};

/// The state of the bars.
pub(crate) struct Chrome {
    pub(crate) status_bar: StatusBar,
    /// The texts and marks of the tabs in the last drawn tab bar.
    pub(crate) tabs: Vec<TabLabel>,
    pub(crate) tab_hand: Hand,
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
            tabs: Vec::new(),
            tab_hand: Hand::default(),
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

    /// Records a press on the tab bar; returns whether the press completes a double click.
    pub(crate) fn is_double_click(&mut self, part: TabBarPart, now: Instant) -> bool {
        let before = self.tab_hand.click.replace((now, part));
        let double = before.is_some_and(|(time, same)| same == part && now - time < DOUBLE_CLICK);
        if double {
            self.tab_hand.click = None;
        }
        double
    }
}
