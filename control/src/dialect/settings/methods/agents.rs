//! Who drives this instance, what they did, what they may enter, and the switch that makes them wait.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::method;
use crate::{
    error::Error,
    methods::params::NoParams,
    services::{audit::Entry, clients::Client, login_codes::Visitor, policy::Rules},
};

/// How much of what was done is shown.
const SHOWN: usize = 100;

/// Everybody.
#[derive(Serialize, JsonSchema)]
pub struct AgentsReply {
    /// Connections that have logged in.
    clients: Vec<Client>,
    /// Settings pages that are open, each with a token of its own.
    pages: Vec<Visitor>,
    /// Whether calls that change something wait.
    paused: bool,
    /// What was done or refused, newest first.
    log: Vec<Entry>,
}

method! {
    /// `GET /api/agents`
    Agents "agents.list" [CALLERS] "Who is connected, what they did, and whether they are paused."
    (context, _none: NoParams) -> AgentsReply {
        Ok(AgentsReply {
            clients: context.clients.list(),
            pages: context.login_codes.visitors(),
            paused: context.clients.is_paused(),
            log: context.audit.last(SHOWN, None),
        })
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct PauseParams {
    /// Whether they wait from now on.
    paused: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct PauseReply {
    paused: bool,
}

method! {
    /// `POST /api/agents/pause`
    Pause "agents.pause" [] changes PAUSE "Makes every call that changes something wait until it is taken back."
    (context, params: PauseParams) -> PauseReply {
        context.pause(params.paused);
        Ok(PauseReply { paused: params.paused })
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct ClosePageParams {
    /// The page's number.
    page: u64,
}

#[derive(Serialize, JsonSchema)]
pub struct ClosePageReply {
    closed: bool,
}

method! {
    /// `POST /api/agents/close_page`
    ClosePage "agents.close_page" [] changes RIGHTS "Takes a settings page's token away."
    (context, params: ClosePageParams) -> ClosePageReply {
        if !context.login_codes.close(params.page) {
            return Err(Error::Failed(format!("There is no page {}", params.page)));
        }
        Ok(ClosePageReply { closed: true })
    }
}

method! {
    /// `GET /api/policy`
    Policy "settings.policy" [RULES] "The rules on what callers may enter."
    (context, _none: NoParams) -> Rules {
        Ok(context.policy.rules())
    }
}
