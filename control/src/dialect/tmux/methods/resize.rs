//! `tmux.resize` and `tmux.clear`: the size of a tab, and the history of a pane.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::PaneId;

use super::touched;
use crate::{
    authority::Subjects,
    caller::Caller,
    error::{Error, Result},
    methods::{Context, Group, Method, params::Raw, session::Acknowledged},
};

/// `tmux.resize`.
pub struct Resize;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct ResizeParams {
    /// A pane of the tab.
    pub id: u64,
    /// The columns of the tab.
    pub cols: u16,
    /// The rows of the tab.
    pub rows: u16,
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct ResizeReply {
    /// Whether the tab has the size. False if the user's window decides the size.
    pub resized: bool,
}

impl Method for Resize {
    const NAME: &'static str = "tmux.resize";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str =
        "Sets the size of the tab that contains a pane, if no window decides it.";
    type Params<'a> = Raw<'a, ResizeParams>;
    type Reply = ResizeReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: Self::Params<'a>,
    ) -> Result<ResizeReply> {
        let params: ResizeParams = params.params()?;
        let layout = context.mux.layout();
        let index = layout.tab_of(PaneId(params.id)).ok_or(Error::NoSession(params.id))?;
        let tab = &layout.tabs[index];
        for pane in tab.panes() {
            if let Some(pane) = context.mux.pane(pane) {
                context.authority.touch(caller, &pane)?;
            }
        }
        Ok(ResizeReply { resized: context.mux.resize_tab(tab.id, params.cols, params.rows)? })
    }
}

/// `tmux.clear`.
pub struct Clear;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct ClearParams {
    /// The pane.
    pub id: u64,
    /// Whether the screen and the terminal's modes are reset, too.
    #[serde(default)]
    pub reset: bool,
}

impl Method for Clear {
    const NAME: &'static str = "tmux.clear";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Deletes the history of a pane, or resets its terminal.";
    type Params<'a> = Raw<'a, ClearParams>;
    type Reply = Acknowledged;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: Self::Params<'a>,
    ) -> Result<Acknowledged> {
        let params: ClearParams = params.params()?;
        let pane = touched(context, caller, params.id)?;
        match params.reset {
            true => pane.reset(),
            false => pane.clear_history(),
        }
        Ok(Acknowledged::OK)
    }
}
