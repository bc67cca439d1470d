//! `tmux.open`, `tmux.split` and `tmux.respawn`: start programs in new panes, or in the place of a pane's program.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::{Axis, MuxError, Node, OnExit, PaneId, PaneState, Spawn, TabId};

use super::touched;
use crate::{
    authority::Subjects,
    caller::Caller,
    dialect::tmux::tree,
    error::{Error, Result},
    methods::{Context, Group, Method, params::Raw, session::CreateParams},
    offload::blocking,
};

/// The program of a pane.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
pub struct Program {
    /// The program and its arguments. Empty: the user's shell.
    #[serde(default)]
    pub command: Vec<String>,
    /// The working directory. Absent: the user's home.
    #[serde(default)]
    pub cwd: Option<String>,
    /// Variables to add to the environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// What happens to the pane when the program ends.
    #[serde(default)]
    pub on_exit: super::ProgramEnd,
}

impl Program {
    /// Checks the program against the line policy, and returns how to start it.
    fn spawn(&self, context: &Context) -> Result<(Spawn, OnExit)> {
        let (program, args) = match self.command.split_first() {
            Some((program, args)) => (Some(program.clone()), args.to_vec()),
            None => (None, Vec::new()),
        };
        let params = CreateParams {
            program: program.into(),
            args: args.into(),
            cwd: self.cwd.clone().into(),
            env: self.env.clone().into(),
            ..CreateParams::default()
        };
        let (mut spawn, _) = params.spawn(context)?;
        spawn.numbered = vec![("TMUX_PANE".to_owned(), "%".to_owned())];
        Ok((spawn, self.on_exit.into()))
    }
}

/// A new pane, and its tab.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema)]
pub struct Opened {
    pub id: u64,
    pub tab: u64,
}

fn opened(context: &Context, caller: &Caller, pane: PaneId) -> Opened {
    if let Some(opener) = &caller.opener {
        context.panes.openers.opened(&context.mux, pane, opener);
    }
    let layout = context.mux.layout();
    let tab = layout.tab_of(pane).map(|index| layout.tabs[index].id.0);
    Opened { id: pane.0, tab: tab.unwrap_or_default() }
}

/// `tmux.open`.
pub struct Open;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct OpenParams {
    pub program: Program,
    /// Columns and rows of the tab, if no window sizes it.
    #[serde(default)]
    pub size: Option<(u16, u16)>,
    /// Whether the new tab becomes the active one.
    #[serde(default)]
    pub activate: bool,
}

impl Method for Open {
    const NAME: &'static str = "tmux.open";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::OPENED;
    const DOC: &'static str = "Opens a tab, which belongs to the caller.";
    const NAMED: &'static [&'static str] = &[];
    type Params<'a> = Raw<'a, OpenParams>;
    type Reply = Opened;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: Self::Params<'a>,
    ) -> Result<Opened> {
        let params: OpenParams = params.params()?;
        let (spawn, on_exit) = params.program.spawn(context)?;
        let size = params.size.map(|(cols, rows)| unterm_term::Size::cells(cols, rows));
        let mux = context.mux.clone();
        let pane = blocking(move || {
            let pane = mux.open_tab_in_background(spawn, size, on_exit)?;
            // This is the size of the whole tab, whose panes may be split. A window overrides it by its own size.
            pane.set_pinned(false);
            if params.activate {
                mux.focus(pane.id())?;
            }
            Ok::<_, MuxError>(pane)
        });
        let pane = pane.await??;
        Ok(opened(context, caller, pane.id()))
    }
}

/// `tmux.split`.
pub struct Split;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct SplitParams {
    /// The pane to split.
    pub id: u64,
    pub program: Program,
    /// Whether the new pane is beside the split pane. Otherwise it is above or below.
    #[serde(default)]
    pub horizontal: bool,
    /// Whether the new pane is at the left or above.
    #[serde(default)]
    pub before: bool,
    /// Whether the new pane spans the whole tab.
    #[serde(default)]
    pub full: bool,
    /// The new pane's share of the space, from 0 to 1. Absent: half.
    #[serde(default)]
    pub share: Option<f32>,
    /// Whether the new pane gets the focus of its tab.
    #[serde(default)]
    pub focus: bool,
    /// Whether the focused pane fills the tab.
    #[serde(default)]
    pub zoom: bool,
}

impl Method for Split {
    const NAME: &'static str = "tmux.split";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const CHANGES: Subjects = Subjects::SESSION.union(Subjects::OPENED);
    const DOC: &'static str = "Splits a pane. The new pane belongs to the caller.";
    type Params<'a> = Raw<'a, SplitParams>;
    type Reply = Opened;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: Self::Params<'a>,
    ) -> Result<Opened> {
        let params: SplitParams = params.params()?;
        let id = PaneId(params.id);
        touched(context, caller, params.id)?;
        let (spawn, on_exit) = params.program.spawn(context)?;
        let mux = context.mux.clone();
        let new = blocking(move || {
            let axis = if params.horizontal { Axis::Horizontal } else { Axis::Vertical };
            let layout = mux.layout();
            let index = layout.tab_of(id).ok_or(MuxError::NoPane(id))?;
            let before = layout.tabs[index].clone();
            // A pane that spans the tab needs room in the tab, not in the target.
            let beside = match params.full {
                true => {
                    let mut panes = before.panes().into_iter();
                    panes.find(|pane| mux.has_room(*pane, axis)).unwrap_or(id)
                }
                false => id,
            };
            let new = mux.split(beside, axis, spawn, on_exit)?;
            let share = params.share.unwrap_or(0.5);
            let added = tree::Added { pane: new.id(), axis, share, is_first: params.before };
            let mut root: Node = before.root.clone();
            match params.full {
                true => tree::add_around(&mut root, added),
                false => tree::add_beside(&mut root, id, added),
            }
            let focused = if params.focus { new.id() } else { before.focused };
            // If another caller has changed the tab meanwhile, the new pane stays where it is.
            match mux.arrange(before.id, root, focused, params.zoom) {
                Err(MuxError::OtherPanes(_)) | Ok(()) => Ok(new),
                Err(error) => Err(error),
            }
        });
        let new = new.await??;
        Ok(opened(context, caller, new.id()))
    }
}

/// `tmux.respawn`.
pub struct Respawn;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct RespawnParams {
    /// The pane.
    pub id: u64,
    pub program: Program,
    /// Whether a running program is ended first.
    #[serde(default)]
    pub kill: bool,
}

impl Method for Respawn {
    const NAME: &'static str = "tmux.respawn";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Starts a program in the place of a pane's program.";
    type Params<'a> = Raw<'a, RespawnParams>;
    type Reply = Opened;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: Self::Params<'a>,
    ) -> Result<Opened> {
        let params: RespawnParams = params.params()?;
        let id = PaneId(params.id);
        let pane = touched(context, caller, params.id)?;
        if pane.state() == PaneState::Running && !params.kill {
            return Err(Error::Failed("still active".to_owned()));
        }
        let (spawn, on_exit) = params.program.spawn(context)?;
        let mux = context.mux.clone();
        blocking(move || mux.respawn(id, spawn, on_exit)).await??;
        let layout = context.mux.layout();
        let tab = layout.tab_of(id).map_or(TabId(0), |index| layout.tabs[index].id);
        Ok(Opened { id: id.0, tab: tab.0 })
    }
}
