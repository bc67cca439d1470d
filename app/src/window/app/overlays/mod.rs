//! Opens overlays, and passes input to them.

pub(crate) mod about;
pub(crate) mod confirm;
pub(crate) mod context_menu;
pub(crate) mod inbox_panel;
pub(crate) mod main_menu;
pub(crate) mod menu;
pub(crate) mod picker;
pub(crate) mod stack;
