//! How printed text looks: the pen, its attributes and colors, and the character sets.

pub(crate) mod charset;
mod color_table;
pub(crate) mod pen;
mod presentation;
pub(crate) mod sgr;
pub(crate) mod sgr_stack;
