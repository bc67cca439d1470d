//! What printing, moving and editing do to the cells.

pub(crate) mod block;
mod cluster;
pub(crate) mod edit;
mod line_size;
pub(crate) mod margins;
mod motion;
mod multicell;
mod print;
mod rectangle;
pub(crate) mod tabs;
