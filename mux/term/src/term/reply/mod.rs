//! Reports of the terminal to its program.

mod capabilities;
pub(crate) mod report;
mod setting_report;
pub(crate) mod window_ops;
