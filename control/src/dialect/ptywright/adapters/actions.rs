//! Calls an intent and carries out its actions.

use std::sync::Arc;

use serde_json::{Map, Value};
use unterm_plugin::Action;

use super::{Adapters, Locked, to_its_end};
use crate::dialect::ptywright::{error::Result, plugins::refused};

/// An intent and its parameters.
pub struct Intent {
    pub name: String,
    pub params: Map<String, Value>,
}

impl Adapters {
    /// Calls an intent and carries out its actions. If the caller disconnects, the remaining actions still run, because a partial
    /// sequence, such as a paste without its Enter, is worse than the complete one.
    ///
    /// # Errors
    /// There is no such intent, it fails, an action is wrong, or the program has ended.
    pub(super) async fn perform(
        self: &Arc<Self>,
        locked: Locked,
        intent: Intent,
        method: &'static str,
    ) -> Result<Locked> {
        let adapters = self.clone();
        to_its_end(async move {
            let mut locked = locked;
            adapters.carry_out(&mut locked, intent, method).await.map(|()| locked)
        })
        .await
    }

    async fn carry_out(&self, locked: &mut Locked, intent: Intent, method: &str) -> Result<()> {
        let adapter = locked.adapter.clone();
        let instance = adapter.instance.clone();
        let Intent { name, params } = intent;
        let call = move || instance.intent(&name, &Value::Object(params));
        let outcome = adapter.calls.run(call).await?.map_err(|error| refused(&error, method))?;
        // A mark after an input is placed at the end of the output before that input, because the answer may arrive before the
        // mark is set.
        let mut before = None;
        for action in outcome.actions {
            let session = &adapter.session;
            match action {
                Action::MarkTranscript(mark) => session.mark(mark.label, before)?,
                action => {
                    before = Some(session.output_end());
                    self.sessions.act(session, action).await?;
                    session.restart_stability();
                }
            }
        }
        if let Some(last_intent) = outcome.last_intent {
            *locked.last_intent = Some(last_intent).filter(|name| !name.is_empty());
        }
        Ok(())
    }
}
