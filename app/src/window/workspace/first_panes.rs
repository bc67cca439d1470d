//! The first panes of a window, while they wait for the window's final size.
//!
//! If a pane is resized right after its start, a full-screen program draws twice. Therefore the first programs start
//! only after the window is shown. The size of a maximized, fullscreen or tiled window is not known before.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use unterm_control::Inheritance;

use crate::{ready::Ready, sessions::Sessions};

/// The maximum wait for a window that is not shown, such as a window that starts minimized. On a busy machine, a
/// window manager may need more than half a second to show a window.
pub(crate) const LONGEST: Duration = Duration::from_secs(2);

/// The state of the first panes while they are not open yet.
pub(crate) struct FirstPanes {
    /// Makes calls wait until the panes are open.
    pub(crate) ready: Arc<Ready>,
    /// How programs are started.
    pub(crate) sessions: Arc<Sessions>,
    /// The instance whose place this window takes.
    pub(crate) predecessor: Option<Inheritance>,
    /// The time at which the panes are opened at the latest. `None` until the window is created.
    pub(crate) due: Option<Instant>,
    /// The size and scale of the window in the last frame that Wayland has shown.
    shown: Option<(u32, u32, f32)>,
}

impl FirstPanes {
    pub(crate) fn new(
        ready: Arc<Ready>,
        sessions: Arc<Sessions>,
        predecessor: Option<Inheritance>,
    ) -> Self {
        Self { ready, sessions, predecessor, due: None, shown: None }
    }

    /// Whether the window has reached its initial size, after Wayland has shown a frame. A compositor may configure a
    /// window once more when it first shows it, so two successive frames must have equal sizes.
    pub(crate) fn is_settled(&mut self, size: (u32, u32, f32)) -> bool {
        self.shown.replace(size) == Some(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_the_first_one_once_two_frames_have_it() {
        let mut first = FirstPanes::new(Ready::new(), Arc::default(), None);
        assert!(!first.is_settled((376, 206, 1.0)));
        assert!(!first.is_settled((564, 309, 1.5)));
        assert!(!first.is_settled((585, 309, 1.5)));
        assert!(first.is_settled((585, 309, 1.5)));
    }
}
