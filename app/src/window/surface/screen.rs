//! The system's window with its painter.

use std::{sync::Arc, time::Instant};

use unterm_renderer::{PainterError, PixelRect, Renderer, WindowPainter};
use winit::{
    dpi::{PhysicalPosition, PhysicalSize},
    window::Window,
};

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

    /// Reports the position of the text cursor to the input method, which shows its candidates there.
    pub(crate) fn tell_ime(&mut self, place: PixelRect) {
        if self.ime_area.replace(place) != Some(place) {
            self.repeat_to_ime();
        }
    }

    /// Reports the last place again.
    pub(crate) fn repeat_to_ime(&self) {
        if let Some(place) = self.ime_area {
            self.window.set_ime_cursor_area(
                PhysicalPosition::new(place.x, place.y),
                PhysicalSize::new(place.width, place.height),
            );
        }
    }
}

/// The state that exists from the window's creation on.
pub(crate) struct Screen {
    pub(crate) window: Arc<Window>,
    pub(crate) painter: WindowPainter<Arc<Window>>,
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
