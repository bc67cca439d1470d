//! The fast path for output: frames in which only the panes' text is new, such as the echo of a key. Such a frame
//! reuses everything else from the previous frame, which saves most of a frame's cost.
//!
//! The rule for the fast path: no overlay lies over the panes' text, and nothing around the text has changed. The
//! stack of overlays knows whether one lies over the text. Everything that changes the window without output requests
//! a whole frame (`Pacing::ask`), and [`LastFrame`] compares the parts that output itself may change. The option
//! `--whole-frames` turns the fast path off.
//!
//! If the window is idle, the thread that read the output paints it, because waking the event loop would take as long
//! as painting the frame. While the event loop waits, it lends the reader threads everything that such a frame needs
//! ([`LentParts`]). The event loop takes the loan back before it handles any event. A reader thread never waits for the
//! event loop and shares nothing else with it, so only text can change while the reader paints.
//!
//! Owns the loan, and a copy of what the last whole frame showed around the text. Never decides what a whole frame
//! shows.

pub(crate) mod last_frame;
pub(crate) mod loan;
pub(crate) mod reader;
pub(crate) mod text_frame;
pub(crate) mod text_style;

use std::sync::Arc;

use unterm_mux::Mux;

use crate::window::{
    echo::{
        last_frame::LastFrame,
        reader::{LentParts, Slot},
    },
    inbox::Inbox,
};

/// The event loop's side of the fast path.
pub(crate) struct Echo {
    /// The last frame's content around the panes' text; `None` if the next frame must be a whole frame.
    pub(crate) last_frame: Option<LastFrame>,
    slot: Arc<Slot>,
}

impl Echo {
    pub(crate) fn new(mux: &Arc<Mux>) -> Self {
        Self { last_frame: None, slot: Arc::new(Slot::new(Arc::downgrade(mux))) }
    }

    /// Allows panes' readers to paint echoes. Only X11 and Wayland allow another thread to use a window. Only the CPU
    /// painter on X11 paints on readers' threads.
    pub(crate) fn allow(&self, inbox: &Inbox) {
        if cfg!(all(unix, not(target_os = "macos"))) {
            let slot = Arc::clone(&self.slot);
            inbox.set_echo_painter(Box::new(move |inbox, pane| slot.show(inbox, pane)));
        }
    }

    /// Lends the panes' readers everything that they need to paint an echo.
    pub(crate) fn lend(&self, lent: LentParts) {
        self.slot.put(lent);
    }

    /// Ends the loan, and waits for a reader that is painting. Returns `None` if nothing is lent.
    pub(crate) fn take_back(&self) -> Option<LentParts> {
        self.slot.take()
    }
}
