//! `session.lend_nonce`: lets a login shell on another machine mark its commands like the session's own shells.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Caller, Context, Group, Method, Result, Subjects, params::SessionOnly};
use crate::error::Error;

/// `session.lend_nonce`.
pub struct LendNonce;

#[derive(Deserialize, Serialize, JsonSchema)]
pub struct LendNonceReply {
    /// The ticket. A later call for the same session invalidates it.
    pub ticket: String,
}

impl Method for LendNonce {
    const NAME: &'static str = "session.lend_nonce";
    const GROUP: Group = Group::Session;
    const REVEALS: Subjects = Subjects::SECRETS;
    const CHANGES: Subjects = Subjects::SESSION;
    const DOC: &'static str = "Returns a ticket for the nonce of the session's shell marks. The program that prints OSC 1337 ; UntermNonce=ticket in the session receives the nonce as a line of input, once.";
    type Params<'a> = SessionOnly<'a>;
    type Reply = LendNonceReply;

    async fn call<'a>(
        context: &'a Context,
        _: &'a Caller,
        params: SessionOnly<'a>,
    ) -> Result<LendNonceReply> {
        let pane = context.pane(params.session())?;
        if pane.nonce().is_none() {
            return Err(Error::NotIntegrated(pane.id().0));
        }
        let ticket = unterm_mux::random::hex().map_err(|e| Error::Panicked(e.to_string()))?;
        pane.term().lend_nonce(ticket.clone());
        Ok(LendNonceReply { ticket })
    }
}
