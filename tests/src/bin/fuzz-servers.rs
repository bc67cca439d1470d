//! Sends hostile requests to the servers of an instance and of a hub: `fuzz-servers [MINUTES] [SEED]`. Prints how the
//! servers answered. Fails if a program ended, panicked, did not answer or grew; the message names the seed of the
//! round.

use std::{
    io::Write as _,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, Result};
use unterm_tests::fuzz::servers;

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let minutes: u64 = match arguments.next() {
        Some(minutes) => minutes.parse().context("give a number of minutes")?,
        None => 10,
    };
    let seed = match arguments.next() {
        Some(seed) => seed.parse().context("give a number as the seed")?,
        None => SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs(),
    };
    let report = servers::run(Duration::from_secs(minutes * 60), seed)?;
    let report = report.context("there is no NATS server")?;
    let mut out = std::io::stdout();
    for (server, (calls, statuses)) in &report.answers {
        let sent: u64 = statuses.values().sum();
        writeln!(out, "{server}: {calls} calls, {sent} requests: {statuses:?}")?;
    }
    for ((name, before), after) in ["instance", "hub"].iter().zip(report.before).zip(report.after) {
        writeln!(
            out,
            "{name}: {} to {} KiB, {} to {} descriptors",
            before.resident_kb, after.resident_kb, before.descriptors, after.descriptors
        )?;
    }
    Ok(())
}
