//! Calls about several panes at once. The result is the reply of the first pane whose reply is wanted.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Serialize, de::DeserializeOwned};
use tokio::task::JoinSet;

use crate::{
    backend::Calls as _,
    caller::{Caller, Signals},
    dialect::mcp::{
        error_messages::Speaker,
        jobs::{Job, JobKind, Pending, Waited},
        server::Server,
        tool::{Ask, ToolResult, is_hidden},
    },
    methods::{
        Method,
        params::{NoParams, SessionOnly},
        session::{List, Status},
        wait::{Watch, WatchParams},
    },
};

/// The maximum number of panes that a call may name.
const MOST: usize = 64;

/// The panes of a call.
pub struct Panes {
    /// The numbers of the panes, each once. There is at least one.
    pub panes: Vec<u64>,
    /// Whether the call named no pane, and so applies to all panes. Panes for which the call fails are then left out.
    pub is_all: bool,
}

impl Panes {
    /// One pane.
    pub fn one(pane: u64) -> Self {
        Self { panes: vec![pane], is_all: false }
    }

    /// The panes in the list. If the list is empty, all panes that the caller reaches. If there is no list, the pane
    /// that `pane` stands for.
    ///
    /// # Errors
    /// The caller may not see one of the panes, or there is no pane. A message for the model.
    pub async fn named(
        ask: &Ask<'_>,
        pane: Option<u64>,
        panes: Option<Vec<u64>>,
    ) -> ToolResult<Self> {
        let panes = match (pane, panes) {
            (Some(_), Some(_)) => return Err("Give `pane` or `panes`, not both".to_owned()),
            (pane, None) => return Ok(Self::one(ask.pane(pane).await?)),
            (None, Some(panes)) => panes,
        };
        if panes.is_empty() {
            let listed = ask.call::<List>(NoParams {}).await?.sessions.into_iter();
            let live = listed.filter(|session| !session.is_dead).map(|session| session.id);
            let panes: Vec<u64> = live.filter(|pane| !is_hidden(ask.server, *pane)).collect();
            return match panes.is_empty() {
                true => Err("There is no pane; open one with pane_open".to_owned()),
                false => Ok(Self { panes, is_all: true }),
            };
        }
        if panes.len() > MOST {
            return Err(format!("`panes` must name at most {MOST} panes, not {}", panes.len()));
        }
        let panes: BTreeSet<u64> = panes.into_iter().collect();
        for pane in &panes {
            // Each pane is checked before anything about another pane is revealed.
            ask.call::<Status>(SessionOnly::of(ask.pane(Some(*pane)).await?)).await?;
        }
        Ok(Self { panes: panes.into_iter().collect(), is_all: false })
    }

    /// Calls a method for each pane at once. Returns the first reply that `is_wanted` accepts, with its pane. If it
    /// accepts none, the last reply.
    ///
    /// # Errors
    /// A call fails. If the call applies to all panes, it fails only if the calls for all panes fail.
    pub async fn first<M: Method>(
        &self,
        ask: &Ask<'_>,
        params: impl Fn(u64) -> M::Params<'static>,
        is_wanted: fn(&M::Reply) -> bool,
    ) -> ToolResult<(u64, M::Reply)>
    where
        for<'p> M::Params<'p>: Serialize,
        M::Reply: DeserializeOwned + 'static,
    {
        let calls = self.panes.iter().map(|pane| (*pane, params(*pane))).collect();
        let means = Means::of(ask, ask.caller.clone());
        race::<M>(means, calls, self.is_all, is_wanted).await
    }

    /// Begins to wait for conditions in several panes. `calls`: each pane with its parameters.
    ///
    /// # Errors
    /// Too many calls are running.
    pub fn wait(
        &self,
        ask: &Ask<'_>,
        calls: Vec<(u64, WatchParams<'static>)>,
    ) -> ToolResult<(Job, Pending<Waited>)> {
        let signals = Signals::default();
        let means = Means::of(ask, Caller { signals: signals.clone(), ..ask.caller.clone() });
        let (of, is_all) = ((ask.caller.connection, ask.caller.token), self.is_all);
        let places = (self.panes[0], self.panes.len() - 1);
        let call = async move {
            let first = race::<Watch>(means, calls, is_all, |reply| reply.matched).await;
            first.map(|(pane, reply)| Waited { pane, reply })
        };
        ask.server.jobs.begin(of, JobKind::Wait, places, signals, call)
    }
}

/// The parts of a call's context that outlive its request.
#[derive(Clone)]
struct Means {
    server: Arc<Server>,
    caller: Caller,
    speaker: Speaker,
}

impl Means {
    fn of(ask: &Ask<'_>, caller: Caller) -> Self {
        Self { server: ask.server.clone(), caller, speaker: ask.speaker }
    }
}

async fn race<M: Method>(
    means: Means,
    calls: Vec<(u64, M::Params<'static>)>,
    is_all: bool,
    is_wanted: fn(&M::Reply) -> bool,
) -> ToolResult<(u64, M::Reply)>
where
    for<'p> M::Params<'p>: Serialize,
    M::Reply: DeserializeOwned + 'static,
{
    // Dropping this set ends the remaining calls.
    let mut running = JoinSet::new();
    for (pane, params) in calls {
        let Means { server, caller, speaker } = means.clone();
        running.spawn(async move {
            let reply = server.dispatcher.call::<M>(&caller, params).await;
            reply.map(|reply| (pane, reply)).map_err(|error| speaker.message(&error))
        });
    }
    let (mut last, mut failed) = (None, "The call was given up".to_owned());
    while let Some(ended) = running.join_next().await {
        match ended.unwrap_or_else(|error| Err(error.to_string())) {
            Ok((pane, reply)) if is_wanted(&reply) => return Ok((pane, reply)),
            Ok(other) => last = Some(other),
            Err(why) if is_all => failed = why,
            Err(why) => return Err(why),
        }
    }
    last.ok_or(failed)
}
