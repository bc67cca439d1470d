//! The system's window with its painter.

use std::{sync::Arc, time::Instant};

use unterm_renderer::{PainterError, PixelRect, Renderer, WindowPainter};
use winit::window::Window;

use crate::window::{surface::wayland, ui::geometry::Geometry};

/// Minimum columns and rows of a window, as for its size in the configuration.
const LEAST_COLUMNS: u16 = 10;
const LEAST_ROWS: u16 = 3;

impl Screen {
    /// Sets the window's minimum size.
    pub(crate) fn limit_size(&mut self, geometry: &Geometry) {
        let least = geometry.window_for(LEAST_COLUMNS, LEAST_ROWS);
        if std::mem::replace(&mut self.least, least) != least {
            let size = wayland::size_of(&self.window, least, geometry.scale);
            self.window.set_min_inner_size(Some(size));
        }
    }

    /// Presents the last frame.
    pub(crate) fn present(&mut self, renderer: &mut Renderer) -> Result<(), PainterError> {
        self.window.pre_present_notify();
        self.painter.paint(renderer)
    }

    /// Presents the last frame. On a pane's reader thread, presents only a small change. Returns false if nothing was
    /// presented.
    pub(crate) fn present_text(
        &mut self,
        renderer: &mut Renderer,
        on_reader: bool,
    ) -> Result<bool, PainterError> {
        match on_reader {
            true => self.painter.paint_small(renderer),
            false => self.present(renderer).map(|()| true),
        }
    }
}

/// The state that exists from the window's creation on.
pub(crate) struct Screen {
    pub(crate) window: Arc<Window>,
    pub(crate) painter: WindowPainter<Arc<Window>>,
    pub(crate) title: String,
    /// The minimum size of the window.
    pub(crate) least: (u32, u32),
    pub(crate) occluded: bool,
    /// Whether the window is minimised, and when the system was last asked: the system sends no event for it.
    pub(crate) minimized: Option<(bool, Instant)>,
    /// The cursor area last reported to the input method.
    pub(crate) ime_area: Option<PixelRect>,
    /// Whether the input method is enabled.
    pub(crate) is_ime_allowed: bool,
}
