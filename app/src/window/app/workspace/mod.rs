//! Carries out the user's actions on tabs, panes and commands.

pub(crate) mod blocks;
pub(crate) mod blocks_mouse;
pub(crate) mod close;
pub(crate) mod first_tab;
pub(crate) mod layouts;
