//! Starts to receive drops.

use std::sync::Arc;

use crate::window::inbox::Inbox;

/// Starts to receive the drops on an X11 window, on another thread.
#[cfg(all(unix, not(target_os = "macos")))]
pub(crate) fn start(window: u32, inbox: &Arc<Inbox>) {
    use crate::window::input::dropped::xdnd;

    let inbox = Arc::clone(inbox);
    let receive = move || {
        let deliver = |dropped| inbox.post(|news| news.system.dropped.push(dropped));
        if let Err(error) = xdnd::receive(window, deliver) {
            tracing::warn!("drops on the window are left to winit: {error}");
        }
    };
    if let Err(error) = std::thread::Builder::new().name("drops".to_owned()).spawn(receive) {
        tracing::warn!("drops on the window are left to winit: {error}");
    }
}

/// On other systems, winit receives every drop, so nothing needs to be started.
#[cfg(not(all(unix, not(target_os = "macos"))))]
pub(crate) fn start(_: u32, _: &Arc<Inbox>) {}
