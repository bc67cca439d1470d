//! Carries out what the user does with the bars.

pub(crate) mod scrollbar;
pub(crate) mod status_bar;
pub(crate) mod tabs;
