//! The numbers of panes.
//!
//! A number is given to a new pane once. A program that was shown before, here or by another process, keeps its number
//! if no other pane of this mux has ever had it. So a number that a caller has stored never refers to another program.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

use crate::{PaneId, lock::Mutex};

#[derive(Default)]
pub(super) struct PaneNumbers {
    /// All numbers from this one on are free.
    next: AtomicU64,
    /// Free numbers below `next`.
    reserved: Mutex<BTreeSet<u64>>,
}

#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, reason = "only Linux shows programs of other processes again")
)]
impl PaneNumbers {
    /// The number of a new pane.
    pub(super) fn new_pane(&self) -> PaneId {
        PaneId(self.next.fetch_add(1, Relaxed))
    }

    /// The number of a pane whose program was shown before, as the pane `last`.
    pub(super) fn shown_again(&self, last: Option<PaneId>) -> PaneId {
        let Some(last) = last else { return self.new_pane() };
        if self.reserved.lock().remove(&last.0) {
            return last;
        }
        let keep = |next: u64| last.0.checked_add(1).filter(|_| last.0 >= next);
        match self.next.fetch_update(Relaxed, Relaxed, keep) {
            Ok(_) => last,
            Err(_) => self.new_pane(),
        }
    }

    /// Keeps free numbers for programs that will be shown again, in any order.
    pub(super) fn reserve(&self, numbers: impl IntoIterator<Item = PaneId>) {
        let numbers: BTreeSet<u64> = numbers.into_iter().map(|pane| pane.0).collect();
        let Some(after) = numbers.last().and_then(|last| last.checked_add(1)) else { return };
        let first = self.next.fetch_max(after, Relaxed);
        self.reserved.lock().extend(numbers.range(first..));
    }

    /// Uses no free number below `next` for a new pane.
    pub(super) fn begin_at(&self, next: u64) {
        self.next.fetch_max(next, Relaxed);
    }

    /// The number after the highest number that a pane has ever had.
    pub(super) fn next(&self) -> u64 {
        self.next.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_keep_their_numbers_in_any_order() {
        let numbers = PaneNumbers::default();
        numbers.reserve([PaneId(0), PaneId(2), PaneId(1), PaneId(5)]);
        for number in [2, 5, 0] {
            assert_eq!(numbers.shown_again(Some(PaneId(number))), PaneId(number));
        }
        assert_eq!(numbers.new_pane(), PaneId(6));
        assert_eq!(numbers.shown_again(Some(PaneId(1))), PaneId(1));
        assert_eq!(numbers.shown_again(Some(PaneId(1))), PaneId(7), "it is in use");
        assert_eq!(numbers.shown_again(Some(PaneId(4))), PaneId(8), "it was not reserved");
    }

    #[test]
    fn numbers_that_were_used_are_not_reserved() {
        let numbers = PaneNumbers::default();
        assert_eq!((numbers.new_pane(), numbers.new_pane()), (PaneId(0), PaneId(1)));
        numbers.reserve([PaneId(1), PaneId(3)]);
        assert_eq!(numbers.shown_again(Some(PaneId(1))), PaneId(4));
        assert_eq!(numbers.shown_again(Some(PaneId(3))), PaneId(3));
        numbers.begin_at(9);
        numbers.begin_at(2);
        assert_eq!((numbers.next(), numbers.new_pane()), (9, PaneId(9)));
        assert_eq!(numbers.shown_again(Some(PaneId(u64::MAX))), PaneId(10), "there is none after");
    }
}
