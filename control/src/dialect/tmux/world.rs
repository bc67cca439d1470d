//! The sessions, windows and panes of one server at one moment.
//!
//! A session is a group of tabs, a window is a tab. Plain data: commands read it, and call methods to change panes.

use unterm_mux::{Axis, Node, PaneId, Rect};

use super::{
    methods::{Listing, Pane, node},
    options::Owner,
    state::State,
    tree,
};

/// Sessions with their windows and panes.
pub struct World {
    /// The sessions, in the order of their numbers.
    pub sessions: Vec<Session>,
    /// The tabs and panes from which the sessions were built.
    pub listing: Listing,
    /// The session that the window shows.
    pub seen: Option<u64>,
    /// The marked pane.
    pub marked: Option<u64>,
    /// The number that the next session gets.
    pub next_session: u64,
    /// When the server started, in seconds since 1970.
    pub started: i64,
    /// The rows of a pane's screen, if a format searches them.
    pub rows: Vec<String>,
}

/// A session.
#[derive(Debug)]
pub struct Session {
    /// The number.
    pub id: u64,
    /// The name.
    pub name: String,
    /// When it was created, in seconds since 1970.
    pub created: i64,
    /// Whether the user's window shows it.
    pub is_attached: bool,
    /// The number of clients in control mode that are attached.
    pub clients: usize,
    /// The windows, in their order.
    pub windows: Vec<Window>,
    /// The index of the current window in `windows`.
    pub current: usize,
    /// The indices of the windows that were current before, the last one first.
    pub stack: Vec<usize>,
    /// The name of the group. The sessions of a group have the same windows.
    pub group: Option<String>,
    /// The working directory of new windows. Empty: the client's working directory.
    pub cwd: String,
}

/// A window.
#[derive(Debug)]
pub struct Window {
    /// The tab's id.
    pub id: u64,
    /// The number in its session.
    pub index: u64,
    /// The name.
    pub name: String,
    /// The size in cells.
    pub area: (u32, u32),
    /// The arrangement of the panes.
    pub root: Node,
    /// Whether the active pane fills the window.
    pub is_zoomed: bool,
    /// The panes, in reading order.
    pub panes: Vec<PlacedPane>,
    /// The active pane.
    pub active: u64,
    /// The pane that was active before.
    pub last: Option<u64>,
}

/// A pane of a window.
#[derive(Debug)]
pub struct PlacedPane {
    /// The pane's number.
    pub id: u64,
    /// The number in its window.
    pub index: u64,
    /// The position in the window.
    pub rect: Rect,
    /// The index of the pane in [`Listing::panes`].
    pub row: usize,
}

/// A session, a window and a pane: indices in `sessions`, `windows` and `panes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// The session.
    pub session: usize,
    /// The window.
    pub window: usize,
    /// The pane.
    pub pane: usize,
}

impl Session {
    /// The index of the window that was current before.
    pub fn last(&self) -> Option<usize> {
        self.stack.first().copied()
    }
}

impl World {
    /// Builds the sessions of a server.
    pub fn new(listing: Listing, state: &State, server: &str) -> Self {
        let own = state.sessions.iter().filter(|session| session.server == server);
        let sessions = own.map(|session| {
            let windows = session.windows();
            let windows =
                windows.filter_map(|(index, tab)| Window::new(&listing, state, tab, index));
            let windows: Vec<_> = windows.collect();
            let at = |index: u64| windows.iter().position(|window| window.index == index);
            Session {
                id: session.id,
                name: session.name.clone(),
                created: session.created,
                is_attached: listing.has_window && state.seen == Some(session.id),
                clients: state.clients.of_session(session.id).count(),
                current: session.current().and_then(at).unwrap_or(0),
                stack: session.stack().iter().copied().filter_map(at).collect(),
                group: session.group.clone(),
                cwd: session.cwd.clone(),
                windows,
            }
        });
        let sessions: Vec<_> = sessions.filter(|session| !session.windows.is_empty()).collect();
        Self {
            sessions,
            seen: state.seen,
            marked: state.marked,
            next_session: state.next_session(),
            started: state.started,
            listing,
            rows: Vec::new(),
        }
    }

