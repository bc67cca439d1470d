//! Commands about windows, which are tabs.

use super::{
    destination::{Destination, place_in_bar, relocate, select_window},
    panes, print_each, print_new, program, target,
};
use crate::dialect::tmux::{
    arguments::Arguments,
    methods::{Open, OpenParams, Relocate, RelocateParams},
    options::Owner,
    run::{CommandResult, Failure, Run},
    target::{TargetKind, find, find_index},
    world::{Target, World},
};

const LIST: &str = "#{window_index}: #{window_name}#{window_raw_flags} (#{window_panes} panes) [#{window_width}x#{window_height}] [layout #{window_layout}] #{window_id}#{?window_active, (active),}";
const LIST_ALL: &str = "#{session_name}:#{window_index}: #{window_name}#{window_raw_flags} (#{window_panes} panes) [#{window_width}x#{window_height}] ";
const NEW: &str = "#{session_name}:#{window_index}.#{pane_index}";

/// `list-windows`.
pub async fn list(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Session, &arguments).await?;
    let sessions = match arguments.has('a') {
        true => 0..world.sessions.len(),
        false => at.session..at.session + 1,
    };
    let windows = sessions.flat_map(|session| {
        (0..world.sessions[session].windows.len()).map(move |window| (session, window))
    });
    let targets = windows.map(|(session, window)| world.of_window(session, window)).collect();
    let format = if arguments.has('a') { LIST_ALL } else { LIST };
    print_each(run, &world, targets, &arguments, format).await
}

/// `new-window`.
pub async fn new(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (mut world, current) = run.here().await?;
    let (session, index) = find_index(&world, arguments.value('t'), current)?;
    let at = world.of_session(session);
    let name = arguments.value('n').map(str::to_owned);
    if arguments.has('S')
        && let Some(name) = &name
        && let Some(window) =
            world.sessions[session].windows.iter().position(|window| window.name == *name)
    {
        return match arguments.has('d') {
            true => Ok(()),
            false => select_window(run, &world, world.of_window(session, window)).await,
        };
    }
    let place = Destination::of(&world, session, index, &arguments);
    if let Some(taken) = place.taken.filter(|_| !arguments.has('k')) {
        let index = world.sessions[session].windows[taken].index;
        return Err(format!("create window failed: index {index} in use").into());
    }
    let killed = place.killed(&world);
    panes::check(run, &killed).await?;
    let program = program::program(run, &mut world, Some(at), &arguments).await?;
    let is_current = !arguments.has('d') || place.replaces_current(&world);
    let is_attached = world.sessions[session].is_attached;
    let size = run.state().session(place.id).and_then(|session| session.size);
    let params = OpenParams {
        program,
        activate: is_current && (is_attached || run.pane.is_some() && current.session == session),
        size,
    };
    let _unfinished = run.server.begin_window();
    let opened = run.call::<Open>(params.into()).await?;
    let number = {
        let mut state = run.state();
        place.free(&mut state);
        let number = state.assign(opened.tab, place.id, place.index)?;
        if let Some(session) = state.session(place.id).filter(|_| is_current) {
            session.select(number);
        }
        number
    };
    if name.is_some() {
        let activate = is_current && is_attached;
        let params =
            RelocateParams { id: opened.id, title: name, activate, ..RelocateParams::default() };
        run.call::<Relocate>(params.into()).await?;
    }
    place_in_bar(run, place.id, number).await?;
    panes::close(run, killed).await?;
    print_new(run, &arguments, opened.id, NEW).await
}

/// `kill-window`.
pub async fn kill(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Window, &arguments).await?;
    let windows = world.session(at).windows.iter().enumerate();
    let own = world.window(at).id;
    let killed = windows.filter(|(_, window)| (window.id == own) != arguments.has('a'));
    let killed = killed.flat_map(|(_, window)| window.panes.iter().map(|pane| pane.id)).collect();
    panes::close(run, killed).await
}

