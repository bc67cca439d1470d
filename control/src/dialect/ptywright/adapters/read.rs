//! The methods that read an adapter: its screen, its output, and the state that its plugin reads from them.

use serde_json::{Value, json};
use unterm_plugin::split_status;

use super::{Adapters, Locked};
use crate::dialect::ptywright::{error::Result, redaction::Redaction, snapshot::Snapshot};

impl Adapters {
    pub(super) async fn snapshot(
        &self,
        locked: &Locked,
        redaction: &Redaction,
    ) -> Result<Snapshot> {
        let screen = self.sessions.screen(&locked.adapter.session).await?;
        screen.redacted(redaction, self.sessions.searches()).await
    }

    pub(super) async fn transcript(&self, locked: &Locked, redaction: &Redaction) -> Result<Value> {
        let text = locked.adapter.session.transcript();
        let text = redaction.texts(self.sessions.searches(), vec![text]).await?.pop();
        Ok(json!({"text": text.unwrap_or_default()}))
    }

    /// The adapter's state, with the texts that the plugin read it from.
    pub(super) async fn inspect(&self, locked: &Locked, redaction: &Redaction) -> Result<Value> {
        let adapter = &locked.adapter;
        let session = &adapter.session;
        let screen = self.sessions.screen(session).await?;
        let state = self.state_of(locked, &screen, !redaction.is_off()).await?;
        let tail = redaction.texts(self.sessions.searches(), vec![session.tail()]).await?.pop();
        let screen = screen.redacted(redaction, self.sessions.searches()).await?;
        let (body, status) = split_status(&screen.plain_text);
        Ok(json!({
            "adapter": adapter.id,
            "plugin": adapter.manifest.name,
            "state": state,
            "plain_text": screen.plain_text,
            "body_text": body,
            "status_text": status,
            "transcript_tail": tail.unwrap_or_default(),
            "sequence": screen.sequence,
        }))
    }
}
