//! Kills the programs of a fleet in turn while agents type: `fleet-kills [MINUTES]`. Prints what happened. Fails if a
//! call was lost or carried out twice. If the system allows it, the fleet runs in a network namespace of its own, and
//! so does each connector.
use std::{io::Write as _, time::Duration};

use anyhow::{Context as _, Result};
use unterm_tests::fleet::{kills, namespaces};

fn main() -> Result<()> {
    let minutes: u64 = match std::env::args().nth(1) {
        Some(minutes) => minutes.parse().context("give a number of minutes")?,
        None => 10,
    };
    namespaces::enter()?;
    let report = kills::run(Duration::from_secs(minutes * 60))?;
    let report = report.context("there is no NATS server")?;
    let mut out = std::io::stdout();
    if !namespaces::is_entered() {
        writeln!(out, "without network namespaces: the system does not allow them")?;
    }
    writeln!(
        out,
        "{} kills; {} calls acknowledged, each done once; {} failed, {} of them done once",
        report.kills, report.acknowledged, report.failed, report.failed_done
    )?;
    for (offline, online) in &report.seen {
        writeln!(
            out,
            "a killed connector: offline after {} ms; connected {} ms after its start",
            offline.as_millis(),
            online.as_millis()
        )?;
    }
    Ok(())
}
