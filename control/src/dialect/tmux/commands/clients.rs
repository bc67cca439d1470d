//! Commands about clients: the window of the instance, and the clients in control mode.

use std::collections::BTreeMap;

use super::{layout, target};
use crate::{
    dialect::tmux::{
        arguments::Arguments,
        clients::{Client, Silence},
        formats,
        methods::{Relocate, RelocateParams},
        run::{CommandResult, Failure, Run},
        subscriptions::Subscription,
        target::TargetKind,
        world::{Target, World},
    },
    methods::{layout::WindowFocus, params::NoParams},
};

const LIST: &str = "#{client_name}: #{session_name} [#{client_width}x#{client_height} #{client_termname}] #{?client_flags,(,}#{client_flags}#{?client_flags,),}";
/// The maximum number of columns, and of rows, of a client.
const LONGEST_SIDE: u16 = 10_000;

/// A client that a command acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// The user's window.
    Window,
    /// The client in control mode with this number.
    Control(u64),
}

/// The client name of the user's window. tmux gives such names to clients without a terminal device.
fn window_name(world: &World) -> String {
    format!("client-{}", world.listing.pid)
}

/// The client with a name. Without a name: the client itself, or else a client that sees the session, or else any
/// client.
pub fn find(
    run: &Run<'_>,
    world: &World,
    at: Target,
    name: Option<&str>,
) -> Result<Named, Failure> {
    let state = run.state();
    let clients = || state.clients.attached(&run.name);
    if let Some(name) = name {
        let name = name.strip_suffix(':').unwrap_or(name);
        if let Some(client) = clients().find(|client| client.name == name) {
            return Ok(Named::Control(client.id));
        }
        return match world.listing.has_window && window_name(world) == name {
            true => Ok(Named::Window),
            false => Err(format!("can't find client: {name}").into()),
        };
    }
    if let Some(own) = run.client {
        return Ok(Named::Control(own));
    }
    let session = Some(world.session(at).id);
    let seeing = clients().filter(|client| client.session == session).last();
    match seeing.or_else(|| clients().last()) {
        _ if world.session(at).is_attached => Ok(Named::Window),
        Some(client) => Ok(Named::Control(client.id)),
        None if world.listing.has_window => Ok(Named::Window),
        None => Err("no current client".into()),
    }
}

/// Fails if there is no window to show a session in, or if the client runs in tmux already. tmux's messages.
pub fn check_terminal(run: &Run<'_>, world: &World) -> Result<(), Failure> {
    let is_in_pane = || world.listing.panes.iter().any(|pane| pane.tty == run.hello.tty);
    // A client in control mode is not a terminal, and may be a program without a terminal.
    let is_nested = match run.client {
        Some(_) => !run.hello.tty.is_empty() && is_in_pane(),
        None => true,
    };
    if run.hello.is_nested && is_nested {
        return Err("sessions should be nested with care, unset $TMUX to force".into());
    }
    match world.listing.has_window || run.client.is_some() {
        true => Ok(()),
        false => Err("open terminal failed: not a terminal".into()),
    }
}

/// Shows a session in the window. A client in control mode is instead attached to the session.
pub async fn show(run: &mut Run<'_>, world: &World, at: Target) -> CommandResult {
    if let Some(id) = run.client {
        let session = world.session(at).id;
        if let Some(client) = run.state().clients.get_mut(id) {
            client.attach(session);
        }
        return Ok(());
    }
    show_in_window(run, world, at).await
}

async fn show_in_window(run: &mut Run<'_>, world: &World, at: Target) -> CommandResult {
    let at = world.of_session(at.session);
    if world.listing.active != Some(world.window(at).id) {
        let params = RelocateParams {
            id: run.own_pane(world, at),
            activate: true,
            ..RelocateParams::default()
        };
        run.call::<Relocate>(params.into()).await?;
    }
    run.state().seen = Some(world.session(at).id);
    if world.listing.has_window && run.hello.pane.is_none() {
        run.call::<WindowFocus>(NoParams {}).await?;
    }
    Ok(())
}

/// `attach-session`.
pub async fn attach(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Session, &arguments).await?;
    check_terminal(run, &world)?;
    let id = world.session(at).id;
    if let Some(folder) = arguments.value('c')
        && let Some(session) = run.state().session(id)
    {
        folder.clone_into(&mut session.cwd);
    }
    if arguments.has('d') || arguments.has('x') {
        let (own, mut state) = (run.client, run.state());
        let others: Vec<u64> = state.clients.of_session(id).map(|client| client.id).collect();
        for other in others.into_iter().filter(|other| Some(*other) != own) {
            state.clients.get_mut(other).into_iter().for_each(Client::leave);
        }
    }
    set_flags(run, &arguments, run.client)?;
    show(run, &world, at).await
}

