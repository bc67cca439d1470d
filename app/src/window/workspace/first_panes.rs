//! The panes that a window starts with, while they wait for the window's final size.
//!
//! A full-screen program draws twice if its pane is resized right after its start. So the first programs start when the
//! window is shown: only then is its size known if it is maximized, full screen or tiled.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::ready::Ready;

/// The longest wait for a window that is not shown, such as one that starts minimized. On a busy machine, a window manager
/// takes more than half a second to show a window.
pub(crate) const LONGEST: Duration = Duration::from_secs(2);

/// Panes that are not open yet.
pub(crate) struct FirstPanes {
    /// Holds calls until the panes are open.
    pub(crate) ready: Arc<Ready>,
    /// When they are opened at the latest; `None` until the window is created.
    pub(crate) due: Option<Instant>,
    /// The window's size and scale at the last frame that Wayland has shown.
    shown: Option<(u32, u32, f32)>,
}

impl FirstPanes {
    pub(crate) fn new(ready: Arc<Ready>) -> Self {
        Self { ready, due: None, shown: None }
    }

    /// Whether the window has its first size, after Wayland has shown a frame. A compositor may configure a window again
    /// when it shows the window first, so two frames in a row must have the same size.
    pub(crate) fn is_settled(&mut self, size: (u32, u32, f32)) -> bool {
        self.shown.replace(size) == Some(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_the_first_one_once_two_frames_have_it() {
        let mut first = FirstPanes::new(Ready::new());
        assert!(!first.is_settled((376, 206, 1.0)));
        assert!(!first.is_settled((564, 309, 1.5)));
        assert!(!first.is_settled((585, 309, 1.5)));
        assert!(first.is_settled((585, 309, 1.5)));
    }
}
