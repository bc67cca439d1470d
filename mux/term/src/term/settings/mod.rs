//! What programs set and reset: modes, the keyboard, the conformance level, cursors.

pub(crate) mod conformance;
pub(crate) mod cursor;
pub(crate) mod extra_cursors;
pub(crate) mod keyboard;
mod mode;
pub(crate) mod modes;
pub(crate) mod vt52;
