//! `capture-pane` and `clear-history`: the text of a pane.

use super::target;
use crate::dialect::tmux::{
    arguments::Arguments,
    methods::{Capture, CaptureParams, Clear, ClearParams},
    run::{CommandResult, Run},
    target::TargetKind,
};

/// `capture-pane`.
pub async fn capture(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Pane, &arguments).await?;
    if arguments.has('a') {
        return other_screen(run, &arguments, world.pane(at).is_alternate).await;
    }
    // As in tmux, a text that is not a number selects the default.
    let row = |flag: char, default: Option<i64>| match arguments.value(flag) {
        Some("-") => None,
        Some(text) => text.parse().ok().or(default),
        None => default,
    };
    let params = CaptureParams {
        id: world.pane(at).id,
        start: row('S', Some(0)),
        end: row('E', None),
        escapes: arguments.has('e'),
        joined: arguments.has('J'),
        blanks: arguments.has('N') || arguments.has('J'),
    };
    let mut text = run.call::<Capture>(params.into()).await?.lines.join("\n") + "\n";
    if arguments.has('C') {
        text = escaped(&text);
    }
    if arguments.has('p') {
        return run.print_raw(text).await;
    }
    let now = run.now();
    Ok(run.state().buffers.set(arguments.value('b'), text, now)?)
}

/// `-a`: the screen that the alternate screen covers, which is not available.
async fn other_screen(
    run: &mut Run<'_>,
    arguments: &Arguments,
    is_alternate: bool,
) -> CommandResult {
    match is_alternate {
        true => Err("the screen below the alternate screen can't be read".into()),
        false if arguments.has('q') => run.print("").await,
        false => Err("no alternate screen".into()),
    }
}

/// A text with octal escapes for control characters and backslashes.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for char in text.chars() {
        match char {
            '\n' => out.push('\n'),
            '\\' => out.push_str("\\\\"),
            char if char.is_ascii_control() => out.push_str(&format!("\\{:03o}", u32::from(char))),
            char => out.push(char),
        }
    }
    out
}

/// `clear-history`.
pub async fn clear(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Pane, &arguments).await?;
    let params = ClearParams { id: world.pane(at).id, reset: false };
    run.call::<Clear>(params.into()).await?;
    Ok(())
}
