//! `session.verify_handover`: whether another instance could show a session as it is, while its program runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use unterm_mux::HandoverCheck;

use super::{Caller, Context, Group, Method, Result, Subjects, params::SessionOnly};
use crate::error::Error;

/// `session.verify_handover`.
pub struct VerifyHandover;

/// The reply. A digest covers the whole state of a terminal: text, styles, modes, cursor, history, titles, links and
/// marks.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct VerifyReply {
    pub id: u64,
    /// Both digests are equal.
    pub equal: bool,
    /// The SHA-256 of the terminal, in hexadecimal.
    pub live: String,
    /// The SHA-256 of the terminal that another instance would show. Absent if another instance would show none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub rebuilt: Option<String>,
    /// Why another instance would show no terminal. Absent if it would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub reason: Option<String>,
    /// The length of the last checkpoint of the terminal, in bytes.
    pub checkpoint_bytes: usize,
    /// The length of the output since that checkpoint, in bytes.
    pub output_bytes: usize,
}

impl Method for VerifyHandover {
    const NAME: &'static str = "session.verify_handover";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Compares a session's terminal with the terminal that another instance would show if this instance were killed now. Its \
        program notices nothing.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = VerifyReply;

    async fn call<'a>(
        context: &'a Context,
        caller: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<VerifyReply> {
        let (pane, mux) = (context.pane(params.session())?.id(), context.mux.clone());
        // Verifying rebuilds the whole terminal, which is expensive, so the calls of a token take turns.
        let searches = context.limits.search_limiter.of(caller.token);
        let check = searches.run(u64::MAX, move |_| mux.verify_handover(pane)).await?;
        Ok(reply(pane.0, &check.map_err(|_| Error::NoSession(pane.0))?))
    }
}

fn reply(id: u64, check: &HandoverCheck) -> VerifyReply {
    let digest = |dump: &String| -> String {
        Sha256::digest(dump).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    VerifyReply {
        id,
        equal: check.is_equal(),
        live: digest(&check.live),
        rebuilt: check.rebuilt.as_ref().ok().map(digest),
        reason: check.rebuilt.as_ref().err().cloned(),
        checkpoint_bytes: check.checkpoint,
        output_bytes: check.output,
    }
}
