//! Records which program opened which pane over the tmux dialect.

use std::collections::HashMap;

use parking_lot::Mutex;
use unterm_mux::{Mux, PaneId};

use crate::caller::Opener;

/// When there are this many entries, the entries of closed panes are removed.
const MANY: usize = 256;
/// The maximum length of a chain of openers: the opener of a pane, the opener of the opener's pane, and so on.
const DEEPEST: usize = 100;

/// The openers of panes.
#[derive(Default)]
pub struct Openers(Mutex<HashMap<u64, Opener>>);

impl Openers {
    /// Records who opened a pane.
    pub fn opened(&self, mux: &Mux, pane: PaneId, by: &Opener) {
        let mut openers = self.0.lock();
        if openers.len() >= MANY {
            openers.retain(|id, _| mux.pane(PaneId(*id)).is_some());
        }
        openers.insert(pane.0, by.clone());
    }

    /// Whether a pane is the opener's own pane, or was opened by the opener, or by a program in such a pane.
    pub fn is_own(&self, opener: &Opener, pane: u64) -> bool {
        let openers = self.0.lock();
        let mut pane = pane;
        for _ in 0..DEEPEST {
            if *opener == Opener::Pane(pane) {
                return true;
            }
            match openers.get(&pane) {
                Some(found) if found == opener => return true,
                Some(Opener::Pane(above)) => pane = *above,
                Some(Opener::Outside(_)) | None => return false,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use unterm_mux::MuxOptions;

    use super::*;

    #[test]
    fn a_pane_belongs_to_its_opener_and_the_opener_above() {
        let mux = Mux::new(MuxOptions::default());
        let openers = Openers::default();
        let outside = Opener::Outside("default".to_owned());
        openers.opened(&mux, PaneId(1), &Opener::Pane(0));
        openers.opened(&mux, PaneId(2), &Opener::Pane(1));
        openers.opened(&mux, PaneId(3), &outside);
        openers.opened(&mux, PaneId(4), &Opener::Pane(4));
        let own = |opener: Opener| (0..6).filter(|pane| openers.is_own(&opener, *pane)).collect();
        let own = |opener| -> Vec<u64> { own(opener) };
        assert_eq!(own(Opener::Pane(0)), [0, 1, 2]);
        assert_eq!(own(Opener::Pane(1)), [1, 2]);
        assert_eq!(own(Opener::Pane(2)), [2]);
        assert_eq!(own(Opener::Pane(5)), [5]);
        assert_eq!(own(outside), [3]);
        assert!(own(Opener::Outside("other".to_owned())).is_empty());
    }
}
