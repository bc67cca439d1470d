//! Shows a new window on X11, and waits until the window manager has placed the window.
//!
//! A window manager reads the states of a new window when it starts to manage the window (EWMH). It sets the window's
//! size before it maps the window, so after `MapNotify` the first size is known. Owns the wait, and never changes a
//! window that is already shown.

#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) use server::Mapping;

/// The EWMH names of the states of a maximized window.
pub(crate) const MAXIMIZED: &[&str] =
    &["_NET_WM_STATE_MAXIMIZED_VERT", "_NET_WM_STATE_MAXIMIZED_HORZ"];
/// The EWMH name of the state of a fullscreen window.
pub(crate) const FULLSCREEN: &[&str] = &["_NET_WM_STATE_FULLSCREEN"];

#[cfg(all(unix, not(target_os = "macos")))]
mod server {
    use std::{
        os::fd::AsFd as _,
        time::{Duration, Instant},
    };

    use anyhow::Result;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use x11rb::{
        connection::Connection as _,
        protocol::{
            Event,
            xproto::{
                AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode,
                Window,
            },
        },
        rust_connection::RustConnection,
        wrapper::ConnectionExt as _,
    };

    /// A window that is not yet mapped, and will be shown soon.
    pub(crate) struct Mapping {
        connection: RustConnection,
        window: Window,
    }

    impl Mapping {
        /// Sets the initial states of a window that is not yet shown, and subscribes to its events. Returns `None` if
        /// the server does not answer.
        pub(crate) fn prepare<'a>(
            window: Window,
            states: impl Iterator<Item = &'a str>,
        ) -> Option<Self> {
            let prepare = || -> Result<Self> {
                let (connection, _) = x11rb::connect(None)?;
                let atom = |name: &str| -> Result<u32> {
                    Ok(connection.intern_atom(false, name.as_bytes())?.reply()?.atom)
                };
                let states = states.map(atom).collect::<Result<Vec<u32>>>()?;
                if !states.is_empty() {
                    let (mode, name) = (PropMode::APPEND, atom("_NET_WM_STATE")?);
                    connection.change_property32(mode, window, name, AtomEnum::ATOM, &states)?;
                }
                let events =
                    ChangeWindowAttributesAux::new().event_mask(EventMask::STRUCTURE_NOTIFY);
                // `check` waits until the server has handled these requests. Requests on winit's connection, such as
                // showing the window, come later.
                connection.change_window_attributes(window, &events)?.check()?;
                Ok(Self { connection, window })
            };
            prepare().map_err(|error| tracing::debug!("a window is not watched: {error}")).ok()
        }

        /// Waits until the window is shown, or until `longest` has passed.
        pub(crate) fn wait(self, longest: Duration) {
            let end = Instant::now() + longest;
            loop {
                match self.connection.poll_for_event() {
                    Ok(Some(Event::MapNotify(event))) if event.window == self.window => return,
                    Ok(Some(_)) => continue,
                    Ok(None) => {}
                    Err(error) => return tracing::debug!("a window is not watched: {error}"),
                }
                let rest = end.saturating_duration_since(Instant::now());
                let Some(rest) = Timespec::try_from(rest).ok().filter(|_| !rest.is_zero()) else {
                    return;
                };
                let stream = self.connection.stream().as_fd();
                // If a signal interrupts the wait, the loop repeats it.
                let _ = poll(&mut [PollFd::new(&stream, PollFlags::IN)], Some(&rest));
            }
        }
    }
}

#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(crate) struct Mapping;

#[cfg(not(all(unix, not(target_os = "macos"))))]
impl Mapping {
    pub(crate) fn prepare<'a>(_: u32, _: impl Iterator<Item = &'a str>) -> Option<Self> {
        None
    }

    pub(crate) fn wait(self, _: std::time::Duration) {}
}
