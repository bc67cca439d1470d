//! The system's window and its painter.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use unterm_renderer::{PainterError, PixelRect, Renderer, WindowPainter};
use winit::{
    dpi::{PhysicalPosition, PhysicalSize},
    raw_window_handle::{HasWindowHandle as _, RawWindowHandle},
    window::{Theme, Window},
};

use crate::window::{surface::wayland, ui::geometry::Geometry};

/// The minimum columns and rows of a window. The configuration has equal limits for the initial size.
const LEAST_COLUMNS: u16 = 10;
const LEAST_ROWS: u16 = 3;
/// The time for which the answer is reused whether the window is minimized.
const MINIMIZED_AGE: Duration = Duration::from_secs(1);

impl Screen {
    /// A new window. Its input method must be enabled.
    pub(crate) fn new(window: Arc<Window>, painter: WindowPainter<Arc<Window>>) -> Self {
        Self {
            window,
            painter,
            least: (0, 0),
            is_covered: false,
            minimized: None,
            ime_area: None,
            is_ime_allowed: true,
        }
    }

    /// Whether the system reports that the window is covered.
    pub(crate) fn is_covered(&self) -> bool {
        self.is_covered
    }

    /// Sets whether the window is covered.
    pub(crate) fn set_covered(&mut self, is_covered: bool) {
        self.is_covered = is_covered;
        self.forget_minimized();
    }

    /// Makes the next frame query whether the window is minimized.
    pub(crate) fn forget_minimized(&mut self) {
        self.minimized = None;
    }

    /// Whether the window is minimized, and whether that has changed since the last query. Queries the system at most
    /// once in [`MINIMIZED_AGE`].
    pub(crate) fn query_minimized(&mut self, now: Instant) -> (bool, bool) {
        match self.minimized {
            Some((is_minimized, queried)) if now < queried + MINIMIZED_AGE => (is_minimized, false),
            before => {
                let is_minimized = self.window.is_minimized() == Some(true);
                self.minimized = Some((is_minimized, now));
                (is_minimized, before.map(|(before, _)| before) != Some(is_minimized))
            }
        }
    }

    /// Records that the input method is enabled or disabled. Returns false if it already is, or if it can't be disabled
    /// temporarily.
    pub(crate) fn allow_ime(&mut self, is_allowed: bool) -> bool {
        let changes = self.is_ime_allowed != is_allowed && can_be_put_off(&self.window);
        if changes {
            self.is_ime_allowed = is_allowed;
        }
        changes
    }

    /// Whether the window is covered or minimized, as far as the system reports.
    pub(crate) fn is_hidden(&self) -> bool {
        self.is_covered || self.minimized.is_some_and(|(is_minimized, _)| is_minimized)
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
    least: (u32, u32),
    is_covered: bool,
    /// Whether the window is minimized, and when the system was last queried. The system sends no event when a window
    /// is minimized.
    minimized: Option<(bool, Instant)>,
    /// The cursor area last reported to the input method.
    ime_area: Option<PixelRect>,
    /// Whether the input method is enabled.
    is_ime_allowed: bool,
}

/// Whether the input method can be disabled temporarily. With XIM, disabling it makes winit create another input
/// context, which receives no keys until the window regains the focus.
fn can_be_put_off(window: &Window) -> bool {
    let handle = window.window_handle().map(|handle| handle.as_raw());
    !matches!(handle, Ok(RawWindowHandle::Xlib(_) | RawWindowHandle::Xcb(_)))
}
