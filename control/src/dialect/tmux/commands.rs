//! The functions of the commands. Each gets the parsed arguments, calls methods and prints.

pub mod buffers;
pub mod capture;
pub mod clients;
mod destination;
pub mod environment;
pub mod hooks;
pub mod input;
pub mod keys;
pub mod layout;
pub mod misc;
pub mod options;
pub mod panes;
pub mod pipe;
pub mod popup;
mod program;
pub mod sessions;
pub mod wait;
pub mod windows;

use super::{
    arguments::Arguments,
    formats,
    run::{CommandResult, Failure, Run},
    target::TargetKind,
    world::{Target, World},
};

/// The target of `-t`.
async fn target(
    run: &mut Run<'_>,
    kind: TargetKind,
    arguments: &Arguments,
) -> Result<(World, Target), Failure> {
    run.target(kind, arguments.value('t')).await
}

/// A number from 0 to `most`.
///
/// # Errors
/// The number is invalid. The error describes the problem in the words of strtonum(3).
fn number(text: &str, most: u32) -> Result<u32, &'static str> {
    match text.parse::<i64>() {
        Err(_) => Err("invalid"),
        Ok(number) if number < 0 => Err("too small"),
        Ok(number) => u32::try_from(number).ok().filter(|it| *it <= most).ok_or("too large"),
    }
}

/// Prints a line for each target that the filter (`-f`) accepts, in the format of `-F` or a default.
async fn print_each(
    run: &mut Run<'_>,
    world: &World,
    targets: Vec<Target>,
    arguments: &Arguments,
    default: &str,
) -> CommandResult {
    let format = arguments.value('F').unwrap_or(default);
    let lines = {
        let clock = run.clock();
        let state = run.state();
        let mut lines = Vec::new();
        for (index, target) in targets.into_iter().enumerate() {
            let mut scope = run.scope(world, &state, Some(target));
            scope.more.insert("line", index.to_string());
            let is_shown = arguments
                .value('f')
                .is_none_or(|filter| formats::is_true(&formats::expand(filter, &scope, &clock)));
            if is_shown {
                lines.push(formats::expand(format, &scope, &clock));
            }
        }
        lines
    };
    run.print_lines(lines).await
}

/// Prints the new window or pane if `-P` is given.
async fn print_new(
    run: &mut Run<'_>,
    arguments: &Arguments,
    pane: u64,
    default: &str,
) -> CommandResult {
    if !arguments.has('P') {
        return Ok(());
    }
    let world = run.world().await?;
    // The program may have ended, and its pane with it.
    let target = world.of_pane(pane);
    print_target(run, arguments, world, target, default).await
}

/// Prints a new target if `-P` is given.
async fn print_target(
    run: &mut Run<'_>,
    arguments: &Arguments,
    mut world: World,
    target: Option<Target>,
    default: &str,
) -> CommandResult {
    if !arguments.has('P') {
        return Ok(());
    }
    let format = arguments.value('F').unwrap_or(default).to_owned();
    let line = run.expand(&format, &mut world, target).await?;
    run.print(&line).await
}
