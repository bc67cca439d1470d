//! `pipe-pane`: sends a pane's output to a shell command, and types a command's output.

use std::time::Duration;

use tokio::{sync::oneshot, time::timeout};
use unterm_mux::PaneId;

use super::target;
use crate::{
    dialect::tmux::{
        arguments::Arguments,
        conversation::Event,
        methods::{Stream, StreamParams},
        pipes::Request,
        run::{CommandResult, Run},
        target::TargetKind,
    },
    methods::session::{Input, InputParams},
};

/// How long a process that outlives the client may take to start.
const PATIENCE: Duration = Duration::from_secs(30);

/// `pipe-pane`.
pub async fn pipe(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (mut world, at) = target(run, TargetKind::Pane, &arguments).await?;
    let (id, is_dead) = (world.pane(at).id, world.pane(at).is_dead);
    if is_dead {
        return Err("target pane has exited".into());
    }
    let by = run.opener();
    let was_open = run.state().pipes.close(id, &by);
    let command = arguments.word(0).filter(|command| !command.is_empty());
    let Some(command) = command.filter(|_| !was_open || !arguments.has('o')) else { return Ok(()) };
    let writes = arguments.has('I');
    let reads = !writes || arguments.has('O');
    let command = run.expand(command, &mut world, Some(at)).await?;
    if writes {
        // Ask the user now whether the program may type in the pane.
        let params = InputParams { input: String::new().into(), ..InputParams::of(id) };
        run.call::<Input>(params).await?;
    }
    run.call::<Stream>(StreamParams { id, whole: reads }.into()).await?;
    let caller = run.caller().clone();
    let streams = &run.server.dispatcher.context().panes.streams;
    let tap = streams.take(caller.connection, PaneId(id));
    let request = Request { pane: id, caller, command, tap, reads, writes };
    let (ticket, claimed) = run.state().pipes.open(by, request)?;
    let started = start(run, &ticket, claimed).await;
    if started.is_err() {
        run.state().pipes.finish(&ticket);
    }
    started
}

/// Makes the client start a process that outlives it, and waits until the process has connected.
pub async fn start(
    run: &mut Run<'_>,
    ticket: &str,
    claimed: oneshot::Receiver<()>,
) -> CommandResult {
    let answer = run.ask_client(&Event::Pipe(ticket.to_owned())).await?;
    let is_claimed = match answer.error {
        None => run.wait(timeout(PATIENCE, claimed)).await?.is_ok_and(|claimed| claimed.is_ok()),
        Some(_) => false,
    };
    if is_claimed {
        return Ok(());
    }
    let why = answer.error.unwrap_or_else(|| "the process did not connect".to_owned());
    Err(format!("fork error: {why}").into())
}
