//! Opens overlays, and passes input to them.

pub(crate) mod about;
pub(crate) mod menus;
pub(crate) mod stack;
