//! The number that names a pane, for every module that names one without having it.

/// Names a pane for the life of the process; never used twice. The first is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PaneId(pub u64);
