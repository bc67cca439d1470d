//! Commands that arrange the panes of a window.

use unterm_mux::{Axis, Node};

use super::{number, target};
use crate::{
    dialect::tmux::{
        arguments::Arguments,
        methods::{Arrange, ArrangeParams, Resize, ResizeParams},
        run::{CommandResult, Failure, Run},
        target::TargetKind,
        tree::{self, Layout},
        world::{Target, World},
    },
    services::records::workspace::TabPart,
};

async fn arrange(run: &mut Run<'_>, world: &World, at: Target, root: &Node) -> CommandResult {
    arrange_with(run, world, at, (root, None)).await
}

/// Arranges a window, and focuses a pane. `None`: the focus stays unchanged.
async fn arrange_with(
    run: &mut Run<'_>,
    world: &World,
    at: Target,
    (root, focused): (&Node, Option<u64>),
) -> CommandResult {
    let params = ArrangeParams {
        id: run.own_pane(world, at),
        root: Some(TabPart::of(root)),
        focused,
        zoomed: Some(false),
        ..ArrangeParams::default()
    };
    run.call::<Arrange>(params.into()).await?;
    Ok(())
}

/// `resize-pane`.
pub async fn resize(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Pane, &arguments).await?;
    let (window, id) = (world.window(at), world.pane(at).id);
    if arguments.has('Z') {
        let zoomed = Some(!window.is_zoomed);
        let params = ArrangeParams { id, focused: Some(id), zoomed, ..ArrangeParams::default() };
        run.call::<Arrange>(params.into()).await?;
        return Ok(());
    }
    let adjustment: u32 = match arguments.word(0) {
        None => 1,
        Some(text) => match text.parse() {
            Ok(0) => return Err("adjustment too small".into()),
            Ok(adjustment) => adjustment,
            Err(_) => return Err("adjustment invalid".into()),
        },
    };
    let (mut root, area) = (window.root.clone(), window.rect());
    let pane = unterm_mux::PaneId(id);
    let length = |flag: char, whole: u32, what: &str| -> Result<Option<u32>, Failure> {
        let Some(text) = arguments.value(flag) else { return Ok(None) };
        let size = match text.strip_suffix('%') {
            Some(text) => number(text, 100).map(|percent| whole * percent / 100),
            None => number(text, i32::MAX as u32),
        };
        Ok(Some(size.map_err(|why| format!("{what} {why}"))?))
    };
    let sizes = [
        (Axis::Horizontal, length('x', area.width, "width")?),
        (Axis::Vertical, length('y', area.height, "height")?),
    ];
    for (axis, size) in sizes {
        if let Some(size) = size {
            tree::resize(&mut root, area, pane, axis, &|length, _, is_first| match is_first {
                true => size,
                false => length.saturating_sub(size + 1),
            });
        }
    }
    let steps = [
        ('L', Axis::Horizontal, false),
        ('R', Axis::Horizontal, true),
        ('U', Axis::Vertical, false),
        ('D', Axis::Vertical, true),
    ];
    for (flag, axis, is_more) in steps {
        if arguments.has(flag) {
            tree::resize(&mut root, area, pane, axis, &|_, now, _| match is_more {
                true => now.saturating_add(adjustment),
                false => now.saturating_sub(adjustment),
            });
        }
    }
    if root == window.root {
        return Ok(());
    }
    arrange(run, &world, at, &root).await
}

/// Sets the size of a window. Returns false if the user's window decides the size.
pub async fn set_size(
    run: &mut Run<'_>,
    world: &World,
    at: Target,
    cols: u16,
    rows: u16,
) -> Result<bool, Failure> {
    let params = ResizeParams { id: run.own_pane(world, at), cols, rows };
    Ok(run.call::<Resize>(params.into()).await?.resized)
}

/// `resize-window`.
pub async fn resize_window(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    const LONGEST_SIDE: i64 = 10_000;

    let (world, at) = target(run, TargetKind::Window, &arguments).await?;
    let adjustment: i64 = match arguments.word(0) {
        None => 1,
        Some(text) => match text.parse() {
            Ok(adjustment) if adjustment > 0 => adjustment,
            Ok(_) => return Err("adjustment too small".into()),
            Err(_) => return Err("adjustment invalid".into()),
        },
    };
    let side = |flag: char, now: u32, what: &str| match arguments.value(flag).map(str::parse) {
        None => Ok(i64::from(now)),
        Some(Ok(side)) if side < 1 => Err(format!("{what} too small")),
        Some(Ok(side)) if side > LONGEST_SIDE => Err(format!("{what} too large")),
        Some(Ok(side)) => Ok(side),
        Some(Err(_)) => Err(format!("{what} invalid")),
    };
    let area = world.window(at).area;
    let (mut cols, mut rows) = (side('x', area.0, "width")?, side('y', area.1, "height")?);
    match ['L', 'R', 'U', 'D'].into_iter().find(|flag| arguments.has(*flag)) {
        Some('L') => cols -= adjustment,
        Some('R') => cols += adjustment,
        Some('U') => rows -= adjustment,
        Some(_) => rows += adjustment,
        None => {}
    }
    if arguments.has('A') || arguments.has('a') {
        // Use the largest or the smallest client that sees the window.
        let state = run.state();
        let clients = state.clients.of_session(world.session(at).id).map(|client| client.size);
        let size = match arguments.has('A') {
            true => clients.reduce(|one, two| (one.0.max(two.0), one.1.max(two.1))),
            false => clients.reduce(|one, two| (one.0.min(two.0), one.1.min(two.1))),
        };
        (cols, rows) = size.map_or((cols, rows), |(cols, rows)| (cols.into(), rows.into()));
    }
    let cell = |side: i64| u16::try_from(side.clamp(1, LONGEST_SIDE)).unwrap_or(u16::MAX);
    match set_size(run, &world, at, cell(cols), cell(rows)).await? {
        true => Ok(()),
        false => Err("the user's window decides the size of its tabs".into()),
    }
}

