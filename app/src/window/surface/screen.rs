//! The system's window and its painter.

use std::{sync::Arc, time::Instant};

use unterm_renderer::{PainterError, PixelRect, Renderer, WindowPainter};
use winit::{
    dpi::{PhysicalPosition, PhysicalSize},
    window::{Theme, Window},
};

use crate::window::{surface::wayland, ui::geometry::Geometry};

/// The minimum columns and rows of a window. The configuration has equal limits for the initial size.
const LEAST_COLUMNS: u16 = 10;
const LEAST_ROWS: u16 = 3;

impl Screen {
    /// Whether the window is covered or minimized, as far as the system reports.
    pub(crate) fn is_hidden(&self) -> bool {
        self.occluded || self.minimized.is_some_and(|(is_minimized, _)| is_minimized)
    }

    /// The theme that the desktop sets for the window. `None` on Wayland, where Unterm itself sets the window's theme.
    pub(crate) fn system_theme(&self) -> Option<Theme> {
        self.window.theme().filter(|_| !wayland::shows(&self.window))
    }

    /// Sets the window's minimum size.
    pub(crate) fn limit_size(&mut self, geometry: &Geometry) {
        let least = geometry.window_for(LEAST_COLUMNS, LEAST_ROWS);
        if std::mem::replace(&mut self.least, least) != least {
            let size = wayland::size_of(&self.window, least, geometry.scale);
            self.window.set_min_inner_size(Some(size));
        }
    }

    /// Paints the frame that was built last, and presents it.
    pub(crate) fn present(&mut self, renderer: &mut Renderer) -> Result<(), PainterError> {
        self.window.pre_present_notify();
        self.painter.paint(renderer)
    }

    /// Reports the position of the text cursor to the input method, which shows its candidates next to the cursor.
    pub(crate) fn place_ime(&mut self, place: PixelRect) {
        if self.ime_area.replace(place) != Some(place) {
            self.repeat_to_ime();
        }
    }

    /// Reports the last position of the text cursor to the input method again.
    pub(crate) fn repeat_to_ime(&self) {
        if let Some(place) = self.ime_area {
            self.window.set_ime_cursor_area(
                PhysicalPosition::new(place.x, place.y),
                PhysicalSize::new(place.width, place.height),
            );
        }
    }
}

/// The parts of the surface that exist only after the window is created.
pub(crate) struct Screen {
    pub(crate) window: Arc<Window>,
    pub(crate) painter: WindowPainter<Arc<Window>>,
    /// The minimum size of the window, in pixels.
    pub(crate) least: (u32, u32),
    pub(crate) occluded: bool,
    /// Whether the window is minimized, and when the system was last queried. The system sends no event when a window
    /// is minimized.
    pub(crate) minimized: Option<(bool, Instant)>,
    /// The cursor area last reported to the input method.
    pub(crate) ime_area: Option<PixelRect>,
    /// Whether the input method is enabled.
    pub(crate) is_ime_allowed: bool,
}
