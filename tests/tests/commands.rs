//! Commands made from a fixed seed, in panes of three shells, come to what they come to in subprocesses. For more of them, and
//! other seeds: `src/bin/commands.rs`.

use anyhow::{Result, ensure};
use unterm_tests::{
    Start,
    commands::{Shell, run},
};

/// Commands of each shell: about ten seconds, side by side.
const COMMANDS: u64 = 100;

fn are_equal(shell: Shell) -> Result<()> {
    let unterm = Start::headless().now()?;
    let tally = run(&unterm, shell, 1, 0..COMMANDS)?;
    ensure!(tally.differences.is_empty(), "{}", tally.differences.join("\n"));
    ensure!(tally.same + tally.explained.0 == COMMANDS as usize);
    Ok(())
}

#[test]
fn commands_in_bash_come_to_what_a_subprocess_comes_to() -> Result<()> {
    are_equal(Shell::Bash)
}

#[test]
fn commands_in_zsh_come_to_what_a_subprocess_comes_to() -> Result<()> {
    are_equal(Shell::Zsh)
}

#[test]
fn commands_in_fish_come_to_what_a_subprocess_comes_to() -> Result<()> {
    are_equal(Shell::Fish)
}
