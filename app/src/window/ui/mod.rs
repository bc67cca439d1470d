//! TODO

pub(crate) mod colors;
pub(crate) mod geometry;
pub(crate) mod line;
pub(crate) mod scroll_text;
pub(crate) mod wrap;
