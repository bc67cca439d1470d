//! The memory that the images of all panes may use together. Each terminal bounds its own images as well.
//!
//! When the images of all panes exceed the budget, the pane whose images use the most memory drops its least recently used
//! images. So a pane with few images keeps them. Never holds two terminals' locks.

use std::sync::Arc;

use crate::Pane;

/// The budget, in bytes: what one terminal may use for its two screens (kitty's quota is 320 MiB for each).
pub(crate) const IMAGE_BUDGET: usize = 640 << 20;

/// The part of the budget for images that have not arrived whole, in bytes: twice the largest that a program may send. Since
/// nothing says whether such an image will ever be complete, programs that stop sending must not take the place of others.
pub(crate) const UNFINISHED_BUDGET: usize = 128 << 20;

/// Drops what is arriving in the panes with the most of it until the rest fits into `budget`.
pub(crate) fn enforce_unfinished(panes: &[Arc<Pane>], budget: usize) {
    for _ in panes {
        let total: usize = panes.iter().map(|pane| pane.unfinished_bytes()).sum();
        let greediest = panes.iter().max_by_key(|pane| pane.unfinished_bytes());
        let Some(pane) = greediest.filter(|_| total > budget) else { return };
        pane.shed_unfinished();
    }
}

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
