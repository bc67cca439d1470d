//! `session.split` and related methods, `tab.*` and `window.*`: the arrangement of panes. An instance has at most one window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{Axis, Layout, MuxError, PaneId, Tab, TabId};

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word,
    instance::raise,
    params::{Arg, NoParams, Raw, SessionOnly, session_params},
    session::{Acknowledged, CreateParams, blocking},
    titles::title,
};
use crate::{error::Error, services::records::workspace::TabPart};

/// `session.split`.
pub struct Split;

session_params! {
    /// A session, and the side of the new session.
    Beside {
        /// `right`, `down`, `left` or `up`. Default: right.
        #[serde(default)]
        direction: String,
    }
}

#[derive(Default, Serialize, JsonSchema)]
pub struct SplitParams<'a> {
    #[serde(flatten)]
    pub beside: Beside<'a>,
    #[serde(flatten)]
    pub create: CreateParams<'a>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct SplitReply {
    pub id: u64,
    pub session_id: String,
    pub title: String,
    pub cols: u16,
    pub rows: u16,
    pub tab_id: u64,
}

impl Method for Split {
    const NAME: &'static str = "session.split";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSIONS;
    const CHANGES: Subjects = Subjects::SESSIONS;
    const DOC: &'static str = "Opens a session beside another session, in the same tab.";
    type Params<'a> = Raw<'a, SplitParams<'a>>;
    type Reply = SplitReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: Self::Params<'a>,
    ) -> Result<SplitReply> {
        let beside: Beside<'_> = params.params()?;
        let pane = context.pane(beside.target())?;
        let direction = beside.direction.text("direction")?;
        let (axis, is_before) = match direction.as_deref() {
            None | Some("right") => (Axis::Horizontal, false),
            Some("down") => (Axis::Vertical, false),
            Some("left") => (Axis::Horizontal, true),
            Some("up") => (Axis::Vertical, true),
            Some(other) => {
                return Err(Error::Invalid {
                    name: "direction",
                    expected: "right, down, left or up".to_owned(),
                    got: format!("{other:?}"),
                });
            }
        };
        let create: CreateParams<'_> = params.params()?;
        let (mut spawn, on_exit) = create.spawn(context)?;
        let name = create.title()?;
        // The new session starts in the directory of its neighbor, like a split by the user.
        spawn.cwd = spawn.cwd.or_else(|| pane.cwd_path());
        let (mux, old) = (context.mux.clone(), pane.id());
        let new = blocking(move || {
            let focused = mux.layout().active_tab().map(|tab| tab.focused);
            let new = mux.split(old, axis, spawn, on_exit)?;
            if is_before {
                mux.swap_panes(old, new.id())?;
            }
            // The user's focus does not change.
            if let Some(focused) = focused {
                mux.focus(focused)?;
            }
            Ok::<_, MuxError>(new)
        });
        let new = new.await??;
        if let Some(name) = name {
            new.set_name(&name);
        }
        let size = new.term().size();
        let layout = context.mux.layout();
        let tab = layout.tab_of(new.id()).map(|index| layout.tabs[index].id.0);
        Ok(SplitReply {
            id: new.id().0,
            session_id: new.id().0.to_string(),
            title: new.title(),
            cols: size.cols,
            rows: size.rows,
            tab_id: tab.unwrap_or_default(),
        })
    }
}

/// `session.focus`.
pub struct Focus;

impl Method for Focus {
    const NAME: &'static str = "session.focus";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Focuses a session and its tab.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = Acknowledged;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<Acknowledged> {
        context.mux.focus(context.pane(params.session())?.id())?;
        Ok(Acknowledged::OK)
    }
}

/// `session.move`.
pub struct Move;

session_params! {
    /// A session, and its destination: exactly one of the three.
    MoveParams {
        /// Into this tab.
        #[serde(default)]
        tab_id: u64,
        /// Into a tab of its own.
        #[serde(default)]
        new_tab: bool,
        /// Swap places with this session.
        #[serde(default)]
        swap_with: u64,
    }
}

impl Method for Move {
    const NAME: &'static str = "session.move";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSIONS;
    const DOC: &'static str = "Moves a session to another tab or place.";
    type Params<'a> = MoveParams<'a>;
    type Reply = Acknowledged;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: MoveParams<'a>,
    ) -> Result<Acknowledged> {
        let pane = context.pane_for(caller, params.target())?.id();
        let tab = params.tab_id.number("tab_id", 0..=u64::MAX)?;
        let other = params.swap_with.number("swap_with", 0..=u64::MAX)?;
        if let Some(other) = other.and_then(|other| context.mux.pane(PaneId(other))) {
            context.authority.touch(caller, &other)?;
        }
        match (tab, params.new_tab.is_set("new_tab")?, other) {
            (Some(tab), false, None) => context.mux.move_to_tab(pane, TabId(tab))?,
            (None, true, None) => context.mux.move_to_new_tab(pane)?,
            (None, false, Some(other)) => context.mux.swap_panes(pane, PaneId(other))?,
            _ => return Err(Error::Failed("Give one of 'tab_id', 'new_tab', 'swap_with'".into())),
        }
        Ok(Acknowledged::OK)
    }
}

