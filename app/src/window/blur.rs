//! Blur of what lies behind a translucent window, where the desktop does it.
//!
//! Owns how each system is asked. Whether it is wanted is the preferences'.

use winit::window::Window;

/// Has what is behind the window blurred, or not any more.
pub(super) fn apply(window: &Window, is_wanted: bool) {
    // macOS, and KDE on Wayland; elsewhere it does nothing.
    window.set_blur(is_wanted);
    #[cfg(all(unix, not(target_os = "macos")))]
    x11::apply(window, is_wanted);
}

/// KWin's way on X11, which picom and others take too.
#[cfg(all(unix, not(target_os = "macos")))]
mod x11 {
    use anyhow::Result;
    use winit::window::Window;
    use x11rb::{
        protocol::xproto::{AtomEnum, ConnectionExt, PropMode},
        wrapper::ConnectionExt as _,
    };

    /// Its value are the rectangles to blur; without one it is the whole window (KWin, blur effect).
    const PROPERTY: &[u8] = b"_KDE_NET_WM_BLUR_BEHIND_REGION";

    pub(super) fn apply(window: &Window, is_wanted: bool) {
        let Some(id) = crate::window::x_server::id(window) else { return };
        // On a thread of its own, since it waits for the X server.
        let asked = std::thread::Builder::new().name("blur".to_owned()).spawn(move || {
            if let Err(error) = ask(id, is_wanted) {
                tracing::debug!("the blur can't be asked for: {error:#}");
            }
        });
        if let Err(error) = asked {
            tracing::debug!("the blur can't be asked for: {error}");
        }
    }

    fn ask(window: u32, is_wanted: bool) -> Result<()> {
        let (connection, _) = x11rb::connect(None)?;
        let property = connection.intern_atom(false, PROPERTY)?.reply()?.atom;
        if is_wanted {
            let kind = AtomEnum::CARDINAL;
            connection.change_property32(PropMode::REPLACE, window, property, kind, &[])?;
        } else {
            connection.delete_property(window, property)?;
        }
        // The requests have arrived when this one is answered.
        connection.sync()?;
        Ok(())
    }
}
