//! Commands about panes.

use unterm_mux::{Axis, Direction, PaneId};

use super::{
    destination::{Destination, place_in_bar, select_window},
    number, print_each, print_new, program, target,
};
use crate::{
    dialect::tmux::{
        arguments::Arguments,
        methods::{
            Arrange, ArrangeParams, Relocate, RelocateParams, Respawn, RespawnParams, Split,
            SplitParams,
        },
        run::{CommandResult, Failure, Run},
        target::TargetKind,
        tree::{self, Added},
        world::{Target, Window, World},
    },
    methods::{
        layout::{Rename, RenameParams},
        params::SessionOnly,
        session::Destroy,
    },
    services::records::workspace::TabPart,
};

/// The format of a line of `list-panes`, and of `-P`.
const LIST: &str = "#{pane_index}: [#{pane_width}x#{pane_height}] [history #{history_size}/#{history_limit}, #{history_bytes} bytes] #{pane_id}#{?pane_active, (active),}#{?pane_dead, (dead),}";
const LIST_SESSION: &str = "#{window_index}.#{pane_index}: [#{pane_width}x#{pane_height}] [history #{history_size}/#{history_limit}, #{history_bytes} bytes] #{pane_id}#{?pane_active, (active),}#{?pane_dead, (dead),}";
const LIST_ALL: &str = "#{session_name}:#{window_index}.#{pane_index}: [#{pane_width}x#{pane_height}] [history #{history_size}/#{history_limit}, #{history_bytes} bytes] #{pane_id}#{?pane_active, (active),}#{?pane_dead, (dead),}";
const NEW: &str = "#{session_name}:#{window_index}.#{pane_index}";

/// `list-panes`.
pub async fn list(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let kind = if arguments.has('s') { TargetKind::Session } else { TargetKind::Window };
    let (world, at) = target(run, kind, &arguments).await?;
    let (is_all, is_session) = (arguments.has('a'), arguments.has('s'));
    let is_in = |pane: &Target| {
        is_all || pane.session == at.session && (is_session || pane.window == at.window)
    };
    let targets = world.targets().filter(is_in).collect();
    let format = match (is_all, is_session) {
        (true, _) => LIST_ALL,
        (false, true) => LIST_SESSION,
        (false, false) => LIST,
    };
    print_each(run, &world, targets, &arguments, format).await
}

/// The share of a new pane, for `-l`, `-p` and the length of the space. `split-window` makes a length that is too large as
/// large as possible.
fn share(arguments: &Arguments, length: u32) -> Result<Option<f32>, Failure> {
    const LARGEST: u32 = i32::MAX as u32;

    let is_split = arguments.syntax.name == "split-window";
    let percent = |text: &str, what: &str| match number(text, if is_split { LARGEST } else { 100 })
    {
        Ok(percent) => Ok((u64::from(length) * u64::from(percent.min(100)) / 100) as u32),
        Err(why) => Err(Failure::Message(format!("{what} {why}"))),
    };
    if let Some(text) = arguments.value('p') {
        let size = percent(text, if is_split { "create pane failed: -p" } else { "size" })?;
        return Ok(Some(tree::ratio(size, length)));
    }
    let Some(text) = arguments.value('l') else { return Ok(None) };
    let size = match text.strip_suffix('%') {
        Some(text) => percent(text, if is_split { "percentage" } else { "size" })?,
        None => {
            let what = if is_split { "lines" } else { "size" };
            number(text, LARGEST).map_err(|why| format!("{what} {why}"))?
        }
    };
    Ok(Some(tree::ratio(size, length)))
}

/// Where a new pane is placed, for the flags of `split-window` and `join-pane`.
fn place(
    arguments: &Arguments,
    world: &World,
    at: Target,
) -> Result<(Axis, Option<f32>, bool), Failure> {
    let axis = if arguments.has('h') { Axis::Horizontal } else { Axis::Vertical };
    let rect = match arguments.has('f') {
        true => world.window(at).rect(),
        false => world.place(at).rect,
    };
    let length = match axis {
        Axis::Horizontal => rect.width,
        Axis::Vertical => rect.height,
    };
    Ok((axis, share(arguments, length)?, arguments.has('b')))
}

