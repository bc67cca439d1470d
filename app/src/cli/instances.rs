//! The running instances that a command acts on, and their windows.

use std::path::Path;

use anyhow::Result;
use unterm_control::{
    Record,
    client::{self, Client},
    methods::{
        instance,
        layout::Focus,
        params::{NoParams, SessionOnly},
    },
};

/// The running instances, oldest first. `name`: only the instance with this name.
///
/// # Errors
/// No instance has this name.
pub fn chosen(home: &Path, name: Option<&str>) -> Result<Vec<Record>> {
    let Some(name) = name else { return Ok(client::live(home)) };
    let endpoint = client::find_by_name(home, name)?;
    let mut live = client::live(home);
    live.retain(|record| client::Endpoint::from(record.clone()) == endpoint);
    Ok(live)
}

/// Brings an instance's window to the front, and focuses the pane of a session there.
///
/// # Errors
/// The instance refuses, or is gone.
pub fn focus(record: Record, session: Option<u64>) -> Result<()> {
    let client = Client::connect_to(&record.into())?;
    if let Some(session) = session {
        client.call::<Focus>(SessionOnly::of(session))?;
    }
    client.call::<instance::Focus>(NoParams {})?;
    Ok(())
}