/// `select-layout`.
pub async fn select(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    if arguments.has('n') || arguments.has('p') {
        return step(run, &arguments, arguments.has('n')).await;
    }
    let (world, at) = target(run, TargetKind::Pane, &arguments).await?;
    if arguments.has('E') {
        let mut root = world.window(at).root.clone();
        spread(&mut root, world.place(at).id);
        return arrange(run, &world, at, &root).await;
    }
    // Without a name, the last layout of the window is repeated, if there is one.
    let tab = world.window(at).id;
    let last = run.state().layouts.get(&tab).cloned();
    let Some(name) = arguments.word(0).map(str::to_owned).or(last) else { return Ok(()) };
    let name = name.as_str();
    let panes = tree::panes(&world.window(at).root);
    if Layout::find(name).is_some() {
        run.state().layouts.insert(tab, name.to_owned());
    }
    let root = match Layout::find(name) {
        Some(layout) => layout_tree(run, &world, at, layout),
        None => tree::parse(name, &panes),
    };
    match root {
        Some(root) => arrange(run, &world, at, &root).await,
        None => Err(format!("invalid layout: {name}").into()),
    }
}

/// Gives the panes of the split that contains a pane equal sizes.
fn spread(root: &mut Node, pane: u64) {
    let Node::Split { first, second, ratio, .. } = root else { return };
    let id = unterm_mux::PaneId(pane);
    if **first == Node::Pane(id) || **second == Node::Pane(id) {
        *ratio = 0.5;
        return;
    }
    spread(first, pane);
    spread(second, pane);
}

fn layout_tree(run: &Run<'_>, world: &World, at: Target, layout: Layout) -> Option<Node> {
    let window = world.window(at);
    let size = |name: &str, whole: u32| {
        let value = run.option(world, at, name);
        match value.strip_suffix('%') {
            Some(percent) => percent.parse::<u32>().map(|it| whole * it / 100).unwrap_or(whole / 2),
            None => value.parse().unwrap_or(whole / 2),
        }
    };
    let main = (size("main-pane-width", window.area.0), size("main-pane-height", window.area.1));
    layout.tree(&tree::panes(&window.root), window.area, main)
}

async fn step(run: &mut Run<'_>, arguments: &Arguments, is_next: bool) -> CommandResult {
    let (world, at) = target(run, TargetKind::Window, arguments).await?;
    let window = world.window(at);
    // The present layout is the layout whose application changes nothing.
    let now = Layout::ALL.iter().position(|(layout, _)| {
        let root = layout_tree(run, &world, at, *layout);
        root.is_some_and(|root| {
            tree::divide(&root, window.rect()) == tree::divide(&window.root, window.rect())
        })
    });
    let count = Layout::ALL.len();
    let next = match (now, is_next) {
        (Some(now), true) => (now + 1) % count,
        (Some(now), false) => (now + count - 1) % count,
        (None, true) => 0,
        (None, false) => count - 1,
    };
    match layout_tree(run, &world, at, Layout::ALL[next].0) {
        Some(root) => arrange(run, &world, at, &root).await,
        None => Ok(()),
    }
}

/// `next-layout`.
pub async fn next(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    step(run, &arguments, true).await
}

/// `previous-layout`.
pub async fn previous(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    step(run, &arguments, false).await
}

/// `rotate-window`.
pub async fn rotate(run: &mut Run<'_>, arguments: Arguments) -> CommandResult {
    let (world, at) = target(run, TargetKind::Window, &arguments).await?;
    let mut root = world.window(at).root.clone();
    let mut panes = tree::panes(&root);
    let active = panes.iter().position(|pane| pane.0 == world.window(at).active);
    if arguments.has('D') {
        panes.rotate_right(1);
    } else {
        panes.rotate_left(1);
    }
    // The focus stays at its position, so another pane gets it.
    let focused = active.map(|active| panes[active].0);
    tree::refill(&mut root, &mut panes.into_iter());
    arrange_with(run, &world, at, (&root, focused)).await
}
