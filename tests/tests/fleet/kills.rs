//! Each program of a fleet is killed once while agents type. `fleet-kills` does the same for longer.

use std::time::Duration;

use anyhow::{Result, ensure};
use unterm_tests::fleet::kills;

#[test]
fn no_acknowledged_call_is_lost_or_done_twice_when_programs_are_killed() -> Result<()> {
    let Some(report) = kills::run(Duration::ZERO)? else { return Ok(()) };
    ensure!(report.acknowledged > 0 && report.kills == 7, "{report:?}");
    Ok(())
}
