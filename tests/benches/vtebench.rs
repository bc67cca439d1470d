//! alacritty's vtebench in a headless pane of the real program, against a reader that throws the same bytes away.
//!
//!     VTEBENCH=PATH cargo bench -p unterm-tests --bench vtebench [-- NAME…]
//!
//! PATH is a checkout of alacritty/vtebench (nothing of it is in this tree); it is built there. Each of its benchmarks, or
//! those named, runs in turns on both sides, seven times, in a pty of 120×40 cells which is vtebench's own stdout. A run's
//! figure is the median of its samples; printed are the medians of the runs in milliseconds a sample, their ratio, and the
//! geometric mean of the ratios. Asserts nothing, and does nothing without a PATH.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use unterm_tests::{Start, run_and_throw_away, wait_for};

const COLS: u16 = 120;
const ROWS: u16 = 40;
const ROUNDS: usize = 7;
/// Of one run. Its own figures are whole milliseconds, so a sample has to take some.
const SAMPLES: &str = "3";
const SAMPLE_BYTES: &str = "4194304";

fn main() -> Result<()> {
    // `cargo test --benches` asks only whether it runs.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let Some(checkout) = std::env::var_os("VTEBENCH").map(PathBuf::from).filter(|_| is_bench)
    else {
        println!("VTEBENCH names no checkout of alacritty/vtebench: nothing is measured");
        return Ok(());
    };
    let chosen: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let vtebench = build(&checkout)?;
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "{COLS}×{ROWS}, ms a sample of 4 MiB: thrown away, unterm, ratio (medians of {ROUNDS}); load {}",
        load.trim()
    );
    let mut ratios = Vec::new();
    for benchmark in benchmarks(&checkout)? {
        let name = benchmark.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !chosen.is_empty() && !chosen.contains(&name) {
            continue;
        }
        let (mut floor, mut unterm) = (Vec::new(), Vec::new());
        // In turns, so that a busy moment of the machine falls on both.
        for _ in 0..ROUNDS {
            floor.push(run(&vtebench, &benchmark, thrown_away)?);
            unterm.push(run(&vtebench, &benchmark, in_a_pane)?);
        }
        let (floor, unterm) = (median(&mut floor), median(&mut unterm));
        println!("{name:>28}: {floor:6.1}  {unterm:6.1}  {:.2}", unterm / floor);
        ratios.push(unterm / floor);
    }
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("{:>28}: {:.2}; load {}", "geometric mean", mean.exp(), load.trim());
    Ok(())
}

/// Builds it in its own folder, whatever target directory this run has.
fn build(checkout: &Path) -> Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = checkout.join("target");
    let status = Command::new(cargo)
        .args(["build", "--quiet", "--release", "--manifest-path"])
        .arg(checkout.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .status()?;
    ensure!(status.success(), "vtebench could not be built in {}", checkout.display());
    Ok(target.join("release/vtebench"))
}

fn benchmarks(checkout: &Path) -> Result<Vec<PathBuf>> {
    let folder = checkout.join("benchmarks");
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut paths: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    paths.retain(|path| path.is_dir());
    paths.sort();
    Ok(paths)
}

/// One run of one benchmark on one side: the median of its samples, in milliseconds.
fn run(vtebench: &Path, benchmark: &Path, side: fn(&[String], &Path) -> Result<()>) -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let figures = folder.path().join("figures.dat");
    let words = [
        &vtebench.to_string_lossy(),
        "--silent",
        "--max-samples",
        SAMPLES,
        "--min-bytes",
        SAMPLE_BYTES,
        "--benchmarks",
        &benchmark.to_string_lossy(),
        "--dat",
        &figures.to_string_lossy(),
    ]
    .map(str::to_owned);
    side(&words, &figures)?;
    // The benchmark's name, then a line a sample.
    let text = fs::read_to_string(&figures)?;
    let samples = text.lines().skip(1).map(|line| line.trim().parse());
    let mut samples: Vec<f64> = samples.collect::<Result<_, _>>().with_context(|| text.clone())?;
    ensure!(!samples.is_empty(), "vtebench measured nothing: {text:?}");
    Ok(median(&mut samples))
}

fn thrown_away(words: &[String], _: &Path) -> Result<()> {
    run_and_throw_away(COLS, ROWS, words)
}

fn in_a_pane(words: &[String], figures: &Path) -> Result<()> {
    let mut unterm = Start::headless().now()?;
    unterm.open(json!({"program": words[0], "args": words[1..], "cols": COLS, "rows": ROWS}))?;
    // Written at once, whole, by vtebench's last act.
    let is_written = || Ok(fs::metadata(figures).is_ok_and(|file| file.len() > 0).then_some(()));
    wait_for("vtebench's figures", is_written, || unterm.log())
}

fn median(samples: &mut [f64]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
