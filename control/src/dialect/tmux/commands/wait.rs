//! `wait-for`: wait channels, and events.

use std::collections::BTreeMap;

use serde_json::Value;
use tokio::sync::broadcast;

use crate::{
    dialect::tmux::{
        arguments::Arguments,
        formats,
        run::{CommandResult, Failure, Run},
        world::World,
    },
    error::Error,
    methods::events::{Subscribe, SubscribeParams},
    services::pane::events::Subscription,
};

/// The events that can be waited for, by their names in tmux and in Unterm, sorted.
const EVENTS: [(&str, &str); 9] = [
    ("pane-activity", "output"),
    ("pane-bell", "bell"),
    ("pane-command-finished", "command_end"),
    ("pane-command-started", "command_start"),
    ("pane-created", "session_opened"),
    ("pane-exited", "session_exited"),
    ("pane-set-clipboard", "clipboard"),
    ("pane-shell-prompt", "prompt"),
    ("pane-title-changed", "title"),
];

/// Whether an event has this name: an event of a pane, or an event that a program fires itself (`@name`).
pub fn is_event(name: &str) -> bool {
    name.starts_with('@') || EVENTS.iter().any(|(event, _)| *event == name)
}

/// `wait-for`.
pub async fn wait_for(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    if arguments.has('E') {
        return wait_for_event(run, &arguments).await;
    }
    let channels = run.server.channels.clone();
    let name = arguments.words[0].clone();
    if arguments.has('S') {
        return Ok(channels.signal(&name)?);
    }
    if arguments.has('U') {
        return Ok(channels.unlock(&name)?);
    }
    match arguments.has('L') {
        true => run.wait(channels.lock(&name)).await??,
        false => run.wait(channels.wait(&name)).await??,
    }
    Ok(())
}

/// `-E`: waits for an event.
async fn wait_for_event(run: &mut Run<'_>, arguments: &Arguments) -> CommandResult {
    let name = arguments.words[0].as_str();
    if !is_event(name) {
        return Err(format!("invalid event: {name}").into());
    }
    let mut fired = run.server.fired.subscribe();
    let kind = EVENTS.iter().find(|(event, _)| *event == name).map(|(_, kind)| *kind);
    let mut events = match kind {
        Some(kind) => Some(subscribe(run, kind).await?),
        None => None,
    };
    loop {
        let event = run.wait(next(&mut events, &mut fired, name)).await?;
        let world = run.world().await?;
        let pane = event["session_id"].as_str().and_then(|pane| pane.parse().ok());
        let payload = payload(&world, pane, &event);
        if arguments.has('v') {
            let lines = payload.iter().map(|(key, value)| format!("{key}={value}")).collect();
            run.print_lines(lines).await?;
        }
        let Some(filter) = arguments.value('F') else { return Ok(()) };
        let clock = run.clock();
        let is_true = {
            let state = run.state();
            let mut scope = run.scope(&world, &state, pane.and_then(|pane| world.of_pane(pane)));
            scope.more.extend(payload);
            formats::is_true(&formats::expand(filter, &scope, &clock))
        };
        if is_true {
            return Ok(());
        }
    }
}

/// Subscribes to the events of a kind.
async fn subscribe(run: &mut Run<'_>, kind: &str) -> Result<Subscription, Failure> {
    let (server, caller) = (run.server, run.caller().listener());
    let params = SubscribeParams::to(&[kind]);
    let params = serde_json::to_string(&params).map_err(Error::Params)?;
    server.call::<Subscribe>(&caller, &params).await?;
    let events = caller.subscription.take().flatten();
    events.ok_or_else(|| "not able to wait".into())
}

/// The next event of a pane, or the next event with this name that another program fires.
async fn next(
    events: &mut Option<Subscription>,
    fired: &mut broadcast::Receiver<String>,
    name: &str,
) -> Value {
    let of_pane = async {
        match events {
            Some(events) => loop {
                let event = events.next().await;
                if event["event"] != "dropped" {
                    return event;
                }
            },
            None => std::future::pending().await,
        }
    };
    let of_program = async {
        loop {
            match fired.recv().await {
                Ok(event) if event == name => return Value::Null,
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => {}
                Err(broadcast::error::RecvError::Closed) => return std::future::pending().await,
            }
        }
    };
    tokio::select! {
        event = of_pane => event,
        event = of_program => event,
    }
}

/// The keys of an event.
fn payload(world: &World, pane: Option<u64>, event: &Value) -> BTreeMap<&'static str, String> {
    let mut payload = BTreeMap::new();
    let Some(pane) = pane else { return payload };
    payload.insert("pane", format!("%{pane}"));
    if let Some(at) = world.of_pane(pane) {
        payload.insert("session", format!("${}", world.session(at).id));
        payload.insert("window", format!("@{}", world.window(at).id));
        payload.insert("window_index", world.window(at).index.to_string());
    }
    if let Some(status) = event["exit_code"].as_i64().filter(|_| event["event"] == "command_end") {
        payload.insert("command_status", status.to_string());
    }
    payload
}