/// `unlink-window`.
pub async fn unlink(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Window, &arguments).await?;
    if world.is_linked(at) {
        // The session may belong to another program.
        relocate(run, &world, at, |_| ()).await?;
        run.state().unlink(world.session(at).id, world.window(at).index);
        return Ok(());
    }
    if !arguments.has('k') {
        return Err("window only linked to one session".into());
    }
    panes::close(run, world.window(at).panes.iter().map(|pane| pane.id).collect()).await
}

/// `rename-window`.
pub async fn rename(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (mut world, at) = target(run, TargetKind::Window, &arguments).await?;
    let name = run.expand(&arguments.words[0], &mut world, Some(at)).await?;
    relocate(run, &world, at, |params| params.title = Some(name)).await
}

/// `select-window`.
pub async fn select(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    if arguments.has('l') {
        return last(run, arguments).await;
    }
    if arguments.has('n') || arguments.has('p') {
        let step = if arguments.has('n') { 1 } else { -1 };
        return to(run, &arguments, step).await;
    }
    let (world, at) = target(run, TargetKind::Window, &arguments).await?;
    if arguments.has('T') && world.session(at).current == at.window {
        return to_last(run, &world, at).await;
    }
    select_window(run, &world, at).await
}

async fn to_last(run: &mut Run<'_>, world: &World, at: Target) -> CommandResult {
    let Some(last) = world.session(at).last() else { return Err("no last window".into()) };
    select_window(run, world, world.of_window(at.session, last)).await
}

/// `last-window`.
pub async fn last(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Session, &arguments).await?;
    to_last(run, &world, at).await
}

async fn to(run: &mut Run<'_>, arguments: &Arguments, step: i64) -> CommandResult {
    let (world, at) = target(run, TargetKind::Session, arguments).await?;
    let session = world.session(at);
    let count = session.windows.len() as i64;
    if count == 1 {
        let which = if step > 0 { "next" } else { "previous" };
        return Err(format!("no {which} window").into());
    }
    let window = (session.current as i64 + step).rem_euclid(count) as usize;
    select_window(run, &world, world.of_window(at.session, window)).await
}

/// `next-window`.
pub async fn next(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    to(run, &arguments, 1).await
}

/// `previous-window`.
pub async fn previous(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    to(run, &arguments, -1).await
}

/// The window of `-s`.
async fn source(
    run: &mut Run<'_>,
    arguments: &Arguments,
) -> Result<(World, Target, Target), Failure> {
    let (world, current) = run.here().await?;
    let source = find(&world, TargetKind::Window, arguments.value('s'), current)?;
    Ok((world, source, current))
}

/// `move-window`.
pub async fn move_to(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    if arguments.has('r') {
        let (world, at) = target(run, TargetKind::Session, &arguments).await?;
        run.state().renumber(world.session(at).id);
        return Ok(());
    }
    add(run, &arguments, true).await
}

/// `link-window`.
pub async fn link(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    add(run, &arguments, false).await
}

/// Whether two sessions are different sessions of one group.
fn are_grouped(world: &World, one: usize, other: usize) -> bool {
    let id = world.sessions[other].id;
    one != other && world.group(one).any(|session| session.id == id)
}

