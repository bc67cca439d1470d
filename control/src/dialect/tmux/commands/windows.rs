//! Commands about windows, which are tabs.

use super::{panes, print_each, print_new, program, target};
use crate::dialect::tmux::{
    arguments::Arguments,
    methods::{Open, OpenParams, Relocate, RelocateParams},
    run::{Done, Failure, Run},
    target::{TargetKind, find, find_index},
    world::{Target, World},
};

const LIST: &str = "#{window_index}: #{window_name}#{window_raw_flags} (#{window_panes} panes) [#{window_width}x#{window_height}] [layout #{window_layout}] #{window_id}#{?window_active, (active),}";
const LIST_ALL: &str = "#{session_name}:#{window_index}: #{window_name}#{window_raw_flags} (#{window_panes} panes) [#{window_width}x#{window_height}] ";
const NEW: &str = "#{session_name}:#{window_index}.#{pane_index}";

/// `list-windows`.
pub async fn list(run: &mut Run<'_>, arguments: Arguments) -> Done {
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
pub async fn new(run: &mut Run<'_>, arguments: Arguments) -> Done {
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
    let windows = &world.sessions[session].windows;
    let in_use = index.and_then(|index| windows.iter().position(|it| it.index == index));
    let is_beside = arguments.has('a') || arguments.has('b');
    if let Some(taken) = in_use.filter(|_| !is_beside && !arguments.has('k')) {
        let index = windows[taken].index;
        return Err(format!("create window failed: index {index} in use").into());
    }
    let killed: Vec<u64> = match in_use.filter(|_| arguments.has('k') && !is_beside) {
        Some(taken) => windows[taken].panes.iter().map(|pane| pane.id).collect(),
        None => Vec::new(),
    };
    // The window beside which the new one is placed, and whether the new one comes before it.
    let beside = is_beside.then(|| in_use.unwrap_or(world.sessions[session].current));
    let beside = beside.map(|window| (windows[window].id, arguments.has('b')));
    let program = program::program(run, &mut world, Some(at), &arguments).await?;
    let id = world.sessions[session].id;
    let is_current = !arguments.has('d');
    let params = OpenParams {
        program,
        activate: is_current && world.sessions[session].is_attached
            || is_current && run.pane.is_some() && current.session == session,
        size: None,
    };
    let opened = run.call::<Open>(params.into()).await?;
    {
        let mut state = run.state();
        if id != 0 {
            state.assign(opened.tab, id);
        }
        if let Some(session) = state.session(id).filter(|_| is_current) {
            session.select(opened.tab);
        }
    }
    let moved =
        beside.or(index.zip(in_use).map(|(_, taken)| (windows_id(&world, session, taken), true)));
    let index = moved.and_then(|(tab, before)| {
        let at = world.listing.tabs.iter().position(|it| it.id == tab)?;
        Some(if before { at } else { at + 1 })
    });
    if name.is_some() || index.is_some() {
        let params = RelocateParams {
            id: opened.id,
            title: name,
            index,
            activate: is_current && world.sessions[session].is_attached,
            ..RelocateParams::default()
        };
        run.call::<Relocate>(params.into()).await?;
    }
    panes::close(run, killed).await?;
    print_new(run, &arguments, opened.id, NEW).await
}

fn windows_id(world: &World, session: usize, window: usize) -> u64 {
    world.sessions[session].windows[window].id
}

/// `kill-window`.
pub async fn kill(run: &mut Run<'_>, arguments: Arguments) -> Done {
    let (world, at) = target(run, TargetKind::Window, &arguments).await?;
    let windows = world.session(at).windows.iter().enumerate();
    let killed = windows.filter(|(window, _)| (*window == at.window) != arguments.has('a'));
    let killed = killed.flat_map(|(_, window)| window.panes.iter().map(|pane| pane.id)).collect();
    panes::close(run, killed).await
}

/// `rename-window`.
pub async fn rename(run: &mut Run<'_>, arguments: Arguments) -> Done {
    let (mut world, at) = target(run, TargetKind::Window, &arguments).await?;
    let name = run.expand(&arguments.words[0], &mut world, Some(at)).await?;
    relocate(run, &world, at, |params| params.title = Some(name)).await
}

/// Changes the tab of a window. Names a pane of the window that the client's program opened, if there is one.
async fn relocate(
    run: &mut Run<'_>,
    world: &World,
    at: Target,
    change: impl FnOnce(&mut RelocateParams),
) -> Done {
    let mut params = RelocateParams { id: run.own_pane(world, at), ..RelocateParams::default() };
    change(&mut params);
    run.call::<Relocate>(params.into()).await?;
    Ok(())
}

/// Makes a window the current one of its session. If the user sees the session, the tab becomes active.
pub async fn select_window(run: &mut Run<'_>, world: &World, at: Target) -> Done {
    let (session, tab) = (world.session(at).id, world.window(at).id);
    let is_seen = world.session(at).windows.iter().any(|it| Some(it.id) == world.listing.active);
    if is_seen && world.listing.active != Some(tab) {
        relocate(run, world, at, |params| params.activate = true).await?;
    }
    if let Some(session) = run.state().session(session) {
        session.select(tab);
    }
    Ok(())
}

/// `select-window`.
pub async fn select(run: &mut Run<'_>, arguments: Arguments) -> Done {
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

async fn to_last(run: &mut Run<'_>, world: &World, at: Target) -> Done {
    let Some(last) = world.session(at).last else { return Err("no last window".into()) };
    select_window(run, world, world.of_window(at.session, last)).await
}

/// `last-window`.
pub async fn last(run: &mut Run<'_>, arguments: Arguments) -> Done {
    let (world, at) = target(run, TargetKind::Session, &arguments).await?;
    to_last(run, &world, at).await
}

async fn to(run: &mut Run<'_>, arguments: &Arguments, step: i64) -> Done {
    let (world, at) = target(run, TargetKind::Session, arguments).await?;
    let session = world.session(at);
    let count = session.windows.len() as i64;
    let window = (session.current as i64 + step).rem_euclid(count) as usize;
    select_window(run, &world, world.of_window(at.session, window)).await
}

/// `next-window`.
pub async fn next(run: &mut Run<'_>, arguments: Arguments) -> Done {
    to(run, &arguments, 1).await
}

/// `previous-window`.
pub async fn previous(run: &mut Run<'_>, arguments: Arguments) -> Done {
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
pub async fn move_to(run: &mut Run<'_>, arguments: Arguments) -> Done {
    if arguments.has('r') {
        // Windows never have gaps between their numbers.
        return target(run, TargetKind::Session, &arguments).await.map(drop);
    }
    let (world, from, current) = source(run, &arguments).await?;
    let (session, index) = find_index(&world, arguments.value('t'), current)?;
    let windows = &world.sessions[session].windows;
    let taken = index.and_then(|index| windows.iter().position(|it| it.index == index));
    let is_beside = arguments.has('a') || arguments.has('b');
    let is_same = |window: usize| windows[window].id == world.window(from).id;
    if let Some(taken) = taken.filter(|it| !is_beside && !arguments.has('k') && !is_same(*it)) {
        return Err(format!("index in use: {}", windows[taken].index).into());
    }
    let tabs = &world.listing.tabs;
    let position = |window: usize| tabs.iter().position(|tab| tab.id == windows[window].id);
    let own = tabs.iter().position(|tab| tab.id == world.window(from).id).unwrap_or(0);
    let target_window = match taken {
        Some(taken) => Some(taken),
        None if is_beside => Some(world.sessions[session].current),
        None => None,
    };
    let at = match target_window {
        Some(window) => {
            let at = position(window).unwrap_or(own);
            // The tab is removed before it is inserted.
            let at = if arguments.has('a') { at + 1 } else { at };
            if own < at { at - 1 } else { at }
        }
        None => tabs.len(),
    };
    let killed: Vec<u64> = match taken.filter(|it| arguments.has('k') && !is_same(*it)) {
        Some(taken) => windows[taken].panes.iter().map(|pane| pane.id).collect(),
        None => Vec::new(),
    };
    let (id, tab) = (world.sessions[session].id, world.window(from).id);
    relocate(run, &world, from, |params| params.index = Some(at)).await?;
    if session != from.session {
        move_tab(run, tab, id, world.session(from).id);
    }
    panes::close(run, killed).await?;
    if arguments.has('d') {
        return Ok(());
    }
    let world = run.world().await?;
    let found = world.targets().find(|target| world.window(*target).id == tab);
    match found {
        Some(found) => {
            select_window(run, &world, world.of_window(found.session, found.window)).await
        }
        None => Ok(()),
    }
}

/// Moves a tab to another session. The first session has every tab that no other session has.
fn move_tab(run: &Run<'_>, tab: u64, into: u64, from: u64) {
    let mut state = run.state();
    if into == 0 {
        if let Some(session) = state.session(from) {
            session.tabs.retain(|own| *own != tab);
        }
    } else {
        state.assign(tab, into);
    }
}

/// `swap-window`.
pub async fn swap(run: &mut Run<'_>, arguments: Arguments) -> Done {
    let (world, from, current) = source(run, &arguments).await?;
    let at = find(&world, TargetKind::Window, arguments.value('t'), current)?;
    if world.window(from).id == world.window(at).id {
        return Ok(());
    }
    if from.session != at.session {
        return Err("can't swap windows of two sessions".into());
    }
    let position = |target: Target| {
        let id = world.window(target).id;
        world.listing.tabs.iter().position(|tab| tab.id == id).unwrap_or(0)
    };
    let (one, other) = (position(from), position(at));
    relocate(run, &world, from, |params| params.index = Some(other)).await?;
    // After the first move, the other window is one place nearer to where it was.
    relocate(run, &world, at, |params| params.index = Some(one)).await?;
    Ok(())
}

/// `respawn-window`.
pub async fn respawn(run: &mut Run<'_>, arguments: Arguments) -> Done {
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
    // As in tmux, one pane is left.
    panes::close(run, others).await?;
    panes::respawn_at(run, world, at, arguments, "window").await
}
