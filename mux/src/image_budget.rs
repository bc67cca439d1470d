//! The memory limit for the images of all panes together. In addition, each terminal limits its own images.
//!
//! When the images of all panes exceed the budget, the pane whose images use the most memory drops its least recently
//! used images. So one pane's images never push out those of a pane that uses little. Never holds two terminals' locks.

use std::sync::Arc;

use crate::Pane;

/// The budget in bytes. It equals what one terminal may use for its two screens (kitty's quota is 320 MiB for each
/// screen).
pub(crate) const IMAGE_BUDGET: usize = 640 << 20;

/// The part of the budget, in bytes, for images and clipboard data that have not arrived completely: twice the maximum
/// size of one image. Such data may never be completed, so programs that stop sending must not use up the whole budget.
pub(crate) const UNFINISHED_BUDGET: usize = 128 << 20;

/// Drops incomplete images and clipboard data, from the panes with the largest amount first, until the rest fits into
/// `budget`.
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
    // Each round drops images of one pane. If a program sends more images meanwhile, its pane starts another check.
    for _ in panes {
        let total: usize = panes.iter().map(|pane| pane.image_bytes()).sum();
        let over = total.saturating_sub(budget);
        let greediest = panes.iter().max_by_key(|pane| pane.image_bytes());
        let Some(pane) = greediest.filter(|_| over > 0) else { return };
        pane.shed_images(pane.image_bytes().saturating_sub(over));
    }
}
