//! Drawing tools that all parts of the window use: measures, colors, and lines of text. These modules import no part
//! of the window.

pub(crate) mod colors;
pub(crate) mod geometry;
pub(crate) mod line;
pub(crate) mod scroll_text;
pub(crate) mod wrap;
