//! Connected agents, their recent calls, the rules on their input, and the switch that pauses them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::method;
use crate::{
    error::Error,
    methods::params::NoParams,
    services::{
        people::{clients::Client, login_codes::Visitor},
        records::audit::Entry,
        shell::policy::Rules,
    },
};

/// The maximum number of calls in a reply.
const SHOWN: usize = 100;

/// The connected clients.
#[derive(Serialize, JsonSchema)]
pub struct AgentsReply {
    /// Connections that have logged in.
    clients: Vec<Client>,
    /// The open settings pages. Each has its own token.
    pages: Vec<Visitor>,
    /// Whether agents are paused.
    paused: bool,
    /// The calls that were made or refused, newest first.
    log: Vec<Entry>,
}

method! {
    /// `GET /api/agents`
    Agents "agents.list" [CALLERS] "Lists the connected clients and their recent calls, and whether agents are paused."
    (context, _none: NoParams) -> AgentsReply {
        Ok(AgentsReply {
            clients: context.people.clients.list(),
            pages: context.people.login_codes.visitors(),
            paused: context.people.clients.is_paused(),
            log: context.records.audit.last(SHOWN, None),
        })
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct PauseParams {
    /// Whether to pause agents.
    paused: bool,
}

#[derive(Serialize, JsonSchema)]
pub struct PauseReply {
    paused: bool,
}

method! {
    /// `POST /api/agents/pause`
    Pause "agents.pause" [] changes PAUSE "Pauses agents, or resumes them. While paused, calls that change something wait."
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
    ClosePage "agents.close_page" [] changes RIGHTS "Revokes a settings page's token."
    (context, params: ClosePageParams) -> ClosePageReply {
        if !context.people.login_codes.close(params.page) {
            return Err(Error::Failed(format!("There is no page {}", params.page)));
        }
        Ok(ClosePageReply { closed: true })
    }
}

method! {
    /// `GET /api/policy`
    Policy "settings.policy" [RULES] "Returns the rules on the lines that callers may enter."
    (context, _none: NoParams) -> Rules {
        Ok(context.lines.policy.rules())
    }
}
