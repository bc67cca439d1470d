//! The states of agent programs in panes, as plugins read them from the screens.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{many_panes::Panes, shown::line};
use crate::{
    dialect::mcp::{
        jobs::slice,
        tool::{Ask, ToolResult, is_hidden, tool},
    },
    methods::{
        adapter::{Attach, AttachParams, ProgramState, States, Watch, WatchParams},
        explain::{self, Explain},
        params::SessionOnly,
    },
    services::pane::program_state::claim::{Need, State},
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentArguments {
    /// The pane to watch until its program ends.
    pane: Option<u64>,
    /// Several panes, of which the first wins; [] means all.
    panes: Option<Vec<u64>>,
    /// Wait for one of these states.
    states: Option<Vec<String>>,
    /// claude-code, codex or shell; default: by the program.
    plugin: Option<String>,
    /// The longest wait; default and most 50,000.
    timeout_ms: Option<u64>,
}

/// A program that a plugin watches.
#[derive(Serialize, JsonSchema)]
pub struct Agent {
    pane: u64,
    plugin: String,
    /// Such as thinking, waiting_for_permission or waiting_for_user_input. Read from the screen, so a program can fake it.
    state: String,
    since: String,
    evidence: String,
}

impl From<ProgramState> for Agent {
    fn from(state: ProgramState) -> Self {
        let ProgramState { id, plugin, state, since, evidence, .. } = state;
        Self { pane: id, plugin, state, since, evidence: line(&evidence) }
    }
}

#[derive(Default, Serialize, JsonSchema)]
pub struct AgentsReply {
    agents: Vec<Agent>,
    /// False: call again to keep waiting.
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<bool>,
    /// Why there will be no further state.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended: Option<String>,
}

/// The states of all watched programs.
async fn watched(ask: &Ask<'_>) -> ToolResult<AgentsReply> {
    let states = ask.call::<States>(SessionOnly::default()).await?.states;
    let states = states.into_iter().filter(|state| !is_hidden(ask.server, state.id));
    Ok(AgentsReply { agents: states.map(Agent::from).collect(), ..AgentsReply::default() })
}

tool! {
    AgentState "agent_state" "State of agent programs" Looks
    "Get the state of Claude Code, Codex or a shell in a pane, read from its screen, or wait for one of several states. Without arguments: all watched panes."
    example r#"{"pane": 3, "states": ["waiting_for_permission", "waiting_for_user_input"]}"#
    untrusted ["evidence"]
    (ask, arguments: AgentArguments) -> AgentsReply {
        let AgentArguments { pane, panes, states, plugin, timeout_ms } = arguments;
        if pane.is_none() && panes.is_none() && states.is_none() && plugin.is_none() {
            return Ok(watched(ask).await?.into());
        }
        if states.as_ref().is_some_and(Vec::is_empty) {
            return Err("`states` is empty; name a state to wait for, such as waiting_for_permission".to_owned());
        }
        let panes = Panes::named(ask, pane, panes).await?;
        let Some(states) = states else {
            let mut agents = Vec::new();
            for pane in &panes.panes {
                let params = AttachParams { plugin: plugin.clone().into(), ..AttachParams::of(*pane) };
                match ask.call::<Attach>(params).await {
                    Ok(state) => agents.push(state.into()),
                    // No plugin is for this pane's program.
                    Err(_) if panes.is_all => {}
                    Err(why) => return Err(why),
                }
            }
            return Ok(AgentsReply { agents, ..AgentsReply::default() }.into());
        };
        let within = slice(timeout_ms).saturating_sub(ask.held);
        let timeout_ms = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        let params = |pane| WatchParams {
            plugin: plugin.clone().into(),
            states: states.clone().into(),
            timeout_ms: timeout_ms.into(),
            ..WatchParams::of(pane)
        };
        let (_, seen) = panes.first::<Watch>(ask, params, |seen| seen.matched).await?;
        Ok(AgentsReply {
            agents: seen.state.into_iter().map(Agent::from).collect(),
            matched: Some(seen.matched),
            ended: seen.ended.map(|why| why.into_owned()),
        }
        .into())
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainArguments {
    /// The pane; optional if there is only one.
    pane: Option<u64>,
}

#[derive(Serialize, JsonSchema)]
pub struct ExplainReply {
    pane: u64,
    /// working, needs_you, done, failed or idle.
    #[schemars(with = "String")]
    state: State,
    /// What the program needs: permission, question, password, approval or login.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    kind: Option<Need>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Progress in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    /// The rule that decided.
    reason: String,
    /// The tasks that the program reports.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<explain::Task>,
    /// What every source reports, the strongest first.
    chain: Vec<explain::Link>,
}

tool! {
    ExplainState "explain" "Why a pane is in its state" Looks
    "Get what the program in a pane is doing, and why: each source with its rule, the text to which it applied, and the time."
    example r#"{"pane": 3}"#
    untrusted ["message", "text", "rule", "reason"]
    (ask, arguments: ExplainArguments) -> ExplainReply {
        let pane = ask.pane(arguments.pane).await?;
        let explained = ask.call::<Explain>(SessionOnly::of(pane)).await?;
        Ok(ExplainReply {
            pane: explained.id,
            state: explained.state,
            kind: explained.kind,
            message: explained.message,
            progress: explained.progress.map(u64::from),
            since: explained.since,
            reason: explained.reason,
            tasks: explained.tasks,
            chain: explained.chain,
        }
        .into())
    }
}
