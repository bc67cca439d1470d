//! Who drives a pane, for whoever looks at it: the caller that keeps its input for itself, or that typed there a moment
//! ago. Decides nothing; that is what leases are for.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use unterm_mux::{Pane, PaneId};

use crate::caller::{Caller, Capabilities};

/// How long after it last typed a caller counts as one who drives.
const LINGER: Duration = Duration::from_secs(5);

/// Who drives a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// The client's name for itself, or the wire it came in on.
    pub client: String,
    /// Until when that is so, if nothing else happens.
    pub until: Instant,
}

struct Typed {
    driver: Driver,
    /// How often a person had typed then.
    touches: u64,
}

/// Who typed where last.
#[derive(Default)]
pub struct Drivers(Mutex<HashMap<PaneId, Typed>>);

impl Drivers {
    /// A caller has typed into a pane; true where nobody, or somebody else, drove it until now. The settings page is the
    /// person's own hand.
    pub fn typed(&self, caller: &Caller, pane: &Pane) -> bool {
        if caller.has(Capabilities::IS_PERSON) {
            return false;
        }
        let now = Instant::now();
        let client = caller.client.clone().unwrap_or_else(|| format!("a client ({})", caller.wire));
        let mut panes = self.0.lock();
        panes.retain(|_, typed| typed.driver.until > now);
        let touches = pane.touches();
        let is_new = panes
            .get(&pane.id())
            .is_none_or(|typed| typed.driver.client != client || typed.touches != touches);
        let driver = Driver { client, until: now + LINGER };
        panes.insert(pane.id(), Typed { driver, touches });
        is_new
    }

    /// Who typed into a pane a moment ago, unless a person has since.
    pub fn of(&self, pane: &Pane) -> Option<Driver> {
        let panes = self.0.lock();
        let typed = panes.get(&pane.id())?;
        let drives = typed.driver.until > Instant::now() && typed.touches == pane.touches();
        drives.then(|| typed.driver.clone())
    }
}
