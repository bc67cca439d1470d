//! `tmux.stream`: a copy of a pane's output, for `pipe-pane` and control mode.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unterm_mux::PaneId;

use crate::{
    authority::Subjects,
    caller::Caller,
    error::{Error, Result},
    methods::{Context, Group, Method, params::Raw, session::Acknowledged},
};

/// `tmux.stream`.
pub struct Stream;

#[derive(Default, Deserialize, Serialize, JsonSchema)]
pub struct StreamParams {
    /// The pane.
    pub id: u64,
    /// Whether the program waits for a slow reader, so that no output is lost. The wait is limited.
    #[serde(default)]
    pub whole: bool,
}

impl Method for Stream {
    const NAME: &'static str = "tmux.stream";
    const GROUP: Group = Group::Screen;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Sends the output of a pane to the caller from now on.";
    type Params<'a> = Raw<'a, StreamParams>;
    type Reply = Acknowledged;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: Self::Params<'a>,
    ) -> Result<Acknowledged> {
        let params: StreamParams = params.params()?;
        let pane = context.mux.pane(PaneId(params.id)).ok_or(Error::NoSession(params.id))?;
        let tap = match params.whole {
            // The reader uses only the output, so mark all input as hidden.
            true => pane.tap_recording(Arc::new(|_| true)),
            false => pane.tap(),
        };
        context.panes.streams.put(caller.connection, pane.id(), tap);
        Ok(Acknowledged::OK)
    }
}
