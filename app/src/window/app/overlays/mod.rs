//! Opens overlays, passes input to them, and carries out the choices that they return.

pub(crate) mod about;
pub(crate) mod confirm;
pub(crate) mod context_menu;
pub(crate) mod copy_mode;
pub(crate) mod debug;
pub(crate) mod hints;
pub(crate) mod layer;
pub(crate) mod main_menu;
pub(crate) mod menu;
pub(crate) mod passive;
pub(crate) mod picker;
pub(crate) mod search;
pub(crate) mod stack;
pub(crate) mod toast;
