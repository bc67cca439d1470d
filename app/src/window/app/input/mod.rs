//! Receives input events, and offers each first to overlays, then to bars, then to panes.

pub(crate) mod bound_keys;
pub(crate) mod drops;
pub(crate) mod ime;
pub(crate) mod keyboard;
pub(crate) mod mouse;
pub(crate) mod paste;
pub(crate) mod transfer;
pub(crate) mod wheel;
