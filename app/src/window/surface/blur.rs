//! Blurs the area behind a translucent window, on desktops that support blur.
//!
//! Owns the request to each desktop system. The preferences decide whether to blur.

use winit::window::Window;

/// Turns the blur behind the window on or off.
pub(crate) fn apply(window: &Window, is_wanted: bool) {
    // `set_blur` works on macOS, and on KDE with Wayland. On other systems it does nothing.
    window.set_blur(is_wanted);
    #[cfg(all(unix, not(target_os = "macos")))]
    x11::apply(window, is_wanted);
}

/// The protocol of KWin for X11. Other compositors, such as picom, support this protocol too.
#[cfg(all(unix, not(target_os = "macos")))]
mod x11 {
    use anyhow::Result;
    use winit::window::Window;
    use x11rb::{
        protocol::xproto::{AtomEnum, ConnectionExt, PropMode},
        wrapper::ConnectionExt as _,
    };

    /// A window property that contains the rectangles to blur. An empty value blurs the area behind the whole window
    /// (KWin, blur effect).
    const PROPERTY: &[u8] = b"_KDE_NET_WM_BLUR_BEHIND_REGION";

    pub(crate) fn apply(window: &Window, is_wanted: bool) {
        let Some(id) = crate::window::surface::x_server::id(window) else { return };
        // The requests run on their own thread, because they block until the X server answers.
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
        // Waits for a reply, which proves that the server has received the earlier requests.
        connection.sync()?;
        Ok(())
    }
}