/// Sets the flags of `-f` for a client in control mode.
pub fn set_flags(run: &Run<'_>, arguments: &Arguments, client: Option<u64>) -> Result<(), Failure> {
    // `-F` is another name of `-f` for `refresh-client`.
    let is_refresh = arguments.syntax.name == "refresh-client";
    let other = arguments.value('F').filter(|_| is_refresh);
    let Some(flags) = arguments.value('f').or(other) else { return Ok(()) };
    match client.and_then(|id| run.state().clients.get_mut(id).map(|it| it.set_flags(flags))) {
        Some(done) => Ok(done?),
        None => Err("not a control client".into()),
    }
}

/// `switch-client`.
pub async fn switch(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let kind = match arguments.value('t') {
        Some(text) if text.contains([':', '.', '%']) => TargetKind::Pane,
        _ => TargetKind::Session,
    };
    let (world, mut at) = target(run, kind, &arguments).await?;
    let client = find(run, &world, at, arguments.value('c'))?;
    let (_, here) = run.here().await?;
    let (seen, last) = match client {
        Named::Window => (Some(world.session(here).id), None),
        Named::Control(id) => match run.state().clients.get(id) {
            Some(client) => (client.session, client.last_session),
            None => return Err("no current client".into()),
        },
    };
    let position = |id: Option<u64>| world.sessions.iter().position(|it| Some(it.id) == id);
    if arguments.has('l') {
        let Some(last) = position(last) else { return Err("can't find last session".into()) };
        at = world.of_session(last);
    } else if arguments.has('n') || arguments.has('p') {
        let count = world.sessions.len();
        let step = if arguments.has('n') { 1 } else { count - 1 };
        at = world.of_session((position(seen).unwrap_or(at.session) + step) % count);
    } else if kind == TargetKind::Pane {
        super::panes::focus(run, &world, at, arguments.has('Z')).await?;
        let id = world.session(at).id;
        if let Some(session) = run.state().session(id) {
            session.select(world.window(at).index);
        }
    }
    let id = world.session(at).id;
    if let Named::Control(client) = client {
        if let Some(client) = run.state().clients.get_mut(client) {
            client.attach(id);
        }
        return Ok(());
    }
    let world = run.world().await?;
    match world.sessions.iter().position(|session| session.id == id) {
        Some(session) => show_in_window(run, &world, world.of_session(session)).await,
        None => Ok(()),
    }
}

/// `detach-client`. Programs can't hide the user's window, so only clients in control mode can be detached.
pub async fn detach(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = run.here().await?;
    let session = match arguments.value('s') {
        Some(text) => {
            let at =
                crate::dialect::tmux::target::find(&world, TargetKind::Session, Some(text), at)?;
            Some(world.session(at).id)
        }
        None => None,
    };
    let leaving: Vec<u64> = match session {
        Some(session) => run.state().clients.of_session(session).map(|it| it.id).collect(),
        None => match find(run, &world, at, arguments.value('t'))? {
            Named::Control(kept) if arguments.has('a') => {
                let (state, name) = (run.state(), &run.name);
                state.clients.attached(name).map(|it| it.id).filter(|id| *id != kept).collect()
            }
            Named::Window if arguments.has('a') => {
                run.state().clients.attached(&run.name).map(|client| client.id).collect()
            }
            Named::Control(id) => vec![id],
            Named::Window => return Err("the window can't be detached".into()),
        },
    };
    let mut state = run.state();
    for id in leaving {
        state.clients.get_mut(id).into_iter().for_each(Client::leave);
    }
    Ok(())
}

/// `lock-server`, `lock-session` and `lock-client`. tmux runs `lock-command` in the terminals of the clients. A client in
/// control mode has none, and programs can't lock the user's window.
pub async fn lock(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let window = match arguments.syntax.name {
        "lock-client" => {
            let (world, at) = run.here().await?;
            find(run, &world, at, arguments.value('t'))? == Named::Window
        }
        "lock-session" => {
            let (world, at) = target(run, TargetKind::Session, &arguments).await?;
            world.session(at).is_attached
        }
        _ => run.here().await?.0.sessions.iter().any(|session| session.is_attached),
    };
    if window { Err("the window can't be locked".into()) } else { Ok(()) }
}

/// `list-clients`.
pub async fn list(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Session, &arguments).await?;
    let is_named = arguments.value('t').is_some();
    let format = arguments.value('F').unwrap_or(LIST);
    let lines = {
        let (clock, state) = (run.clock(), run.state());
        let mut clients: Vec<(usize, BTreeMap<&'static str, String>)> = Vec::new();
        for (index, session) in world.sessions.iter().enumerate() {
            if session.is_attached {
                clients.push((index, window_variables(&world)));
            }
            let controls = state.clients.of_session(session.id);
            clients.extend(controls.map(|client| (index, client.variables(&session.name))));
        }
        let mut lines = Vec::new();
        for (index, (session, variables)) in clients.into_iter().enumerate() {
            if is_named && session != at.session {
                continue;
            }
            let mut scope = run.scope(&world, &state, Some(world.of_session(session)));
            scope.more = variables;
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

/// The variables of the client that represents the user's window.
fn window_variables(world: &World) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("client_name", window_name(world)),
        ("client_tty", String::new()),
        ("client_pid", world.listing.pid.to_string()),
        ("client_termname", "unterm".to_owned()),
        ("client_flags", "attached,focused,UTF-8".to_owned()),
        ("client_control_mode", "0".to_owned()),
    ])
}

