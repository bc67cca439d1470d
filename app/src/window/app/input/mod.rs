//! Takes input events, and offers them to overlays, bars and panes in that order.

pub(crate) mod bound_keys;
pub(crate) mod drag;
pub(crate) mod dropped;
pub(crate) mod hover;
pub(crate) mod ime;
pub(crate) mod keyboard;
pub(crate) mod paste;
pub(crate) mod pointer;
pub(crate) mod wheel;
