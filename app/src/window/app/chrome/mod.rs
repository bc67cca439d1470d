//! TODO

pub(crate) mod scrollbar;
pub(crate) mod status_bar;
pub(crate) mod tabs;
