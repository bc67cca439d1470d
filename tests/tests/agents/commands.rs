//! Commands from a fixed seed have the same results in panes of three shells as in subprocesses. `src/bin/commands.rs`
//! runs more commands, and other seeds.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use unterm_tests::{
    Start,
    commands::{Shell, run},
};

/// The number of commands per shell. It takes about ten seconds, because the shells run in parallel.
const COMMANDS: u64 = 100;

/// The differences. The key is the shell's name and the command's number.
fn differences(shell: Shell) -> Result<BTreeMap<String, String>> {
    let unterm = Start::headless().now()?;
    let tally = run(&unterm, shell, 1, 0..COMMANDS)?;
    let count = tally.same + tally.explained.0 + tally.differences.len();
    ensure!(count == COMMANDS as usize, "{count} commands were compared");
    let by_number = tally.differences.into_iter().map(|difference| {
        let name = difference.split(':').next().unwrap_or_default().to_owned();
        (name, difference)
    });
    Ok(by_number.collect())
}

/// Compares the results twice, because only a difference that repeats counts: background jobs may print in the middle
/// of any other command's output.
fn are_equal(shell: Shell) -> Result<()> {
    let first = differences(shell)?;
    if first.is_empty() {
        return Ok(());
    }
    let second = differences(shell)?;
    let repeated: Vec<_> = first
        .into_iter()
        .filter(|(name, _)| second.contains_key(name))
        .map(|(_, difference)| difference)
        .collect();
    ensure!(repeated.is_empty(), "{}", repeated.join("\n"));
    Ok(())
}

#[test]
fn bash_commands_have_the_same_results_as_in_a_subprocess() -> Result<()> {
    are_equal(Shell::Bash)
}

#[test]
fn zsh_commands_have_the_same_results_as_in_a_subprocess() -> Result<()> {
    are_equal(Shell::Zsh)
}

#[test]
fn fish_commands_have_the_same_results_as_in_a_subprocess() -> Result<()> {
    are_equal(Shell::Fish)
}
