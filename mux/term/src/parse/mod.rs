//! From bytes to calls: the parser, and the method of each sequence.

mod control;
mod csi;
mod dcs;
mod esc;
pub(crate) mod parser;
