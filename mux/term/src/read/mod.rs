//! What others read of a terminal: snapshots, text, searches, and bytes that rebuild it.

mod click;
mod dump;
pub(crate) mod lines;
pub(crate) mod search;
pub(crate) mod snapshot;
pub(crate) mod text;
mod to_vt;
mod view;