    /// The session of a target.
    pub fn session(&self, target: Target) -> &Session {
        &self.sessions[target.session]
    }

    /// The window of a target.
    pub fn window(&self, target: Target) -> &Window {
        &self.session(target).windows[target.window]
    }

    /// The position of a target's pane.
    pub fn place(&self, target: Target) -> &PlacedPane {
        &self.window(target).panes[target.pane]
    }

    /// The pane of a target.
    pub fn pane(&self, target: Target) -> &Pane {
        &self.listing.panes[self.place(target).row]
    }

    /// Every pane.
    pub fn targets(&self) -> impl Iterator<Item = Target> {
        self.sessions.iter().enumerate().flat_map(|(session, of)| {
            of.windows.iter().enumerate().flat_map(move |(window, of)| {
                (0..of.panes.len()).map(move |pane| Target { session, window, pane })
            })
        })
    }

    /// The target with a pane's number.
    pub fn of_pane(&self, id: u64) -> Option<Target> {
        self.nearest(None, |target| self.place(target).id == id)
    }

    /// A target for which `is_true` returns true. If several sessions contain the window, prefers the session of `base`, and
    /// then the session that the user sees. In a session, prefers the current window.
    pub fn nearest(
        &self,
        base: Option<Target>,
        is_true: impl Fn(Target) -> bool,
    ) -> Option<Target> {
        let found = self.targets().filter(|target| is_true(*target));
        found.min_by_key(|target| {
            let session = self.session(*target);
            (
                base.is_none_or(|base| base.session != target.session),
                self.seen != Some(session.id),
                session.current != target.window,
            )
        })
    }

    /// The sessions that contain a window, with its index in `windows`: once for each of its numbers.
    pub fn links(&self, window: u64) -> impl Iterator<Item = (&Session, usize)> {
        let all = self.sessions.iter().flat_map(|it| (0..it.windows.len()).map(move |at| (it, at)));
        all.filter(move |(session, at)| session.windows[*at].id == window)
    }

    /// The sessions of a session's group, which have the same windows.
    pub fn group(&self, session: usize) -> impl Iterator<Item = &Session> {
        let own = &self.sessions[session];
        self.sessions
            .iter()
            .filter(move |it| it.id == own.id || it.group.is_some() && it.group == own.group)
    }

    /// Whether a window is also in a session outside the target's group, or twice in the same session.
    pub fn is_linked(&self, at: Target) -> bool {
        self.links(self.window(at).id).count() != self.group(at.session).count()
    }

    /// The active pane of a window.
    pub fn of_window(&self, session: usize, window: usize) -> Target {
        let found = &self.sessions[session].windows[window];
        let pane = found.panes.iter().position(|pane| pane.id == found.active).unwrap_or(0);
        Target { session, window, pane }
    }

    /// The active pane of a session's current window.
    pub fn of_session(&self, session: usize) -> Target {
        self.of_window(session, self.sessions[session].current)
    }

    /// The target of a client that runs in a pane, or else the session that the user sees, or else the newest session.
    /// `None` if there is no session.
    pub fn current(&self, pane: Option<u64>) -> Option<Target> {
        if let Some(own) = pane.and_then(|pane| self.of_pane(pane)) {
            return Some(own);
        }
        let seen = self.sessions.iter().position(|session| Some(session.id) == self.seen);
        let newest = self.sessions.len().checked_sub(1);
        seen.or(newest).map(|session| self.of_session(session))
    }
}

