//! Opens the window, and updates the state for its frames.

pub(crate) mod draw;
pub(crate) mod frame;
pub(crate) mod labels;
pub(crate) mod open;
pub(crate) mod quake;
pub(crate) mod tabs_place;