/// `refresh-client`. The window draws itself, so without a flag there is nothing to do.
pub async fn refresh(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = run.here().await?;
    let client = find(run, &world, at, arguments.value('t'))?;
    let id = match client {
        Named::Control(id) => Some(id),
        Named::Window => None,
    };
    set_flags(run, &arguments, id)?;
    let asks = arguments.has('A') || arguments.has('B') || arguments.has('C');
    let Some(id) = id else {
        return if asks { Err("not a control client".into()) } else { Ok(()) };
    };
    for order in arguments.values('A') {
        set_flow(run, &world, id, order);
    }
    for text in arguments.values('B') {
        if let Some(client) = run.state().clients.get_mut(id) {
            match Subscription::parse(text) {
                Some(subscription) => client.subscribe(subscription)?,
                None => client.unsubscribe(text),
            }
        }
    }
    match arguments.value('C') {
        Some(size) => set_size(run, &world, id, size).await,
        None => Ok(()),
    }
}

/// `-A %pane:state`: whether a client gets the output of a pane. As in tmux, an unknown pane or state has no effect.
fn set_flow(run: &Run<'_>, world: &World, id: u64, order: &str) {
    let Some((pane, order)) = order.strip_prefix('%').and_then(|it| it.split_once(':')) else {
        return;
    };
    let Ok(pane) = pane.parse::<u64>() else { return };
    if world.of_pane(pane).is_none() {
        return;
    }
    let mut state = run.state();
    let Some(client) = state.clients.get_mut(id) else { return };
    let before = client.silent.get(&pane).copied();
    match (order, before) {
        ("off", _) => drop(client.silent.insert(pane, Silence::Off)),
        ("on", Some(Silence::Off)) => drop(client.silent.remove(&pane)),
        ("pause", before) if before != Some(Silence::Paused) => {
            client.silent.insert(pane, Silence::Paused);
            client.note(format!("%pause %{pane}"));
        }
        ("continue", Some(Silence::Paused)) => {
            client.silent.remove(&pane);
            client.note(format!("%continue %{pane}"));
        }
        _ => {}
    }
    client.wake.notify_one();
}

/// `-C WIDTHxHEIGHT` or `-C @window:WIDTHxHEIGHT`: the size of a client, or of one window for it.
async fn set_size(run: &mut Run<'_>, world: &World, id: u64, text: &str) -> CommandResult {
    let (window, size) = match text.strip_prefix('@').map(|rest| rest.split_once(':')) {
        None => (None, text),
        Some(Some((window, size))) => match window.parse::<u64>() {
            Ok(window) => (Some(window), size),
            Err(_) => return Err("bad size argument".into()),
        },
        Some(None) => return Err("bad size argument".into()),
    };
    if window.is_some() && size.is_empty() {
        // Without this size, the window has the size of the client again.
        return Ok(());
    }
    let parts = size.split_once(['x', ',']);
    let parts = parts.and_then(|(cols, rows)| Some((cols.parse().ok()?, rows.parse().ok()?)));
    let Some((cols, rows)) = parts else { return Err("bad size argument".into()) };
    let range = 1..=LONGEST_SIDE;
    if !range.contains(&cols) || !range.contains(&rows) {
        return Err("size too small or too big".into());
    }
    let (session, ignores) = {
        let mut state = run.state();
        let Some(client) = state.clients.get_mut(id) else { return Ok(()) };
        if window.is_none() {
            client.size = (cols, rows);
        }
        (client.session, client.ignores_size)
    };
    let found = world.sessions.iter().position(|it| Some(it.id) == session);
    let Some(session) = found.filter(|_| !ignores) else { return Ok(()) };
    for (index, of) in world.sessions[session].windows.iter().enumerate() {
        if window.is_none_or(|window| window == of.id) {
            // If the user's window decides the size, the size does not change. In tmux, the client that was used last
            // decides.
            layout::set_size(run, world, world.of_window(session, index), cols, rows).await?;
        }
    }
    Ok(())
}

/// `show-messages`: the commands of clients and their errors, the newest first.
pub async fn show_messages(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = run.here().await?;
    find(run, &world, at, arguments.value('t'))?;
    let clock = run.clock();
    let lines = {
        let state = run.state();
        let lines = state.messages.iter().rev().map(|(time, message)| {
            let clock = formats::Clock { now: *time, ..clock };
            format!("{}: {message}", clock.format_now("%H:%M"))
        });
        lines.collect()
    };
    run.print_lines(lines).await
}
