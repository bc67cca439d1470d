//! `instance.hand_over`: an instance that waits for a window leaves its place to it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Caller, Context, Group, Method, Result, Subjects, params::NoParams, session::blocking,
};
use crate::{error::Error, services::people::approvals::Approval};

/// How long the instance waits before it ends, so that its reply is sent first.
const LEAVING: Duration = Duration::from_millis(50);

/// `instance.hand_over`.
pub struct HandOver;

/// What the window takes over, in addition to the instance's entry in the registry.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct HandOverReply {
    /// The number of the next session. Lower numbers are never given to other sessions.
    pub next_session: u64,
    /// The focused session of each tab. The active tab comes first.
    pub focused: Vec<u64>,
    /// Pairs of the keeper's number of a program and the number of the program's session.
    pub sessions: Vec<(u64, u64)>,
    /// Whether agents are paused, so that their calls that change something wait.
    pub agents_paused: bool,
    /// The rule for calls of unknown agents.
    pub approval: Approval,
}

impl Method for HandOver {
    const NAME: &'static str = "instance.hand_over";
    const GROUP: Group = Group::Instance;
    const REVEALS: Subjects = Subjects::KEYS;
    // Includes `PAUSE`, so that the call works while agents are paused, and the window can open.
    const CHANGES: Subjects = Subjects::SESSIONS.union(Subjects::MACHINE).union(Subjects::PAUSE);
    const DOC: &'static str = "Leaves the sessions of an instance that waits for a window, and ends the instance. For the window that takes its place. \
        Leases of sessions end. Only the first call succeeds.";
    type Params<'a> = NoParams;
    type Reply = HandOverReply;

    async fn call<'a>(context: &'a Context, _: &'a Caller, _: NoParams) -> Result<HandOverReply> {
        if !context.registration.record().waits_for_window {
            return Err(Error::Failed("this instance does not wait for a window".to_owned()));
        }
        let focused = context.mux.focused_panes().iter().map(|pane| pane.0).collect();
        let kept = context.mux.kept_numbers().into_iter();
        let sessions = kept.map(|(program, pane)| (program, pane.0)).collect();
        let host = context.host.clone();
        if !blocking(move || host.hand_over()).await? {
            return Err(Error::Failed("another window has taken its place".to_owned()));
        }
        let host = context.host.clone();
        tokio::spawn(async move {
            tokio::time::sleep(LEAVING).await;
            host.end();
        });
        Ok(HandOverReply {
            next_session: context.mux.next_pane(),
            focused,
            sessions,
            agents_paused: context.people.clients.is_paused(),
            approval: context.people.approvals.rule(),
        })
    }
}
