//! Carries out the user's actions on the bars.

pub(crate) mod status_bar;