/// `split-window`.
pub async fn split(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (mut world, at) = target(run, TargetKind::Pane, &arguments).await?;
    let program = program::program(run, &mut world, Some(at), &arguments).await?;
    let (axis, share, before) = place(&arguments, &world, at)?;
    let params = SplitParams {
        id: world.pane(at).id,
        program,
        horizontal: axis == Axis::Horizontal,
        before,
        full: arguments.has('f'),
        share,
        focus: !arguments.has('d'),
        zoom: arguments.has('Z'),
    };
    let opened = run.call::<Split>(params.into()).await?;
    print_new(run, &arguments, opened.id, NEW).await
}

/// `kill-pane`.
pub async fn kill(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Pane, &arguments).await?;
    let own = world.pane(at).id;
    let panes: Vec<u64> = match arguments.has('a') {
        true => world.window(at).panes.iter().map(|it| it.id).filter(|it| *it != own).collect(),
        false => vec![own],
    };
    close(run, panes).await
}

/// Checks that the client's program may change all of these panes, and asks the user if it may not. A command that makes
/// several changes checks the panes of all of them before the first one. So nothing has changed if a pane is refused.
pub async fn check(run: &mut Run<'_>, panes: &[u64]) -> CommandResult {
    for id in panes {
        let params = ArrangeParams { id: *id, ..ArrangeParams::default() };
        run.call::<Arrange>(params.into()).await?;
    }
    Ok(())
}

/// Closes panes. If the program may not close one of them, closes none.
pub async fn close(run: &mut Run<'_>, mut panes: Vec<u64>) -> CommandResult {
    // A window that is linked twice has its panes in the list twice.
    panes.sort_unstable();
    panes.dedup();
    if panes.len() > 1 {
        check(run, &panes).await?;
    }
    for pane in panes {
        run.call::<Destroy>(SessionOnly::of(pane)).await?;
    }
    Ok(())
}

/// `respawn-pane`.
pub async fn respawn(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Pane, &arguments).await?;
    respawn_at(run, world, at, arguments, "pane").await
}

/// Starts a program in the place of a pane's program. `what`: the subject of the error message.
pub async fn respawn_at(
    run: &mut Run<'_>,
    mut world: World,
    at: Target,
    arguments: Arguments,
    what: &str,
) -> CommandResult {
    let mut program = program::program(run, &mut world, Some(at), &arguments).await?;
    let pane = world.pane(at);
    if arguments.value('c').is_none() && !pane.cwd.is_empty() {
        program.cwd = Some(pane.cwd.clone());
    }
    if arguments.words.is_empty() && program.command.is_empty() && !pane.start_command.is_empty() {
        // Without a command, tmux starts the pane's command again.
        let shell = run.hello.env.get("SHELL").cloned().unwrap_or_else(|| "/bin/sh".to_owned());
        program.command = vec![shell, "-c".to_owned(), pane.start_command.clone()];
    }
    let window = world.window(at);
    let name = format!("{}:{}", world.session(at).name, window.index);
    let name = match what {
        "pane" => format!("{name}.{}", world.place(at).index),
        _ => name,
    };
    if !pane.is_dead && !arguments.has('k') {
        return Err(format!("respawn {what} failed: {what} {name} still active").into());
    }
    let params = RespawnParams { id: pane.id, program, kill: arguments.has('k') };
    run.call::<Respawn>(params.into()).await?;
    Ok(())
}

