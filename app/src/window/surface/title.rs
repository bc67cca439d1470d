//! The window's title, in the properties that window managers, panels and scripts read.

use winit::window::Window;

/// Sets the title. On X11, `WM_NAME` gets the type `UTF8_STRING` if the title is not ASCII, as xterm, kitty and Ghostty
/// do. winit always gives it the type `STRING`, which is Latin-1, so `xprop` and older panels would show wrong
/// characters. An ASCII title keeps the type `STRING`, because `xprop -name` finds titles only by this type
/// (XFetchName).
pub(crate) fn set(window: &Window, title: &str) {
    window.set_title(title);
    #[cfg(all(unix, not(target_os = "macos")))]
    if !title.is_ascii() {
        x11::set_wm_name(window, title);
    }
}

#[cfg(all(unix, not(target_os = "macos")))]
mod x11 {
    use std::sync::OnceLock;

    use winit::{
        raw_window_handle::{HasDisplayHandle, HasWindowHandle, RawDisplayHandle, RawWindowHandle},
        window::Window,
    };
    use x11_dl::xlib::{False, PropModeReplace, XA_WM_NAME, Xlib};

    /// The library that winit has loaded for its connection.
    static XLIB: OnceLock<Option<Xlib>> = OnceLock::new();

    /// Uses winit's own connection, so that the X server receives this request after winit's.
    pub(super) fn set_wm_name(window: &Window, title: &str) {
        let (Ok(display), Ok(handle)) = (window.display_handle(), window.window_handle()) else {
            return;
        };
        let (RawDisplayHandle::Xlib(display), RawWindowHandle::Xlib(handle)) =
            (display.as_raw(), handle.as_raw())
        else {
            return;
        };
        let Some(display) = display.display else { return };
        let Some(xlib) = XLIB.get_or_init(|| Xlib::open().ok()) else { return };
        let Ok(length) = title.len().try_into() else { return };
        // SAFETY: winit opened this display with the same library, after XInitThreads, and keeps it open while its
        // window exists. The name ends with a null byte, and `length` bytes of the title are read.
        unsafe {
            let display = display.as_ptr().cast();
            let utf8 = (xlib.XInternAtom)(display, c"UTF8_STRING".as_ptr(), False);
            (xlib.XChangeProperty)(
                display,
                handle.window,
                XA_WM_NAME,
                utf8,
                8,
                PropModeReplace,
                title.as_ptr(),
                length,
            );
            (xlib.XFlush)(display);
        }
    }
}
