//! The size and position that a window saves for the next window, and restores.

use std::path::Path;

use winit::{event_loop::ActiveEventLoop, window::WindowAttributes};

use crate::last_session::LastSession;
use crate::window::{
    prefs::Prefs,
    surface::{Surface, drop_down::place_on},
};

impl Surface {
    /// The size and position of the window. For a fullscreen window, those of the last session, or else the configured
    /// size.
    pub(crate) fn form(&self, last: Option<&LastSession>, prefs: &Prefs) -> Option<LastSession> {
        let screen = self.screen.as_ref()?;
        let geometry = self.geometry?;
        if screen.window.fullscreen().is_some() {
            let wanted = &prefs.config.window;
            let (width, height) = geometry.window_for(wanted.columns, wanted.rows);
            let first = || LastSession { width, height, ..LastSession::default() };
            return Some(last.cloned().unwrap_or_else(first));
        }
        let place = screen.window.outer_position().ok().map(|place| (place.x, place.y));
        let maximized = screen.window.is_maximized();
        let (width, height) = (geometry.width, geometry.height);
        Some(LastSession { width, height, place, maximized, ..LastSession::default() })
    }
}

/// The attributes and the size of the last window, if `window.restore` is on. Otherwise, `attributes` unchanged.
pub(crate) fn restored(
    attributes: WindowAttributes,
    last: Option<&LastSession>,
    prefs: &Prefs,
    event_loop: &ActiveEventLoop,
) -> (WindowAttributes, Option<(u32, u32)>) {
    let replaces_one = prefs.args.succeed.is_some();
    let restores = prefs.config.window.restore || replaces_one;
    let Some(last) = last.filter(|_| restores) else {
        return (attributes, None);
    };
    let screens = event_loop.available_monitors().map(|screen| (screen.position(), screen.size()));
    let attributes = match place_on(last, screens) {
        // If another window of Unterm is open, let the desktop choose the position.
        Some(place) if replaces_one || !has_sibling(prefs.settings.home()) => {
            attributes.with_position(place)
        }
        _ => attributes,
    };
    (attributes.with_maximized(last.maximized), Some((last.width, last.height)))
}

/// Whether another instance is registered.
fn has_sibling(home: &Path) -> bool {
    std::fs::read_dir(home.join("instances")).is_ok_and(|entries| entries.count() > 1)
}