/// `select-pane`.
pub async fn select(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, mut at) = target(run, TargetKind::Pane, &arguments).await?;
    if arguments.has('m') || arguments.has('M') {
        let own = world.pane(at).id;
        let mut state = run.state();
        let is_unset = arguments.has('M') || state.marked == Some(own);
        state.marked = if is_unset { None } else { Some(own) };
        return Ok(());
    }
    if arguments.has('d') || arguments.has('e') {
        let own = world.pane(at).id;
        check(run, &[own]).await?;
        let mut state = run.state();
        match arguments.has('d') {
            true => state.input_off.insert(own),
            false => state.input_off.remove(&own),
        };
        return Ok(());
    }
    if let Some(title) = arguments.value('T') {
        let mut world = world;
        let title = run.expand(title, &mut world, Some(at)).await?;
        let id = world.pane(at).id;
        let params = RenameParams { title: title.into(), ..RenameParams::of(id) };
        run.call::<Rename>(params).await?;
        return Ok(());
    }
    if arguments.has('l') {
        return to_last(run, world, at, &arguments).await;
    }
    let directions = [
        ('L', Direction::Left),
        ('R', Direction::Right),
        ('U', Direction::Up),
        ('D', Direction::Down),
    ];
    if let Some((_, direction)) = directions.iter().find(|(flag, _)| arguments.has(*flag)) {
        let window = world.window(at);
        let Some(found) = window.neighbor(world.place(at), *direction) else { return Ok(()) };
        let pane = window.panes.iter().position(|pane| pane.id == found.id);
        at.pane = pane.unwrap_or(at.pane);
    }
    focus(run, &world, at, arguments.has('Z')).await
}

/// Gives a pane the focus of its window.
pub async fn focus(
    run: &mut Run<'_>,
    world: &World,
    at: Target,
    keeps_zoom: bool,
) -> CommandResult {
    let zoomed = (keeps_zoom && world.window(at).is_zoomed).then_some(true);
    let id = world.pane(at).id;
    if id == world.window(at).active {
        return Ok(());
    }
    let params = ArrangeParams { id, focused: Some(id), zoomed, ..ArrangeParams::default() };
    run.call::<Arrange>(params.into()).await?;
    Ok(())
}

async fn to_last(
    run: &mut Run<'_>,
    world: World,
    at: Target,
    arguments: &Arguments,
) -> CommandResult {
    let window = world.window(at);
    let last = window.last.and_then(|last| window.panes.iter().position(|it| it.id == last));
    // With two panes, the other pane is the last one.
    let other = || match window.panes.as_slice() {
        [first, _] => Some(usize::from(first.id == window.active)),
        _ => None,
    };
    let Some(pane) = last.or_else(other) else { return Err("no last pane".into()) };
    focus(run, &world, Target { pane, ..at }, arguments.has('Z')).await
}

/// `last-pane`.
pub async fn last(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Window, &arguments).await?;
    to_last(run, world, at, &arguments).await
}

/// The pane of `-s`, and the pane of `-t`.
async fn two(run: &mut Run<'_>, arguments: &Arguments) -> Result<(World, Target, Target), Failure> {
    let (world, current) = run.here().await?;
    let find = |text| crate::dialect::tmux::target::find(&world, TargetKind::Pane, text, current);
    let marked = world.marked.and_then(|marked| world.of_pane(marked));
    // As in tmux, an error about `-s` is reported before an error about `-t`.
    let source = match arguments.value('s') {
        None => marked.unwrap_or(current),
        text => find(text)?,
    };
    let at = find(arguments.value('t'))?;
    Ok((world, source, at))
}

/// `swap-pane`.
pub async fn swap(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, mut source, at) = two(run, &arguments).await?;
    if arguments.has('U') || arguments.has('D') {
        let count = world.window(at).panes.len();
        let step = if arguments.has('D') { 1 } else { count - 1 };
        source = Target { pane: (at.pane + step) % count, ..at };
    }
    let (one, other) = (world.pane(source).id, world.pane(at).id);
    if one == other {
        return Ok(());
    }
    let params = RelocateParams { id: one, other: Some(other), ..RelocateParams::default() };
    run.call::<Relocate>(params.into()).await?;
    for id in focused_after_swap(&world, (source, at), arguments.has('d')) {
        let params = ArrangeParams { id, focused: Some(id), ..ArrangeParams::default() };
        run.call::<Arrange>(params.into()).await?;
    }
    Ok(())
}

