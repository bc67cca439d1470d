//! Opens overlays, and passes input to them.

pub(crate) mod menus;
pub(crate) mod stack;
