//! Runs shell commands generated from a seed in panes and in subprocesses, and prints the differences.
//!
//!     cargo run -p unterm-tests --bin commands -- --seed 1 --bash 1000 --zsh 250 --fish 250
//!
//! The command above shows the default values. `--first N` begins at another number. `--show` prints the commands and
//! runs nothing. The exit status is 1 if there is an unexplained difference.
//!
//!     cargo run -p unterm-tests --bin commands -- --seed 1 --hostile 3000
//!
//! `--hostile N` runs N commands, a third of them in each shell, while a simulated user changes prompts, presses keys,
//! starts other shells, and types at the same time. `--first N` begins at another sequence. `--only SHELL` leaves out
//! the other shells. The exit status is 1 if a command has a wrong result or never ends.

use std::{io::Write as _, process::ExitCode, thread};

use anyhow::{Context as _, Result, bail};
use unterm_tests::{
    Instance, Start,
    commands::{Shell, generate, hostile, run},
};

fn main() -> Result<ExitCode> {
    let (mut seed, mut first, mut show, mut hostile, mut only) = (1, 0, false, 0, None);
    let mut counts = [(Shell::Bash, 1000), (Shell::Zsh, 250), (Shell::Fish, 250)];
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        if option == "--only" {
            only = Some(arguments.next().context("--only needs a shell")?);
            continue;
        }
        let mut number = || -> Result<u64> {
            let value = arguments.next().with_context(|| format!("{option} needs a number"))?;
            value.parse().with_context(|| format!("{option} needs a number, not {value:?}"))
        };
        match option.as_str() {
            "--seed" => seed = number()?,
            "--first" => first = number()?,
            "--show" => show = true,
            "--hostile" => hostile = number()?,
            _ => {
                let named =
                    |(shell, _): &&mut (Shell, u64)| option == format!("--{}", shell.name());
                match counts.iter_mut().find(named) {
                    Some((_, count)) => *count = number()?,
                    None => bail!(
                        "there is no option {option}: see the comment at the top of this program"
                    ),
                }
            }
        }
    }
    let mut out = std::io::stdout();
    if show {
        for (shell, count) in counts {
            for number in first..first + count {
                writeln!(out, "{} {number}: {:?}", shell.name(), generate(shell, seed, number))?;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let unterm = Start::headless().now()?;
    if hostile > 0 {
        let shells = Shell::ALL
            .into_iter()
            .filter(|it| only.as_deref().is_none_or(|only| only == it.name()));
        return play(&unterm, &shells.collect::<Vec<_>>(), seed, first, hostile as usize);
    }
    let tallies = thread::scope(|scope| {
        let runs = counts.map(|(shell, count)| {
            let unterm = &unterm;
            (shell, scope.spawn(move || run(unterm, shell, seed, first..first + count)))
        });
        runs.map(|(shell, run)| (shell, run.join()))
    });
    let mut differs = false;
    for (shell, tally) in tallies {
        let tally = tally.map_err(|_| anyhow::anyhow!("{} panicked", shell.name()))??;
        let (explained, reasons) = &tally.explained;
        let left = tally.differences.len();
        differs |= left > 0;
        writeln!(
            out,
            "{}: {} the same, {explained} explained, {left} not",
            shell.name(),
            tally.same
        )?;
        for (why, count) in reasons {
            writeln!(out, "  {count:4}  {why}")?;
        }
        for difference in &tally.differences {
            writeln!(out, "{difference}")?;
        }
    }
    Ok(if differs { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Runs commands in hostile shells.
fn play(
    unterm: &Instance,
    shells: &[Shell],
    seed: u64,
    first: u64,
    commands: usize,
) -> Result<ExitCode> {
    let each = commands.div_ceil(shells.len().max(1));
    let tallies = thread::scope(|scope| {
        let run =
            |shell: Shell| scope.spawn(move || hostile::run(unterm, shell, seed, first, each));
        let running: Vec<_> = shells.iter().map(|shell| (shell, run(*shell))).collect();
        running.into_iter().map(|(shell, run)| (shell, run.join())).collect::<Vec<_>>()
    });
    let mut is_right = true;
    for (shell, tally) in tallies {
        let tally = tally.map_err(|_| anyhow::anyhow!("{} panicked", shell.name()))??;
        is_right &= tally.wrong.is_empty() && tally.stuck.is_empty();
        write!(std::io::stdout(), "{}: {tally}", shell.name())?;
    }
    Ok(if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
