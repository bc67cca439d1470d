//! The fast path for output: frames in which only the panes' text is new, such as a key's echo. Everything else is
//! reused from the frame before, which saves most of a frame's cost.
//!
//! One rule decides: nothing lies over the panes' text, and nothing around it has changed. The stack of overlays
//! answers the first part. For the second, everything that changes the window without output asks for a whole frame
//! (`Pacing::ask`), and [`Around`] compares what output itself may change. The option `--whole-frames` turns the fast
//! path off.
//!
//! If the window is idle, the thread that read the output paints it: waking the event loop would take as long as painting
//! the frame. For that, the event loop lends what such a frame needs ([`Lent`]) while it waits, and takes it back before it
//! handles anything. A reader never waits for the event loop, and shares nothing else with it; so nothing but text can
//! change while it paints.
//!
//! Owns what the last whole frame showed around the text, and the loan. Never decides what a whole frame shows.

pub(crate) mod around;
pub(crate) mod loan;
pub(crate) mod reader;
pub(crate) mod text_frame;
pub(crate) mod text_style;

use std::sync::Arc;

use unterm_mux::Mux;

use crate::window::{
    echo::{
        around::Around,
        reader::{Lent, Slot},
    },
    inbox::Inbox,
};

/// The fast path, as the event loop sees it.
pub(crate) struct Echo {
    /// The last frame's content around the panes' text, if the next frame can differ from it in text only.
    pub(crate) around: Option<Around>,
    slot: Arc<Slot>,
}

impl Echo {
    pub(crate) fn new(mux: &Arc<Mux>) -> Self {
        Self { around: None, slot: Arc::new(Slot::new(Arc::downgrade(mux))) }
    }

    /// Lets panes' readers paint echoes. Only X11 and Wayland allow a window to be used on another thread; the CPU painter
    /// on X11 makes use of it.
    pub(crate) fn allow(&self, inbox: &Inbox) {
        if cfg!(all(unix, not(target_os = "macos"))) {
            let slot = Arc::clone(&self.slot);
            inbox.set_echo_painter(Box::new(move |inbox, pane| slot.show(inbox, pane)));
        }
    }

    /// Lends readers what an echo needs.
    pub(crate) fn lend(&self, lent: Lent) {
        self.slot.put(lent);
    }

    /// Takes back what was lent; waits for a reader that is painting. `None` if nothing is lent.
    pub(crate) fn take_back(&self) -> Option<Lent> {
        self.slot.take()
    }
}
