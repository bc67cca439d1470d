//! Lines that the line policy of an instance refuses. The connector reads the whole line from the instance. If the user
//! of the hub releases the line, the connector releases it at the instance. Both need the rights of the machine's user,
//! which no agent has.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use tokio::time::Instant;
use unterm_control::{
    Caller,
    backend::Calls as _,
    client::{Endpoint, Remote},
    methods::{params::NoParams, policy},
};

use crate::protocol::RefusedLine;

/// The reason why a call was not typed completely.
pub enum TypingError {
    /// The line policy of the machine refuses a line.
    Blocked(RefusedLine),
    /// The call failed for another reason.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for TypingError {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// The maximum time to wait for an instance's answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// The beginning of the error with which an instance's line policy refuses a line. After it, the error contains the
/// rule and, if a tool returned it, advice.
const REFUSAL: &str = "Command blocked by policy: ";

/// Access to an instance's line policy, with the rights of this machine's user.
pub struct Rules {
    remote: Remote,
    /// The instance's name.
    instance: String,
    may_release: bool,
}

impl Rules {
    /// Creates the access to an instance. `endpoint`: contains the user's token. `may_release`: whether the hub may
    /// type on this machine.
    pub fn new(instance: &str, endpoint: Endpoint, may_release: bool) -> Self {
        let remote = Remote::new(endpoint, Some("unterm-connect"));
        Self { remote, instance: instance.to_owned(), may_release }
    }

    /// The refused line, if this error of an instance is a refusal of this client's line. `pane`: the pane of the line,
    /// if it is known.
    pub async fn blocked(
        &self,
        error: &str,
        client: &str,
        pane: Option<u64>,
    ) -> Option<RefusedLine> {
        let refusal = error.strip_prefix(REFUSAL)?;
        let asked =
            self.remote.call_until::<policy::Refused>(&user(), NoParams {}, deadline()).await;
        let lines = match asked {
            Ok(reply) => reply.lines,
            Err(error) => {
                tracing::debug!(%error, "the refused lines are unknown");
                return None;
            }
        };
        let is_it = |of: &policy::RefusedLine| {
            refusal.starts_with(&of.rule)
                && of.client.as_deref() == Some(client)
                && pane.is_none_or(|pane| pane == of.session_id)
        };
        let found = lines.into_iter().rfind(is_it)?;
        let policy::RefusedLine { line, rule, session_id: pane, .. } = found;
        let instance = self.instance.clone();
        Some(RefusedLine { line, rule, instance, pane, parts_typed: 0 })
    }

    /// Releases a line, so that a client may enter it in a pane once.
    ///
    /// # Errors
    /// The hub may not type on this machine, or the instance refuses or has ended.
    pub async fn release(&self, pane: u64, client: &str, line: &str) -> Result<()> {
        ensure!(self.may_release, "this machine is paired read-only");
        let params = policy::ReleaseParams {
            line: line.into(),
            client: client.into(),
            ..policy::ReleaseParams::of(pane)
        };
        let released = self.remote.call_until::<policy::Release>(&user(), params, deadline()).await;
        released.context("the line was not released")?;
        Ok(())
    }

    /// Ends a release whose call has failed.
    pub async fn withdraw(&self, pane: u64, client: &str) {
        let params = policy::ReleaseParams {
            client: client.into(),
            withdraw: true.into(),
            ..policy::ReleaseParams::of(pane)
        };
        let ended = self.remote.call_until::<policy::Release>(&user(), params, deadline()).await;
        if let Err(error) = ended {
            tracing::debug!(%error, "the release ends by itself");
        }
    }
}

fn user() -> Caller {
    Caller::of_user(None)
}

#[expect(clippy::unnecessary_wraps, reason = "calls take an optional deadline")]
fn deadline() -> Option<Instant> {
    Some(Instant::now() + PATIENCE)
}
