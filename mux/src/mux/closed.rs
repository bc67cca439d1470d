//! Panes whose closing can be undone.

use std::{sync::Arc, time::Instant};

use unterm_term::Size;

use crate::{Pane, Tab};

/// Panes of one tab that were closed together.
pub(super) struct Closed {
    pub(super) panes: Vec<Arc<Pane>>,
    /// The tab before, and its index.
    pub(super) tab: Tab,
    pub(super) index: usize,
    /// The tab's cells, if the mux divides it.
    pub(super) area: Option<Size>,
    pub(super) at: Instant,
}
