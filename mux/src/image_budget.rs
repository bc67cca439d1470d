//! The memory that the images of all panes may use together. Each terminal bounds its own images as well.
//!
//! When the images of all panes exceed the budget, the pane whose images use the most memory drops its least recently used
//! images. So a pane with few images keeps them. Never holds two terminals' locks.

use std::sync::Arc;

use crate::Pane;

/// The budget, in bytes: what one terminal may use for its two screens (kitty's quota is 320 MiB for each).
pub(crate) const IMAGE_BUDGET: usize = 640 << 20;

/// Drops images until those of all panes fit into `budget`.
pub(crate) fn enforce(panes: &[Arc<Pane>], budget: usize) {
    // Each round shrinks the images of one pane. If a program sends more images meanwhile, its pane starts another check.
    for _ in panes {
        let total: usize = panes.iter().map(|pane| pane.image_bytes()).sum();
        let over = total.saturating_sub(budget);
        let greediest = panes.iter().max_by_key(|pane| pane.image_bytes());
        let Some(pane) = greediest.filter(|_| over > 0) else { return };
        pane.shed_images(pane.image_bytes().saturating_sub(over));
    }
}
