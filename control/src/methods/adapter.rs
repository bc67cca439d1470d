//! `adapter.*`: the states of the programs in sessions, as plugins read them from the screens.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, timeout_at};
use unterm_mux::PaneId;
use unterm_plugin::Explanation;

use super::{
    Caller, Context, Group, Method, Result, Subjects, Word,
    params::{Arg, SessionOnly, Target, session_params},
};
use crate::services::pane::{
    adapters::{Adapter, Progress, Reading, SOURCE},
    wait::deadline,
};

/// The default duration of a wait, in milliseconds.
const TIMEOUT_MS: u64 = 30_000;

session_params! {
    /// A session and a plugin.
    AttachParams {
        /// Name of the plugin. Default: the plugin for the session's foreground program.
        #[serde(default)]
        plugin: String,
    }
}

/// The state of a program, as its screen shows it. Programs choose what their screens show.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ProgramState {
    pub id: u64,
    /// The plugin that reads the screen.
    pub plugin: String,
    /// A name from the plugin's vocabulary. `plugin_error`: the plugin failed. `background`: another program is in the foreground.
    pub state: String,
    /// When the program was first seen in this state (RFC 3339, UTC).
    pub since: String,
    /// How sure the plugin is, from 0 to 1.
    pub confidence: f64,
    /// The plugin's description of what on the screen showed the state.
    pub evidence: String,
    /// The plugin's rule that determined the state, and the text that the rule found. Absent if the plugin does not
    /// report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Explain")]
    pub explain: Option<Explain>,
    /// The session's `seq` when the screen was read.
    pub seq: u64,
    /// `screen`: the state is only a claim of the screen's text.
    pub source: Word,
}

/// Why a plugin chose a state: a rule, and the text on the screen.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Explain {
    /// The name of the rule.
    pub rule: String,
    /// The text, as the program printed it.
    pub text: String,
}

impl From<Explanation> for Explain {
    fn from(Explanation { rule, text }: Explanation) -> Self {
        Self { rule, text }
    }
}

impl ProgramState {
    /// The state that an adapter's plugin read last. `None` if the plugin has not read a screen yet, or the adapter has
    /// ended.
    pub(crate) fn of(adapter: &Adapter) -> Option<Self> {
        adapter.reading().map(|reading| Self::read(adapter, reading))
    }

    fn read(adapter: &Adapter, reading: Reading) -> Self {
        let Reading { state, since, confidence, evidence, explain, seq } = reading;
        Self {
            id: adapter.pane.0,
            plugin: adapter.plugin.clone(),
            state,
            since,
            confidence,
            evidence,
            explain: explain.map(Explain::from),
            seq,
            source: SOURCE.into(),
        }
    }
}

/// Attaches a plugin to a session for a caller.
async fn attach(
    context: &Context,
    caller: &Caller,
    target: Target<'_>,
    plugin: &Arg<'_, String>,
) -> Result<Arc<Adapter>> {
    let pane = context.pane(target)?;
    let plugin = plugin.text("plugin")?;
    context.panes.adapters.attach(caller.token, &pane, plugin.as_deref()).await
}

/// `adapter.attach`.
pub struct Attach;

impl Method for Attach {
    const NAME: &'static str = "adapter.attach";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const CHANGES: Subjects = Subjects::ADAPTERS;
    const DOC: &'static str = "Lets a plugin watch the program in a session's foreground, and returns the state that its screen shows. Each new \
        state is an `adapter_state` event. Ends with the program, or with adapter.detach by the same token.";
    type Params<'a> = AttachParams<'a>;
    type Reply = ProgramState;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: AttachParams<'a>,
    ) -> Result<ProgramState> {
        let adapter = attach(context, caller, params.target(), &params.plugin).await?;
        let progress = adapter.progress.borrow().clone();
        match progress {
            Progress::Read(reading) => Ok(ProgramState::read(&adapter, reading)),
            Progress::Ended(end) => Err(adapter.ended(&end)),
            // `attach` waits until the plugin has read the screen.
            Progress::Starting => unreachable!("an adapter that has not begun"),
        }
    }
}

/// `adapter.detach`.
pub struct Detach;