/// Adds a window to a session. `is_move`: also removes it from its old session.
async fn add(run: &mut Run<'_>, arguments: &Arguments, is_move: bool) -> CommandResult {
    let (world, from, current) = source(run, arguments).await?;
    let (session, index) = find_index(&world, arguments.value('t'), current)?;
    if are_grouped(&world, from.session, session) {
        return Err("sessions are grouped".into());
    }
    let place = Destination::of(&world, session, index, arguments);
    let (tab, source) = (world.window(from).id, world.session(from).id);
    if let Some(taken) = place.taken {
        let taken = &world.sessions[session].windows[taken];
        if taken.id == tab {
            return Err(format!("same index: {}", taken.index).into());
        }
        if !arguments.has('k') {
            return Err(format!("index in use: {}", taken.index).into());
        }
    }
    // This call changes nothing. It checks whether the program may change the window.
    relocate(run, &world, from, |_| ()).await?;
    let killed = place.killed(&world);
    panes::check(run, &killed).await?;
    let is_current = !arguments.has('d') || place.replaces_current(&world);
    let number = {
        let mut state = run.state();
        let moved = place.free(&mut state);
        let mut old = world.window(from).index;
        if source == place.id && moved.contains(&old) {
            old += 1;
        }
        let number = state.link(place.id, place.index, tab)?;
        if let Some(session) = state.session(place.id).filter(|_| is_current) {
            session.select(number);
        }
        if is_move {
            state.unlink(source, old);
            let owners = [Owner::Session(source), Owner::Sessions];
            if !arguments.has('s') && state.options.is_on(&owners, "renumber-windows") {
                state.renumber(source);
            }
        }
        state.session(place.id).and_then(|it| it.index_of(tab)).unwrap_or(number)
    };
    if is_current && world.seen == Some(place.id) && world.listing.active != Some(tab) {
        relocate(run, &world, from, |params| params.activate = true).await?;
    }
    place_in_bar(run, place.id, number).await?;
    panes::close(run, killed).await
}

/// `swap-window`.
pub async fn swap(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, from, current) = source(run, &arguments).await?;
    let at = find(&world, TargetKind::Window, arguments.value('t'), current)?;
    if are_grouped(&world, from.session, at.session) {
        return Err("can't move window, sessions are grouped".into());
    }
    let (one, other) = (world.window(from), world.window(at));
    if one.id == other.id {
        return Ok(());
    }
    for window in [from, at] {
        relocate(run, &world, window, |_| ()).await?;
    }
    let shown = {
        let mut state = run.state();
        state.replace(world.session(from).id, one.index, other.id);
        state.replace(world.session(at).id, other.index, one.id);
        if arguments.has('d') {
            let mut selected = vec![(world.session(at).id, other.index)];
            if from.session != at.session {
                selected.push((world.session(from).id, one.index));
            }
            for (session, index) in selected {
                if let Some(session) = state.session(session) {
                    session.select(index);
                }
            }
        }
        world.seen.and_then(|seen| state.session(seen)?.current_tab())
    };
    if !world.is_linked(from) && !world.is_linked(at) {
        let place = |id: u64| world.listing.tabs.iter().position(|tab| tab.id == id);
        let (first, second) = (place(one.id), place(other.id));
        relocate(run, &world, from, |params| params.index = second).await?;
        // Move the second tab to the old index of the first tab.
        relocate(run, &world, at, |params| params.index = first).await?;
    }
    let shown = shown.filter(|tab| world.listing.active != Some(*tab));
    match shown.and_then(|tab| world.nearest(None, |at| world.window(at).id == tab)) {
        Some(shown) => relocate(run, &world, shown, |params| params.activate = true).await,
        None => Ok(()),
    }
}

/// `respawn-window`.
pub async fn respawn(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Window, &arguments).await?;
    let at = world.of_window(at.session, at.window);
    let own = world.pane(at).id;
    let others = world.window(at).panes.iter().map(|pane| pane.id).filter(|pane| *pane != own);
    let others: Vec<u64> = others.collect();
    if !arguments.has('k')
        && world.window(at).panes.iter().any(|it| !world.listing.panes[it.row].is_dead)
    {
        let (session, window) = (world.session(at), world.window(at));
        let name = format!("{}:{}", session.name, window.index);
        return Err(format!("respawn window failed: window {name} still active").into());
    }
    panes::check(run, &others).await?;
    panes::check(run, &[own]).await?;
    // As in tmux, only one pane remains.
    panes::close(run, others).await?;
    panes::respawn_at(run, world, at, arguments, "window").await
}
