//! `adapter.attach`, `adapter.detach` and `adapter.states`: panes of the instance that its plugins watch, and that are
//! no sessions of this server. These methods never type. The instance decides which panes the server's caller may read.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Adapters, redact::redact};
use crate::{
    dialect::ptywright::{
        error::{Error, Result},
        redaction::Redaction,
        request::{NoParams, read},
    },
    methods::{
        adapter::{Attach, AttachParams, Detach, DetachParams, ProgramState, States},
        params::SessionOnly,
    },
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OnPane {
    pane: u64,
    #[serde(default)]
    plugin: Option<String>,
}

impl OnPane {
    /// Converts an error about the pane, because the pane is not a session of this server.
    fn failed(&self, error: Error) -> Error {
        if error == Error::pane_closed() {
            let pane = self.pane;
            return Error::invalid_params(format!(
                "unknown pane {pane}: it was never there, or it was closed"
            ));
        }
        error
    }
}

impl Adapters {
    pub(super) async fn attach(&self, params: Map<String, Value>) -> Result<Value> {
        let asked: OnPane = read(params)?;
        let plugin = asked.plugin.clone().into();
        let params = AttachParams { plugin, ..AttachParams::of(asked.pane) };
        let attached = self.sessions.call::<Attach>(params).await;
        Ok(shown(attached.map_err(|error| asked.failed(error))?))
    }

    pub(super) async fn detach(&self, params: Map<String, Value>) -> Result<Value> {
        let asked: OnPane = read(params)?;
        let plugin = asked.plugin.clone().into();
        let params = DetachParams { plugin, ..DetachParams::of(asked.pane) };
        let detached = self.sessions.call::<Detach>(params).await;
        let detached = detached.map_err(|error| asked.failed(error))?.detached;
        Ok(json!({"detached": detached > 0}))
    }

    pub(super) async fn states(&self, params: Map<String, Value>) -> Result<Value> {
        let NoParams {} = read(params)?;
        let states = self.sessions.call::<States>(SessionOnly::default()).await?.states;
        let states: Vec<_> = states.into_iter().map(shown).collect();
        Ok(json!({"states": states}))
    }
}

/// A state, in the form that clients receive.
fn shown(state: ProgramState) -> Value {
    let ProgramState { id, plugin, state, since, confidence, evidence, explain, seq, source } =
        state;
    let mut state = json!({
        "state": state,
        "confidence": confidence,
        "evidence": evidence,
        "sequence": seq,
        "since": since,
        "source": source,
    });
    if let Some(explain) = explain {
        state["explain"] = json!(explain);
    }
    redact(&mut state, &Redaction::default());
    json!({"pane": id, "plugin": plugin, "state": state})
}
