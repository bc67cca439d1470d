//! Calls an intent of a plugin, and performs the actions that it returns.

use std::sync::Arc;

use serde_json::{Map, Value};
use unterm_plugin::{Action, ClassifyContext, LuaPredicate, Matcher, Permission, WaitFor};

use super::{Adapter, Adapters, Locked, context::context, to_its_end};
use crate::dialect::ptywright::{
    error::{Error, Result},
    plugins::refused,
    sessions::Wait,
};

/// An intent and its parameters.
pub struct Intent {
    pub name: String,
    pub params: Map<String, Value>,
}

impl Adapters {
    /// Calls an intent and performs its actions. If the caller disconnects, the remaining actions are still performed,
    /// because an incomplete sequence, such as a paste without its Enter, is worse than a complete sequence.
    ///
    /// # Errors
    /// There is no such intent, the intent fails, an action is invalid, or the program has ended.
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

    async fn carry_out(
        &self,
        locked: &mut Locked,
        intent: Intent,
        method: &'static str,
    ) -> Result<()> {
        let adapter = locked.adapter.clone();
        let instance = adapter.instance.clone();
        let Intent { name, params } = intent;
        let seen = self.seen(locked).await;
        let call = move || {
            // `classify` gives the plugin the screen on which its intent acts. If it fails, the plugin uses the screen
            // of an earlier call.
            if let Some(seen) = seen {
                let _ = instance.classify(&seen);
            }
            instance.intent(&name, &Value::Object(params))
        };
        let outcome = adapter.calls.run(call).await?.map_err(|error| refused(&error, method))?;
        // A mark after an input stands for the end of the output before that input, because the program may answer
        // before the mark is set.
        let mut before = None;
        for action in outcome.actions {
            let session = &adapter.session;
            match action {
                Action::MarkTranscript(mark) => session.mark(mark.label, before)?,
                Action::WaitFor(wait) => self.wait_between(&adapter, wait, method).await?,
                action => {
                    before = Some(session.output_end());
                    self.press(&adapter, action).await?;
                }
            }
        }
        if let Some(last_intent) = outcome.last_intent {
            *locked.last_intent = Some(last_intent).filter(|name| !name.is_empty());
        }
        Ok(())
    }

    /// The screen before an intent. `None` if the plugin may not read screens.
    async fn seen(&self, locked: &Locked) -> Option<ClassifyContext> {
        if !locked.adapter.manifest.has(Permission::ScreenRead) {
            return None;
        }
        let screen = self.sessions.screen(&locked.adapter.session).await.ok()?;
        Some(context(locked, &screen))
    }

    async fn press(&self, adapter: &Adapter, action: Action) -> Result<()> {
        self.sessions.act(&adapter.session, action).await?;
        adapter.session.restart_stability();
        Ok(())
    }

    /// Waits until a predicate is true. Presses a key each time it does not become true in time.
    async fn wait_between(
        &self,
        adapter: &Adapter,
        wait: WaitFor,
        method: &'static str,
    ) -> Result<()> {
        let WaitFor { predicate, params, timeout_ms, key, presses, failure } = wait;
        let plugin = adapter.manifest.name.clone();
        let matcher = Matcher::Lua(LuaPredicate { plugin, predicate, params });
        let presses = if key.is_some() { presses } else { 0 };
        for press in 0..=presses {
            if let Some(key) = key.clone().filter(|_| press > 0) {
                self.press(adapter, Action::Key(key)).await?;
            }
            let wait = Wait::new(matcher.clone(), timeout_ms, method);
            match self.sessions.matched(&adapter.session, wait).await {
                Ok(_) => return Ok(()),
                Err(error) if error.is_timeout() => {}
                Err(error) => return Err(error),
            }
        }
        failure.map_or(Ok(()), |why| Err(Error::internal(why)))
    }
}
