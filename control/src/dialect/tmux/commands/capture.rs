//! `capture-pane`: the text of a pane.

use super::target;
use crate::dialect::tmux::{
    arguments::Arguments,
    methods::{Capture, CaptureParams},
    run::{Done, Run},
    target::TargetKind,
};

/// `capture-pane`.
pub async fn capture(run: &mut Run<'_>, arguments: Arguments) -> Done {
    let (world, at) = target(run, TargetKind::Pane, &arguments).await?;
    // As in tmux, a text that is no number means the default.
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
    let text = run.call::<Capture>(params.into()).await?.lines.join("\n") + "\n";
    if arguments.has('p') {
        return run.print_raw(text).await;
    }
    let now = run.now();
    Ok(run.state().buffers.set(arguments.value('b'), text, now)?)
}
