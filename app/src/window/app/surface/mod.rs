//! Opens the window, and brings the state to its frames.

pub(crate) mod draw;
pub(crate) mod frame;
pub(crate) mod open;
pub(crate) mod quake;
