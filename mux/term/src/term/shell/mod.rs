//! Prompts and commands of shells: where they are, and what keeps them right when the window changes or a command ends.

pub(crate) mod anchors;
pub(crate) mod commands;
mod left_behind;
pub(crate) mod marks;
pub(crate) mod redraw;
pub(crate) mod stale_prompt;
pub(crate) mod typed;
mod unmarked_prompt;
