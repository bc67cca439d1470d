//! The id of a pane, for modules that refer to panes without owning them.

/// Identifies a pane for the life of the process. Ids start at 0 and are never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PaneId(pub u64);
