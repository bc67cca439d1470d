//! The window's connections to the desktop: screen readers, notifications, light or dark colors, and slow tasks on
//! their own threads.
//!
//! Owns the connections, and what the desktop last reported. Never blocks the main thread.

pub(crate) mod access;
pub(crate) mod appearance;
pub(crate) mod caller_actions;
pub(crate) mod editing;
pub(crate) mod emoji_font;
pub(crate) mod export;
pub(crate) mod folder;
pub(crate) mod notices;
pub(crate) mod open_link;
pub(crate) mod paged;
pub(crate) mod pager;
pub(crate) mod recording;
pub(crate) mod screenshot;
pub(crate) mod watched;
pub(crate) mod window_host;

use crate::window::system::{
    access::Access, appearance::Appearance, notices::Notices, paged::PagedFiles,
};

/// The maximum number of errands at a time. Further errands fail with a message.
const ERRANDS: usize = 8;

/// The state of the window's connections to the desktop.
#[derive(Default)]
pub(crate) struct System {
    pub(crate) access: Access,
    pub(crate) notices: Notices,
    pub(crate) appearance: Appearance,
    /// The number of running errands.
    errands: usize,
    pub(crate) paged: PagedFiles,
}

impl System {
    /// Counts a new errand. Returns false if too many errands are running.
    pub(crate) fn begin_errand(&mut self) -> bool {
        let has_room = self.errands < ERRANDS;
        self.errands += usize::from(has_room);
        has_room
    }

    /// Stops counting an errand that has ended.
    pub(crate) fn end_errand(&mut self) {
        self.errands = self.errands.saturating_sub(1);
    }
}
