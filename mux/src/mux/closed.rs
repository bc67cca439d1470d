//! Panes whose closing can be undone.

use std::{sync::Arc, time::Instant};

use unterm_term::Size;

use crate::{Pane, Tab};

/// Panes of one tab that were closed together.
pub(super) struct Closed {
    pub(super) panes: Vec<Arc<Pane>>,
    /// The tab before its panes were closed, and the tab's index.
    pub(super) tab: Tab,
    pub(super) index: usize,
    /// The size of the tab in cells, if the mux divides the tab.
    pub(super) area: Option<Size>,
    pub(super) at: Instant,
}
