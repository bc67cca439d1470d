//! Requests to the X server that winit does not offer.
//!
//! Opens a new connection for each request. Requests block: never send one on the main thread while a window is shown.
//! [`Pointers`] is the exception, because the meaning of an event depends on the answer.

use winit::window::Window;

/// The message for a window that can't be translucent because no compositor runs.
pub(crate) const NO_COMPOSITOR: &str = "Opacity needs a compositor, and none runs here.\n\
     Start one, such as picom, and open a new window.";

/// The window's id on the X server; `None` if the window is not on an X server.
#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) fn id(window: &Window) -> Option<u32> {
    use winit::raw_window_handle::{HasWindowHandle, RawWindowHandle};
    match window.window_handle().map(|handle| handle.as_raw()) {
        Ok(RawWindowHandle::Xlib(handle)) => Some(handle.window as u32),
        Ok(RawWindowHandle::Xcb(handle)) => Some(handle.window.get()),
        _ => None,
    }
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(crate) fn id(_: &Window) -> Option<u32> {
    None
}

/// Whether a compositing manager draws what lies behind translucent windows (EWMH, `_NET_WM_CM_Sn`). Returns true if
/// the server does not report it.
#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) fn has_compositor() -> bool {
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
pub(crate) fn has_compositor() -> bool {
    true
}

/// Makes a hidden window return to its position when it is shown again (ICCCM 4.1.2.3, flag USPosition).
#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) fn keep_place(window: u32) {
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
pub(crate) fn keep_place(_: u32) {}

/// Queries the X server about the pointers in use. All queries share one connection, because a turning wheel causes
/// many of them.
#[cfg(all(unix, not(target_os = "macos")))]
#[derive(Default)]
pub(crate) struct Pointers(Option<x11rb::rust_connection::RustConnection>);

#[cfg(all(unix, not(target_os = "macos")))]
impl Pointers {
    /// Whether a pointer scrolls by valuators (XInput 2.1). Returns true if the server does not report it. Blocks
    /// until the server replies.
    pub(crate) fn have_scroll_valuators(&mut self) -> bool {
        let mut ask = || -> Option<bool> {
            use x11rb::protocol::xinput::{
                ConnectionExt as _, DeviceClassData, DeviceType, xi_query_device,
            };
            /// The value of `XIAllMasterDevices`, the id that stands for all master devices.
            const MASTERS: u16 = 1;
            if self.0.is_none() {
                let (connection, _) = x11rb::connect(None).ok()?;
                connection.xinput_xi_query_version(2, 2).ok()?.reply().ok()?;
                self.0 = Some(connection);
            }
            let devices = xi_query_device(self.0.as_ref()?, MASTERS).ok()?.reply().ok()?;
            // A master device reports the classes of the physical device that was used last.
            let mut pointers =
                devices.infos.iter().filter(|x| x.type_ == DeviceType::MASTER_POINTER);
            let scrolls = |data: &DeviceClassData| matches!(data, DeviceClassData::Scroll(_));
            Some(pointers.any(|one| one.classes.iter().any(|class| scrolls(&class.data))))
        };
        ask().unwrap_or(true)
    }
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
#[derive(Default)]
pub(crate) struct Pointers;

#[cfg(not(all(unix, not(target_os = "macos"))))]
impl Pointers {
    pub(crate) fn have_scroll_valuators(&mut self) -> bool {
        true
    }
}

/// The process of the window under the pointer (EWMH, `_NET_WM_PID`). `None` if there is none, or if the server does not
/// report it.
#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) fn process_under_pointer() -> Option<u32> {
    use x11rb::{
        connection::Connection as _,
        protocol::xproto::{AtomEnum, ConnectionExt as _},
    };
    let (connection, screen) = x11rb::connect(None).ok()?;
    let name = connection.intern_atom(false, b"_NET_WM_PID").ok()?.reply().ok()?.atom;
    let mut window = connection.setup().roots.get(screen)?.root;
    let mut process = None;
    // The window that names its process is inside the frame that the window manager has drawn around it.
    loop {
        let place = connection.query_pointer(window).ok()?.reply().ok()?;
        if !place.same_screen || place.child == x11rb::NONE {
            return process;
        }
        window = place.child;
        let value = connection.get_property(false, window, name, AtomEnum::CARDINAL, 0, 1);
        let value = value.ok()?.reply().ok()?;
        process = value.value32().and_then(|mut values| values.next()).or(process);
    }
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(crate) fn process_under_pointer() -> Option<u32> {
    None
}

/// The pointer's position in pixels from the window's top left corner, even if the pointer is outside the window.
/// `None` if the server does not report it.
#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) fn pointer(window: u32) -> Option<(f64, f64)> {
    use x11rb::protocol::xproto::ConnectionExt as _;
    let (connection, _) = x11rb::connect(None).ok()?;
    let place = connection.query_pointer(window).ok()?.reply().ok()?;
    place.same_screen.then(|| (f64::from(place.win_x), f64::from(place.win_y)))
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(crate) fn pointer(_: u32) -> Option<(f64, f64)> {
    None
}
