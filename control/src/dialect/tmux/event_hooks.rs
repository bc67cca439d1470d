//! Hooks at events: runs the commands of a program's hooks when sessions, windows, panes or clients change, and when the
//! value of a monitor (`set-hook -B`) changes.
//!
//! One task serves the process that a program started for its hooks (`runners`). The process reads files and runs shell
//! commands with the rights of the program, and the commands pass the authority as the program's own. A hook runs only
//! for the program that set it.

mod changes;

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;
use tokio::{
    io::BufReader,
    time::{Instant, sleep_until},
};
use unterm_mux::PaneId;

use self::changes::{Happened, Snapshot};
use super::{
    control_mode::targets,
    conversation::{Conversation, Hello},
    formats,
    run::{Command, CommandResult, Failure, Run},
    runners::Claim,
    server::Server,
    subscriptions::ValueScope,
    variables::Scope,
    world::World,
};
use crate::{
    caller::{Caller, Opener},
    error::Error,
    methods::events::{Subscribe, SubscribeParams},
    transport::contract::{Input, Output},
};

/// The minimum time between two comparisons, which also limits hooks that cause events themselves.
const SOON: Duration = Duration::from_millis(20);
/// Formats of monitors can depend on the time and on output, so they are compared this often, as in tmux.
const REGULARLY: Duration = Duration::from_secs(1);
/// The events after which hooks may be due. The last five are hooks themselves.
const KINDS: [&str; 10] = [
    "layout",
    "title",
    "session_opened",
    "session_exited",
    "session_removed",
    "bell",
    "clipboard",
    "command_end",
    "command_start",
    "prompt",
];

/// Runs the hooks of a program until it has no hook at events, its process ends, or its token is no longer valid.
pub async fn serve(
    server: &Server,
    commands: &'static [Command],
    (caller, ticket): (Caller, &str),
    claim: Claim,
    hello: &Hello,
    (input, output): (BufReader<Input>, Output),
) {
    let _finished = Finished { server, ticket };
    let Claim { caller: by, server: name } = claim;
    // Hooks run without the approval that the program got for the command that set them.
    let caller = Caller { connection: caller.connection, approved: None, ..by };
    let mut conversation = Conversation::new(input, output);
    let mut run = Run::new(server, commands, caller, hello, &mut conversation, None);
    run.name = name;
    run.pane = hello.pane;
    match run_hooks(&mut run).await {
        Ok(()) | Err(Failure::Disconnected) => {}
        Err(Failure::Message(why)) => tracing::debug!(why, "hooks at events end"),
    }
}

/// A process's entry in the list. Dropping it removes the process.
struct Finished<'a> {
    server: &'a Server,
    ticket: &'a str,
}

impl Drop for Finished<'_> {
    fn drop(&mut self) {
        self.server.state.lock().runners.finish(self.ticket);
    }
}

async fn run_hooks(run: &mut Run<'_>) -> CommandResult {
    let server = run.server;
    let listener = run.caller().listener();
    let params = serde_json::to_string(&SubscribeParams::to(&KINDS)).map_err(Error::Params)?;
    server.call::<Subscribe>(&listener, &params).await?;
    let events = listener.subscription.take().flatten();
    let mut events = events.ok_or_else(|| Failure::from("no subscription"))?;
    let mut changes = server.changes.subscribe();
    let world = run.world().await?;
    let mut known = Snapshot::of(&world, &run.state(), &run.name);
    take_values(run, &world);
    loop {
        if is_over(run) {
            return Ok(());
        }
        let latest = Instant::now() + REGULARLY;
        let event = run
            .wait(async {
                tokio::select! {
                    event = events.next() => Some(event),
                    _ = changes.changed() => None,
                    () = sleep_until(latest) => None,
                }
            })
            .await?;
        server.dispatcher.check_token(run.caller())?;
        // Wait for further changes, because several changes may belong together, and a program can cause events as fast
        // as it prints.
        run.wait(tokio::time::sleep(SOON)).await?;
        let world = finished_world(run).await?;
        let now = Snapshot::of(&world, &run.state(), &run.name);
        let mut happened = now.since(&known);
        if let Some((name, pane)) = event.as_ref().and_then(named) {
            let mut of_pane = Happened { name, ..Happened::default() };
            now.place_of(pane, &mut of_pane);
            happened.push(of_pane);
        }
        known = now;
        for event in happened {
            let values = values(&event);
            run.hook_at(event.name, place(&world, &event), values).await?;
        }
        for (name, pane, values) in take_values(run, &world) {
            // Without a client that waits, the event has no effect.
            let _ = server.fired.send(name.clone());
            run.hook_at(&name, pane, values).await?;
        }
    }
}

