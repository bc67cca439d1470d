//! Drawing aids of all parts: measures, colours, and lines of text. They import no part.

pub(crate) mod colors;
pub(crate) mod geometry;
pub(crate) mod line;
pub(crate) mod scroll_text;
pub(crate) mod wrap;
