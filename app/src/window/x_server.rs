//! What the window asks of the X server by itself, since winit does not.
//!
//! Owns how it is asked, by a connection of its own. That waits for the server: never on the main thread while a window is
//! shown.

use winit::window::Window;

/// What the person is told of a window that stays opaque.
pub(super) const NO_COMPOSITOR: &str = "Opacity needs a compositor, and none runs here.\n\
     Start one, such as picom, and open a new window.";

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

/// Whether a compositing manager shows what is behind translucent windows (EWMH, `_NET_WM_CM_Sn`); true where the server
/// does not tell.
#[cfg(all(unix, not(target_os = "macos")))]
pub(super) fn has_compositor() -> bool {
    use x11rb::protocol::xproto::ConnectionExt as _;
    let owner = || {
        let (connection, screen) = x11rb::connect(None).ok()?;
        let name = format!("_NET_WM_CM_S{screen}");
        let selection = connection.intern_atom(false, name.as_bytes()).ok()?.reply().ok()?.atom;
        Some(connection.get_selection_owner(selection).ok()?.reply().ok()?.owner)
    };
    owner().is_none_or(|owner| owner != x11rb::NONE)
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(super) fn has_compositor() -> bool {
    true
}

/// Has a hidden window keep its place when it is shown again (ICCCM 4.1.2.3, the flag USPosition).
#[cfg(all(unix, not(target_os = "macos")))]
pub(super) fn keep_place(window: u32) {
    use x11rb::{connection::Connection as _, properties::WmSizeHints};
    let keep = || -> Option<()> {
        let (connection, _) = x11rb::connect(None).ok()?;
        let hints = WmSizeHints::get_normal_hints(&connection, window).ok()?.reply().ok()?;
        let mut hints = hints.unwrap_or_default();
        let place = Some((x11rb::properties::WmSizeHintsSpecification::UserSpecified, 0, 0));
        hints.position = hints.position.or(place);
        hints.set_normal_hints(&connection, window).ok()?.check().ok()?;
        connection.flush().ok()
    };
    if keep().is_none() {
        tracing::debug!("the window's place can't be kept");
    }
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(super) fn keep_place(_: u32) {}

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
