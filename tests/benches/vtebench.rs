//! Runs alacritty's vtebench in a headless pane of the real program, and compares it with a reader that discards the
//! same bytes.
//!
//!     VTEBENCH=PATH cargo bench -p unterm-tests --bench vtebench [-- NAME…]
//!
//! PATH is a checkout of alacritty/vtebench. Runs each of its benchmarks, or the named benchmarks, seven times on both
//! sides in alternation. The pty has 120×40 cells and is vtebench's own stdout. The figure of a run is the median of
//! its samples. Prints the medians of the runs in milliseconds per sample, their ratio, and the geometric mean of the
//! ratios. Asserts nothing, and does nothing without a PATH.

#![allow(clippy::print_stdout, reason = "a bench prints its figures")]

use std::{fs, path::Path};

use anyhow::Result;
use serde_json::json;
use unterm_tests::{
    Start, run_and_throw_away,
    vtebench::{COLS, ROWS, Vtebench, geometric_mean, median, wait_for_figures},
};

const ROUNDS: usize = 7;

fn main() -> Result<()> {
    // `cargo test --benches` only checks that the bench runs.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let vtebench = if is_bench { Vtebench::from_environment()? } else { None };
    let Some(vtebench) = vtebench else {
        println!("VTEBENCH names no checkout of alacritty/vtebench: nothing is measured");
        return Ok(());
    };
    let chosen: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    println!(
        "{COLS}×{ROWS}, ms a sample of 4 MiB: thrown away, unterm, ratio (medians of {ROUNDS}); load {}",
        load()
    );
    let mut ratios = Vec::new();
    for name in vtebench.names(&chosen) {
        let (mut floor, mut unterm) = (Vec::new(), Vec::new());
        // Alternate, so that a busy moment of the machine affects both.
        for _ in 0..ROUNDS {
            floor.push(vtebench.run(&name, |words, _| run_and_throw_away(COLS, ROWS, words))?);
            unterm.push(vtebench.run(&name, in_a_pane)?);
        }
        let (floor, unterm) = (median(&mut floor), median(&mut unterm));
        println!("{name:>30}: {floor:6.1}  {unterm:6.1}  {:.2}", unterm / floor);
        ratios.push(unterm / floor);
    }
    println!("{:>30}: {:.2}; load {}", "geometric mean", geometric_mean(&ratios), load());
    Ok(())
}

/// The machine's load. Figures from a busy machine mean little.
fn load() -> String {
    fs::read_to_string("/proc/loadavg").unwrap_or_default().trim().to_owned()
}

fn in_a_pane(words: &[String], figures: &Path) -> Result<()> {
    let mut unterm = Start::headless().now()?;
    unterm.open(json!({"program": words[0], "args": words[1..], "cols": COLS, "rows": ROWS}))?;
    wait_for_figures(figures, || unterm.log())
}
