//! Lines that the rules of an instance refuse. The connector asks the instance for the whole line, and releases it if a person at the
//! hub has decided so. It does both as this machine's user, because no agent may.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use tokio::time::Instant;
use unterm_control::{
    Caller,
    backend::Calls as _,
    client::{Endpoint, Remote},
    methods::{params::NoParams, policy},
};

use crate::protocol::Blocked;

/// Why a call was not typed, or not as a whole.
pub enum Untyped {
    /// The rules of the machine refuse a line.
    Blocked(Blocked),
    /// For another reason.
    Failed(anyhow::Error),
}

impl From<anyhow::Error> for Untyped {
    fn from(error: anyhow::Error) -> Self {
        Self::Failed(error)
    }
}

/// How long an instance may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How an instance's refusal by its rules begins. The rule follows, and then, from tools, advice.
const REFUSAL: &str = "Command blocked by policy: ";

/// An instance, as this machine's user may use it.
pub struct Rules {
    remote: Remote,
    may_release: bool,
}

impl Rules {
    /// Those of the instance at an endpoint with the user's token. `may_release`: the hub may type on this machine.
    pub fn new(endpoint: Endpoint, may_release: bool) -> Self {
        Self { remote: Remote::new(endpoint, Some("unterm-connect")), may_release }
    }

    /// The line behind an instance's error, if its rules refused one that this client sent. `pane`: where, if that is known.
    pub async fn blocked(&self, error: &str, client: &str, pane: Option<u64>) -> Option<Blocked> {
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
        Some(Blocked { line, rule, pane, parts_typed: 0 })
    }

    /// Lets a line be entered in a pane once.
    ///
    /// # Errors
    /// The hub may not type, or the instance refuses or has ended.
    pub async fn release(&self, pane: u64, line: &str) -> Result<()> {
        ensure!(self.may_release, "this machine lets the hub only look");
        let params = policy::ReleaseParams { line: line.into(), ..policy::ReleaseParams::of(pane) };
        let released = self.remote.call_until::<policy::Release>(&user(), params, deadline()).await;
        released.context("the line was not released")?;
        Ok(())
    }
}

fn user() -> Caller {
    Caller::of_user(None)
}

#[expect(clippy::unnecessary_wraps, reason = "calls take an optional deadline")]
fn deadline() -> Option<Instant> {
    Some(Instant::now() + PATIENCE)
}