session_params! {
    /// A session and a plugin.
    DetachParams {
        /// Name of the plugin. Default: every plugin.
        #[serde(default)]
        plugin: String,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct DetachReply {
    /// The number of adapters that the caller's token no longer holds. An adapter continues while another token holds
    /// it.
    pub detached: usize,
}

impl Method for Detach {
    const NAME: &'static str = "adapter.detach";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::empty();
    const CHANGES: Subjects = Subjects::ADAPTERS;
    const DOC: &'static str = "Ends adapters that adapter.attach began with this token: the adapter of one plugin, or all if no plugin is named.";
    type Params<'a> = DetachParams<'a>;
    type Reply = DetachReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: DetachParams<'a>,
    ) -> Result<DetachReply> {
        let pane = context.pane(params.target())?;
        let plugin = params.plugin.text("plugin")?;
        let detached = context.panes.adapters.detach(caller.token, pane.id(), plugin.as_deref());
        Ok(DetachReply { detached })
    }
}

/// `adapter.states`.
pub struct States;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct StatesReply {
    /// The states, sorted by session and plugin.
    pub states: Vec<ProgramState>,
}

impl Method for States {
    const NAME: &'static str = "adapter.states";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::REACHED;
    const DOC: &'static str = "Returns the states of the programs that plugins watch, in one session, or in every session if no session is named.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = StatesReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<StatesReply> {
        let named = match params.session().given() {
            Some(_) => Some(context.pane(params.session())?.id()),
            None => None,
        };
        let is_wanted = |pane: PaneId| match named {
            Some(named) => pane == named,
            // Like every list, this one leaves out hidden panes.
            None => caller.reaches(pane.0) && context.mux.layout().tab_of(pane).is_some(),
        };
        let all = context.panes.adapters.all();
        let wanted = all.iter().filter(|adapter| is_wanted(adapter.pane));
        Ok(StatesReply { states: wanted.filter_map(|adapter| ProgramState::of(adapter)).collect() })
    }
}

/// `adapter.watch`.
pub struct Watch;

session_params! {
    /// A session, a plugin, and states to wait for.
    WatchParams {
        /// Name of the plugin. Default: the plugin for the session's foreground program.
        #[serde(default)]
        plugin: String,
        /// The states to wait for. Any of them ends the wait. Default: any state other than the present one.
        #[serde(default)]
        states: Vec<String>,
        /// How long to wait, in milliseconds. Default: 30,000.
        #[serde(default)]
        timeout_ms: u64,
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct WatchReply {
    pub matched: bool,
    pub timed_out: bool,
    /// The last state. Absent: the adapter ended before the plugin had read the screen.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "ProgramState")]
    pub state: Option<ProgramState>,
    /// Why the plugin reports no further state: `program_ended`, `session_ended`, `detached` or `plugin_failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub ended: Option<Word>,
}

impl Method for Watch {
    const NAME: &'static str = "adapter.watch";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const CHANGES: Subjects = Subjects::ADAPTERS;
    const DOC: &'static str = "Attaches a plugin as adapter.attach does, and waits until the program's screen shows one of some states.";
    type Params<'a> = WatchParams<'a>;
    type Reply = WatchReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: WatchParams<'a>,
    ) -> Result<WatchReply> {
        let timeout_ms = params.timeout_ms.number("timeout_ms", 0..=u64::MAX)?;
        let timeout = Duration::from_millis(timeout_ms.unwrap_or(TIMEOUT_MS));
        let deadline = deadline(Instant::now(), timeout);
        let states = params.states.list("states")?;
        let adapter = attach(context, caller, params.target(), &params.plugin).await?;
        let mut progress = adapter.progress.subscribe();
        let first = adapter.reading().map(|reading| reading.state);
        let is_wanted = |reading: &Reading| match states.is_empty() {
            true => Some(&reading.state) != first.as_ref(),
            false => states.contains(&reading.state),
        };
        let mut last = None;
        let found = progress.wait_for(|progress| match progress {
            Progress::Starting => false,
            Progress::Read(reading) => {
                last = Some(reading.clone());
                is_wanted(reading)
            }
            Progress::Ended(_) => true,
        });
        let found = timeout_at(deadline, found).await.map(|found| found.map(|it| it.clone()));
        let timed_out = found.is_err();
        let ended = match found {
            Ok(Ok(Progress::Ended(end))) => Some(end.name().into()),
            _ => None,
        };
        Ok(WatchReply {
            matched: !timed_out && ended.is_none(),
            timed_out,
            state: last.map(|reading| ProgramState::read(&adapter, reading)),
            ended,
        })
    }
}
