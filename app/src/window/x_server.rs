//! What the window asks of the X server by itself, since winit does not.
//!
//! Owns how it is asked, by a connection of its own. That waits for the server: never on the main thread.

use winit::window::Window;

/// The window's id on the X server; `None` where there is no such server.
#[cfg(all(unix, not(target_os = "macos")))]
pub(super) fn id(window: &Window) -> Option<u32> {
    use winit::raw_window_handle::{HasWindowHandle, RawWindowHandle};
    match window.window_handle().map(|handle| handle.as_raw()) {
        Ok(RawWindowHandle::Xlib(handle)) => Some(handle.window as u32),
        Ok(RawWindowHandle::Xcb(handle)) => Some(handle.window.get()),
        _ => None,
    }
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(super) fn id(_: &Window) -> Option<u32> {
    None
}

/// Where the pointer is, in pixels of a window, inside it or not; `None` where the server does not tell.
#[cfg(all(unix, not(target_os = "macos")))]
pub(super) fn pointer(window: u32) -> Option<(f64, f64)> {
    use x11rb::protocol::xproto::ConnectionExt as _;
    let (connection, _) = x11rb::connect(None).ok()?;
    let place = connection.query_pointer(window).ok()?.reply().ok()?;
    place.same_screen.then(|| (f64::from(place.win_x), f64::from(place.win_y)))
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(super) fn pointer(_: u32) -> Option<(f64, f64)> {
    None
}
