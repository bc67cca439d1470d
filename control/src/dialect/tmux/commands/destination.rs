//! Where a command places a window: its number in a session, and the position of its tab in the tab bar. Also makes a
//! window the current window.

use crate::dialect::tmux::{
    arguments::Arguments,
    methods::{Relocate, RelocateParams},
    run::{CommandResult, Run},
    state::State,
    world::{Target, Window, World},
};

/// Where a window is placed in a session.
pub struct Destination {
    /// The session's number.
    pub id: u64,
    /// The index of the session in `sessions`.
    session: usize,
    /// The number that the window gets. `None`: the first free number.
    pub index: Option<u64>,
    /// Whether the numbers of the windows from `index` on increase by one.
    makes_room: bool,
    /// The index of the window that already has the number.
    pub taken: Option<usize>,
}

impl Destination {
    /// The destination that `-a`, `-b` and the number of the target select.
    pub fn of(world: &World, session: usize, index: Option<u64>, arguments: &Arguments) -> Self {
        let of = &world.sessions[session];
        let taken = index.and_then(|index| of.windows.iter().position(|it| it.index == index));
        let id = of.id;
        // As in tmux, a new window beside a number without a window gets that number. A moved window is then placed
        // beside the current window.
        let is_new = arguments.syntax.name == "new-window";
        let is_free = is_new && index.is_some() && taken.is_none();
        if is_free || !arguments.has('a') && !arguments.has('b') {
            return Self { id, session, index, makes_room: false, taken };
        }
        let beside = of.windows[taken.unwrap_or(of.current)].index;
        let index = if arguments.has('b') { beside } else { beside + 1 };
        Self { id, session, index: Some(index), makes_room: true, taken: None }
    }

    /// Whether the window replaces the current window.
    pub fn replaces_current(&self, world: &World) -> bool {
        self.taken == Some(world.sessions[self.session].current)
    }

    /// Makes the number free. Returns the numbers that moved up by one.
    pub fn free(&self, state: &mut State) -> std::ops::Range<u64> {
        let Some(index) = self.index else { return 0..0 };
        if self.makes_room {
            return index..state.make_room(self.id, index);
        }
        if self.taken.is_some() {
            state.vacate(self.id, index);
        }
        0..0
    }

    /// The panes of the window that had the number, if no other session contains it.
    pub fn killed(&self, world: &World) -> Vec<u64> {
        let Some(window) = self.taken else { return Vec::new() };
        let at = world.of_window(self.session, window);
        match world.is_linked(at) {
            true => Vec::new(),
            false => world.window(at).panes.iter().map(|pane| pane.id).collect(),
        }
    }
}

/// Moves the tab of a window in the tab bar, so that the tabs of the session have the order of their numbers. A tab of
/// several sessions stays where it is.
pub async fn place_in_bar(run: &mut Run<'_>, session: u64, index: u64) -> CommandResult {
    let world = run.world().await?;
    let found = world
        .targets()
        .find(|at| world.session(*at).id == session && world.window(*at).index == index);
    let Some(at) = found.filter(|at| !world.is_linked(*at)) else { return Ok(()) };
    let windows = &world.session(at).windows;
    let place = |window: &Window| world.listing.tabs.iter().position(|tab| tab.id == window.id);
    let Some(own) = place(&windows[at.window]) else { return Ok(()) };
    let before = windows[..at.window].iter().filter_map(place).max();
    let after = windows[at.window + 1..].iter().filter_map(place).min();
    let to = match (before, after) {
        // The tab is removed before it is inserted.
        (_, Some(after)) if own > after => after,
        (Some(before), _) if own < before => before,
        _ => return Ok(()),
    };
    relocate(run, &world, at, |params| params.index = Some(to)).await
}

/// Changes the tab of a window. Names a pane of the window that the client's program opened, if there is one.
pub async fn relocate(
    run: &mut Run<'_>,
    world: &World,
    at: Target,
    change: impl FnOnce(&mut RelocateParams),
) -> CommandResult {
    let mut params = RelocateParams { id: run.own_pane(world, at), ..RelocateParams::default() };
    change(&mut params);
    run.call::<Relocate>(params.into()).await?;
    Ok(())
}

/// Makes a window the current window of its session. If the user sees the session, the tab becomes active.
pub async fn select_window(run: &mut Run<'_>, world: &World, at: Target) -> CommandResult {
    let (session, window) = (world.session(at).id, world.window(at));
    if world.seen == Some(session) && world.listing.active != Some(window.id) {
        relocate(run, world, at, |params| params.activate = true).await?;
    }
    if let Some(session) = run.state().session(session) {
        session.select(window.index);
    }
    Ok(())
}
