//! The driver of a pane, to show to users: the caller that holds the pane's lease, or that typed there in the last few
//! seconds. This module only reports. Leases decide who may type.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use unterm_mux::{Pane, PaneId};

use crate::caller::{Caller, Capabilities};

/// The time for which a caller counts as the driver after it last typed.
const LINGER: Duration = Duration::from_secs(5);

/// The driver of a pane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driver {
    /// The name that the client reports, or the wire that it uses.
    pub client: String,
    /// The time when the caller stops being the driver, if it does not type again.
    pub until: Instant,
}

struct Typed {
    driver: Driver,
    /// The number of keys that the user had pressed in the pane when the caller typed.
    touches: u64,
}

/// The last caller that typed in each pane.
#[derive(Default)]
pub struct Drivers(Mutex<HashMap<PaneId, Typed>>);

impl Drivers {
    /// Records that a caller has typed in a pane. Returns whether the driver changed. The settings page acts for the
    /// user, so it never counts as a driver.
    pub fn typed(&self, caller: &Caller, pane: &Pane) -> bool {
        if caller.has(Capabilities::IS_USER) {
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

    /// The caller that typed in a pane in the last few seconds. `None` if the user has pressed a key there since.
    pub fn of(&self, pane: &Pane) -> Option<Driver> {
        let panes = self.0.lock();
        let typed = panes.get(&pane.id())?;
        let drives = typed.driver.until > Instant::now() && typed.touches == pane.touches();
        drives.then(|| typed.driver.clone())
    }
}
