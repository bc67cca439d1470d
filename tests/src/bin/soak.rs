//! Uses one instance for a long time as agents and users do, and prints its memory, descriptors and threads:
//! `soak [MINUTES]`. The default is an hour.
//!
//! Each round opens panes, runs commands with colors, links, images and titles in them, resizes, reads and searches them,
//! creates, uses and revokes a token, follows events, and closes the panes. The first pane stays open, and its history is
//! full before the first reading. The run fails if the number of descriptors or threads grows.

use std::{
    io::Write as _,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use unterm_tests::{Instance, PATIENCE, Pane, Resources, Start, Wire};

/// How often the resources are read.
const SAMPLE: Duration = Duration::from_secs(30);
/// The number of panes that a round opens.
const PANES: usize = 4;
/// The maximum growth of descriptors and threads that is not a leak. Readings differ, because the instance keeps working meanwhile.
const BUSY: usize = 8;

/// Commands whose output uses every kind of memory of a pane: text, styles, links, titles and images.
const COMMANDS: [&str; 7] = [
    "seq -f 'line %.0f of plain text that is as long as lines usually are' 2000",
    "for i in $(seq 200); do printf '\\033[38;5;%dmcolor %d\\033[m\\n' $((i % 256)) $i; done",
    "for i in $(seq 200); do printf '\\033]8;;https://example.com/%d\\033\\\\link %d\\033]8;;\\033\\\\\\n' $i $i; done",
    "printf '\\033[?1049h\\033[2J\\033[5;5Hfull screen\\033[?1049l'",
    "for i in $(seq 20); do printf '\\033]2;title %d\\007\\033]9;note %d\\007' $i $i; done",
    "for i in $(seq 20); do printf '\\033_Ga=T,f=24,s=8,v=8,q=2;%s\\033\\\\\\n' $(head -c 192 /dev/urandom | base64 -w0); done",
    "head -c 20000 /dev/urandom | base64 | tr -d '\\n'; echo",
];

/// A reading of the instance's resources.
struct Sample {
    /// Hours since the start.
    at: f64,
    rounds: u64,
    used: Resources,
}

fn main() -> Result<()> {
    let minutes: u64 = match std::env::args().nth(1) {
        Some(minutes) => minutes.parse().context("give a number of minutes")?,
        None => 60,
    };
    let length = Duration::from_secs(minutes * 60);
    let mut unterm = Start::headless().now()?;
    let steady = unterm.first_pane()?;
    steady.wait_for_prompt(&mut unterm)?;
    run(&mut unterm, steady, "seq 30000")?;

    let mut out = std::io::stdout();
    writeln!(out, "{:>7} {:>7} {:>8} {:>5} {:>5}", "MINUTE", "ROUNDS", "KIB", "FDS", "THR")?;
    let (start, mut samples, mut rounds) = (Instant::now(), Vec::<Sample>::new(), 0);
    while start.elapsed() < length {
        round(&mut unterm, steady, rounds)?;
        rounds += 1;
        let due = SAMPLE * u32::try_from(samples.len())?;
        if start.elapsed() < due {
            continue;
        }
        let used = unterm.resources()?;
        let at = start.elapsed().as_secs_f64() / 3600.0;
        let (memory, descriptors, threads) = (used.resident_kb, used.descriptors, used.threads);
        writeln!(out, "{:>7.1} {rounds:>7} {memory:>8} {descriptors:>5} {threads:>5}", at * 60.0)?;
        samples.push(Sample { at, rounds, used });
    }
    report(&samples)
}

/// One round of use.
fn round(unterm: &mut Instance, steady: Pane, number: u64) -> Result<()> {
    let mut events = unterm.connect()?;
    events.call("events.subscribe", json!({"events": ["output"]}))?;
    let made = unterm.call("token.create", json!({"name": format!("soak {number}")}))?;
    let mut entry = unterm.entry().clone();
    entry["auth_token"] = made["token"].clone();
    let mut guest = Wire::login(&entry)?;

    let panes: Vec<Pane> = (0..PANES).map(|_| unterm.open(json!({}))).collect::<Result<_>>()?;
    for (index, pane) in panes.iter().enumerate() {
        pane.wait_for_prompt(unterm)?;
        let command = COMMANDS[(number as usize + index) % COMMANDS.len()];
        run(unterm, *pane, command)?;
        for cols in [40, 132, 80] {
            let size = json!({"id": pane.id, "cols": cols, "rows": 24});
            unterm.call("session.resize", size)?;
        }
        guest.call("screen.text", json!({"id": pane.id}))?;
        guest.call("screen.search", json!({"id": pane.id, "pattern": "line"}))?;
    }
    run(unterm, steady, "seq 500")?;
    for pane in panes {
        pane.close(unterm)?;
    }
    unterm.call("token.revoke", json!({"number": made["number"]}))?;
    Ok(())
}

/// Runs a command to its end.
fn run(unterm: &mut Instance, pane: Pane, command: &str) -> Result<Value> {
    let timeout = PATIENCE.as_millis() as u64;
    let params = json!({"id": pane.id, "command": command, "timeout_ms": timeout});
    let reply = unterm.call("exec.run_wait", params)?;
    ensure!(reply["exit_code"] == 0, "{command}: {reply}");
    Ok(reply)
}

/// Prints how the second half of the run developed, and fails if descriptors or threads grew.
fn report(samples: &[Sample]) -> Result<()> {
    let half = &samples[samples.len() / 2..];
    let (Some(first), Some(last)) = (half.first(), half.last()) else { return Ok(()) };
    let per_hour = slope(half.iter().map(|it| (it.at, it.used.resident_kb as f64)));
    let per_round = slope(half.iter().map(|it| (it.rounds as f64, it.used.resident_kb as f64)));
    writeln!(
        std::io::stdout(),
        "second half: {} to {} KiB, {per_hour:+.0} KiB an hour, {:+.1} KiB in 1,000 rounds",
        first.used.resident_kb,
        last.used.resident_kb,
        per_round * 1000.0
    )?;
    for (what, count) in [
        ("descriptors", (|used| used.descriptors) as fn(&Resources) -> usize),
        ("threads", |used| used.threads),
    ] {
        let most = |samples: &[Sample]| samples.iter().map(|it| count(&it.used)).max();
        let (before, after) = (most(&samples[..samples.len() / 2]), most(half));
        ensure!(
            before.is_none_or(|before| after <= Some(before + BUSY)),
            "{what} grew: {before:?}, then {after:?}"
        );
    }
    Ok(())
}

/// The slope of the line that fits points best (least squares).
fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let count = points.clone().count() as f64;
    let (x, y) = points.clone().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x, sum.1 + y));
    let (x, y) = (x / count, y / count);
    let (over, under) = points.fold((0.0, 0.0), |sum, (px, py)| {
        (sum.0 + (px - x) * (py - y), sum.1 + (px - x) * (px - x))
    });
    over / under
}
