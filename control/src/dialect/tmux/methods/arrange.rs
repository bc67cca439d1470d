//! `tmux.arrange`, `tmux.relocate` and `tmux.keep`: the arrangement of a tab, its index and title, and what happens
//! when a program ends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{Axis, Node, OnExit, PaneId, TabId};

use super::touched;
use crate::{
    authority::Subjects,
    caller::Caller,
    error::{Error, Result},
    methods::{Context, Group, Method, params::Raw, session::Acknowledged},
    services::records::workspace::{Side, TabPart},
};

/// `tmux.arrange`.
pub struct Arrange;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct ArrangeParams {
    /// A pane of the tab.
    pub id: u64,
    /// Another pane, if the call moves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<u64>,
    /// The new arrangement. Absent: unchanged.
    #[serde(default)]
    pub root: Option<TabPart>,
    /// The pane that gets the focus of the tab. Absent: unchanged.
    #[serde(default)]
    pub focused: Option<u64>,
    /// Whether the focused pane fills the tab. Absent: unchanged.
    #[serde(default)]
    pub zoomed: Option<bool>,
}

/// The tree of a part.
pub fn node(part: &TabPart) -> Node {
    match part {
        TabPart::Session { id } => Node::Pane(PaneId(*id)),
        TabPart::Split { split, share, first, second } => Node::Split {
            axis: match split {
                Side::Right => Axis::Horizontal,
                Side::Down => Axis::Vertical,
            },
            ratio: *share,
            first: Box::new(node(first)),
            second: Box::new(node(second)),
        },
    }
}

/// The tab with a pane, and its index.
fn tab_of(context: &Context, pane: u64) -> Result<(unterm_mux::Tab, usize)> {
    let layout = context.mux.layout();
    let index = layout.tab_of(PaneId(pane)).ok_or(Error::NoSession(pane))?;
    Ok((layout.tabs[index].clone(), index))
}

impl Method for Arrange {
    const NAME: &'static str = "tmux.arrange";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Arranges the panes of the tab that contains a pane. Without a change, checks that the caller may change the pane.";
    const NAMED: &'static [&'static str] = &["id", "session_id", "other"];
    type Params<'a> = Raw<'a, ArrangeParams>;
    type Reply = Acknowledged;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: Self::Params<'a>,
    ) -> Result<Acknowledged> {
        let params: ArrangeParams = params.params()?;
        if params.root.is_none() && params.focused.is_none() && params.zoomed.is_none() {
            return touched(context, caller, params.id).map(|_| Acknowledged::OK);
        }
        let (tab, _) = tab_of(context, params.id)?;
        if params.root.is_some() || params.zoomed.is_some() {
            for pane in tab.panes() {
                if let Some(pane) = context.mux.pane(pane) {
                    context.authority.touch(caller, &pane)?;
                }
            }
        }
        let root = params.root.as_ref().map_or_else(|| tab.root.clone(), node);
        let focused = params.focused.map_or(tab.focused, PaneId);
        // If the focus moves to another pane, zoom ends, as with a click.
        let zoomed = params.zoomed.unwrap_or(tab.zoomed && focused == tab.focused);
        context.mux.arrange(tab.id, root, focused, zoomed)?;
        Ok(Acknowledged::OK)
    }
}

/// `tmux.relocate`.
pub struct Relocate;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct RelocateParams {
    /// A pane of the tab.
    pub id: u64,
    /// The tab's title. Empty: the title of its focused pane. Absent: unchanged.
    #[serde(default)]
    pub title: Option<String>,
    /// The tab's index among all tabs, from 0. Absent: unchanged.
    #[serde(default)]
    pub index: Option<usize>,
    /// Whether the tab becomes the active one.
    #[serde(default)]
    pub activate: bool,
    /// Moves the pane into this tab.
    #[serde(default)]
    pub into: Option<u64>,
    /// Moves the pane into a tab of its own.
    #[serde(default)]
    pub alone: bool,
    /// Swaps the pane with this pane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<u64>,
}

impl Method for Relocate {
    const NAME: &'static str = "tmux.relocate";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Moves a pane, or renames, moves or activates its tab.";
    const NAMED: &'static [&'static str] = &["id", "session_id", "other"];
    type Params<'a> = Raw<'a, RelocateParams>;
    type Reply = Acknowledged;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: Self::Params<'a>,
    ) -> Result<Acknowledged> {
        let params: RelocateParams = params.params()?;
        let (mux, id) = (&context.mux, PaneId(params.id));
        for moved in [Some(params.id), params.other].into_iter().flatten() {
            let pane = mux.pane(PaneId(moved)).ok_or(Error::NoSession(moved))?;
            if params.into.is_some() || params.alone || params.other.is_some() {
                context.authority.touch(caller, &pane)?;
            }
        }
        // A move activates the pane's new tab. The user's tab stays active unless the caller wants it.
        let active = mux.layout().active_tab().map(|tab| tab.id);
        if let Some(into) = params.into {
            mux.move_to_tab(id, TabId(into))?;
        }
        if params.alone {
            mux.move_to_new_tab(id)?;
        }
        if let Some(other) = params.other {
            mux.swap_panes(id, PaneId(other))?;
        }
        let (tab, _) = tab_of(context, params.id)?;
        if let Some(title) = &params.title {
            mux.rename_tab(tab.id, title)?;
        }
        if let Some(index) = params.index {
            mux.move_tab(tab.id, index)?;
        }
        if params.activate {
            mux.activate_tab(tab.id)?;
        } else if let Some(active) = active
            && mux.layout().tabs.iter().any(|tab| tab.id == active)
        {
            mux.activate_tab(active)?;
        }
        Ok(Acknowledged::OK)
    }
}

/// What happens to a pane when its program ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProgramEnd {
    /// The pane closes.
    #[default]
    Close,
    /// The pane stays.
    Hold,
    /// The pane stays if the program failed.
    HoldFailed,
}

impl From<ProgramEnd> for OnExit {
    fn from(exit: ProgramEnd) -> Self {
        match exit {
            ProgramEnd::Close => Self::Close,
            ProgramEnd::Hold => Self::Hold,
            ProgramEnd::HoldFailed => Self::HoldFailed,
        }
    }
}

/// `tmux.keep`.
pub struct Keep;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct KeepParams {
    /// The pane.
    pub id: u64,
    /// What happens to the pane when its program ends.
    pub on_exit: ProgramEnd,
}

impl Method for Keep {
    const NAME: &'static str = "tmux.keep";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Sets what happens to a pane when its program ends.";
    type Params<'a> = Raw<'a, KeepParams>;
    type Reply = Acknowledged;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: Self::Params<'a>,
    ) -> Result<Acknowledged> {
        let params: KeepParams = params.params()?;
        touched(context, caller, params.id)?.set_on_exit(params.on_exit.into());
        Ok(Acknowledged::OK)
    }
}
