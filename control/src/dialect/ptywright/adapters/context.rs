//! The input of a plugin's `classify`, and the state that it returns.

use serde::Serialize;
use serde_json::Value;
use unterm_plugin::{Classification, ClassifyContext};

use super::{Adapters, Locked, redact::redact};
use crate::{
    dialect::ptywright::{
        error::{Error, Result},
        redaction::Redaction,
        sessions::millis,
        snapshot::Snapshot,
    },
    services::pane::classification::{COMPLETED_TURN_STABLE_MS, classify},
};

/// An adapter's state, in the form that clients receive.
#[derive(Serialize)]
struct State {
    #[serde(flatten)]
    classification: Classification,
    last_intent: Option<String>,
}

impl Adapters {
    /// The current state of the adapter.
    ///
    /// # Errors
    /// The screen can't be read. A failure of the plugin is not an error, but a state.
    pub(super) async fn state(&self, locked: &Locked) -> Result<Value> {
        let screen = self.sessions.screen(&locked.adapter.session).await?;
        self.state_of(locked, &screen, true).await
    }

    /// The state that a screen shows. `redacts`: whether secrets are redacted.
    pub(super) async fn state_of(
        &self,
        locked: &Locked,
        screen: &Snapshot,
        redacts: bool,
    ) -> Result<Value> {
        let adapter = &locked.adapter;
        let context = context(locked, screen);
        let cursor = context.cursor;
        let last_intent = locked.last_intent.clone();
        let instance = adapter.instance.clone();
        let read = move || {
            let classification = classify(&instance, &context);
            let marks = classification.host_marks.clone();
            let mut state = serde_json::to_value(State { classification, last_intent })?;
            if redacts {
                redact(&mut state, &Redaction::default());
            }
            Ok::<_, serde_json::Error>((state, marks))
        };
        let (state, marks) = adapter
            .calls
            .run(read)
            .await?
            .map_err(|error| Error::internal(format!("the state has no JSON: {error}")))?;
        for label in marks {
            if let Err(error) = adapter.session.mark(label, Some(cursor)) {
                tracing::debug!(adapter = adapter.id, error.message, "a mark is left out");
            }
        }
        Ok(state)
    }
}

/// The input of `classify` for a screen.
pub(super) fn context(locked: &Locked, screen: &Snapshot) -> ClassifyContext {
    let session = &locked.adapter.session;
    ClassifyContext {
        title: screen.title.clone().unwrap_or_default(),
        transcript: session.transcript(),
        sequence: screen.sequence,
        last_intent: locked.last_intent.clone(),
        stable_ms: millis(session.progress().stable_at(screen.sequence)),
        completed_turn_stable_ms: COMPLETED_TURN_STABLE_MS,
        markers: session.marks(),
        cursor: session.output_end(),
        ..ClassifyContext::of_screen(screen.plain_text.as_str())
    }
}
