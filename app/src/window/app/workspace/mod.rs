//! Carries out the user's actions on tabs and panes.

pub(crate) mod close;
pub(crate) mod first_tab;
pub(crate) mod layouts;
pub(crate) mod surveys;