/// `session.rename`.
pub struct Rename;

session_params! {
    /// A session and its name.
    RenameParams {
        /// The new title, which overrides the program's. Empty: the program's title.
        title: String,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct RenameReply {
    pub status: Word,
    pub title: String,
}

impl Method for Rename {
    const NAME: &'static str = "session.rename";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Sets a session's title.";
    const DESCRIBED_BY: &'static [&'static str] = &["title"];
    type Params<'a> = RenameParams<'a>;
    type Reply = RenameReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: RenameParams<'a>,
    ) -> Result<RenameReply> {
        let pane = context.pane_for(caller, params.target())?;
        pane.set_name(&title(&params.title.required("title")?));
        Ok(RenameReply { status: "ok".into(), title: pane.title() })
    }
}

/// One tab.
#[derive(Deserialize, Serialize, JsonSchema)]
pub struct TabState {
    pub tab_id: u64,
    /// From 0, left to right.
    pub index: usize,
    pub title: String,
    pub active: bool,
    /// Whether the tab's focused session is zoomed to fill the tab.
    pub zoomed: bool,
    /// The tab's focused session.
    // Absent only if the caller may not reach the focused session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub focused: Option<u64>,
    /// The tab's sessions, in the order of the layout.
    pub sessions: Vec<u64>,
    /// `{id}` for a session; `{split, share, first, second}` for two parts, `right` or `down` of each other.
    pub layout: TabPart,
}

/// A tab with the sessions that a caller reaches. `None` if the caller reaches none of the tab's sessions.
fn tab_state(
    context: &Context,
    caller: &Caller,
    layout: &Layout,
    index: usize,
    tab: &Tab,
) -> Option<TabState> {
    let part = TabPart::of(&tab.root).of_some(&|id| caller.reaches(id))?;
    let mut panes = tab.panes();
    panes.retain(|pane| caller.reaches(pane.0));
    let focused = caller.reaches(tab.focused.0).then_some(tab.focused);
    let title = || {
        let pane = focused.or_else(|| panes.first().copied());
        let pane = pane.and_then(|pane| context.mux.pane(pane));
        pane.map(|pane| pane.title()).unwrap_or_default()
    };
    Some(TabState {
        tab_id: tab.id.0,
        index,
        title: tab.title.clone().unwrap_or_else(title),
        active: index == layout.active,
        zoomed: tab.zoomed,
        focused: focused.map(|pane| pane.0),
        sessions: panes.iter().map(|pane| pane.0).collect(),
        layout: part,
    })
}

/// `tab.list`.
pub struct TabList;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct TabListReply {
    pub tabs: Vec<TabState>,
}

impl Method for TabList {
    const NAME: &'static str = "tab.list";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::REACHED;
    const DOC: &'static str = "Lists the tabs, each with its sessions and splits.";
    const NAMED: &'static [&'static str] = &[];
    type Params<'a> = NoParams;
    type Reply = TabListReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        _: NoParams,
    ) -> Result<TabListReply> {
        let layout = context.mux.layout();
        let tabs = layout.tabs.iter().enumerate();
        let tabs = tabs.filter_map(|(index, tab)| tab_state(context, caller, &layout, index, tab));
        Ok(TabListReply { tabs: tabs.collect() })
    }
}

/// `tab.create`.
pub struct TabCreate;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct TabCreateReply {
    pub tab_id: u64,
    pub id: u64,
    pub session_id: String,
}

impl Method for TabCreate {
    const NAME: &'static str = "tab.create";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::SESSIONS;
    const CHANGES: Subjects = Subjects::SESSIONS;
    const DOC: &'static str = "Opens a tab after the last one, as session.create does.";
    type Params<'a> = CreateParams<'a>;
    type Reply = TabCreateReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: CreateParams<'a>,
    ) -> Result<TabCreateReply> {
        let (pane, _) = super::session::create(context, &params).await?;
        let layout = context.mux.layout();
        let tab = layout.tab_of(pane.id()).map(|index| layout.tabs[index].id.0);
        let id = pane.id().0;
        Ok(TabCreateReply { tab_id: tab.unwrap_or_default(), id, session_id: id.to_string() })
    }
}

/// A tab.
#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct TabParams<'a> {
    /// The tab's id, from tab.list.
    #[serde(borrow)]
    pub tab_id: Arg<'a, u64>,
}