impl Window {
    fn new(listing: &Listing, state: &State, id: u64, index: u64) -> Option<Self> {
        let tab = listing.tabs.iter().find(|tab| tab.id == id)?;
        let root = node(&tab.root);
        let row = |id: PaneId| listing.panes.iter().position(|pane| pane.id == id.0);
        let size = |id: PaneId| {
            let pane = row(id).map(|row| &listing.panes[row]);
            pane.map_or((1, 1), |pane| (u32::from(pane.cols), u32::from(pane.rows)))
        };
        let (area, rects) = match tab.zoomed {
            // Only the zoomed pane has its real size.
            true => {
                let area = size(PaneId(tab.focused));
                let whole = Rect { x: 0, y: 0, width: area.0, height: area.1 };
                (area, tree::divide(&root, whole))
            }
            false => (tree::measured(&root, &size), tree::placed(&root, &size)),
        };
        let owners = [Owner::Window(id), Owner::Windows];
        let base = number(state.options.value(&owners, "pane-base-index"));
        let panes = rects.iter().enumerate().filter_map(|(index, (pane, rect))| {
            let row = row(*pane)?;
            let is_whole = tab.zoomed && tab.focused == pane.0;
            let rect = match is_whole {
                true => Rect { x: 0, y: 0, width: area.0, height: area.1 },
                false => *rect,
            };
            Some(PlacedPane { id: pane.0, index: base + index as u64, rect, row })
        });
        let panes: Vec<_> = panes.collect();
        if panes.is_empty() {
            return None;
        }
        let command = || {
            let row = row(PaneId(tab.focused));
            row.map(|row| listing.panes[row].command.clone()).unwrap_or_default()
        };
        Some(Self {
            id,
            index,
            name: tab.title.clone().unwrap_or_else(command),
            area,
            root,
            is_zoomed: tab.zoomed,
            panes,
            active: tab.focused,
            last: state.last_pane(id),
        })
    }

    /// The area of the window at its origin.
    pub fn rect(&self) -> Rect {
        Rect { x: 0, y: 0, width: self.area.0, height: self.area.1 }
    }

    /// The layout as text. `is_visible`: if a pane fills the window, the layout contains only this pane.
    pub fn layout(&self, is_visible: bool) -> String {
        if is_visible && self.is_zoomed {
            let root = Node::Pane(PaneId(self.active));
            return tree::print(&root, &[(PaneId(self.active), self.rect())]);
        }
        let rects: Vec<_> = match self.is_zoomed {
            true => tree::divide(&self.root, self.rect()),
            false => self.panes.iter().map(|pane| (PaneId(pane.id), pane.rect)).collect(),
        };
        tree::print(&self.root, &rects)
    }

    /// The nearest pane in a direction. If there is none, wraps around the edge of the window.
    pub fn neighbor(
        &self,
        of: &PlacedPane,
        direction: unterm_mux::Direction,
    ) -> Option<&PlacedPane> {
        use unterm_mux::Direction::{Down, Left, Right, Up};

        let axis = direction.axis();
        // The start and the end of a pane along the axis, and across it.
        let along = |rect: &Rect| match axis {
            Axis::Horizontal => (rect.x, rect.x + rect.width),
            Axis::Vertical => (rect.y, rect.y + rect.height),
        };
        let across = |rect: &Rect| match axis {
            Axis::Horizontal => (rect.y, rect.y + rect.height),
            Axis::Vertical => (rect.x, rect.x + rect.width),
        };
        let (start, end) = along(&of.rect);
        let length = match axis {
            Axis::Horizontal => self.area.0,
            Axis::Vertical => self.area.1,
        };
        // tmux wraps around the edges of the window.
        let edge = match direction {
            Left | Up if start == 0 => length + 1,
            Left | Up => start,
            Right | Down if end >= length => 0,
            Right | Down => end + 1,
        };
        let beside = self.panes.iter().filter(|pane| {
            let (start, end) = along(&pane.rect);
            let touches = match direction {
                Left | Up => end + 1 == edge,
                Right | Down => start == edge,
            };
            let (one, two) = (across(&pane.rect), across(&of.rect));
            touches && one.0 < two.1 && two.0 < one.1 && pane.id != of.id
        });
        let beside: Vec<_> = beside.collect();
        let last = beside.iter().find(|pane| Some(pane.id) == self.last);
        last.or(beside.first()).copied()
    }
}

fn number(value: Option<String>) -> u64 {
    value.and_then(|value| value.parse().ok()).unwrap_or(0)
}
