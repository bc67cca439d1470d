//! Kills each program of a fleet once while agents type. The program `fleet-kills` does the same for longer.

use std::process::Command;

use anyhow::{Result, ensure};
use unterm_tests::{binary, fleet::nats_server};

#[test]
fn no_acknowledged_call_is_lost_or_repeated_after_kills() -> Result<()> {
    if nats_server().is_none() {
        return Ok(());
    }
    // Run a separate program, because a process can't move all of its threads into another network namespace.
    let run = Command::new(binary("fleet-kills")).arg("0").output()?;
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    ensure!(run.status.success() && out.contains("7 kills; "), "{out}{err}");
    Ok(())
}