/// The swapped panes that have the focus of their windows afterward. With `-d`, other panes keep the focus.
fn focused_after_swap(world: &World, (source, at): (Target, Target), keeps: bool) -> Vec<u64> {
    let (one, other) = (world.pane(source).id, world.pane(at).id);
    let (from, to) = (world.window(source), world.window(at));
    let was_active = |window: &Window, pane: u64| window.active == pane;
    match (from.id == to.id, keeps) {
        (true, false) => vec![other],
        (false, false) => vec![other, one],
        (true, true) if was_active(from, one) || was_active(from, other) => vec![one],
        (true, true) => Vec::new(),
        (false, true) => {
            let in_source = Some(other).filter(|_| was_active(from, one));
            let in_target = Some(one).filter(|_| was_active(to, other));
            in_source.into_iter().chain(in_target).collect()
        }
    }
}

/// `break-pane`.
pub async fn break_out(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, current) = run.here().await?;
    let source = arguments.value('s');
    let at = crate::dialect::tmux::target::find(&world, TargetKind::Pane, source, current)?;
    let (into, index) = match arguments.value('t') {
        Some(text) => crate::dialect::tmux::target::find_index(&world, Some(text), current)?,
        None => (current.session, None),
    };
    let place = Destination::of(&world, into, index, &arguments);
    if let Some(taken) = place.taken {
        return Err(format!("index in use: {}", world.sessions[into].windows[taken].index).into());
    }
    let id = world.pane(at).id;
    let params = RelocateParams {
        id,
        alone: true,
        activate: !arguments.has('d') && world.sessions[into].is_attached,
        title: arguments.value('n').map(str::to_owned),
        ..RelocateParams::default()
    };
    run.call::<Relocate>(params.into()).await?;
    let tab = tab_of(run, id).await?;
    let number = {
        let mut state = run.state();
        place.free(&mut state);
        let number = state.assign(tab, place.id, place.index)?;
        if let Some(session) = state.session(place.id).filter(|_| !arguments.has('d')) {
            session.select(number);
        }
        number
    };
    place_in_bar(run, place.id, number).await?;
    print_new(run, &arguments, id, NEW).await
}

/// The tab of a pane, in any session.
async fn tab_of(run: &mut Run<'_>, pane: u64) -> Result<u64, Failure> {
    let listing = run
        .call::<crate::dialect::tmux::methods::List>(crate::methods::params::NoParams {})
        .await?;
    let has = |tab: &&crate::dialect::tmux::methods::Tab| {
        tree::panes(&crate::dialect::tmux::methods::node(&tab.root)).contains(&PaneId(pane))
    };
    let found = listing.tabs.iter().find(has).map(|tab| tab.id);
    found.ok_or_else(|| format!("can't find pane: %{pane}").into())
}

/// `join-pane` and `move-pane`.
pub async fn join(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, source, at) = two(run, &arguments).await?;
    let (moved, beside) = (world.pane(source).id, world.pane(at).id);
    if moved == beside {
        return Err("source and target panes must be different".into());
    }
    let (axis, share, is_first) = place(&arguments, &world, at)?;
    check(run, &[moved, beside]).await?;
    let window = world.window(at);
    let mut root = window.root.clone();
    let is_other = world.window(source).id != window.id;
    if is_other {
        let params =
            RelocateParams { id: moved, into: Some(window.id), ..RelocateParams::default() };
        run.call::<Relocate>(params.into()).await?;
    } else {
        tree::remove(&mut root, PaneId(moved));
    }
    let added = Added { pane: PaneId(moved), axis, share: share.unwrap_or(0.5), is_first };
    match arguments.has('f') {
        true => tree::add_around(&mut root, added),
        false => tree::add_beside(&mut root, PaneId(beside), added),
    }
    let is_focused = !arguments.has('d');
    let focused = if is_focused || window.active == moved { moved } else { window.active };
    let params = ArrangeParams {
        id: moved,
        root: Some(TabPart::of(&root)),
        focused: Some(focused),
        zoomed: Some(false),
        ..ArrangeParams::default()
    };
    run.call::<Arrange>(params.into()).await?;
    match is_focused {
        true => select_window(run, &world, at).await,
        false => Ok(()),
    }
}
