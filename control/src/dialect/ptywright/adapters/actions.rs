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
    /// Calls an intent and carries out its actions. If the caller is gone, the actions go on: half of them, such as a paste without
    /// its Enter, would be worse than all.
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
        // Output that answers an input comes after what there was before the input. A mark behind an input is put there, since the
        // answer may come before the mark.
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