/// The sessions, with the final place and name of each window.
async fn finished_world(run: &mut Run<'_>) -> Result<World, Failure> {
    let server = run.server;
    let latest = Instant::now() + REGULARLY;
    loop {
        run.wait(server.windows_finished(latest)).await?;
        let world = run.world().await?;
        if !server.has_unfinished_window() || Instant::now() >= latest {
            return Ok(world);
        }
    }
}

/// Whether the program has no hooks at events, or its pane has closed.
fn is_over(run: &Run<'_>) -> bool {
    let by = run.opener();
    if let Opener::Pane(pane) = by
        && run.server.dispatcher.context().mux.pane(PaneId(pane)).is_none()
    {
        return true;
    }
    let state = run.state();
    !state.hooks.has_events(&by) && !state.monitors.has(&by)
}

/// The hook of an event of a pane, and the pane.
fn named(event: &Value) -> Option<(&'static str, u64)> {
    let name = match event["event"].as_str()? {
        "bell" => "alert-bell",
        "clipboard" => "pane-set-clipboard",
        "command_end" => "pane-command-finished",
        "command_start" => "pane-command-started",
        "prompt" => "pane-shell-prompt",
        _ => return None,
    };
    Some((name, event["session_id"].as_str()?.parse().ok()?))
}

/// The pane that the commands of a hook act on.
fn place(world: &World, event: &Happened) -> Option<u64> {
    let window = || {
        let (id, _) = event.window.as_ref()?;
        let at = world.nearest(None, |at| world.window(at).id == *id)?;
        Some(world.window(at).active)
    };
    let session = || {
        let (id, _) = event.session.as_ref()?;
        let at = world.sessions.iter().position(|session| session.id == *id)?;
        Some(world.pane(world.of_session(at)).id)
    };
    event.pane.filter(|pane| world.of_pane(*pane).is_some()).or_else(window).or_else(session)
}

type Values = BTreeMap<&'static str, String>;

/// The variables of formats in the commands of a hook.
fn values(event: &Happened) -> Values {
    let mut values = Values::new();
    if let Some((id, name)) = &event.session {
        values.insert("hook_session", format!("${id}"));
        values.insert("hook_session_name", name.clone());
    }
    if let Some((id, name)) = &event.window {
        values.insert("hook_window", format!("@{id}"));
        values.insert("hook_window_name", name.clone());
    }
    if let Some(pane) = event.pane {
        values.insert("hook_pane", format!("%{pane}"));
    }
    if let Some(client) = &event.client {
        values.insert("hook_client", client.clone());
    }
    values
}

/// Updates the values of the program's monitors. Returns the hooks to run, each with its name, pane and variables. The
/// first values of a monitor run no hook.
fn take_values(run: &Run<'_>, world: &World) -> Vec<(String, Option<u64>, Values)> {
    let (by, clock, now) = (run.opener(), run.clock(), run.now());
    let mut state = run.state();
    let mut monitors = std::mem::take(&mut state.monitors);
    let mut hooks = Vec::new();
    let session = run.session(world);
    for monitor in monitors.of_mut(&by) {
        let Some(session) = session else { continue };
        let before = monitor.what.reported.clone();
        let values =
            targets(monitor.what.subject, world, session).into_iter().map(|(place, at)| {
                let scope: Scope<'_> = run.scope(world, &state, Some(at));
                (place, formats::expand(&monitor.what.format, &scope, &clock))
            });
        let values: Vec<(ValueScope, String)> = values.collect();
        let changes = monitor.what.changes(values);
        if !std::mem::replace(&mut monitor.is_ready, true) {
            continue;
        }
        for (place, value) in changes {
            // A new window or pane has no earlier value to compare with.
            let Some(last) = before.get(&place) else { continue };
            let mut values = monitored(world, session, place);
            values.insert("hook_value", value);
            values.insert("hook_last", last.clone());
            monitor.fired = (monitor.fired.0 + 1, now);
            let name = monitor.what.name.clone();
            let pane = place.1.or_else(|| {
                let windows = &world.sessions[session].windows;
                windows.iter().find(|window| Some(window.id) == place.0).map(|it| it.active)
            });
            hooks.push((name, pane, values));
        }
    }
    state.monitors = monitors;
    hooks
}

fn monitored(world: &World, session: usize, (window, pane): ValueScope) -> Values {
    let session = &world.sessions[session];
    let mut values = Values::from([
        ("hook_session", format!("${}", session.id)),
        ("hook_session_name", session.name.clone()),
    ]);
    if let Some(window) = session.windows.iter().find(|it| Some(it.id) == window) {
        values.insert("hook_window", format!("@{}", window.id));
        values.insert("hook_window_name", window.name.clone());
        values.insert("hook_window_index", window.index.to_string());
    }
    if let Some(pane) = pane {
        values.insert("hook_pane", format!("%{pane}"));
    }
    values
}
