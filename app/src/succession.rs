//! Takes the place of an instance that has ended, or that continues without a window after a crash: its name, its ports,
//! its token and its programs.
//!
//! The sources are standard input, if the keeper of the programs has started this process, and the registry of this user's
//! instances. Never takes the place of an instance that still runs: it asks the instance to detach, and waits for its end.

use std::{io, path::Path, time::Duration};

use anyhow::{Result, bail};
use unterm_control::{
    Inheritance, Record,
    client::{self, Client, Endpoint},
    methods::{action, instance, params::NoParams},
};

use crate::args::Args;

/// The longest time to wait for the end of an instance that was asked to detach.
const PATIENCE: Duration = Duration::from_secs(5);

/// The instance whose place this process takes. `None` if there is none.
///
/// # Errors
/// If standard input contains no valid inheritance.
pub(crate) fn predecessor(args: &Args, home: &Path) -> Result<Option<Inheritance>> {
    if args.succeed.is_some() {
        return Ok(Some(Inheritance::read(io::stdin().lock())?));
    }
    let mut inherited = None;
    for record in client::live(home).into_iter().filter(|record| is_wanted(args, record)) {
        let id = record.id.clone();
        match take_over(record) {
            // The programs of the others are shown, too, but a process has only one name.
            Ok(inheritance) => drop(inherited.get_or_insert(inheritance)),
            Err(error) => tracing::warn!("cannot take the place of {id}: {error:#}"),
        }
    }
    Ok(inherited)
}

/// Whether this process shows the programs of an instance that runs. A window whose contents the command line decides does
/// so only with `--attach`.
fn is_wanted(args: &Args, record: &Record) -> bool {
    match args.attach.as_deref() {
        Some("") => record.waits_for_window,
        Some(name) => record.waits_for_window && record.id == name,
        None => {
            let is_plain = args.execute.is_empty() && args.layout.is_none() && args.cwd.is_none();
            record.waits_for_window && is_plain && !args.headless && !args.quake
        }
    }
}

/// Makes an instance leave its programs and end.
fn take_over(record: Record) -> Result<Inheritance> {
    let client = Client::connect_to(&Endpoint::from(record.clone()))?;
    let info = client.call::<instance::Info>(NoParams {})?;
    let detach = action::RunParams { name: "detach".into(), ..action::RunParams::default() };
    // The instance may end before its reply arrives.
    let refusal = match client.call::<action::Run>(detach) {
        Ok(reply) if !reply.done => bail!("none of its programs can continue"),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    match (record.wait_for_end(PATIENCE), refusal) {
        (true, _) => {}
        (false, Some(refusal)) => return Err(refusal.into()),
        (false, None) => bail!("it has not ended within {} seconds", PATIENCE.as_secs()),
    }
    let instance::InfoReply { next_session, agents_paused: is_paused, .. } = info;
    Ok(Inheritance { record, next_session, is_paused })
}