/// A tab and its new position.
#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct TabMoveParams<'a> {
    /// The tab's id, from tab.list.
    #[serde(borrow)]
    pub tab_id: Arg<'a, u64>,
    /// The tab's new position, from 0.
    #[serde(borrow)]
    pub index: Arg<'a, u64>,
}

/// A tab and its title.
#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct TabRenameParams<'a> {
    /// The tab's id, from tab.list.
    #[serde(borrow)]
    pub tab_id: Arg<'a, u64>,
    /// The tab's title. Empty: the title of its focused session.
    #[serde(borrow)]
    pub title: Arg<'a, String>,
}

fn tab(arg: &Arg<'_, u64>) -> Result<TabId> {
    arg.number("tab_id", 0..=u64::MAX)?.map(TabId).ok_or(Error::Missing("tab_id"))
}

/// `tab.close`.
pub struct TabClose;

impl Method for TabClose {
    const NAME: &'static str = "tab.close";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSIONS;
    const DOC: &'static str = "Ends the programs of a tab and closes it.";
    type Params<'a> = TabParams<'a>;
    type Reply = Acknowledged;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: TabParams<'a>,
    ) -> Result<Acknowledged> {
        let (mux, tab) = (context.mux.clone(), tab(&params.tab_id)?);
        let layout = mux.layout();
        let closed = layout.tabs.iter().find(|closed| closed.id == tab);
        for pane in closed.map(Tab::panes).unwrap_or_default() {
            if let Some(pane) = mux.pane(pane) {
                context.authority.touch(caller, &pane)?;
            }
        }
        drop(layout);
        blocking(move || mux.close_tab(tab)).await??;
        Ok(Acknowledged::OK)
    }
}

/// `tab.focus`.
pub struct TabFocus;

impl Method for TabFocus {
    const NAME: &'static str = "tab.focus";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSIONS;
    const DOC: &'static str = "Makes a tab the active one.";
    type Params<'a> = TabParams<'a>;
    type Reply = Acknowledged;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: TabParams<'a>,
    ) -> Result<Acknowledged> {
        context.mux.activate_tab(tab(&params.tab_id)?)?;
        Ok(Acknowledged::OK)
    }
}

/// `tab.move`.
pub struct TabMove;

impl Method for TabMove {
    const NAME: &'static str = "tab.move";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSIONS;
    const DOC: &'static str =
        "Moves a tab to another position. A position past the end stands for the last position.";
    type Params<'a> = TabMoveParams<'a>;
    type Reply = Acknowledged;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: TabMoveParams<'a>,
    ) -> Result<Acknowledged> {
        let index = params.index.number("index", 0..=u64::MAX)?.ok_or(Error::Missing("index"))?;
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        context.mux.move_tab(tab(&params.tab_id)?, index)?;
        Ok(Acknowledged::OK)
    }
}

/// `tab.rename`.
pub struct TabRename;

impl Method for TabRename {
    const NAME: &'static str = "tab.rename";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSIONS;
    const DOC: &'static str = "Sets a tab's title.";
    const DESCRIBED_BY: &'static [&'static str] = &["title"];
    type Params<'a> = TabRenameParams<'a>;
    type Reply = Acknowledged;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: TabRenameParams<'a>,
    ) -> Result<Acknowledged> {
        let text = title(&params.title.required("title")?);
        context.mux.rename_tab(tab(&params.tab_id)?, &text)?;
        Ok(Acknowledged::OK)
    }
}

/// `window.list`.
pub struct WindowList;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct WindowListReply {
    /// The window, if the instance has one.
    pub windows: Vec<WindowState>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct WindowState {
    pub window_id: u64,
    /// The instance whose window it is.
    pub instance: String,
    pub title: String,
    pub tabs: Vec<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_tab: Option<u64>,
}

impl Method for WindowList {
    const NAME: &'static str = "window.list";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::SESSIONS;
    const DOC: &'static str = "Returns the window of this instance, with its tabs.";
    type Params<'a> = NoParams;
    type Reply = WindowListReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<WindowListReply> {
        let layout = context.mux.layout();
        let record = context.registration.record();
        let window = context.host.has_window().then(|| WindowState {
            window_id: 0,
            instance: record.id.clone(),
            title: record.title.clone(),
            tabs: layout.tabs.iter().map(|tab| tab.id.0).collect(),
            active_tab: layout.active_tab().map(|tab| tab.id.0),
        });
        Ok(WindowListReply { windows: window.into_iter().collect() })
    }
}

/// `window.focus`.
pub struct WindowFocus;

impl Method for WindowFocus {
    const NAME: &'static str = "window.focus";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::INSTANCE;
    const DOC: &'static str = "Raises this instance's window. Fails if there is none.";
    type Params<'a> = NoParams;
    type Reply = Acknowledged;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<Acknowledged> {
        if raise(context).await { Ok(Acknowledged::OK) } else { Err(Error::NoWindow) }
    }
}
