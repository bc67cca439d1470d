//! The surface: the system's window, its renderer and painter, and the times at which frames are due.
//!
//! Owns pixels and time: geometry, frame pacing and the timer. Does not depend on the content of frames.

pub(crate) mod access_tree;
pub(crate) mod blur;
pub(crate) mod drop_down;
pub(crate) mod icon;
pub(crate) mod last_form;
pub(crate) mod look;
pub(crate) mod mapping;
pub(crate) mod moving;
pub(crate) mod pacing;
pub(crate) mod pane_marks;
pub(crate) mod plan;
pub(crate) mod scene;
pub(crate) mod screen;
pub(crate) mod screenshot;
pub(crate) mod stack;
pub(crate) mod title;
pub(crate) mod visibility;
pub(crate) mod wayland;
pub(crate) mod window_effect;
pub(crate) mod x_server;

use std::time::Instant;

use unterm_mux::{Layout, PaneId, Rect};
use unterm_renderer::Renderer;
use winit::dpi::PhysicalPosition;

use crate::window::{
    surface::{pacing::Pacing, screen::Screen, x_server::Pointers},
    ui::geometry::Geometry,
};

pub(crate) struct Surface {
    pub(crate) renderer: Renderer,
    /// The window and its painter; `None` until the window is created.
    pub(crate) screen: Option<Screen>,
    /// The window's measures; `None` until the window is created.
    pub(crate) geometry: Option<Geometry>,
    pub(crate) pacing: Pacing,
    /// The next time to wake up without an event, for example for a blink, the end of a bell's mark, or a save.
    pub(crate) timer: Option<Instant>,
    pub(crate) blink_since: Instant,
    /// The start of the clock for animated images.
    pub(crate) started: Instant,
    /// Whether the window's background is translucent.
    pub(crate) is_transparent: bool,
    /// The position of the window before it was hidden for a screenshot.
    hidden_at: Option<PhysicalPosition<i32>>,
    pub(crate) pointers: Pointers,
    /// Whether the system's queue may still contain sizes that the new window had before it was shown. Such a size must
    /// not reach the first program.
    pub(crate) has_old_sizes: bool,
}

impl Surface {
    pub(crate) fn new(renderer: Renderer) -> Self {
        Self {
            renderer,
            screen: None,
            geometry: None,
            pacing: Pacing::default(),
            timer: None,
            blink_since: Instant::now(),
            started: Instant::now(),
            is_transparent: false,
            hidden_at: None,
            pointers: Pointers::default(),
            has_old_sizes: false,
        }
    }

    pub(crate) fn cell(&self) -> (u32, u32) {
        self.geometry.map_or((1, 1), |geometry| geometry.cell_size())
    }

    /// The visible panes and their areas. A pane covers earlier panes of the list.
    pub(crate) fn placed(&self, layout: &Layout) -> Vec<(PaneId, Rect)> {
        self.geometry.map_or_else(Vec::new, |geometry| geometry.placed(layout))
    }

    /// Whether the window shows a pane, as far as the system reports.
    pub(crate) fn has_in_sight(&self, pane: PaneId, layout: &Layout) -> bool {
        let is_hidden = self.screen.as_ref().is_some_and(Screen::is_hidden);
        !is_hidden && self.placed(layout).iter().any(|(id, _)| *id == pane)
    }

    /// Makes the next frame repaint the whole window, after the system discarded a part of its content.
    pub(crate) fn redraw_whole(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.painter.invalidate();
        }
    }

    pub(crate) fn wake_at(&mut self, time: Instant) {
        self.timer = Some(self.timer.map_or(time, |timer| timer.min(time)));
    }
}
